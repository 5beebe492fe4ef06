# SPDX-License-Identifier: GPL-3.0-or-later
# shared_links.tcl - CPU time and memory of runs in which many flows share links.
#   tharsis -no_init -exit tests/bench/shared_links.tcl CASE ?SCALE?
# Cases: ring (an all-reduce of 1 GiB round a ring of accelerators in random order, on a torus),
# packets (the same, with -network packet), torus, switch, full (an all-to-all of 1 GiB, direct, on
# these), pipeline (GPT-3 XL, a pipeline of 32 micro-batches on a torus of 64). SCALE: the side of
# the torus (32), of all but the last; others have its square of accelerators. Peak memory is that
# of the process, so that each case takes a run of its own.

source [file join [file dirname [file normalize [info script]]] cost.tcl]
proc shuffled {n} {
    expr {srand(7)}
    return [lmap pair [lsort -real -index 0 [lmap i [lsearch -all [lrepeat $n x] x] {
        list [expr {rand()}] $i
    }]] {lindex $pair 1}]
}
proc system {topology dims} {
    create_system -name bench -topology $topology -dims $dims -accel npu_v1 \
        -link_bandwidth 200Gbps -link_latency 500ns
    create_program bench
}

source [file join [file dirname [file normalize [info script]]] .. accept lib measured_networks.tcl]
lassign $argv case side
if {$side eq ""} {set side 32}
set n [expr {$side * $side}]
switch $case {
    ring - packets {
        system torus [list $side $side]
        add_collective all_reduce -bytes 1GiB -algorithm ring -accels [shuffled $n]
    }
    torus - switch - full {
        system {*}[dict get [list torus [list torus [list $side $side]] \
            switch [list star $n] full [list fully_connected $n]] $case]
        add_collective all_to_all -bytes 1GiB -algorithm direct
    }
    pipeline {
        create_system -name bench -topology torus -dims {8 8} -accel npu_v1 \
            -link_bandwidth 200Gbps -link_latency 500ns
        measured::read gpt3_xl
        map_workload -algorithm pipeline_parallel -inputs 32
    }
    default {error "$case: must be ring, packets, torus, switch, full or pipeline"}
}
set before [cpu]
run {*}[expr {$case eq "packets" ? {-network packet} : {}}]
puts [format "%-8s %3d  end %s  %.2f s  %d MB" $case $side [now] [expr {[cpu] - $before}] [peak_mb]]
