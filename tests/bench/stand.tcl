# SPDX-License-Identifier: GPL-3.0-or-later
# stand.tcl - what large systems take to stand and to run: user time and peak memory when the system
# is made, when its program is (commands of Tcl among it), and after the run.
#   tharsis -no_init -exit tests/bench/stand.tcl ring RANKS      an all-reduce of 1 GiB round it
#   tharsis -no_init -exit tests/bench/stand.tcl TOPOLOGY DIMS   a transfer of 1 MiB from each
#                                                       accelerator to the one halfway round
#   tharsis -no_init -exit tests/bench/stand.tcl training ?MERGE?    GPT-3 175B on 1,024 A100, every
#                                                       message; Llama 3 405B on 16,384 H100, merged
# Of docs/benchmarks.md: ring 1024, ring 4096; torus "64 64", torus "64 32 32", fattree "16 4";
# training, training 1.
source [file join [file dirname [file normalize [info script]]] cost.tcl]
lassign $argv topology dims
proc say {what} {puts [format "%-8s %8.2f s %6d MB" $what [cpu] [peak_mb]]}
if {$topology eq "training"} {
    if {$dims eq "1"} {
        create_system dgx_h100 -size 2048
        create_transformer -model llama3_405b -sequence 8192
        set plan {-data 128 -virtual 8 -layout with_embedding -zero 1 -global_batch 2048
            -overlap {data tensor pipeline} -ignore_memory}
    } else {
        create_system dgx_a100 -size 128
        create_transformer -model gpt3_175b -sequence 2048
        set plan {-data 8 -global_batch 1536 -merge 0}
    }
    say made
    parallel_plan -tensor 8 -pipeline 16 -sequence_parallel {*}$plan
    say loaded
    run
    say run
    puts "end [now]"
    return
}
set rate [expr {$topology eq "ring" ? "400Gbps" : "100Gbps"}]
create_system -name stand -topology $topology -dims $dims -accel npu_v1 -link_bandwidth $rate \
    -link_latency 500ns
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
