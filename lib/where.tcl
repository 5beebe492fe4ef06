# SPDX-License-Identifier: GPL-3.0-or-later
# where.tcl - where: what a run that stands still does; report_breakpoints: where it will stop.

# What each accelerator does now, and the transfers and other tasks in flight.
proc ::tharsis::lib::where {o} {
    core::need program
    core::need simulation
    set stopped [core::stopped]
    set limit [get $o limit [expr {[is_text $o] ? 20 : 2147483647}]]
    set table [table accelerators Accelerators accels {
        {accelerator accel text name} state {array array text {iif(task IS NULL, NULL, array)}} task
        layer {since since time {(SELECT start_ps FROM tasks WHERE tasks.id = task)}} tiles_done
        tiles ready=queue_depth {next next count NULL} {waits_for after count NULL}
        {waits_for_others + count NULL} {waits_for_what {} text NULL}
    } limit $limit notes {
        {array {array: what its array does of the task}} {since {since: start of the task}}
        {{tiles_done tiles} {tiles: computed, of all}} {ready {ready: tasks that could start now}}
        {next {next: the first task in program order that has not started}}
        {{waits_for waits_for_others} {after: the first unfinished task that this waits for, and +\
            how many more}}
    }]
    set nexts [core::nexts]
    set awaited [join [lsearch -all -inline -not [lmap next $nexts {lindex $next 1}] {}] ,]
    set what [concat {*}[core::rows "SELECT id, what || ', ' || state FROM tasks
        WHERE id IN ($awaited)"]]
    lassign [core::tasks_now] done running ready waiting in_flight
    set tables [list [rows_of $table [lmap row [core::rows [dict get $table query]] next $nexts {
        lreplace $row 9 end {*}$next [get $what [lindex $next 1] ""]
    }]] [dict create name tasks title Tasks is_record 1 columns {{done done count}
        {running running count} {ready ready count} {waiting waiting count}
    } rows [list [list $done $running $ready $waiting]]]]
    if {![is_text $o] || [llength $in_flight] > 0} {
        lappend tables [table in_flight "In flight" "tasks WHERE id IN ([join $in_flight ,])" {
            {task task count id} kind {since since time start_ps} bytes what
        } limit $limit]
    }
    return [report where "Where the run stands" $tables \
        head [expr {$stopped eq "" ? "" : [list [list line stopped $stopped]]}]]
}

# ---- breakpoints ----

proc ::tharsis::lib::report_breakpoints {o} {
    lassign {} rows texts
    foreach breakpoint [core::breakpoints] {
        lassign $breakpoint name at on when objects is_disabled hits is_once goes_on script
        lappend rows [list $name $at $on $when $objects [lindex {yes no} $is_disabled] $hits \
            {*}[lmap is [list $is_once $goes_on] {lindex {no yes} $is}] $script]
        foreach part {when do} text [list $when $script] {
            regsub -all {[ \t\r\n]+} [string trim $text] " " line
            if {$text ne ""} {lappend texts [list $name $part $line]}
        }
    }
    set tables [list [dict create name breakpoints rows $rows columns {
        {name name text} {at at time} {on on text} {when {} text} {objects objects count}
        {enabled enabled text} {hits hits count} {once once text} {continue continue text}
        {script {} text}
    } notes {
        {on {on: the event}} {objects {objects: how many objects it is restricted to}}
        {once {once: deleted by its first hit}}
        {continue {continue: the run continues after the script}}
    }]]
    if {[is_text $o] && [llength $texts] > 0} { ;# longer than columns
        lappend tables [dict create name texts title "Conditions and scripts" rows $texts wraps 1 \
            columns {{name name text} {part { } text} {text text text}}]
    }
    return [report breakpoints Breakpoints $tables arranged 1]
}
