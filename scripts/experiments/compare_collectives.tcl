# SPDX-License-Identifier: GPL-3.0-or-later
# compare_collectives.tcl - an all-reduce by every algorithm, small and large, on one topology.
#
#   tharsis -exit scripts/experiments/compare_collectives.tcl ?TOPOLOGY? ?DIMS?
#
# Small messages need few steps, large ones need every link busy; the fastest algorithm depends on
# the topology, because messages share links. The fastest of each size is marked.

lassign [expr {[llength $argv] > 0 ? $argv : {torus {4 4}}}] topology dims
set algorithms {
    ring ring_bidirectional direct pairwise halving_doubling binomial double_binary_tree
    hierarchical
}
set sizes {1kB 32kB 1MB 32MB 1GB}

create_system -name $topology -topology $topology -dims $dims -accel npu_v1 \
    -link_bandwidth 100Gbps -link_latency 500ns

foreach algorithm $algorithms {
    foreach size $sizes {
        create_program "$algorithm $size"
        if {[catch {add_collective all_reduce -bytes $size -algorithm $algorithm}]} continue
        run
        dict set time $size $algorithm [get_property task/0 end -exact]
    }
}

puts "all_reduce of [llength [get_accels]] on $topology $dims, time in us; * the fastest"
puts [format "%-18s%s" algorithm [join [lmap size $sizes {format %12s $size}] ""]]
foreach algorithm $algorithms {
    set line [format %-18s $algorithm]
    foreach size $sizes {
        if {![dict exists $time $size $algorithm]} {
            append line [format %12s -]
            continue
        }
        set ps [dict get $time $size $algorithm]
        set is_best [expr {$ps == [lindex [lsort -integer [dict values [dict get $time $size]]] 0]}]
        append line [format %12s "[expr {$is_best ? "* " : ""}][format %.2f [expr {$ps / 1e6}]]"]
    }
    puts $line
}
