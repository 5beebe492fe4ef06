# SPDX-License-Identifier: GPL-3.0-or-later
# study_run.tcl - run_study: the points of a study that wait, over core::parallel; parallel_foreach.
#   lock -> { study_next -> point -> study_finish -> study_done }* until no point waits
# Only this interpreter accesses the file. Results are recorded in transactions; if the process
# ends, points that were given out and not recorded still wait.

# ---- run_study ----

proc ::tharsis::lib::run_study {o} {
    set name [lindex [dict get $o words] 0]
    set s [open_study $name]
    set here [package provide tharsis]
    set there [dict get $s version]
    fail_if {$there ne $here} STUDY-0063 "the study is one of tharsis $there, whose results cannot\
        be mixed with those of $here: finish it there, or make a new one"
    set is_safe [expr {![dict exists $o trust] && ![lindex [dict get $study::all $name] 1]}]
    set pages [expr {[dict exists $o pages] ? [list [dict get $o pages] [dict get $s digest]] : ""}]
    fail_if {$is_safe && $pages ne ""} STUDY-0093 "-pages: needs -trust: strangers write no file"
    core::store_lock
    if {[dict exists $o retry]} {
        run_sql "UPDATE point SET status = 'waiting', error = NULL WHERE status = 'failed'"
    }
    lassign [grid_of $s] n strides
    array set study::run [list study $s counts [count_points] last 0 given 0 recorded 0 n $n \
        strides $strides names [parameter_names $s] limit [get $o limit 9223372036854775807]]
    set wanted [points_left]
    if {$wanted > 0} {
        set finish [list ::tharsis::lib::study_finish [dict get $s metrics] $pages]
        if {[core::parallel [list [get $o threads 0] $wanted 50 [dict get $s script] $finish \
            "a study, whose points" [get $o seconds 0] $is_safe] ::tharsis::lib::study_next \
            ::tharsis::lib::study_done ::tharsis::lib::study_progress] &&
            [dict get $study::run(counts) waiting] > 0} {
            return [core::interrupted "interrupted; run_study continues it"]
        }
    }
    return [report_outcome $is_safe]
}

# Failed points print nothing during the run, so they are told of at its end, with those of earlier
# calls.
proc ::tharsis::lib::report_outcome {is_safe} {
    set counts [count_points]
    dict with counts {}
    if {$failed > 0} {
        set all [expr {$waiting + $done + $failed}]
        lassign [lindex [core::store_rows "SELECT point, error FROM point WHERE status = 'failed'\
            ORDER BY point LIMIT 1" "" {} iT] 0] first text
        set hint [string repeat ", -trust lets the script of this file use exec, open and files" \
            $is_safe]
        core::warn STUDY-0090 "$failed of $all points failed, the first of them point $first:\
            $text; report_study lists them, -retry runs them again$hint"
    }
    return [expr {$waiting > 0 ? "limit" : $failed > 0 ? "failed $failed" : "done"}]
}

# The next point that waits: its number and the variables of its script.
proc ::tharsis::lib::study_next {} {
    if {$study::run(given) >= $study::run(limit)} return
    set row [lindex [core::store_rows "SELECT point, cell FROM point WHERE point > ? AND\
        status = 'waiting' ORDER BY point LIMIT 1" i [list $study::run(last)] ii] 0]
    if {$row eq ""} return
    lassign $row point cell
    if {$cell eq ""} {set cell -1} ;# it was no integer
    check_point $study::run(study) $point $cell $study::run(n)
    set study::run(last) $point
    incr study::run(given)
    set values [values_of_cell $study::run(study) $study::run(strides) $cell]
    set seed [seed_of_values [dict get $study::run(study) seed] $study::run(names) $values]
    set variables [list point $point seed $seed ::tharsis::point $point]
    foreach name $study::run(names) value $values {lappend variables $name $value}
    return [list $point $variables]
}

# In the interpreter of a point, behind its script: figures of the run, and of what the script
# returned; the page of the run, if there is one, into the folder of pages {FOLDER DIGEST}. An error
# is told with its id and without the command.
proc ::tharsis::lib::study_finish {metrics pages answer} {
    if {![catch {
        set figures [study_figures $metrics $answer]
        lassign $pages folder digest
        if {$pages ne "" && ![catch {core::need run}]} {
            ::tharsis::write_report [file join $folder [page_of_point $digest $::tharsis::point]]
        }
    } said options]} {return [list [dict get [core::about] unmeasured] {*}$figures]}
    lassign [dict get $options -errorcode] by area number text
    if {$by eq "THARSIS"} {return -code error [format "Error %s-%04d: %s" $area $number $text]}
    return -options $options $said
}

# The name has the digest of the study, so that no page is taken for that of another one.
proc ::tharsis::lib::page_of_point {digest point} {return ${point}_$digest.html}

proc ::tharsis::lib::study_figures {metrics answer} {
    set of_run ""
    return [lmap metric $metrics {
        lassign $metric name kind - type is_own
        set is_precision [expr {$metric eq $study::precision}]
        if {!$is_own && !$is_precision && $of_run eq ""} {set of_run [core::run_figures]}
        if {$is_own} {
            own_figure $name $kind $type $answer
        } else {
            dict get [expr {$is_precision ? [core::about] : $of_run}] $name
        }
    }]
}

proc ::tharsis::lib::own_figure {name kind type answer} {
    fail_if {[catch {dict get $answer $name} value]} STUDY-0045 "the script must return a\
        dictionary with \"$name\", not \"[clip $answer 80]\""
    if {$value eq "" && $type != 2} return
    return [about "$name, in what the script returned" {core::study_figure $kind $value}]
}

# Ends of points, all in one transaction. Where a step of training is one that no published step was
# measured like, the study keeps that, too.
proc ::tharsis::lib::study_done {ends} {
    set metrics [dict get $study::run(study) metrics]
    set sql "UPDATE point SET status = ?, error = ?, mapping = ?"
    set letters ttt
    foreach metric $metrics {
        lassign $metric - - column type
        append sql ", \"$column\" = ?"
        append letters [string index irt $type]
    }
    append sql " WHERE point = ? AND status = 'waiting'"
    set unmeasured [dict create]
    set no_figures [lmap metric $metrics {lindex [list "" "" $study::none] [lindex $metric 3]}]
    run_sql "BEGIN IMMEDIATE"
    foreach end $ends {
        lassign $end point state text mapping
        if {$state eq "stopped"} continue
        if {$mapping eq ""} {set mapping $study::none}
        if {$state eq "done"} {
            set figures [lassign $text said]
            if {$said ne ""} {dict set unmeasured $said 1}
            set row [list done $study::none $mapping {*}$figures]
        } else {
            set row [list failed $text $mapping {*}$no_figures]
        }
        core::store_run $sql ${letters}i [list [list {*}$row $point]]
        if {[core::store_rows "SELECT changes()" "" {} i] != 1} {
            set path [dict get $study::run(study) path]
            fail STUDY-0028 "$path: point $point does not wait for a result"
        }
        incr study::run(recorded)
        dict incr study::run(counts) waiting -1
        dict incr study::run(counts) $state
    }
    foreach text [dict keys $unmeasured] {
        core::store_run "INSERT OR IGNORE INTO study VALUES (?, '')" t [list [list "held $text"]]
    }
    run_sql COMMIT
}

proc ::tharsis::lib::study_progress {elapsed_s} {
    dict with study::run(counts) {}
    set all [expr {$waiting + $done + $failed}]
    set text "study: [expr {$done + $failed}] of $all points, $failed failed"
    if {$study::run(recorded) == 0 || $elapsed_s <= 0} {return $text}
    set rate [expr {$study::run(recorded) / $elapsed_s}]
    return $text[format ", %.1f/s, %.0f s left" $rate [expr {[points_left] / $rate}]]
}

# Those that wait, and -limit lets run.
proc ::tharsis::lib::points_left {} {
    set waiting [dict get $study::run(counts) waiting]
    set most [expr {$study::run(limit) - $study::run(recorded)}]
    return [expr {$most < $waiting ? $most : $waiting}]
}

# ---- parallel_foreach ----

proc ::tharsis::lib::parallel_foreach {o} {
    variable each
    lassign [dict get $o words] names list script
    set names [elements $names TCL-2223 "NAMES \"[clip $names 80]\": must be a list of variables"]
    set list [elements $list TCL-2224 "LIST \"[clip $list 80]\": must be a list"]
    set set [get $o set {}]
    fail_if {$names eq ""} TCL-2226 "NAMES: must name a variable"
    set globals [core::globals]
    foreach name [concat $names [dict keys $set]] {
        fail_if {$name in $globals} TCL-2227 "\"$name\": is a variable of Tcl, and must have\
            another name"
    }
    array unset each
    array set each [list names $names list $list set $set at 0 failed "" ended 0 \
        n [expr {([llength $list] + [llength $names] - 1) / [llength $names]}]]
    if {$each(n) == 0} return
    if {[core::parallel [list [get $o threads 0] $each(n) 0 $script {} \
        "parallel_foreach, whose elements" 0 0] ::tharsis::lib::each_next \
        ::tharsis::lib::each_done ::tharsis::lib::each_progress]} {
        return [core::interrupted "parallel_foreach: interrupted; no result is kept"]
    }
    if {$each(failed) ne ""} {
        set at [clip [each_variables $each(failed)] 80]
        fail TCL-2228 "for {$at}: $each(end,$each(failed))"
    }
    set results {}
    for {set i 0} {$i < $each(n)} {incr i} {lappend results $each(end,$i)}
    return $results
}

proc ::tharsis::lib::each_variables {at} {
    variable each
    set n [llength $each(names)]
    set values [lrange $each(list) [expr {$at * $n}] [expr {$at * $n + $n - 1}]]
    return [concat {*}[lmap name $each(names) value $values {list $name $value}]]
}

proc ::tharsis::lib::each_next {} {
    variable each
    if {$each(at) == $each(n) || $each(failed) ne ""} return
    set variables [concat $each(set) [each_variables $each(at)]]
    incr each(at)
    return [list [expr {$each(at) - 1}] $variables]
}

proc ::tharsis::lib::each_done {ends} {
    variable each
    foreach end $ends {
        lassign $end at state text
        set each(end,$at) $text
        incr each(ended)
        if {$state eq "failed" && ($each(failed) eq "" || $at < $each(failed))} {
            set each(failed) $at
        }
    }
}

proc ::tharsis::lib::each_progress {elapsed_s} {
    variable each
    return "parallel_foreach: $each(ended) of $each(n)"
}
