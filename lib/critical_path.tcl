# SPDX-License-Identifier: GPL-3.0-or-later
# critical_path.tcl - report_critical_path -by: the critical path by kind, or by layer.

# Of a step of training kinds are purposes, and layers those of the model.
proc ::tharsis::lib::path_tables {by} {
    set layer {layer layer text {ifnull(model_layer, layer)}}
    set kind {kind kind text {ifnull(purpose, kind)}}
    set pass {pass pass text pass}
    set shared {{tasks tasks count count(*)} {time time time sum(path_time_ps)}
        {share share share {sum(path_time_ps) * 1.0 / (SELECT makespan_ps FROM run)}}}
    lassign [expr {$by eq "kind" ? {{1, 2} {sum(path_time_ps) DESC}} :
        {{1, 2, 3} {min(start_ps), sum(path_time_ps) DESC}}}] group order
    set columns [list {*}[expr {$by eq "kind" ? "" : [list $layer]}] $kind $pass {*}$shared]
    set is_step [dict get [core::about] is_step]
    if {!$is_step} {set columns [lreplace $columns end-3 end-3 {pass {} text pass}]}
    return [dict create tables [list [table path_by_$by "Critical path by $by" "tasks WHERE\
        path_time_ps IS NOT NULL GROUP BY $group ORDER BY $order" $columns absent -]]]
}

proc ::tharsis::lib::path_groups {} {
    return [dict create tables [concat {*}[lmap by {kind layer} {
        dict get [path_tables $by] tables
    }]]]
}

# What takes most of the path, and which kind most of that; none of an empty path.
proc ::tharsis::lib::path_sentences {by} {
    set from "FROM tasks WHERE path_time_ps IS NOT NULL"
    set time "sum(path_time_ps)"
    set kind "ifnull(purpose, kind)"
    set key [expr {$by eq "kind" ? $kind : "ifnull(ifnull(model_layer, layer), '')"}]
    set largest "SELECT %s $from %s GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1"
    lassign [row [format $largest "$key, $time" ""]] what ps
    set makespan [row {SELECT makespan_ps FROM run}]
    if {$what eq "" || $makespan == 0} return
    set end "[percent [expr {double($ps) / $makespan}]] of the critical path,\
        [core::quantity time $ps] of [core::quantity time $makespan]"
    if {$by eq "kind"} {return [list "$what takes $end"]}
    set of_it "AND $key = '[string map {' ''} $what]'"
    lassign [row [format $largest "$kind, $time" $of_it]] kind part
    return [list "layer [clip $what 60] takes $end;\
        [percent [expr {double($part) / $ps}]] of that is $kind"]
}

proc ::tharsis::lib::report_critical_path {o} {
    core::need run
    set by [dict get $o by]
    return [report critical_path "Critical path" [dict get [path_tables $by] tables] arranged 1 \
        head [sentences [path_sentences $by]]]
}
