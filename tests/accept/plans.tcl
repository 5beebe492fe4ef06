# SPDX-License-Identifier: GPL-3.0-or-later
# plans.tcl - which plan is best: step times of many training plans each of one model and machine,
# held against measured runs.
#
#   tharsis -exit tests/accept/plans.tcl DIRECTORY ?DIRECTORY ...? ?-rows? ?-fitted? ?-numbers LIST?
#
# A directory holds steps.csv (the layout of vTrain's runs: GPT models on A100, a plan per row, with
# groups that differ in the plan alone; docs/models/training.md says what those in one machine are).
# Figures with a bar each: median of |simulated - measured| / measured in one machine, and in
# several; groups in which the plan that the simulation likes best is the measured best or within
# 5 % of it. plans_fitted lists groups that numbers were fitted to: they do not judge, and -fitted
# prints the figures of them alone. -rows prints every row; -numbers is that of parallel_plan. Exit
# status: 0 where all bars hold, 1 where one does not, 2 where the data cannot be read.
#
# Software: that of 2022, with gradients in 16 bits, as Megatron-LM has them where weights are fp16.

set here [file dirname [file normalize [info script]]]
source [file join $here lib training_rows.tcl]

set machines {
    a100 {system a100 accelerator A100-SXM-80GB accelerators_per_node 8 scale_up_domain 8
        scale_up_gbps_per_direction 300 nics_per_node 4 nic_gbit_s 200}
}

proc vtrain_row {row} {
    dict with row {}
    return [list set $set group $group machine a100 n_accelerators $gpus note "" \
        hidden $hidden heads $heads layers $layers sequence $sequence vocab 51200 recompute full \
        tensor $tensor data $data pipeline $pipeline micro_batch $micro_batch \
        global_batch $global_batch step_s $step_s]
}

proc rows_of {directory} {
    return [lmap row [csv_rows [file join $directory steps.csv]] {vtrain_row $row}]
}

# Groups that numbers were fitted to.
proc fitted_groups {} {
    set f [open [file join $::here plans_fitted]]
    set lines [split [string trim [read $f]] \n]
    close $f
    return [lmap line $lines {
        if {[string match #* $line]} continue
        set line
    }]
}

# Seconds of a step.
proc simulate {row numbers} {
    dict with row {}
    make_system [dict get $::machines $machine] $row
    create_transformer -model gpt3_xl -name plan -layers $layers -hidden $hidden -heads $heads \
        -kv_heads $heads \
        -vocab $vocab -sequence $sequence -recompute $recompute -precision fp16 \
        -head_dim [expr {$hidden / $heads}] -ffn [expr {4 * $hidden}]
    parallel_plan -tensor $tensor -pipeline $pipeline -data $data -micro_batch $micro_batch \
        -global_batch $global_batch -schedule 1f1b -software 2022 -gradients 16bit \
        -numbers $numbers \
        -layout [expr {$layers % $pipeline == 0 ? "layers" : "uneven"}] -ignore_memory
    run
    regexp {"step_ps": (\d+)} [report_training -format json -return_string] - ps
    return [expr {$ps / 1e12}]
}

proc percentile {list share} {
    return [lindex [lsort -real $list] [expr {int(ceil($share * [llength $list])) - 1}]]
}

# ---- figures of {row simulated} ----

proc errors_of {results} {
    return [lmap result $results {
        expr {100 * abs([lindex $result 1] / [dict get [lindex $result 0] step_s] - 1)}
    }]
}

proc by {name results} {
    set out {}
    foreach result $results {dict lappend out [dict get [lindex $result 0] $name] $result}
    return $out
}

# {groups right}: of two plans or more, those whose plan with the shortest simulated step is
# measured to take at most 5 % longer than the best.
proc choices {results} {
    set n 0
    set right 0
    dict for {group members} [by group $results] {
        if {[llength $members] < 2} continue
        set measured [lmap m $members {dict get [lindex $m 0] step_s}]
        set liked [lindex [lsort -real -index 1 $members] 0 0]
        incr n
        incr right [expr {[dict get $liked step_s] <= 1.05 * [lindex [lsort -real $measured] 0]}]
    }
    return [list $n $right]
}

# {pairs right}: of plans of one group 3 % apart or more, those ordered as measured.
proc ordered {results} {
    set pairs 0
    set right 0
    dict for {group members} [by group $results] {
        set seen {}
        foreach member $members {
            set a [dict get [lindex $member 0] step_s]
            set x [lindex $member 1]
            foreach {b y} $seen {
                if {max($a, $b) <= 1.03 * min($a, $b)} continue
                incr pairs
                incr right [expr {($a < $b) == ($x < $y)}]
            }
            lappend seen $a $x
        }
    }
    return [list $pairs $right]
}

proc show_set {name results} {
    set errors [errors_of $results]
    lassign [ordered $results] pairs right
    puts [format "%-24s %4d rows  median %5.1f %%  ninetieth %5.1f %%  %d of %d pairs of plans\
        ordered as measured" $name [llength $errors] [percentile $errors 0.5] \
        [percentile $errors 0.9] $right $pairs]
}

proc show_row {result} {
    lassign $result row got
    dict with row {}
    puts [format "%-28s t%d p%d d%d b%d %10.4f %10.4f %+6.1f %%" $group $tensor $pipeline $data \
        $micro_batch $step_s $got [expr {100 * ($got / $step_s - 1)}]]
}

# ---- bars ----

proc check_bar {what got side bar} {
    set holds [expr {$side eq "most" ? $got <= $bar : $got >= $bar}]
    puts [format "bar: %s: got %.2f %%, at %s %s %%: %s" $what $got $side $bar \
        [expr {$holds ? "holds" : "MISSED"}]]
    return $holds
}

proc check_all {results} {
    set holds 1
    set sets [by set $results]
    dict for {name of_set} $sets {show_set $name $of_set}
    if {[dict exists $sets multi]} {
        dict for {group members} [by group [dict get $sets multi]] {show_set $group $members}
    }
    foreach {name what bar} {
        single "one machine, median" 10
        multi "several machines, median" 13
    } {
        if {![dict exists $sets $name]} continue
        set got [percentile [errors_of [dict get $sets $name]] 0.5]
        set holds [expr {[check_bar $what $got most $bar] && $holds}]
    }
    lassign [choices $results] n right
    if {$n > 0} {
        set share [expr {100.0 * $right / $n}]
        set holds [expr {[check_bar "plan liked best is best" $share least 75] && $holds}]
    }
    puts [format "plans: %.2f percent (%d cases)" [percentile [errors_of $results] 0.5] \
        [llength $results]]
    return $holds
}

proc run_all {directories options} {
    set fitted [fitted_groups]
    set results {}
    foreach directory $directories {
        foreach row [rows_of $directory] {
            if {([dict get $row group] in $fitted) != [dict get $options fitted]} continue
            lappend results [list $row [simulate $row [dict get $options numbers]]]
        }
    }
    delete_accelerator_files
    if {[dict get $options rows]} {foreach result $results {show_row $result}}
    return [check_all $results]
}

set directories {}
set options {rows 0 fitted 0 numbers {}}
while {[llength $argv] > 0} {
    set argv [lassign $argv word]
    switch -- $word {
        -rows - -fitted {dict set options [string range $word 1 end] 1}
        -numbers {set argv [lassign $argv given]; dict set options numbers $given}
        default {lappend directories $word}
    }
}
if {[llength $directories] == 0} {
    puts stderr "usage: tharsis -exit tests/accept/plans.tcl DIRECTORY ?DIRECTORY ...? ?-rows?\
        ?-fitted? ?-numbers LIST?"
    exit 2
}
suppress_message TCL-0079
if {[catch {run_all $directories $options} holds]} {
    puts stderr "plans.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
