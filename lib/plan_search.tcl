# SPDX-License-Identifier: GPL-3.0-or-later
# plan_search.tcl - report_search after search_plan, and report_bounds of a parallel plan.

proc ::tharsis::lib::report_search {o} {
    lassign [core::plans] search plans
    lassign $search objectives tokens evaluations is_done bound elapsed top most_fill
    foreach option {convergence timing} {
        fail_if {[dict exists $o $option]} TCL-3121 "-$option: is for searches of mappings;\
            search_plan made this program"
    }
    set is_front [dict exists $o pareto]
    fail_if {$is_front && [llength $objectives] < 2} TCL-3123 "-pareto: the search had one\
        objective: search_plan -objective {step tokens_per_cost}, or {step tokens_per_joule}, was\
        expected"
    set best [lindex $plans 0]
    set simulated $plans
    lassign $best name - - - - - step value
    set gap [expr {$bound eq "" || $bound >= $value ? 0 : $bound > 0 ? $value / $bound - 1 : ""}]
    set record [dict create name search is_record 1 columns [list {objective objective text}\
        {best best text} {step step time} {*}[rate_columns $objectives]\
        {evaluations "plans simulated" count} {found_at "best found at" count}\
        {gap "gap to the bound of all others" share} {proven "proven best" text}
    ] rows [list [list [join $objectives { and }] $name $step\
        {*}[rates_of $objectives $tokens $best] $evaluations [lindex $best 13] $gap\
        [lindex $best 12]]]]
    if {$is_front} {
        set number -1
        set front [front_of [lmap plan $plans {
            list [incr number] [lindex $plan 7] [lindex $plan 15]
        }]]
        set plans [lmap number [lsort -integer $front] {
            lreplace [lindex $plans $number] 12 12 [expr {$is_done ? "yes" : "no"}]
        }]
    }
    set rank 0
    set table [dict create name plans title [expr {$is_front ?
        "Plans that no other beats in [join $objectives { and }]" : "Plans that were simulated"}]\
        columns [concat {
        {rank {} count} {plan plan text} {schedule schedule text} {zero ZeRO count}
        {micro_batch batch count} {recompute recompute text} {sequence_parallel seq text}
        {step step time} {change change change} {utilization MFU share} {memory memory bytes}
        {proven proven text}} [list [list ranks [expr {$is_front ? "ranks" : ""}] count]] {
        {evaluation {} count} {options {} text}} [rate_columns $objectives]
    ] rows [lmap plan $plans {
        lassign $plan name schedule zero batch again sequence ps - used ranks bytes - proven at text
        list [incr rank] $name $schedule $zero $batch $again $sequence $ps [change_from $ps $step] \
            $used $bytes $proven $ranks $at $text {*}[rates_of $objectives $tokens $plan]
    }] notes [list\
        {plan {TP: ranks that share products, CP: sequences, PP: stages, VP: chunks, EP: experts,\
            ETP: an expert, DP: replicas}} {change {change: of the step, from the first}}\
        {sequence_parallel {seq: sequence parallel}} {utilization {MFU: model utilization}}\
        [list proven "proven: no plan is better\
            [expr {$is_front ? "in both" : "but those above"}]"]\
    ] limit [get $o limit [expr {[is_text $o] ? $top > 10 ? $top : 10 : 2147483647}]]]
    return [report search Search [list $record $table] arranged 2 \
        head [sentences [memory_sentences $simulated $most_fill]]]
}

# Where the best plan may not fit, since estimates of memory are off by so much: which one does.
proc ::tharsis::lib::memory_sentences {plans most_fill} {
    set room [row {SELECT min(dram_bytes) FROM accels}]
    lassign [lindex $plans 0] name - - - - - step - - - bytes
    if {$room eq "" || $bytes <= $room} {return {}}
    set says [format "%s may not fit: it needs %s of %s, by estimates within %.0f %%;" $name \
        [core::quantity bytes $bytes] [core::quantity bytes $room] [expr {100 * ($most_fill - 1)}]]
    foreach plan $plans {
        lassign $plan name - - - - - ps - - - bytes
        if {$bytes * $most_fill > $room} continue
        return [list "$says the best that fits for sure: $name, [core::quantity bytes $bytes], step\
            [percent [change_from $ps $step] %+.2f]"]
    }
    return [list "$says no plan that was simulated fits for sure"]
}

# The same as a clause of search_plan's sentence; empty where the best plan fits for sure.
proc ::tharsis::lib::search_memory {} {
    lassign [core::plans] search plans
    return [regsub {.$} [join [memory_sentences $plans [lindex $search 7]]] {&; }]
}

# In text only where they are what was searched for.
proc ::tharsis::lib::rate_columns {objectives} {
    return [lmap {what heading} {
        tokens_per_joule "tokens per J" tokens_per_cost "tokens per s and unit of cost"
    } {list $what [expr {$what in $objectives ? $heading : ""}] number}]
}

# Of a plan.
proc ::tharsis::lib::rates_of {objectives tokens plan} {
    return [lmap what {tokens_per_joule tokens_per_cost} {
        set at [lsearch -exact $objectives $what]
        expr {$at < 0 ? "" : $tokens / [lindex $plan [expr {$at ? 15 : 7}]]}
    }]
}

# Of the program that parallel_plan or search_plan made.
proc ::tharsis::lib::plan_bounds {o} {
    lassign [core::plan_bounds] compute links schedule
    lassign [core::plans] search plans
    set step [lindex $plans 0 6]
    if {$step eq "" && ![catch {core::rows "SELECT makespan_ps, finished FROM run"} run]} {
        set step [lindex $run 0 0]
    }
    set rows [list [list computation $compute] [list links $links] [list schedule $schedule]]
    lassign $search objectives - - - others
    if {[lindex $objectives 0] eq "step" && $others ne ""} {
        lappend rows [list "other plans" [expr {round($others * 1e12)}]]
    }
    return [report bounds "Lower bounds" [list [dict create name bounds columns {
        {bound bound text} {step step time} {gap gap change}
    } rows [lmap row $rows {
        list {*}$row [change_from $step [lindex $row 1]]
    }] notes {
        {bound {computation: of the mean stage, all else free; links: and messages, each as fast as\
            the links into an accelerator; schedule: operation by operation, which is the step\
            where nothing overlaps}}
        {gap {gap: step / bound - 1}}
    }]]]
}
