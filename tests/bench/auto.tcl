# SPDX-License-Identifier: GPL-3.0-or-later
# auto.tcl - what the algorithm auto loses against the best of all algorithms and chunks.
#   tharsis -no_init -exit tests/bench/auto.tcl ?SYSTEM ...?
# Every collective of seven sizes, on each system among all accelerators and among some of them in
# an order of no order, is simulated with every algorithm and 1, 4, 16, 64 chunks, then with auto.
# One line each: percent that auto takes longer; at the end, how many and the mean. Without SYSTEM:
# all of them, which takes half an hour.

set near {-link_bandwidth 50GB/s -link_latency 500ns}
set far {-link_bandwidth {300GB/s 25GB/s} -link_latency {300ns 3us}}
set systems [dict create \
    ring [list 16 -topology ring -dims 16 {*}$near] \
    star [list 16 -topology star -dims 16 {*}$near] \
    star_of_12 [list 12 -topology star -dims 12 {*}$near] \
    full [list 8 -topology fully_connected -dims 8 {*}$near] \
    mesh [list 16 -topology mesh -dims {4 4} {*}$near] \
    hypercube [list 32 -topology hypercube -dims 5 {*}$near] \
    torus [list 64 -topology torus -dims {8 8} {*}$near] \
    torus_of_3 [list 64 -topology torus -dims {4 4 4} {*}$near] \
    fattree [list 64 -topology fattree -dims {8 2} {*}$near] \
    dragonfly [list 72 -topology dragonfly -dims {2 4 2} {*}$near] \
    islands [list 32 -topology islands -dims {4 8} {*}$far] \
    reducing [list 16 -topology islands -dims {2 8} {*}$far -switches_reduce]]
set algorithms {ring ring_bidirectional direct pairwise halving_doubling binomial
    double_binary_tree bruck hierarchical in_switch topology_ring topology_tree}

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
        foreach chunks {1 4 16 64} {
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
    set options [lassign [dict get $systems $name] n]
    create_system -name $name -accel npu_v1 {*}$options
    foreach {who group} [list all {} some [some_of $n]] {
        foreach kind {all_reduce all_gather reduce_scatter all_to_all broadcast reduce gather
            scatter} {
            foreach size {1kB 10kB 100kB 1MB 10MB 100MB 1GB} {
                lassign [best_of $kind $size $group] best way
                set loss [expr {100.0 * [time_of $kind $size auto 0 $group] / $best - 100}]
                incr cases
                incr missed [expr {$loss >= 0.005}]
                set sum [expr {$sum + $loss}]
                puts [format "%s, %s, %s of %s: best %s, auto loses %.2f %%" \
                    $name $who $kind $size $way $loss]
            }
        }
    }
}
puts [format "auto: %d of %d missed, %.3f %% lost in the mean" $missed $cases \
    [expr {$sum / $cases}]]
