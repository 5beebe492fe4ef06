# SPDX-License-Identifier: GPL-3.0-or-later
# plan_search.tcl - report_search after search_plan, and report_bounds of a parallel plan.

proc ::tharsis::lib::report_search {o} {
    lassign [core::plans] search plans
    foreach option {convergence pareto timing} {
        fail_if {[dict exists $o $option]} TCL-3121 "-$option: is for searches of mappings;\
            search_plan made this program"
    }
    lassign $search objective tokens evaluations is_done bound elapsed top
    set best [lindex $plans 0]
    lassign $best name - - - - - step value
    set gap [expr {$bound eq "" || $bound >= $value ? 0 : $bound > 0 ? $value / $bound - 1 : ""}]
    set record [dict create name search is_record 1 columns [list {objective objective text}\
        {best best text} {step step time}\
        [rate_column tokens_per_joule "tokens per J" $objective]\
        [rate_column tokens_per_cost "tokens per s and unit of cost" $objective]\
        {evaluations "plans simulated" count} {found_at "best found at" count}\
        {gap "gap to the bound of all others" share} {proven "proven best" text}
    ] rows [list [list $objective $name $step [rate_of tokens_per_joule $objective $tokens $value]\
        [rate_of tokens_per_cost $objective $tokens $value] $evaluations [lindex $best 13] $gap\
        [lindex $best 12]]]]
    set rank 0
    set table [dict create name plans title "Plans that were simulated" columns {
        {rank {} count} {plan plan text} {schedule schedule text} {zero ZeRO count}
        {micro_batch batch count} {recompute recompute text} {sequence_parallel seq text}
        {step step time} {change change change} {utilization MFU share} {memory memory bytes}
        {proven proven text} {ranks {} count} {evaluation {} count} {options {} text}
    } rows [lmap plan $plans {
        lassign $plan name schedule zero batch again sequence ps - used ranks bytes - proven at text
        list [incr rank] $name $schedule $zero $batch $again $sequence $ps\
            [expr {double($ps) / $step - 1}] $used $bytes $proven $ranks $at $text
    }] notes {
        {plan {TP: ranks that share products, CP: sequences, PP: stages, VP: chunks, EP: experts,\
            ETP: an expert, DP: replicas}} {change {change: of the step, from the first}}
        {sequence_parallel {seq: sequence parallel}} {utilization {MFU: model utilization}}
        {proven {proven: no plan is better but those above}}
    } limit [get $o limit [expr {[is_text $o] ? $top > 10 ? $top : 10 : 2147483647}]]]
    return [report search Search [list $record $table] arranged 2]
}

# In text only where it is what was searched for.
proc ::tharsis::lib::rate_column {name heading objective} {
    return [list $name [expr {$name eq $objective ? $heading : ""}] number]
}

proc ::tharsis::lib::rate_of {what objective tokens value} {
    return [expr {$what eq $objective ? $tokens / $value : ""}]
}

# Of the program that parallel_plan or search_plan made.
proc ::tharsis::lib::plan_bounds {o} {
    lassign [core::plan_bounds] compute links schedule
    lassign [core::plans] search plans
    set step [lindex $plans 0 6]
    if {$step eq "" && ![catch {core::rows "SELECT makespan_ps, finished FROM run"} run]} {
        set step [lindex $run 0 0]
    }
    set rows [list [list computation $compute] [list links $links]\
        [list schedule $schedule]]
    lassign $search objective - - - others
    if {$objective eq "step" && $others ne ""} {
        lappend rows [list "other plans" [expr {round($others * 1e12)}]]
    }
    return [report bounds "Lower bounds" [list [dict create name bounds columns {
        {bound bound text} {step step time} {gap gap change}
    } rows [lmap row $rows {
        list {*}$row [expr {$step eq "" ? "" : double($step) / [lindex $row 1] - 1}]
    }] notes {
        {bound {computation: of the mean stage, all else free; links: and messages, each as fast as\
            the links into an accelerator and an island; schedule: operation by operation, which is\
            the step where nothing overlaps}}
        {gap {gap: step / bound - 1}}
    }]]]
}
