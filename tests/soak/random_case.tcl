# SPDX-License-Identifier: GPL-3.0-or-later
# random_case.tcl - systems, workloads and programs, drawn with a seed; the Tcl script that makes
# one; and smaller ones.
#   random_case SEED -> case;  script_of case -> commands;  smaller_cases case -> cases
#
# A case is a dictionary:
#   system   a list of options of create_system, or "graph" and the cables of a system file
#   n        accelerators
#   tasks    of a program, each {ID COMMAND WORDS AFTER}: AFTER are the IDs of its predecessors
#   layers   of a workload, each {NAME TYPE KEY VALUE ...}; empty: the case is a program
#   map      options of map_workload
#   events   commands between building and run: faults
#   run      options of run
# A number of an accelerator in WORDS is written @N and means N modulo n, so that tasks fit a
# smaller system, too.

proc draw {n} {return [expr {int(rand() * $n)}]}
proc one_of {list} {return [lindex $list [draw [llength $list]]]}
# True once in n times.
proc once_in {n} {return [expr {[draw $n] == 0}]}

# ---- systems ----

# TYPE, sides, and what the number of accelerators is of them.
set topologies {
    {ring {3 4 6 8} {$a}} {line {3 5} {$a}} {star {3 4 7} {$a}} {fully_connected {3 4 5} {$a}}
    {hypercube {2 3} {1 << $a}} {mesh {2 3} {2 3} {$a * $b}} {torus {2 3 4} {2 3} {$a * $b}}
    {tree {2 3} {1 2} {$a ** $b}} {fattree {2} {2 3} {$a ** $b}}
    {islands {2 3} {2 3} {$a * $b}} {pcie_tree {1 2} {2} {2} {$a * $b * $c}}
}

proc draw_regular {} {
    set row [one_of $::topologies]
    set dims [lmap sides [lrange $row 1 end-1] {one_of $sides}]
    lassign $dims a b c
    set system [list -topology [lindex $row 0] -dims $dims \
        -accel npu_v1 \
        -link_bandwidth [one_of {100Gbps 8Gbps 25GB/s 333Mbps}] \
        -link_latency [one_of {0s 500ns 7ns 3us}]]
    if {[lindex $row 0] ne "pcie_tree"} {
        lappend system -host
    }
    if {[once_in 4]} {lappend system -half_duplex}
    return [list $system [expr [lindex $row end]]]
}

# A connected graph: a random tree of accelerators, with a few cables more.
proc draw_graph {} {
    set n [expr {3 + [draw 6]}]
    set cables {}
    for {set i 1} {$i < $n} {incr i} {lappend cables [draw_cable $i [draw $i]]}
    for {set i [draw $n]} {$i > 0} {incr i -1} {
        set from [draw $n]
        lappend cables [draw_cable $from [expr {($from + 1 + [draw [expr {$n - 1}]]) % $n}]]
    }
    lappend cables [draw_cable host [draw $n]]
    if {[once_in 2]} {lappend cables [draw_cable host [draw $n]]}
    return [list [list graph {*}$cables] $n]
}

proc draw_cable {a b} {
    return [list $a $b [one_of {8Gbps 100Gbps 3Gbps 77Mbps}] [one_of {0ns 500ns 13ns 2us}] \
        [one_of {full full half}]]
}

# ---- programs ----

proc draw_bytes {} {return [one_of {0 1B 64B 4000B 4KiB 100kB 256KiB 1MB 3333333B}]}

proc draw_time {} {return [one_of {1ps 1ns 333ns 5us 12345ps 40us}]}

# KIND and algorithms that it has.
set collectives {
    {all_reduce {ring ring_bidirectional direct halving_doubling double_binary_tree auto}}
    {all_gather {ring direct bruck auto}} {reduce_scatter {ring direct auto}}
    {all_to_all {direct pairwise bruck auto}} {broadcast {binomial ring auto}}
    {reduce {binomial auto}} {gather {direct binomial auto}} {scatter {direct binomial auto}}
    {barrier {auto}}
}

proc draw_collective {n} {
    lassign [one_of $::collectives] kind algorithms
    set words [list $kind -algorithm [one_of $algorithms]]
    if {$kind ne "barrier"} {lappend words -bytes [draw_bytes]}
    if {$n > 2 && [once_in 3]} {
        set first [draw $n]
        lappend words -accels [list @$first @[expr {$first + 1}]]
    }
    return [list add_collective $words]
}

proc draw_task {n} {
    switch [draw 5] {
        0 - 1 {
            set from [draw $n]
            set to [expr {$from + 1 + [draw [expr {$n - 1}]]}]
            return [list add_transfer [list -from @$from -to @$to -bytes [draw_bytes]]]
        }
        2 - 3 {return [list add_compute [list -on @[draw $n] -duration [draw_time]]]}
        default {return [draw_collective $n]}
    }
}

proc draw_tasks {n} {
    set tasks {}
    for {set id 0; set count [expr {2 + [draw 14]}]} {$id < $count} {incr id} {
        lassign [draw_task $n] command words
        set after {}
        for {set k [draw 3]} {$k > 0 && $id > 0} {incr k -1} {lappend after [draw $id]}
        if {[once_in 4]} {lappend words -at [draw_time]}
        if {$command ne "add_compute" && [once_in 5]} {lappend words -delay [draw_time]}
        lappend tasks [list $id $command $words [lsort -unique -integer $after]]
    }
    return $tasks
}

# ---- workloads ----

# Layers keep height and width, and have few different numbers of channels, so that many can be
# added. channels: of the layers so far.
proc draw_layer {i channels} {
    set input [expr {$i > 0 && [once_in 3] ? [draw $i] : $i - 1}]
    set width [expr {$i > 0 ? [lindex $channels $input] : 4}]
    set like [lsearch -all -exact $channels $width]
    set layer [switch [draw 6] {
        0 - 1 {list conv outputs [one_of {8 16}] kernel 3 padding 1}
        2 {list conv outputs [one_of {8 16}]}
        3 {list relu}
        4 {list conv outputs 16 groups [one_of {1 2}]}
        default {expr {[llength $like] < 2 ? "relu" : "add"}}
    }]
    if {$layer eq "add"} {
        set other [one_of [lsearch -all -inline -not -exact $like $input]]
        lappend layer inputs [list l$input l$other]
    } elseif {$i > 0} {
        lappend layer inputs l$input
    }
    return [list [list l$i {*}$layer] \
        [expr {[lindex $layer 0] eq "conv" ? [lindex $layer 2] : $width}]]
}

proc draw_layers {} {
    set layers {}
    set channels {}
    for {set i 0; set count [expr {1 + [draw 7]}]} {$i < $count} {incr i} {
        lassign [draw_layer $i $channels] layer width
        lappend layers $layer
        lappend channels $width
    }
    if {[once_in 2]} {lappend layers {pool mean_pool} {fc fc outputs 10}}
    return $layers
}

proc draw_map {} {
    set algorithm [one_of {random random greedy uniform computation_prioritized data_parallel
        model_parallel pipeline_parallel two_level}]
    set map [list -algorithm $algorithm]
    if {$algorithm in {random two_level}} {
        lappend map -evaluations [one_of {3 10}] -seed [expr {1 + [draw 1000]}]
    }
    if {[once_in 3]} {lappend map -inputs [one_of {2 3}]}
    if {[once_in 4]} {lappend map -interval [one_of {1us 50us}]}
    if {[once_in 4]} {lappend map -micro_batches 2}
    if {[once_in 4]} {lappend map -chunks 1}
    return $map
}

# ---- cases ----

proc draw_event {n} {
    set at [list -at [one_of {0s 1us 10us}]]
    return [one_of [list \
        [list {inject_fault [lindex [get_links] 0]} {*}$at -for 20us] \
        [list {inject_fault [lindex [get_links] end]} {*}$at -bandwidth x0.3] \
        [list inject_fault accel/@[draw $n] {*}$at -clock x0.5 -for 10us] \
        [list inject_fault accel/@[draw $n] {*}$at -for [one_of {1us 20us}]] \
        [list {inject_fault [get_accels]} -mtbf 20us -for 3us -until 200us -seed [draw 100]] \
        [list {inject_fault [get_accels]} {*}$at -jitter [one_of {1% 30% 400%}] -seed [draw 100]] \
        [list {inject_fault [get_links]} {*}$at -mtbf 50us -for 3us -until 200us -seed [draw 100]]]]
}

proc random_case {seed} {
    expr {srand($seed)}
    for {set i 0} {$i < 20} {incr i} {draw 2} ;# the first numbers of near seeds are near
    lassign [if {[once_in 3]} {draw_graph} else {draw_regular}] system n
    set case [dict create system $system n $n tasks {} layers {} batch 1 map {} events {} run {}]
    if {[once_in 2]} {
        dict set case layers [draw_layers]
        dict set case batch [one_of {2 4}]
        dict set case map [draw_map]
    } else {
        dict set case tasks [draw_tasks $n]
    }
    switch [draw 6] {
        0 {dict set case run {-network packet}}
        1 {dict set case run {-network ideal}}
        2 {dict set case run {-weights latency}}
    }
    if {"-network" ni [dict get $case run] && [once_in 3]} {
        dict set case events [list [draw_event $n]] ;# only fluid can change bandwidths
    }
    return $case
}

# The line that runs the case, whatever ran before it in the session.
proc run_line {case} {
    set options [dict get $case run]
    if {"-weights" in $options} {return "set_network -reset [join $options]; run"}
    return "set_network -reset; run $options"
}

# ---- as a script ----

proc graph_lines {cables n} {
    set names [lmap i [lsearch -all [lrepeat $n x] x] {string cat \" $i \"}]
    set text "name = \"graph\";\nhosts = ( \"host\" );\ndesigns = ("
    append text " { name = \"array\"; type = \"roofline\"; clock = \"1GHz\";" \
        " macs_per_cycle = 256; } );\naccelerators = ( { names = \[[join $names {, }]\];\n" \
        "    dram = { capacity = \"1GiB\"; bandwidth = \"16GB/s\"; };\n" \
        "    vector = { clock = \"1GHz\"; elements_per_cycle = 64; };\n" \
        "    designs = \[\"array\"\]; } );\n"
    set links [lmap cable $cables {
        lassign $cable a b bandwidth latency duplex
        string cat "    { between = \[\"$a\", \"$b\"\]; bandwidth = \"$bandwidth\"; " \
            "latency = \"$latency\"; duplex = \"$duplex\"; }"
    }]
    return "${text}links = (\n[join $links ,\n]\n);"
}

proc system_commands {case} {
    set system [dict get $case system]
    if {[lindex $system 0] ne "graph"} {return [list "create_system -name s $system"]}
    set text [graph_lines [lrange $system 1 end] [dict get $case n]]
    return [list {set f [open graph.cfg w]} "puts \$f {$text}" {close $f} {read_system graph.cfg}]
}

# @N as the number of an accelerator.
proc numbered {words n} {
    set out ""
    while {[regexp -indices {@(\d+)} $words all digits]} {
        append out [string range $words 0 [expr {[lindex $all 0] - 1}]] \
            [expr {[string range $words {*}$digits] % $n}]
        set words [string range $words [expr {[lindex $all 1] + 1}] end]
    }
    return $out$words
}

# Predecessors that are there; each task is a variable.
proc task_command {task n present} {
    lassign $task id command words after
    set after [lmap other $after {if {$other ni $present} continue; string cat \$t$other}]
    set line "set t$id \[$command [numbered $words $n]"
    if {$after ne ""} {append line " -after \[list [join $after]\]"}
    return $line\]
}

# The commands of a case up to its run.
proc script_of {case} {
    set n [dict get $case n]
    set commands [system_commands $case]
    if {[dict get $case layers] ne ""} {
        lappend commands "create_workload -name w -input {4 8 8} -batch [dict get $case batch]\
            -layers {[dict get $case layers]}" "map_workload -threads 1 [dict get $case map]"
    } else {
        lappend commands {create_program p}
        set present {}
        foreach task [dict get $case tasks] {
            lappend commands [task_command $task $n $present]
            lappend present [lindex $task 0]
        }
    }
    foreach event [dict get $case events] {
        lappend commands [numbered [join $event] $n]
    }
    return $commands
}

# ---- smaller ones ----

# Each list of a case without one element, or two for options.
proc smaller_lists {case key width} {
    set list [dict get $case $key]
    set cases {}
    for {set i [expr {[llength $list] - $width}]} {$i >= 0} {incr i -$width} {
        lappend cases [dict replace $case $key [lreplace $list $i $i+[expr {$width - 1}]]]
    }
    return $cases
}

proc smaller_systems {case} {
    set system [dict get $case system]
    set cases {}
    if {[lindex $system 0] eq "graph"} {
        for {set i [expr {[llength $system] - 1}]} {$i > 0} {incr i -1} {
            lappend cases [dict replace $case system [lreplace $system $i $i]]
        }
        return $cases
    }
    foreach flag {-half_duplex -host} {
        set at [lsearch -exact $system $flag]
        if {$at >= 0} {lappend cases [dict replace $case system [lreplace $system $at $at]]}
    }
    set dims [lindex $system 3]
    if {[llength $dims] == 1 && $dims > 2 && [lindex $system 1] ne "hypercube"} {
        lappend cases [dict replace $case system [lreplace $system 3 3 [expr {$dims - 1}]] \
            n [expr {[dict get $case n] - 1}]]
    }
    return $cases
}

# Cases with one thing less, what is likely to go first.
proc smaller_cases {case} {
    set cases {}
    foreach {key width} {events 1 tasks 1 layers 1 run 2 map 2} {
        lappend cases {*}[smaller_lists $case $key $width]
    }
    lappend cases {*}[smaller_systems $case]
    return [lsearch -all -inline -not -exact [lmap smaller $cases {
        expr {[dict get $smaller tasks] eq "" && [dict get $smaller layers] eq "" ? "" : $smaller}
    }] {}]
}
