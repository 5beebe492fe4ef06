# SPDX-License-Identifier: GPL-3.0-or-later
# saved.tcl - saved runs side by side: report_compare, report_diff, their head, and the table of
# results files. Runs are numbers of saved_runs.

# Dicts of the attributes of runs.
proc ::tharsis::lib::saved {ids} {
    set names {name system system_digest workload workload_digest program batch mapping algorithm
        seed network inputs stream latency makespan throughput batch_throughput link_utilization
        accel_utilization moved energy samples}
    set rows [core::rows "SELECT id, [join [lmap name $names {
        lindex [core::figure saved_runs $name] 2}] {, }] FROM saved_runs"]
    return [lmap id $ids {
        set run [dict create]
        foreach name [linsert $names 0 id] value [lindex $rows $id] {dict set run $name $value}
        # Identifies what was run: a program and a workload may have one name.
        dict set run what [lmap key {program workload batch workload_digest} {dict get $run $key}]
        dict set run on [list [dict get $run system] [dict get $run system_digest]]
        dict with run {
            set seeded [expr {$seed ne "" ? ", seed $seed" : ""}]
            dict set run says [dict create systems "[clip $system 200], $system_digest" \
                workloads [expr {$program ne "" ? "program [clip $program 200]" :
                    "[clip $workload 200], batch $batch, $workload_digest"}] \
                runs "[expr {$program ne "" ? "program" : "mapping"}] $mapping$seeded, $network"]
        }
        set run
    }]
}

# ---- the head ----

# What the runs have in common, then, run by run, systems, workloads and property events where they
# differ.
proc ::tharsis::lib::saved_head {runs} {
    set first [lindex $runs 0]
    set head {}
    foreach key {on what} {
        set is_same($key) 1
        foreach run $runs {
            if {[dict get $run $key] ne [dict get $first $key]} {set is_same($key) 0}
        }
    }
    if {$is_same(on)} {lappend head [list line system [dict get $first system]]}
    if {$is_same(what) && [dict get $first program] ne ""} {
        lappend head [list line program [dict get $first program]]
    } elseif {$is_same(what)} {
        lappend head [list line workload \
            "[clip [dict get $first workload] 200], batch [dict get $first batch]"]
    }
    set version [dict get [core::about] version]
    lappend head [list line version "tharsis $version"] [list field version text $version]
    if {!$is_same(on)} {lappend head {*}[lines_of systems $runs]}
    if {!$is_same(what)} {lappend head {*}[lines_of workloads $runs]}
    return [concat $head [lines_of runs $runs] [model_lines $runs] [change_lines $runs]]
}

# A line for each run, the key before the first.
proc ::tharsis::lib::lines_of {key runs} {
    set most 20
    set lines [lmap run [lrange $runs 0 $most-1] {
        string cat [clip [dict get $run name] 30] ": " [dict get $run says $key]
    }]
    if {[llength $runs] > $most} {lappend lines "([expr {[llength $runs] - $most}] more)"}
    return [head_lines $key $lines]
}

proc ::tharsis::lib::head_lines {key lines} {
    return [lmap line $lines {
        set item [list line $key $line]
        set key ""
        set item
    }]
}

# What the models of the runs are known to be off by, in lines.
proc ::tharsis::lib::model_lines {runs} {
    set width 64
    lassign [core::model_errors [lmap run $runs {dict get $run id}]] text percent
    set lines {}
    while {$text ne ""} {
        set comma [expr {[string length $text] > $width ?
            [string last , $text [expr {$width - 1}]] : -1}]
        lappend lines [expr {$comma < 0 ? $text : [string range $text 0 $comma]}]
        set text [expr {$comma < 0 ? "" : [string range $text $comma+2 end]}]
    }
    lappend items {*}[head_lines "model error" $lines] \
        [list field model_error share [expr {$percent > 0 ? $percent / 100 : ""}]]
    return $items
}

proc ::tharsis::lib::change_lines {runs} {
    return [head_lines changes [concat {*}[lmap run $runs {
        set name "[clip [dict get $run name] 30]: "
        set line [core::saved_changes [dict get $run id] [expr {64 - [string length $name]}]]
        expr {$line eq "" ? "" : [list $name$line]}
    }]]]
}

# ---- tables of runs as they are ----

set ::tharsis::lib::change_columns {-object -property -value -factor -at -after_event -by}

# These rows of a table of all.
proc ::tharsis::lib::rows_of {table rows} {
    dict unset table query
    dict set table rows $rows
    return $table
}

proc ::tharsis::lib::saved_tables {ids} {
    variable change_columns
    set runs [table runs "Saved runs" saved_runs {
        run=name system -system_digest workload -workload_digest program batch mapping algorithm
        seed network inputs latency makespan {throughput throughput rate throughput_per_s}
        -batch_throughput {link_utilization "links busy" share link_utilization}
        {accel_utilization "accels busy" share accel_utilization} moved -energy
    }]
    set all [core::rows [dict get $runs query]]
    set changes [table run_changes {} saved_changes [list {run {} text run} {*}$change_columns]]
    set changed [core::rows [string map {"SELECT " "SELECT run_id, "} [dict get $changes query]]]
    return [dict create tables [list [rows_of $runs [lmap id $ids {lindex $all $id}]] \
        [rows_of $changes [concat {*}[lmap id $ids {
            lmap row [lsearch -exact -all -inline -index 0 $changed $id] {lrange $row 1 end}
    }]]]]]
}

# ---- report_compare ----

set ::tharsis::lib::metrics {
    latency {latency time} throughput {throughput rate} batch_throughput {batches rate}
    link_utilization {"links busy" share} accel_utilization {"accels busy" share}
    energy {energy energy}
}

proc ::tharsis::lib::report_compare {o} {
    variable metrics
    set ids [core::saved_ids [lindex [dict get $o words] 0]]
    if {[llength $ids] == 0} {
        fail TCL-0124 "no runs: save_run NAME first, then name them"
    }
    set asked [get $o relative_to {}]
    set references [core::saved_ids $asked]
    set runs [saved $ids]
    set shown [compared_metrics $o $runs]
    if {1 + [llength $shown] * (1 + [llength $references]) + 5 > 64} {
        fail TCL-0123 "more than 64 columns: fewer -metrics, or -relative_to fewer runs"
    }
    set head [saved_head $runs]
    if {[llength $references] > 0} {
        lappend head [list line "relative to" $asked] [list field relative_to text $asked]
    }
    set tables [dict get [compare_tables $ids $shown $references] tables]
    if {[get $o format text] eq "json"} {lappend tables {*}[dict get [saved_tables $ids] tables]}
    return [report compare Comparison $tables own_head 1 head $head arranged 1]
}

proc ::tharsis::lib::compared_metrics {o runs} {
    return [expr {[dict exists $o metrics] ? [dict get $o metrics] : [standard_metrics $runs]}]
}

# Hand-built programs have no throughput, and keep no accelerator busy; of batches of one sample,
# batches per second say what samples per second do.
proc ::tharsis::lib::standard_metrics {runs} {
    foreach run $runs {
        if {[dict get $run program] eq ""} {lappend shown throughput accel_utilization}
        if {[dict get $run samples] > 1} {lappend shown batch_throughput}
        if {[dict get $run energy] ne ""} {lappend shown energy}
    }
    lappend shown latency link_utilization
    variable metrics
    return [lmap metric [dict keys $metrics] {
        if {$metric ni $shown} continue
        set metric
    }]
}

proc ::tharsis::lib::metric_of {run metric} {
    if {$metric eq "accel_utilization" && [dict get $run program] ne ""} return
    return [dict get $run $metric]
}

proc ::tharsis::lib::metric_change {run reference metric} {
    set value [metric_of $run $metric]
    set before [metric_of $reference $metric]
    return [expr {$value ne "" && $before ne "" && $before > 0 ? double($value) / $before - 1 : ""}]
}

# The references from which a run differs by less than their models are off by, in all metrics that
# are times or rates. Of two that differ by changes or faults alone, both are off alike.
proc ::tharsis::lib::within_error {run metrics references} {
    set within {}
    foreach reference $references {
        set is_changed 1
        foreach key {on what mapping network stream} {
            if {[dict get $run $key] ne [dict get $reference $key]} {set is_changed 0}
        }
        if {$is_changed} continue
        set error [lindex [core::model_errors [list [dict get $run id] [dict get $reference id]]] 1]
        foreach metric $metrics {
            set change [metric_change $run $reference $metric]
            if {$metric in {latency throughput batch_throughput} && $change ne "" &&
                100 * abs($change) < $error} {
                lappend within [dict get $reference name]
                break
            }
        }
    }
    return [join $within " "]
}

# The metrics of each run, and their change against every reference.
proc ::tharsis::lib::compare_tables {ids shown references} {
    variable metrics
    set references [saved $references]
    set one [expr {[llength $references] == 1 ? "vs " : ""}]
    set columns {{run run text}}
    set notes {}
    foreach metric $shown {
        lassign [dict get $metrics $metric] heading kind
        lappend columns [list $metric $heading $kind]
        foreach reference $references {
            set name [dict get $reference name]
            lappend columns [list ${metric}_vs_$name $one$name change]
        }
        if {$metric eq "throughput"} {
            lappend notes {throughput {throughput: samples per second}}
        } elseif {$metric eq "link_utilization"} {
            lappend notes {link_utilization {links busy: mean over the links that carried\
                something}}
        }
    }
    set any 0
    set rows [lmap run [saved $ids] {
        set row [list [dict get $run name]]
        foreach metric $shown {
            lappend row [metric_of $run $metric] {*}[lmap reference $references {
                metric_change $run $reference $metric}]
        }
        set within [within_error $run $shown $references]
        if {$within ne ""} {set any 1}
        lappend row $within [dict get $run system] [dict get $run system_digest] \
            [dict get $run workload_digest] [core::saved_changes [dict get $run id] 2147483647]
    }]
    if {$any} {
        lappend notes {within_error {within error of: its time or rate differs from that run's by\
            less than the largest known model error}}
    }
    lappend columns [list within_error [expr {$any ? "within error of" : ""}] text] \
        {system {} text} {system_digest {} text} {workload_digest {} text} {changes {} text}
    return [dict create tables [list [dict create name comparison columns $columns rows $rows \
        notes $notes]]]
}

# ---- report_diff ----

proc ::tharsis::lib::report_diff {o} {
    set ids [concat {*}[lmap name [dict get $o words] {core::saved_ids [list $name]}]]
    set runs [saved $ids]
    set is_text [is_text $o]
    set head [concat [saved_head $runs] [lmap run $runs side {a b} {
        list field $side text [dict get $run name]}]]
    set found [diff_tables $ids $is_text [get $o limit [expr {$is_text ? 10 : 0}]]]
    return [report diff Differences [dict get $found tables] own_head 1 \
        head [concat $head [dict get $found head]]]
}

# Inputs and results of two runs where they differ; in text, tables with rows alone.
proc ::tharsis::lib::diff_tables {ids is_text limit} {
    lassign [saved $ids] a b
    set tables [list [diff_inputs $a $b] [diff_changes $a $b $limit] \
        [diff_table totals Totals "" $a $b $is_text $limit [diff_totals $a $b]]]
    foreach {name title object class} {
        layers Layers layer saved_layers accelerators Accelerators accel saved_accels
        links Links link saved_links
    } {
        lappend tables [diff_table $name $title $object $a $b $is_text $limit \
            [diff_objects $class [dict get $a id] [dict get $b id]]]
    }
    if {$is_text} {
        set tables [lmap table $tables {
            if {[llength [dict get $table rows]] == 0} continue
            set table
        }]
    }
    return [dict create tables $tables head [expr {[llength $tables] == 0 ?
        {{line differ "in nothing"}} : ""}]]
}

proc ::tharsis::lib::diff_inputs {a b} {
    set is_made [expr {[dict get $a program] ne "" || [dict get $b program] ne ""}]
    set rows {}
    foreach {what key otherwise} [list system system - "system's digest" system_digest - workload \
        workload - "workload's digest" workload_digest - program program - batch batch 0 \
        [expr {$is_made ? "program's digest" : "mapping"}] mapping - algorithm algorithm - \
        seed seed - network network - inputs inputs 0] {
        set values [lmap run [list $a $b] {
            expr {[dict get $run $key] eq "" ? $otherwise : [dict get $run $key]}
        }]
        if {[lindex $values 0] ne [lindex $values 1]} {lappend rows [list $what {*}$values]}
    }
    return [dict create name inputs title "Inputs that differ" rows $rows columns [list \
        {input input text} [list a [clip [dict get $a name] 24] text] \
        [list b [clip [dict get $b name] 24] text]]]
}

# The property events of each run between the first and the last difference.
proc ::tharsis::lib::diff_changes {a b limit} {
    variable change_columns
    set table [table changes "Changes in the runs" saved_changes \
        [list {run run text run} {change change text text} {*}$change_columns] wraps 1]
    foreach run [list $a $b] side {a b} {
        set events($side) [core::rows "[dict get $table query] WHERE run_id = [dict get $run id]"]
    }
    set n [llength $events([expr {[llength $events(a)] < [llength $events(b)] ? "a" : "b"}])]
    set is_same {expr {[lindex $events(a) $i 1] eq [lindex $events(b) $j 1]}}
    for {set before 0} {$before < $n} {incr before} {
        lassign [list $before $before] i j
        if {![eval $is_same]} break
    }
    for {set after 0} {$after < $n - $before} {incr after} {
        lassign [list end-$after end-$after] i j
        if {![eval $is_same]} break
    }
    if {$limit > 0} {dict set table limit $limit}
    return [rows_of $table [concat [lrange $events(a) $before end-$after] \
        [lrange $events(b) $before end-$after]]]
}

# Differences are {OBJECT FIGURE KIND A B}.
proc ::tharsis::lib::diff_totals {a b} {
    set all {makespan makespan time}
    set is_made [expr {[dict get $a program] ne "" || [dict get $b program] ne ""}]
    if {!$is_made} {
        lappend all latency latency time throughput throughput rate
        if {[dict get $a samples] > 1 || [dict get $b samples] > 1} {
            lappend all batch_throughput "throughput, batches" rate
        }
        lappend all accel_utilization "accelerators busy" share
    }
    lappend all link_utilization "used links busy" share moved moved bytes energy energy energy
    return [concat {*}[lmap {key figure kind} $all {
        difference "" $figure $kind [dict get $a $key] [dict get $b $key]
    }]]
}

# Nothing where both are absent or equal.
proc ::tharsis::lib::difference {object figure kind a b} {
    if {$a eq $b || ($a ne "" && $b ne "" && $a == $b)} return
    return [list [list $object $figure $kind $a $b]]
}

# By name: objects of a, matched with b or alone, then objects of b alone.
proc ::tharsis::lib::diff_objects {class a b} {
    set figures [dict get {
        saved_layers {active time energy energy}
        saved_accels {busy time stalled time idle time sent bytes energy energy}
        saved_links {busy time carried bytes}
    } $class]
    set columns [lmap {name kind} $figures {lindex [core::figure $class $name] 2}]
    foreach side {a b} run [list $a $b] {
        set all($side) [dict create]
        foreach row [core::rows "SELECT name, [join $columns {, }] FROM $class
            WHERE run_id = $run"] {
            dict set all($side) [lindex $row 0] [lrange $row 1 end]
        }
    }
    set found {}
    foreach object [dict keys [dict merge $all(a) $all(b)]] {
        foreach {figure kind} $figures x [get $all(a) $object {}] y [get $all(b) $object {}] {
            if {$figure eq ""} break
            lappend found {*}[difference $object $figure $kind $x $y]
        }
    }
    return $found
}

# Times come before bytes, bytes before the rest; among them the largest difference is first.
proc ::tharsis::lib::diff_table {name title object a b is_text limit differences} {
    set sorted [lsort -integer -index 0 [lsort -real -decreasing -index 1 [lmap x $differences {
        lassign $x - - kind before after
        set by [expr {($after eq "" ? 0.0 : double($after)) -
            ($before eq "" ? 0.0 : double($before))}]
        list [expr {$kind eq "time" ? 0 : $kind eq "bytes" ? 1 : 2}] [expr {abs($by)}] $x $by
    }]]]
    set rows [lmap x $sorted {diff_row {*}[lindex $x 2] [lindex $x 3] $is_text}]
    set kind [expr {$is_text ? "text" : "number"}]
    set table [dict create name $name title $title rows $rows columns [list \
        [list [expr {$object eq "" ? "of" : $object}] $object text] {figure figure text} \
        [list a [clip [dict get $a name] 24] $kind] [list b [clip [dict get $b name] 24] $kind] \
        [list difference difference $kind] {change change change} {unit {} text}]]
    if {$limit > 0} {dict set table limit $limit}
    return $table
}

# In text each value has its own unit; csv and json have ps, bytes, joules.
proc ::tharsis::lib::diff_row {object figure kind a b by is_text} {
    set has_both [expr {$a ne "" && $b ne ""}]
    set change [expr {$has_both && $a > 0 ? double($b) / $a - 1 : ""}]
    if {!$is_text} {
        set unit [dict get {time ps bytes bytes energy J rate per_s share of_1} $kind]
        return [list $object $figure $a $b [expr {$has_both ? $by : ""}] $change $unit]
    }
    set difference ""
    if {$has_both} {
        set size [expr {abs($b - $a)}]
        set difference "[expr {$by < 0 ? "-" : "+"}][core::quantity $kind $size]"
    }
    return [list $object $figure {*}[lmap value [list $a $b] {
        expr {$value eq "" ? "" : [core::quantity $kind $value]}
    }] $difference $change {}]
}
