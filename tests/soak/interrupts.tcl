# SPDX-License-Identifier: GPL-3.0-or-later
# interrupts.tcl - Ctrl-C at one look for it after the other, until a command gets through, in TAP:
# whichever part of its work sees it, what is said is what the command promises, catch does not
# swallow it, and the promise is kept.
#   tharsis -no_init -exit tests/soak/interrupts.tcl ?NAME ...?
set script [info script]
source [file join [file dirname $script] probed.tcl]
set child {}

# A session of its own, in which this has run.
proc set_up {script} {
    set ::child [interp create]
    load {} Tharsis $::child
    $::child eval {namespace import ::tharsis::*; set_threads 2}
    $::child eval $script
}

# The command with Ctrl-C at the n-th look: what it said, and whether it got through: then there are
# fewer looks, or at the last one all was done.
proc interrupted {command n} {
    interrupt at $n
    set code [catch {$::child eval "catch {$command}"} said]
    set left [interrupt at 0]
    if {$left > 0} {check $said 0 $command}
    return [list $said [expr {$left > 0 || ($code == 0 && [interrupt take])}]]
}

# How often the command was interrupted, after each of which the probe answers as it did before. At
# the first ten looks, and at every STEP-th from there.
proc count_interruptions {setup command says probe step {or_says ""}} {
    set_up $setup
    set before [$::child eval $probe]
    set times 0
    for {set n 1} {1} {incr n [expr {$n < 10 ? 1 : $step * [expr {40 / [repeats 40]}]}]} {
        lassign [interrupted $command $n] said is_through
        if {$is_through} break
        if {$or_says eq "" || ![string match $or_says $said]} {check $said $says $command}
        check [interrupt take] 0 "$command: a second Ctrl-C"
        check [$::child eval $probe] $before "$command at look $n"
        incr times
    }
    interp delete $::child
    return $times
}

# Rows of SETUP COMMAND SAYS PROBE STEP: each is interrupted at least so often.
proc interrupt_each {times rows} {
    foreach {setup command says probe step} $rows {
        regsub -all {\n\s+} $command { } command
        set n [count_interruptions [subst $setup] $command "[lindex $command 0]: $says" \
            [subst -nocommands $probe] $step]
        if {$n < $times} {error "$command: interrupted $n times"}
    }
}

# 16 ranks that talk for some time.
set exchange {
    create_system -name s -topology torus -dims {4 4} -accel npu_v1 -link_bandwidth 100Gbps \
        -link_latency 500ns
    create_program p
    add_collective all_to_all -bytes 16MB -algorithm direct
}
set half_of_it "$exchange; run -network packet -for 600us"
set mapped {read_system f1_16xlarge; read_workload alexnet; map_workload -algorithm single}
set done "$mapped; run -inputs 40"
set of_a_run {list [now] [report_utilization -return_string] [report_links -return_string]}

test what_does_the_run_again_leaves_it_as_it_was {
    interrupt_each 2 {
        {$::half_of_it} {report_links -over_time link/0_1 -return_string}
        {interrupted; the run is as it was} $::of_a_run 7
        {$::half_of_it} {report_utilization -windows 3 -return_string}
        {interrupted; the run is as it was} $::of_a_run 7
        {$::half_of_it; save_checkpoint a.ckpt; restart; run -network packet -for 10us}
        {load_checkpoint a.ckpt} {interrupted; the run is as it was} $::of_a_run 7
        {$::exchange; run -for 10us}
        {report_sensitivity -of {link/0_1 link/1_0} -return_string}
        {interrupted; nothing was changed} $::of_a_run 9
        {$::mapped; run}
        {report_sensitivity -remap 3 -properties bandwidth -group all -return_string}
        {interrupted; nothing was changed} $::of_a_run 9
        {$::mapped; run}
        {report_reliability -duration 9d -checkpoint_time 5s -runs 4 -failures {{x 3 9h} {y 1 3d}}
            -return_string}
        {interrupted; nothing was printed} $::of_a_run 60
        {$::mapped; run} {report_bounds -what_if -return_string}
        {interrupted; nothing was printed} $::of_a_run 60
        {$::mapped; run} {report_advice -evaluations 3 -changes {memory clock} -return_string}
        {interrupted; nothing was changed} $::of_a_run 9
    }
}

# Lists and reports of some hundred tasks: nothing is printed or written of what is not whole. The
# last is one run of some 40,000 failures, with 22 intervals.
test what_is_long_is_told_whole_or_not_at_all {
    interrupt_each 2 {
        {$::done} get_tasks {interrupted; nothing was changed} now 301
        {$::done} {report_critical_path -return_string} {interrupted; nothing was printed}
        $::of_a_run 101
        {$::done} {report_critical_path -slack -format csv > a.csv}
        {interrupted; nothing was printed} {file exists a.csv} 301
        {$::done} {report_links -return_string} {interrupted; the run is as it was} $::of_a_run 101
        {$::done} {write_report a.html} {interrupted; nothing was written} {file exists a.html} 301
        {} {report_reliability -duration 40000s -failures {{gpu 1000 1000s}} -runs 1
            -checkpoint_time 1s > b.csv}
        {interrupted; nothing was printed} {file exists b.csv} 41
    }
}

# Also in the last slice of a run, which ends where it was to go.
test a_run_goes_on_to_where_it_was_to_go {
    set n [count_interruptions $::exchange {restart; run -network packet -until 300us} \
        "interrupted while its tasks were prepared; nothing has run" \
        {list [run -network packet -until 300us] [now] [report_links -return_string]} 1 \
        "interrupted at *s; `run` continues"]
    check [expr {$n >= 3}] 1
}

# What was chosen for collectives is remembered, so a restart looks seldom; the run then stands
# where it stood.
test restart_gives_up_whole {
    interrupt_each 1 {
        {
            create_system -name s -topology ring -dims 3 -accel npu_v1 -link_bandwidth 100Gbps \
                -link_latency 500ns
            create_program p
            for {set i 1} {\$i <= 600} {incr i} {add_collective all_reduce -bytes \${i}kB}
            inject_fault accel/0 -at 5us -clock x0.5
            run -for 20us
            set_property link/0_1 bandwidth 1Gbps
            run -for 20us
        } restart {interrupted; the run is as it was} $::of_a_run 2
    }
}

# The mapping, how it was found, and the mappings that select_mapping would take.
set of_a_search {
    list [report_mapping -return_string] [report_search -return_string -format json] \
        [catch {report_search -pareto -return_string -format json} front] $front
}

# Ctrl-C at the n-th look of a search: more (it gives the mapping that its message says), before (it
# has found none, and leaves the one before) or through.
proc search_at {command n} {
    $::child eval {map_workload -algorithm single}
    set found [$::child eval {report_mapping -return_string}]
    lassign [interrupted "$command -evaluations 1000000" $n] said is_through
    if {$is_through} {return through}
    check [string match "map_workload: interrupted*" $said] 1 $said
    if {[regexp -- {-evaluations (\d+).*gives it again} $said -> evaluations]} {
        set found [$::child eval $::of_a_search]
        $::child eval "$command -evaluations $evaluations"
        check [$::child eval $::of_a_search] $found "$command -evaluations $evaluations"
        return more
    }
    check $said "map_workload: interrupted before it found a mapping that fits and is in time;\
        the mapping is the one before"
    check [$::child eval {report_mapping -return_string}] $found $command
    return before
}

test a_search_keeps_the_best_it_has_found {
    set_up {read_system f1_16xlarge; read_workload lenet; suppress_message TCL-0300 TCL-0301}
    set all {}
    foreach of {
        portfolio two_level nsga2 {nsga2 -objective {pareto latency throughput}} dp annealing polish
        random h2h uniform
    } {lappend all 1 $of 2 $of}
    for {set i 0} {$i < [llength $all]} {incr i [expr {2 * 40 / [repeats 40]}]} {
        lassign [lrange $all $i $i+1] threads of
        set command "map_workload -seed 3 -threads $threads -algorithm $of"
        set kept {}
        for {set n 1} {$n <= 8 && "through" ni $kept} {incr n [expr {$n + $threads}]} {
            lappend kept [search_at $command $n]
        }
        check [expr {"more" in $kept}] 1 "$command: something is kept"
    }
    interp delete $::child
}

# A deadline that nothing meets: the least late mapping is no result, unless it is asked for.
test a_search_that_is_late_keeps_nothing {
    set_up {read_system f1_16xlarge; read_workload alexnet}
    check [search_at {map_workload -algorithm random -deadline 1ns} 5] before
    check [search_at {map_workload -algorithm random -deadline 1ns -keep_late} 5] more
    interp delete $::child
}

test what_has_not_begun_has_not {
    foreach command {step run} says {step {}} {
        set n [count_interruptions $::mapped $command \
            [expr {$says eq "" ? "interrupted while its tasks were prepared; nothing has run"
                : "step: interrupted; nothing has run"}] now 1 "interrupted at 0s; `run` continues"]
        check [expr {$n >= 1}] 1 $command
    }
    interrupt_each 1 {
        {$::mapped} get_tasks {interrupted; nothing was changed} now 1
        {$::mapped} {set_property accel/0 clock x0.5} {interrupted; nothing was changed}
        {list [now] [get_property accel/0 clock]} 1
        {$::exchange}
        {add_traffic -pattern uniform -rate 100Gbps -message_bytes 100B -duration 100us}
        {interrupted; the program is as it was} {get_tasks} 9
        {} {create_study s -file a.db -parameters {a {1 2}} -metrics latency -where {$a > 0}
            -script {}}
        {interrupted; no study was made} {file exists a.db} 1
    }
}
finish
