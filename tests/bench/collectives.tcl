# SPDX-License-Identifier: GPL-3.0-or-later
# collectives.tcl - how many times its lower bound each collective takes with the algorithm auto.
#   tharsis -no_init -exit tests/bench/collectives.tcl ?SYSTEM ...? ?SIZE ...?
# A table of SYSTEM, kind and size, of which TAP lines say whether bars are kept and no time is
# below its bound; SIZE: 256MiB and 1GiB without. Without SYSTEM: all, which takes ten minutes.

set near {-accel npu_v1 -link_bandwidth 50GB/s -link_latency 500ns}
set far {-accel npu_v1 -link_bandwidth {300GB/s 25GB/s} -link_latency {300ns 3us}}
set kinds {all_reduce all_gather reduce_scatter all_to_all broadcast reduce gather scatter}
# By shape, times the bound for each of kinds; -: none.
set bars {
    torus {1.15 1.15 1.15 1.25 1.5 1.5 1.5 1.5}
    mesh {1.35 1.35 1.35 - 1.5 1.5 1.5 1.5}
    hypercube {1.2 1.2 1.2 - 1.5 1.5 1.5 1.5}
    other {- - - - 1.5 1.5 - -}
}
set systems {
    ring_16 {torus ring 16} torus_4x4 {torus torus {4 4}} torus_4x8 {torus torus {4 8}}
    torus_5x3 {torus torus {5 3}} torus_2x8 {torus torus {2 8}} torus_8x8 {torus torus {8 8}}
    torus_16x16 {torus torus {16 16}} torus_4x4x4 {torus torus {4 4 4}}
    torus_8x8x8 {torus torus {8 8 8}} mesh_4x4 {mesh mesh {4 4}} mesh_4x8 {mesh mesh {4 8}}
    hypercube_4 {hypercube hypercube 4} hypercube_6 {hypercube hypercube 6}
    full_8 {other fully_connected 8} star_16 {other star 16} fattree_8x2 {other fattree {8 2}}
    dragonfly {other dragonfly {2 4 2}} islands_4x8 {other islands {4 8}} dgx_h100_4 {other {} {}}
}

proc create {name topology dims} {
    if {$topology eq ""} {return [create_system dgx_h100 -size 4]}
    create_system -name $name -topology $topology -dims $dims \
        {*}[expr {$topology eq "islands" ? $::far : $::near}]
}

# Times the bound; prints the case.
proc over_bound {name kind size} {
    create_program bench
    add_collective $kind -bytes $size -algorithm auto
    run
    set over [expr {1 + [get_property task/0 over_bound -exact]}]
    puts [format "# %-12s %-14s %-7s %6.3f times the bound, %s by %s in %s chunks" $name $kind \
        $size $over [get_property task/0 end] [get_property task/0 algorithm] \
        [get_property task/0 chunks]]
    return $over
}

set names [lmap arg $argv {expr {[dict exists $systems $arg] ? $arg : [continue]}}]
set sizes [lmap arg $argv {expr {[dict exists $systems $arg] ? [continue] : $arg}}]
if {$sizes eq ""} {set sizes {256MiB 1GiB}}
set n 0
foreach name [expr {$names eq "" ? [dict keys $systems] : $names}] {
    lassign [dict get $systems $name] shape topology dims
    create $name $topology $dims
    foreach kind $kinds bar [dict get $bars $shape] {
        foreach size $sizes {
            set over [over_bound $name $kind $size]
            set misses [expr {$bar ne "-" && $over > $bar}]
            puts [format "%s %d - %s %s %s%s" [expr {$over < 1 || $misses ? "not ok" : "ok"}] \
                [incr n] $name $kind $size \
                [expr {$misses ? [format " # TODO got %.3f, bar %s" $over $bar] : ""}]]
        }
    }
}
puts "1..$n"
