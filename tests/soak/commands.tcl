# SPDX-License-Identifier: GPL-3.0-or-later
# commands.tcl - random sequences of commands, valid and not, in TAP: a line for each sequence.
#   tharsis -no_init -exit tests/soak/commands.tcl ?-seed N?
#
# A command that fails says so in one line and leaves the session as it was; a command that only
# looks leaves it as it was anyway. Whenever a run is done, it is the same run again: in steps, with
# a trace, and continued from a checkpoint. A sequence runs in a process of its own; one that fails
# is made shorter, command by command, while it still fails, and printed. 4 sequences of 30
# commands; with THARSIS_LONG=SECONDS as many as there is time for.
set here [file dirname [file normalize [info script]]]
set root [expr {[info exists env(srcdir)] ? $env(srcdir) : [file join $here .. ..]}]
set builddir [expr {[info exists env(builddir)] ? $env(builddir) : [pwd]}]
set root [file normalize $root]
set builddir [file normalize $builddir]
source [file join $root tests soak repeats.tcl]
source [file join $root tests soak session.tcl]
set length 30

# A list in a template stands for one of its words.
set templates {
    {read_system {f1_16xlarge ring8 script_4 nothing}}
    {create_system -name s -topology {ring torus star bogus} -dims {{2 2} 4 0 {2 x}}
        -accel {npu_v1 none} -link_bandwidth {100Gbps 0 5} -link_latency {500ns -1ns 0s}}
    {read_workload {alexnet lenet nothing} -batch {1 2 0 x}}
    {map_workload -algorithm {greedy single random bogus} -evaluations {5 20 -1} -seed {1 2}}
    {map_workload -algorithm {greedy single} -threads 1}
    {read_mapping {tests/tcl/hand.map tests/tcl/all.tcl none}}
    {create_program {p p q}}
    {add_transfer -from accel/0 -to {accel/1 accel/2 accel/99 accel/0} -bytes {1MB 64B -1 0}}
    {add_collective {all_reduce all_gather bogus} -bytes {256KiB 1MB x}
        -algorithm {ring auto bogus}}
    {add_compute -on {accel/0 accel/1 link/0_1} -duration {10us -1us 1ms}}
    {add_compute -on accel/1 -duration 5us -after {task/0 task/7 none}}
    {run} {run}
    {run -until {5us 100us 20ms bogus}}
    {run -network {packet ideal fluid bogus}}
    {run -inputs {1 2 0}}
    {step {1 10 0 x}}
    {restart}
    {set_property {link/0_1 accel/0 accel/99} {bandwidth clock bogus} {50Gbps x0.5 -1 100MHz}}
    {inject_fault {link/0_1 accel/1 layer/c1} -at {0s 50us -1} {-bandwidth -clock -bogus}
        {x0.5 x2 0}}
    {add_breakpoint -at {3us 1ms bogus}}
    {add_breakpoint -on {task_end stall bogus} -do {{} {incr ::hits} {error hit}} -continue}
    {add_breakpoint
        -when {{accel/0.busy == 1} {link/0_1.flows > 0} x {accel/99.busy == 1}}}
    {delete_breakpoint {* b1 b9}}
    {enable_breakpoint {* b2 b9} -off}
    {set_network -weights {equal latency bogus}} {set_network -packet_bytes {1kB 0B} -reset}
    {save_checkpoint {a.ckpt no/where/\0 b.ckpt}}
    {load_checkpoint {a.ckpt b.ckpt c.ckpt}}
    {save_run {a b a}}
    {open_trace {t.csv t.vcd t.json}} {close_trace}
    {add_trace {accel/0 link/0_1 accel/99} -signals {busy * bogus}}
    {set_units -time {us auto bogus}}
    {select_mapping {0 1 99}}
    {parallel_plan -tensor {2 3 0}}
}
set looking {
    {get_accels {* accel/0 nothing}} {get_tasks *} {get_links -of {accel/0 accel/99}}
    {report_critical_path -return_string} {report_layers -return_string -limit {3 -1}}
    {report_links -return_string -sort_by {bytes bogus}} {report_bounds -return_string}
    {report_sensitivity -return_string} {report_energy -return_string}
    {report_compare a b -return_string} {check_setup} {where} {examine {accel/0.busy x}}
    {report_utilization -return_string -windows {3 0}} {report_diff a b -return_string}
    {write_results r.json} {write_mapping m.map} {write_system s.cfg} {write_workload w.cfg}
    {write_report p.html} {report_alternatives} {report_advice -return_string -limit 2}
}

proc draw {n} {return [expr {int(rand() * $n)}]}

proc drawn_command {} {
    set all [expr {[draw 3] == 0 ? $::looking : $::templates}]
    return [lmap word [lindex $all [draw [llength $all]]] {
        lindex $word [expr {[draw 5] < 3 ? 0 : [draw [llength $word]]}] ;# the first is valid
    }]
}

# How sequences begin.
set beginnings {
    {}
    {{read_system f1_16xlarge} {read_workload alexnet} {map_workload -algorithm greedy -threads 1}}
    {{create_system -name s -topology torus -dims {2 2} -accel npu_v1 -link_bandwidth 100Gbps
        -link_latency 500ns} {create_program p}
        {add_transfer -from accel/0 -to accel/3 -bytes 1MB}
        {add_collective all_reduce -bytes 256KiB}}
}

proc is_looking {command} {
    return [regexp {^(get_|report_|write_|check_|examine|where)} $command]
}

# ---- one sequence, in this process ----

# The same run by other means; each leaves it done. What is another; "": nothing.
proc run_again {child} {
    set whole [look $child]
    foreach {how script} {
        restart {restart; run}
        steps {restart; step 3; step 20; run}
        trace {restart; open_trace again.csv; run; close_trace}
        checkpoint {restart; run -until 20us; save_checkpoint again.ckpt; run
            load_checkpoint again.ckpt; run}
    } {
        if {[catch {$child eval $script} said]} {return "$how: $said"}
        set where [difference $whole [look $child]]
        if {$where ne ""} {return "$how: $where is another"}
    }
    return ""
}

# Is the run one that is the same after restart: not changed, not stopped, not traced?
proc is_plain {child log} {
    return [expr {![regexp {set_property|breakpoint|open_trace|script_4} $log]}]
}

proc play {child commands} {
    set log ""
    foreach command $commands {
        set before [look $child]
        set failed [catch {$child eval $command} said]
        append log $command \n
        if {[info exists ::env(SOAK_TALKS)]} {puts stderr "$failed $command: $said"}
        if {$failed && [string match *\n* $said]} {return "several lines: $command: $said"}
        if {$failed && $said eq "hit"} continue ;# a run stops where a breakpoint's script fails
        set where [difference $before [look $child]]
        if {$where ne "" && ($failed || [is_looking $command])} {
            return "$where is another after: $command: $said"
        }
        if {!$failed && $said eq "done" && [is_plain $child $log]} {
            set what [run_again $child]
            if {$what ne ""} {return "$command again: $what"}
        }
    }
    return ""
}

proc sequence {seed} {
    expr {srand($seed)}
    for {set i 0} {$i < 20} {incr i} {draw 2} ;# the first numbers of near seeds are near
    set all [lindex $::beginnings [draw 3]]
    for {set i 0} {$i < $::length} {incr i} {lappend all [drawn_command]}
    return $all
}

# What goes wrong with the commands in a file; the last line of the output.
if {[lindex $argv 0] eq "-play"} {
    load {} Tharsis [set child [interp create]]
    set f [open [lindex $argv 1]]
    set commands [read $f]
    close $f
    $child eval {namespace import ::tharsis::*; set_threads 1; set hits 0}
    $child eval {cd [lindex $::env(SOAK_FOLDER) 0]}
    $child eval [list set ::env(THARSIS_PATH) $root]
    puts "\nplayed: [play $child $commands]"
    exit 0
}

# ---- many, each in a process ----

proc played {commands} {
    file delete -force $::env(SOAK_FOLDER) ;# with what the last sequence wrote
    file mkdir $::env(SOAK_FOLDER)
    set file [file join $::env(SOAK_FOLDER) sequence.txt]
    set f [open $file w]
    puts $f $commands
    close $f
    set code [catch {
        exec sh -c {ulimit -t 120; exec "$@"} play [info nameofexecutable] -no_init -exit \
            $::script -play $file 2>@1
    } said]
    if {[regexp {\nplayed: ([^\n]*)$} $said -> what]} {return $what}
    return "crashed: [string range $said end-300 end]"
}

proc shortened {commands} {
    for {set i [expr {[llength $commands] - 1}]} {$i >= 0} {incr i -1} {
        set fewer [lreplace $commands $i $i]
        if {[played $fewer] ne ""} {set commands $fewer}
    }
    return $commands
}

set script [file join $root tests soak commands.tcl]
set env(SOAK_FOLDER) [file join $builddir tests soak commands_tmp]
file delete -force $env(SOAK_FOLDER)
file mkdir $env(SOAK_FOLDER)
set first [expr {[lindex $argv 0] eq "-seed" ? [lindex $argv 1] : 1}]
set end [expr {[info exists env(THARSIS_LONG)] ? [clock seconds] + $env(THARSIS_LONG) : 0}]
set most [expr {[lindex $argv 0] eq "-seed" ? 1 : $end > 0 ? 1000000 : [repeats 4]}]
set count 0
for {set seed $first} {$count < $most && ($end == 0 || [clock seconds] < $end)} {incr seed} {
    incr count
    set commands [sequence $seed]
    set what [played $commands]
    puts "[expr {$what eq "" ? "ok" : "not ok"}] $count - seed $seed"
    if {$what ne ""} {
        set commands [shortened $commands]
        foreach command $commands {puts "#   $command"}
        puts "# [string map {\n " | "} [played $commands]]"
    }
    flush stdout
}
puts "1..$count"
file delete -force $env(SOAK_FOLDER)
