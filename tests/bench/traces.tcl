# SPDX-License-Identifier: GPL-3.0-or-later
# traces.tcl - what a trace costs: user time of a run in each format, and without, least of five in
# turns, for other programs come and go; the size of the file.
#   tharsis -no_init -exit tests/bench/traces.tcl WHAT ?INPUTS?
# messages: a million events of messages on ring8; stream: ResNet-34 by uniform on f1_16xlarge, what
# is traced by default; inside: the same, with all signals.
source [file join [file dirname [file normalize [info script]]] cost.tcl]
lassign $argv what inputs
if {$what eq "messages"} {
    read_system ring8
    create_program messages
    add_traffic -pattern uniform -process poisson -rate 5GB/s -message_bytes 64KiB -duration 820ms
} else {
    read_system f1_16xlarge
    read_workload resnet34
    map_workload -algorithm uniform \
        -inputs [expr {$inputs ne "" ? $inputs : $what eq "stream" ? 100 : 60}]
}
set least {}
for {set round 0} {$round < 5} {incr round} {
    foreach format {none vcd perfetto csv chrome} {
        restart
        if {$format ne "none"} {
            open_trace bench.tmp -format $format
            if {$what eq "inside"} {add_trace * -signals *}
        }
        set before [cpu]
        run
        if {$format ne "none"} {
            close_trace
            dict set size $format [expr {[file size bench.tmp] / 1e6}]
            file delete bench.tmp bench.tmp.gtkw bench.gtkw
        }
        set s [expr {[cpu] - $before}]
        if {![dict exists $least $format] || $s < [dict get $least $format]} {
            dict set least $format $s
        }
    }
}
set plain [dict get $least none]
puts [format "%-10s %8.2f s" untraced $plain]
dict for {format mb} $size {
    set s [dict get $least $format]
    puts [format "%-10s %8.2f s  x %.2f  %8.1f MB" $format $s [expr {$s / max($plain, 0.01)}] $mb]
}
