# SPDX-License-Identifier: GPL-3.0-or-later
# large.tcl - searches on 64 accelerators, on two threads: the best, user and wall time.
#   tharsis -no_init -exit tests/bench/large.tcl torus|f1 MODEL BATCH ?ALGORITHM ...?
#   torus  an 8 x 8 torus of the FPGAs of f1_16xlarge with their first design alone, cables as there
#   f1     eight groups of eight of them: cables within a group, a switch between groups
#   chain  as MODEL: 100 convolutions in a row, four stages of half the size and twice the channels
source [file join [file dirname [file normalize [info script]]] cost.tcl]
set algorithms [lassign $argv system model batch]
if {$system eq "torus"} {
    create_system -name torus -topology torus -dims {8 8} -accel f1_16xlarge -link_bandwidth 8Gbps \
        -link_latency 1us -host -host_bandwidth 2Gbps
    set designs {-designs tiled}
} else {
    create_system -name f1_8x8 -topology islands -dims {8 8} -island fully_connected \
        -nics accelerator -accel f1_16xlarge -link_bandwidth {8Gbps 2Gbps} -link_latency 1us
    set designs {}
}
if {$model eq "chain"} {
    set layers {}
    for {set l 0} {$l < 100} {incr l} {
        lappend layers "{ name = \"c$l\"; type = \"conv\"; outputs = [expr {64 << $l / 25}];\
            kernel = 3; padding = 1; stride = [expr {$l > 0 && $l % 25 == 0 ? 2 : 1}]; }"
    }
    set f [open chain.tmp.cfg w]
    puts $f "name = \"chain\"; batch = $batch; element_bytes = 2;\
        input = { channels = 64; height = 56; width = 56; }; layers = ( [join $layers ,\n] );"
    close $f
    read_workload chain.tmp.cfg
    file delete chain.tmp.cfg
} else {
    read_workload $model -batch $batch
}
if {$algorithms eq {}} {set algorithms portfolio}
foreach algorithm $algorithms {
    set before [cpu]
    set wall [clock milliseconds]
    set best [map_workload -algorithm $algorithm -threads 2 {*}$designs]
    puts [format "%-24s %12s %8.1f CPU s %8.1f s" $algorithm $best [expr {[cpu] - $before}] \
        [expr {([clock milliseconds] - $wall) / 1000.0}]]
}
