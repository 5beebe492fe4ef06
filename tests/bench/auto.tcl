# SPDX-License-Identifier: GPL-3.0-or-later
# auto.tcl - what the algorithm auto loses against the best of all algorithms and chunks.
#   tharsis -no_init -exit tests/bench/auto.tcl ?SYSTEM ...?
# Every collective of seven sizes, on each system among all accelerators and among some of them in
# an order of no order, is simulated with every algorithm and 1, 2, 4 ... 64 chunks, then with auto.
# One line each: percent that auto takes longer; at the end, how many lose more than 2 % and the
# mean. Rings have one chunk: more are parallel streams, which differ by rounding alone. Without
# SYSTEM: all of them, which takes a quarter of an hour.

set near {-link_bandwidth 50GB/s -link_latency 500ns}
set far {-link_bandwidth {300GB/s 25GB/s} -link_latency {300ns 3us}}
set systems [dict create \
    server {create_system dgx_h100 -size 1} \
    servers_2 {create_system dgx_h100 -size 2} \
    servers_4 {create_system dgx_h100 -size 4} \
    servers_16 {create_system dgx_h100 -size 16}]
foreach {name spec} {
    ring {ring 16} star {star 16} full {fully_connected 8} mesh {mesh {4 4}}
    torus {torus {4 4}} torus_64 {torus {8 8}} torus_of_3 {torus {4 4 4}} hypercube {hypercube 5}
    fattree {fattree {8 2}} dragonfly {dragonfly {2 4 2}}
} {
    lassign $spec topology dims
    dict set systems $name \
        [list create_system -name $name -accel npu_v1 -topology $topology -dims $dims {*}$near]
}
foreach {name more} {islands {} reducing -switches_reduce} dims {{4 8} {2 8}} {
    dict set systems $name [list create_system -name $name -accel npu_v1 -topology islands \
        -dims $dims {*}$far {*}$more]
}
set algorithms {ring ring_bidirectional direct pairwise halving_doubling binomial
    double_binary_tree bruck hierarchical in_switch topology_ring topology_tree multi_axis
    spanning_trees}

# ps, or "" where the algorithm refuses the group.
proc time_of {kind size algorithm chunks group} {
    create_program bench
    if {[catch {
        add_collective $kind -bytes $size -algorithm $algorithm -chunks $chunks {*}$group
        run
    }]} {return ""}
    return [get_property task/0 end -exact]
}

# {ps algorithm/chunks} of the best.
proc best_of {kind size group} {
    set best {Inf none}
    foreach algorithm $::algorithms {
        foreach chunks {1 2 4 8 16 32 64} {
            if {$chunks > 1 && [string match *ring* $algorithm] &&
                $kind in {all_reduce all_gather reduce_scatter}} break
            set ps [time_of $kind $size $algorithm $chunks $group]
            if {$ps eq ""} break
            if {$ps < [lindex $best 0]} {set best [list $ps $algorithm/$chunks]}
        }
    }
    return $best
}

proc some_of {n} {
    set group {}
    for {set i 0} {$i < $n} {incr i} {
        if {$i * 7 % 5 < 3} {lappend group accel/[expr {($i * 11 + 3) % $n}]}
    }
    return [list -accels [lsort -unique $group]]
}

set cases 0
set missed 0
set sum 0.0
foreach name [expr {[llength $argv] > 0 ? $argv : [dict keys $systems]}] {
    {*}[dict get $systems $name]
    set n [llength [get_accels]]
    foreach {who group} [list all {} some [some_of $n]] {
        foreach kind {all_reduce all_gather reduce_scatter all_to_all broadcast reduce gather
            scatter} {
            foreach size {1KiB 16KiB 256KiB 2MiB 16MiB 256MiB 1GiB} {
                lassign [best_of $kind $size $group] best way
                set loss [expr {100.0 * [time_of $kind $size auto 0 $group] / $best - 100}]
                incr cases
                incr missed [expr {$loss > 2}]
                set sum [expr {$sum + $loss}]
                puts [format "%s, %s, %s of %s: best %s, auto loses %.2f %%" \
                    $name $who $kind $size $way $loss]
            }
        }
    }
}
puts [format "auto: %d of %d lose more than 2 %%, %.3f %% in the mean" $missed $cases \
    [expr {$sum / $cases}]]
