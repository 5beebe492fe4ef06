# SPDX-License-Identifier: GPL-3.0-or-later
# study_report.tcl - report_study: the points of a study as a table, and what pages and pictures
# need of it.
#   study_table: columns -> { row -> -where }* -> -pareto -> -columns
# A column is {NAME KIND IS_SHOWN}: the point, the parameters, its seed unless a parameter has that
# name, status, metrics, mapping, error, by. A parameter whose values are all numbers, times, sizes
# or bandwidths is a column of that kind.

# A study for a report: its points' precision is a column where they differ, else the key shared.
proc ::tharsis::lib::reported_study {name} {
    set s [open_study $name]
    if {$study::precision ni [dict get $s metrics]} {return $s}
    set all [core::store_rows "SELECT DISTINCT precision FROM point WHERE precision > ''" "" {} t]
    if {[llength $all] > 1} {return $s}
    return [dict replace [with_precision $s 0] shared [lindex $all 0]]
}

proc ::tharsis::lib::report_study {o} {
    set s [reported_study [lindex [dict get $o words] 0]]
    set tables [study_table $s $o]
    return [report study Study $tables own_head 1 arranged 1 \
        head [study_head $s $o [lindex $tables 0]]]
}

# Of a page: the points, the study, its metrics, and the values of each parameter in the user's
# words and as the points have them (render/html/html.h). A point links to the page of its run that
# run_study -pages wrote beside FILE, in a folder of its name.
proc ::tharsis::lib::study_page {name file} {
    set s [reported_study $name]
    lassign [study_table $s {}] points
    set folder [file rootname $file]
    dict set points columns [linsert [dict get $points columns] end {{run page} {} text}]
    dict set points rows [lmap row [dict get $points rows] {
        set page [page_of_point [dict get $s digest] [lindex $row 0]]
        set cell $study::none
        catch {if {[file isfile [file join $folder $page]]} {set cell [file tail $folder]/$page}}
        lappend row $cell
    }]
    set tables [list $points [dict create name study is_record 1 columns {{name name text}
        {script script text}} rows [list [list [dict get $s name] [dict get $s script]]]] \
        [dict create name metrics columns {{name name text}} rows [lmap metric \
            [dict get $s metrics] {list [lindex $metric 0]}]]]
    foreach parameter [dict get $s parameters] {
        lassign $parameter name - words
        set values [lassign [typed_values $words] kind]
        lappend tables [dict create name $name rows [lmap word $words value $values {
            list $word $value
        }] columns [list {word word text} [list value value $kind]]]
    }
    return [report study "Study [dict get $s name]" $tables own_head 1 \
        head [study_head $s {} $points]]
}

# Of a picture: columns {NAME HEADING KIND}, rows in which absent values are empty, the first
# metric, and those that the script returns.
proc ::tharsis::lib::study_plot_table {name o} {
    set s [reported_study $name]
    set table [lindex [study_table $s [dict remove $o maximize]] 0]
    set metrics [dict get $s metrics]
    return [list [lmap column [dict get $table columns] {lreplace $column 1 1 [lindex $column 0]}] \
        [lmap row [dict get $table rows] {lmap value $row {string trimright $value $study::none}}] \
        [lindex $metrics 0 0] \
        [lmap metric [lsearch -all -inline -index 4 $metrics 1] {lindex $metric 0}]]
}

# ---- columns ----

proc ::tharsis::lib::study_columns {s typed all_are_done} {
    set columns {{point count 1}}
    foreach name [parameter_names $s] values $typed {
        lappend columns [list $name [lindex $values 0] 1]
    }
    if {![has_seed $s]} {lappend columns {seed count 0}}
    lappend columns [list status text [expr {!$all_are_done}]]
    foreach metric [dict get $s metrics] {
        lappend columns [list [lindex $metric 0] [lindex $metric 1] 1]
    }
    return [lappend columns {mapping text 0} {error text 0}]
}

# {KIND ?VALUE ...?}: the values of a parameter as that kind has them.
proc ::tharsis::lib::typed_values {values} {
    if {[lsearch -not -regexp $values {^-?[0-9]{1,15}$}] < 0} {
        return [list count {*}[lmap value $values {scan $value %lld}]]
    }
    foreach kind {number time bytes bandwidth} {
        if {![catch {lmap value $values {core::study_figure $kind $value}} typed]} {
            return [list $kind {*}$typed]
        }
    }
    return [list text {*}$values]
}

# Their numbers, by the names with or without the unit.
proc ::tharsis::lib::find_columns {s columns option list} {
    set names [lmap column $columns {lindex $column 0}]
    return [lmap name $list {
        set metric [lsearch -exact -index 2 [dict get $s metrics] $name]
        if {$name ni $names && $metric >= 0} {set name [lindex [dict get $s metrics] $metric 0]}
        fail_if_unknown STUDY-0070 $option $name $names
        lsearch -exact $names $name
    }]
}

# ---- rows ----

# {TABLE ?FAILURES?}
proc ::tharsis::lib::study_table {s o} {
    set counts [count_points]
    set typed [lmap parameter [dict get $s parameters] {typed_values [lindex $parameter 2]}]
    set columns [study_columns $s $typed [expr {[dict get $counts waiting] == 0 &&
        [dict get $counts failed] == 0}]]
    set by [expr {[dict exists $o by] ? [find_columns $s $columns -by [dict get $o by]] : {}}]
    lassign [study_rows $s [get $o where ""] $typed $columns $by] rows failed
    if {$by ne ""} {lappend columns {by text 0}}
    set rows [study_front $s $o $columns $rows]
    set shown [dict exists $o columns]
    if {$shown} {
        set chosen [find_columns $s $columns -columns [dict get $o columns]]
        set columns [lmap at $chosen {lindex $columns $at}]
        set rows [lmap row $rows {lmap at $chosen {lindex $row $at}}]
    }
    set table [dict create name points rows $rows absent $study::none]
    dict set table columns [lmap column $columns {
        lassign $column name kind is_shown
        list $name [string repeat $name [expr {$is_shown || $shown}]] $kind
    }]
    if {[dict get $counts failed] == 0} {return [list $table]}
    return [list $table [dict create name failures title "Points that failed" wraps 1 only_text 1 \
        columns {{point point count} {error error text}} rows $failed]]
}

# {ROWS FAILED}: the points for which -where holds, in the order of columns, and all that failed.
proc ::tharsis::lib::study_rows {s where typed columns by} {
    lassign [grid_of $s] n strides
    set seed [expr {[has_seed $s] ? {} : "seed"}]
    set metrics [dict get $s metrics]
    set names [lmap metric $metrics {lindex $metric 2}]
    set shares {} ;# places of percents that a table has as shares
    set letters iitTT[expr {$seed eq "" ? "" : "i"}]
    foreach metric $metrics {
        if {[lindex $metric 1] in {share change}} {lappend shares [lsearch $metrics $metric]}
        append letters [string index IRT [lindex $metric 3]]
    }
    if {$where ne ""} {set interp [core::where_interp]}
    set variables [list point {*}[parameter_names $s] status error mapping {*}$seed {*}$names]
    set rows {}
    set failed {}
    set last -9223372036854775808
    foreach row [core::store_rows "SELECT [join [list point cell status error mapping {*}$seed \
        {*}[lmap name $names {string cat \" $name \"}]] ", "] FROM point ORDER BY point" "" {} \
        $letters] {
        set figures [lassign $row point cell status error mapping]
        if {$status ni $study::states || $point <= $last} {
            fail STUDY-0255 "[dict get $s path]: point $point: its row is damaged"
        }
        if {$point < 1 || $cell < 0 || $cell >= $n} {check_point $s $point $cell $n}
        if {$status eq "failed"} {lappend failed [list $point $error]}
        set last $point
        if {$where ne "" && ![is_wanted $s $where $interp $columns $variables [list $point \
            {*}[values_of_cell $s $strides $cell] $status $error $mapping {*}$figures]]} continue
        if {$seed ne ""} {set figures [lassign $figures seed_of_point]}
        foreach at $shares {
            set figure [lindex $figures $at]
            if {$figure ne ""} {lset figures $at [expr {$figure / 100.0}]}
        }
        set cells [list $point {*}[lmap values $typed pair $strides {
            lindex $values [expr {1 + $cell / [lindex $pair 0] % [lindex $pair 1]}]
        }] {*}[expr {$seed eq "" ? "" : $seed_of_point}] $status {*}$figures $mapping $error]
        if {$by ne ""} {lappend cells [joined_values $s $strides $cell $columns $cells $by]}
        lappend rows $cells
    }
    return [list $rows $failed]
}

# "ring, 16": parameters in the user's words.
proc ::tharsis::lib::joined_values {s strides cell columns cells by} {
    set words [values_of_cell $s $strides $cell]
    return [join [lmap at $by {
        if {$at >= 1 && $at <= [llength $words]} {
            lindex $words [expr {$at - 1}]
        } else {
            set text [string trimright [lindex $cells $at] $study::none]
            core::quantity [lindex $columns $at 1] $text
        }
    }] ", "]
}

# ---- -where ----

# Does it hold for these values? A column without a value has no variable.
proc ::tharsis::lib::is_wanted {s where interp columns variables values} {
    set last [expr {[llength $variables] - [llength [dict get $s metrics]]}]
    set absent {}
    set at 0
    foreach name $variables value $values {
        if {$value eq $study::none || ($value eq "" && $at >= $last &&
            [lindex [dict get $s metrics] $at-$last 3] != 2)} {lappend absent $name}
        incr at
    }
    if {![catch {
        $interp eval [list lassign $values {*}$variables]
        if {$absent ne ""} {$interp eval [list unset {*}$absent]}
        expr {[$interp eval [list expr $where]] ? 1 : 0}
    } answer]} {return $answer}
    core::poll
    fail_if {![regexp {^can't read "([^"]*)"} $answer -> missed]} STUDY-0073 "-where\
        {[clip $where 200]}: [clip $answer 300]"
    set of_metrics [lmap metric [dict get $s metrics] {lindex $metric 2}]
    if {$missed in {error mapping} || $missed in $of_metrics} {return 0}
    fail_unknown STUDY-0072 "-where: column" $missed [lmap column $columns {
        set metric [lsearch -exact -index 0 [dict get $s metrics] [lindex $column 0]]
        lindex [list [lindex $of_metrics $metric] [lindex $column 0]] [expr {$metric < 0}]
    }]
}

# ---- -pareto ----

# The rows that no other one dominates, of those that have all values.
proc ::tharsis::lib::study_front {s o columns rows} {
    if {![dict exists $o pareto]} {return $rows}
    set more [expr {[dict exists $o maximize] ?
        [find_columns $s $columns -maximize [dict get $o maximize]] : {}}]
    set of [find_columns $s $columns -pareto [dict get $o pareto]]
    foreach at $of {
        lassign [lindex $columns $at] name kind
        if {$kind eq "text"} {fail STUDY-0074 "-pareto $name: must be a column of numbers"}
    }
    foreach at $more {
        set name [lindex $columns $at 0]
        if {$at ni $of} {fail STUDY-0075 "-maximize $name: must be among those of -pareto"}
    }
    set number -1
    set points {}
    foreach row $rows {
        set point [list [incr number]]
        foreach at $of {
            set value [lindex $row $at]
            if {$value eq ""} break
            lappend point [expr {double($at in $more ? -$value : $value)}]
        }
        if {[llength $point] > [llength $of]} {lappend points $point}
    }
    return [lmap number [lsort -integer [front_of $points]] {lindex $rows $number}]
}

# The numbers of the points {NUMBER VALUE ...} that no other one dominates; less is better. In the
# lexicographic order of their values no point is dominated by a later one, so one pass finds them;
# of two values the latest member of the front has the least second one.
proc ::tharsis::lib::front_of {points} {
    set n [expr {[llength [lindex $points 0]] - 1}]
    for {set k $n} {$k > 0} {incr k -1} {set points [lsort -real -index $k $points]}
    lassign {} members numbers
    foreach point $points {
        set values [lassign $point number]
        set is_in 1
        foreach member [expr {$n > 2 ? [lreverse $members] : [lrange $members end end]}] {
            if {$member eq $values} break
            set is_in 0
            foreach a $member b $values {
                if {$a > $b} {
                    set is_in 1
                    break
                }
            }
            if {!$is_in} break
        }
        if {!$is_in} continue
        lappend members $values
        lappend numbers $number
    }
    return $numbers
}

# ---- the head ----

proc ::tharsis::lib::study_head {s o table} {
    set name [dict get $s name]
    set seed [dict get $s seed]
    set digest [dict get $s digest]
    set counts [count_points]
    dict with counts {}
    set points "[expr {$waiting + $done + $failed}]: $done done"
    if {$failed > 0} {append points ", $failed failed"}
    if {$waiting > 0} {append points ", $waiting waiting"}
    set head [list [list line study "[clip $name 100], $digest, seed $seed"] \
        [list field study text $name] [list field digest text $digest] \
        [list field study_seed count $seed] [list line points $points]]
    dict for {state n} $counts {lappend head [list field $state count $n]}
    foreach x [get $s shared {}] {
        lappend head [list line precision $x] [list field precision text $x]
    }
    if {[dict exists $o where]} {lappend head [list line where [dict get $o where]]}
    if {[dict exists $o pareto]} {
        set text "[count [llength [dict get $table rows]] point] that none beats in\
            [clip [dict get $o pareto] 120]"
        if {[dict exists $o maximize]} {append text "; maximized: [clip [dict get $o maximize] 80]"}
        lappend head [list line Pareto $text]
    }
    set held [lmap key [lsort [dict keys $s "held *"]] {string range $key 5 end}]
    lappend head {*}[head_lines "held against" $held]
    set version [dict get $s version]
    return [concat $head [line_of_errors $table] [list [list line version "tharsis $version"] \
        [list field version text $version]]]
}

# Of points that recorded model_error: which differences of latency it covers.
proc ::tharsis::lib::line_of_errors {table} {
    lassign [lmap name {model_error latency} {
        set at [lsearch -exact -index 0 [dict get $table columns] $name]
        lsearch -all -inline -not [lmap row [dict get $table rows] {lindex $row $at}] {}
    }] errors latencies
    set largest [lindex [lsort -real -decreasing $errors] 0]
    if {$errors eq "" || $latencies eq "" || $largest <= 0} return
    set latencies [lsort -integer $latencies]
    set n 0
    foreach value [lrange $latencies 1 end] {
        incr n [expr {$value < [lindex $latencies 0] * (1.0 + $largest)}]
    }
    return [list [list line "model error" [format "%.3g %% at most; latencies that differ from the\
        least by less: %d" [expr {100 * $largest}] $n]]]
}
