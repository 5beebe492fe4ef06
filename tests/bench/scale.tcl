# SPDX-License-Identifier: GPL-3.0-or-later
# scale.tcl - what one replay takes where one set spans all accelerators, from 8 to 64 of them: its
# flows grow with their square, and so do hops, times the length of routes. ResNet-101, 8 images,
# all layers split alike; user time of a run, mean of ten after the first; hops of flows between
# accelerators.
#   tharsis -no_init -exit tests/bench/scale.tcl
source [file join [file dirname [file normalize [info script]]] cost.tcl]
puts [format "%-6s %-8s %8s %8s %8s %8s %10s %14s" torus split tasks flows hops "run, ms" \
    "us a task" "us a task, hop"]

# What a run takes with one set over all n accelerators of a torus.
proc replay {dims split} {
    lassign $dims x y
    create_system -name scale -topology torus -dims $dims -accel npu_v1 -link_bandwidth 100Gbps \
        -link_latency 500ns -host
    read_workload resnet101 -batch 8
    set accels [lmap a [get_accels] {format {"%s"} [file tail $a]}]
    set layers [lmap l [get_layers] {
        format {{ name = "%s"; set = 0; split = { %s }; }} [file tail $l] $split
    }]
    set f [open scale.tmp.map w]
    puts $f "sets = ( { design = \"npu_v1\"; accelerators = \[ [join $accels ,] \]; } );"
    puts $f "layers = ( [join $layers ,\n] );"
    close $f
    read_mapping scale.tmp.map
    file delete scale.tmp.map
    for {set round 0} {$round <= 10} {incr round} {
        restart
        if {$round == 1} {set before [cpu]}
        run
    }
    set s [expr {([cpu] - $before) / 10}]
    set flows [lmap row [query -as list {SELECT node, peer FROM tasks WHERE kind = 'transfer'}] {
        lmap node $row {file tail $node}
    }]
    set hops 0
    foreach flow $flows {
        lassign $flow from to
        if {[string is integer $from] && [string is integer $to]} {
            set dx [expr {abs($from % $x - $to % $x)}]
            set dy [expr {abs($from / $x - $to / $x)}]
            incr hops [expr {min($dx, $x - $dx) + min($dy, $y - $dy)}]
        }
    }
    set tasks [llength [get_tasks]]
    puts [format "%-6s %-8s %8d %8d %8d %8.1f %10.2f %14.2f" [join $dims x] \
        [string map {" = " {} ; {}} $split] $tasks [llength $flows] $hops [expr {1e3 * $s}] \
        [expr {1e6 * $s / $tasks}] [expr {1e6 * $s / ($tasks + $hops)}]]
}
foreach dims {{4 2} {4 4} {8 4} {8 8}} {
    replay $dims "K = [expr {[lindex $dims 0] * [lindex $dims 1]}];"
}
foreach dims {{4 4} {8 4} {8 8}} {
    replay $dims "B = 8; K = [expr {[lindex $dims 0] * [lindex $dims 1] / 8}];"
}
