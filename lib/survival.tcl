# SPDX-License-Identifier: GPL-3.0-or-later
# survival.tcl - report_survival: what the mapping loses by any one failure.

proc ::tharsis::lib::report_survival {o} {
    lassign [core::survival] goal has_links before worst mean_loss runs cases
    lassign $goal objective column
    set kind [lindex $column 2]
    set head [list [list line objective $objective]]
    if {[lindex [core::next_run] 2] > 0} {
        lappend head {line faults "those of inject_fault and set_property do not count"}
    }
    if {!$has_links} {lappend head {line links "do not fail: only fluid can change them in a run"}}
    set n_lost 0
    set rows [lmap case $cases {
        lassign $case object repair to value loss
        if {$loss eq ""} {incr n_lost}
        set by [list spare accel/$to reshard "$to of its set" move "set $to" detour "other links"]
        list $object $repair [get $by $repair ""] $value $loss
    }]
    lassign [lindex $cases $worst] worst_object - - worst_value worst_loss
    set figures [list [expr {$n_lost == 0 ? "yes" : "no"}] $before $worst_value $worst_loss \
        $worst_object $mean_loss [llength $cases] $n_lost $runs]
    return [report survival "Survival of any one failure" [list \
        [dict create name survival is_record 1 rows [list $figures] columns [list \
            {survives "survives any one failure" text} [list before "without failure" $kind] \
            [list worst_after "after the worst" $kind] {worst_loss "loss then" change} \
            {worst "the worst" text} {mean_loss "mean loss" change} {failures failures count} \
            {not_survived "not survived" count} {runs runs count}]] \
        [dict create name failures rows $rows columns [list {object fails text} \
            {repair repair text} {by by text} [list after "after it" $kind] {loss loss change}]]] \
        arranged 2 head $head]
}
