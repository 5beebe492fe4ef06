# SPDX-License-Identifier: GPL-3.0-or-later
# stand.tcl - what large systems take to stand and to run: user time and peak memory when the system
# is made, when its program is (commands of Tcl among it), and after the run.
#   tharsis -no_init -exit tests/bench/stand.tcl ring RANKS      an all-reduce of 1 GiB round it
#   tharsis -no_init -exit tests/bench/stand.tcl TOPOLOGY DIMS   a transfer of 1 MiB from each
#                                                       accelerator to the one halfway round
# Of docs/benchmarks.md: ring 1024, ring 4096; torus "64 64", torus "64 32 32", fattree "16 4".
source [file join [file dirname [file normalize [info script]]] cost.tcl]
lassign $argv topology dims
set rate [expr {$topology eq "ring" ? "400Gbps" : "100Gbps"}]
create_system -name stand -topology $topology -dims $dims -accel npu_v1 -link_bandwidth $rate \
    -link_latency 500ns
proc say {what} {puts [format "%-8s %8.2f s %6d MB" $what [cpu] [peak_mb]]}
say made
create_program stand
if {$topology eq "ring"} {
    add_collective all_reduce -bytes 1GiB -algorithm ring
} else {
    set n [llength [get_accels *]]
    for {set a 0} {$a < $n} {incr a} {
        add_transfer -from accel/$a -to accel/[expr {($a + $n / 2) % $n}] -bytes 1MiB
    }
}
say loaded
run
say run
puts "end [now]"
