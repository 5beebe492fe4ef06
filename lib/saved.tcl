# SPDX-License-Identifier: GPL-3.0-or-later
# saved.tcl - saved runs side by side: report_compare, report_diff, their head, and the table of
# results files. Runs are numbers of saved_runs.

# Dicts of the attributes of runs.
proc ::tharsis::lib::saved {ids} {
    set rows [core::rows {SELECT * FROM saved_runs}]
    set names [dict keys [core::figures saved_runs]]
    return [lmap id $ids {
        set run [dict create]
        foreach name $names value [lindex $rows $id] {dict set run $name $value}
        # Identifies what was run: a program and a workload may have one name.
        dict set run what [lmap key {program workload batch workload_digest} {dict get $run $key}]
        dict set run on [list [dict get $run system] [dict get $run system_digest]]
        dict with run {
            set seeded [expr {$seed ne "" ? ", seed $seed" : ""}]
            dict set run says [dict create on "[clip $system 200], $system_digest" \
                what [expr {$program ne "" ? "program [clip $program 200]" :
                    "[clip $workload 200], batch $batch, $workload_digest"}] mapped \
                "[expr {$program ne "" ? "program" : "mapping"}] $mapping$seeded" network $network]
        }
        set run
    }]
}

# ---- the head ----

# What all runs have in common, once; then the rest of each of those that the sentences name.
proc ::tharsis::lib::saved_head {runs {best ""}} {
    if {$best eq ""} {set best $runs}
    set first [lindex $runs 0]
    set own [keep part {on what mapped network} {
        [llength [lsort -unique [lmap run $runs {dict get $run says $part}]]] > 1
    }]
    set head {}
    if {"on" ni $own} {lappend head [list line system [dict get $first system]]}
    if {"what" ni $own && [dict get $first program] ne ""} {
        lappend head [list line program [dict get $first program]]
    } elseif {"what" ni $own} {
        lappend head [list line workload \
            "[clip [dict get $first workload] 200], batch [dict get $first batch]"]
    }
    set version [dict get [core::about] version]
    lappend head [list line version "tharsis $version"] [list field version text $version]
    set shared [lmap part {mapped network} {
        expr {$part in $own ? [continue] : [dict get $first says $part]}
    }]
    if {$shared ne ""} {
        set all [expr {[llength $runs] == 1 ? [clip [dict get $first name] 30] : "all"}]
        set shared [list "$all: [join $shared {, }]"]
    }
    set lines [expr {$own eq "" ? {} : [lmap run $best {
        string cat [clip [dict get $run name] 30] ": " [join [lmap part $own {
            dict get $run says $part
        }] {, }]
    }]}]
    set more [expr {[llength $runs] - [llength $best]}]
    if {$own ne "" && $more > 0} {lappend lines "and $more more (-format json has all)"}
    return [concat $head [grouped_lines $runs precision precisions 2] \
        [head_lines runs [concat $shared $lines]] \
        [grouped_lines $runs unmeasured "held against" 1] [model_lines $runs] [change_lines $best]]
}

proc ::tharsis::lib::head_lines {key lines} {
    return [lmap line $lines {
        set item [list line $key $line]
        set key ""
        set item
    }]
}

# Where runs have at least so many values of an attribute, a line for each: "int8: a, b".
proc ::tharsis::lib::grouped_lines {runs attribute heading least} {
    set by [dict create]
    foreach run $runs {
        set value [dict get $run $attribute]
        if {$value ne ""} {dict lappend by $value [clip [dict get $run name] 30]}
    }
    if {[dict size $by] < $least} return
    set lines {}
    dict for {value names} $by {lappend lines [clip "$value: [join $names {, }]" 120]}
    return [head_lines $heading $lines]
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
    return [list {*}[head_lines "model error" $lines] \
        [list field model_error share [expr {$percent > 0 ? $percent / 100 : ""}]]]
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

::tharsis::lib::columns saved_runs runs saved_runs {
    run=name system -system_digest workload -workload_digest program batch mapping algorithm
    seed network inputs latency makespan {throughput throughput rate throughput_per_s}
    -batch_throughput {link_utilization "links busy" share link_utilization}
    {accel_utilization "accels busy" share accel_utilization} {moved moved bytes moved_bytes}
    -energy *
}

proc ::tharsis::lib::saved_tables {ids} {
    variable change_columns
    set runs [table runs "Saved runs" saved_runs [shown saved_runs runs]]
    set all [core::rows [dict get $runs query]]
    set changes [table run_changes {} saved_changes [list {run {} text run} {*}$change_columns]]
    set changed [core::rows [string map {"SELECT " "SELECT run_id, "} [dict get $changes query]]]
    return [dict create tables [list [rows_of $runs [lmap id $ids {lindex $all $id}]] \
        [rows_of $changes [concat {*}[lmap id $ids {
            lmap row [lsearch -exact -all -inline -index 0 $changed $id] {lrange $row 1 end}
    }]]]]]
}

# ---- report_compare ----

# Metrics with shorter headings than elsewhere, before all others.
set ::tharsis::lib::headings {
    latency latency throughput throughput batch_throughput batches link_utilization {links busy}
    accel_utilization {accels busy} energy energy model_utilization MFU accel_memory memory
}

proc ::tharsis::lib::report_compare {o} {
    set ids [core::saved_ids [lindex [dict get $o words] 0]]
    fail_if {[llength $ids] == 0} TCL-0124 "no runs: save_run NAME first, then name them"
    set asked [get $o relative_to {}]
    set references [core::saved_ids $asked]
    set runs [saved $ids]
    set of [get $o of run]
    set shown [compared_metrics $o $runs $of]
    fail_if {1 + [llength $shown] * (1 + [llength $references]) + 5 > 64} TCL-0123 \
        "more than 64 columns: fewer -metrics, or -relative_to fewer runs"
    set first [lindex $runs 0]
    if {$asked ne ""} {set first [lindex [saved [lrange $references 0 0]] 0]}
    if {$of ne "run"} {
        set tables [list [compare_objects $of $ids $shown $references]]
    } else {
        set tables [dict get [compare_tables $ids $shown $references] tables]
    }
    lassign [best_runs $o $runs $first [lindex $tables 0]] best by
    set head [saved_head $runs $best]
    if {[llength $references] > 0} {
        lappend head [list line "relative to" [join $asked ", "]] \
            [list field relative_to text $asked]
    }
    set said [lmap run $best {
        if {[dict get $run id] == [dict get $first id]} continue
        string cat [clip [dict get $run name] 30] " differs from " \
            [clip [dict get $first name] 30] " " [differences $run $first]
    }]
    set more [expr {[llength $runs] - [llength $best]}]
    if {$more > 0} {
        lappend said "These are the first [llength $said] by $by; the table has $more more."
    }
    set head [concat [sentences $said] $head]
    if {[get $o format text] eq "json"} {lappend tables {*}[dict get [saved_tables $ids] tables]}
    return [report compare Comparison $tables own_head 1 head $head arranged 1]
}

# {RUNS BY}: those that the head tells of, the first one among them: all, of more than fit those of
# the least latency, or of the order that -sort_by asks for.
proc ::tharsis::lib::best_runs {o runs first table} {
    set most 5
    if {[llength $runs] <= $most + 1} {return [list $runs {}]}
    lassign {latency "" -increasing} by column way
    if {[dict exists $o sort_by] && ![dict exists $o of]} {
        set by [dict get $o sort_by]
        set column [lsearch [lmap x [dict get $table columns] {expr {$by in [lrange $x 0 1]}}] 1]
        if {![dict exists $o increasing]} {set way -decreasing}
    }
    set kind [lindex [dict get $table columns] [expr {$column eq "" ? 0 : $column}] 2]
    set i -1
    set ranked {}
    lassign {} left others
    foreach run $runs {
        incr i
        set value [expr {$column eq "" ? [dict get $run latency] :
            [lindex [dict get $table rows] $i $column]}]
        if {[dict get $run id] == [dict get $first id]} {
            lappend left $run
        } elseif {$value eq ""} {
            lappend others $run
        } else {
            lappend ranked [list $value $run]
        }
    }
    set ranked [expr {$column ne "" && $kind eq "text" ?
        [lsort -dictionary -index 0 $ranked] : [lsort -real $way -index 0 $ranked]}]
    set best [lrange [concat [lmap x $ranked {lindex $x 1}] $others] 0 $most-1]
    return [list [concat $left $best] $by]
}

# In what a run differs from another one, and how its latency does.
proc ::tharsis::lib::differences {run first} {
    set differ {}
    foreach {key what} {
        on system what workload precision precision plan plan mapping mapping network network
        stream stream seed seed
    } {
        lassign [list [dict get $run $key] [dict get $first $key]] now before
        if {$now eq $before || ($key eq "mapping" && $differ ne "")} continue
        if {$key eq "seed" && ($now eq "" || $before eq "")} continue
        switch -- $key {
            on - what {
                lassign [list [lindex $now 0] [lindex $before 0]] now before
                if {$key eq "what"} {
                    lassign [lmap x [list $run $first] {
                        expr {[dict get $x program] ne "" ? "program [dict get $x program]" :
                            "[dict get $x workload] batch [dict get $x batch]"}
                    }] now before
                }
            }
            plan - mapping - stream {lassign {} now before}
        }
        lappend differ "$what[expr {$now eq $before ? "" :
            " ([clip $now 40], not [clip $before 40])"}]"
    }
    set changes [lmap x [list $run $first] {core::saved_changes [dict get $x id] 400}]
    if {[lindex $changes 0] ne [lindex $changes 1]} {lappend differ "changes and faults"}
    set change [change_from [dict get $run latency] [dict get $first latency]]
    set text [expr {$differ eq "" ? "in nothing that was set" : "in [join $differ {, }]"}]
    if {$change eq ""} {return $text}
    return "$text: latency [expr {$change == 0 ? "the same" : [percent $change %+.2f]}]"
}

proc ::tharsis::lib::compared_metrics {o runs of} {
    if {![dict exists $o metrics]} {return [standard_metrics $runs $of]}
    set given [dict get $o metrics]
    variable headings
    check_figures -metrics $given \
        [dict keys [dict merge [expr {$of eq "run" ? $headings : ""}] [core::kept $of]]]
    return $given
}

proc ::tharsis::lib::check_figures {option given known} {
    foreach name $given {fail_if_unknown TCL-0120 $option $name $known}
}

# All but details. Hand-built programs have no throughput, and keep no accelerator busy; of batches
# of one sample, batches per second say what samples per second do.
proc ::tharsis::lib::standard_metrics {runs of} {
    variable headings
    set usual [dict filter [core::kept $of] script {- x} {expr {[lindex $x 4] eq "figure"}}]
    if {$of ne "run"} {return [dict keys $usual]}
    return [keep metric [dict keys [dict merge $headings $usual]] {
        $metric in {latency link_utilization} || [keep run $runs {
            [dict get $run $metric] ne "" &&
            ($metric ne "batch_throughput" || [dict get $run samples] > 1)
        }] ne ""
    }]
}

# Figures, and behind each its change against the same of every reference.
proc ::tharsis::lib::metric_cells {figures references} {
    set i -1
    return [concat {*}[lmap value $figures {
        incr i
        list $value {*}[lmap reference $references {change_from $value [lindex $reference $i]}]
    }]]
}

proc ::tharsis::lib::metric_columns {of shown references} {
    variable headings
    set one [expr {[llength $references] == 1 ? "vs " : ""}]
    return [concat {*}[lmap metric $shown {
        lassign [dict get [core::kept $of] $metric] kind heading - meaning
        if {$of ne "run"} {set heading [string map {_ { }} $metric]}
        set heading [get $headings $metric $heading]
        list [list $metric $heading $kind $meaning] {*}[lmap reference $references {
            set name [dict get $reference name]
            list ${metric}_vs_$name $one[regsub -all {\s+} $name " "] change
        }]
    }]]
}

# A row for each object and run.
proc ::tharsis::lib::compare_objects {of ids shown references} {
    set runs [lmap run [saved $ids] {dict get $run name}]
    set all [lmap id $ids {saved_objects $of $id $shown}]
    set against [lmap id $references {saved_objects $of $id $shown}]
    set object [string trimright $of s]
    return [dict create name $of columns [list [list $object $object text] {run run text} \
        {*}[metric_columns $of $shown [saved $references]]] rows \
        [concat {*}[lmap name [dict keys [dict merge {*}$all]] {
            set before [lmap objects $against {get $objects $name {}}]
            concat {*}[lmap run $runs objects $all {
                if {![dict exists $objects $name]} continue
                list [list $name $run {*}[metric_cells [dict get $objects $name] $before]]
            }]
        }]]]
}

# NAME {VALUE ...} of the objects that a SELECT has behind "FROM", by these figures of their class.
proc ::tharsis::lib::figures_by_name {class figures from} {
    set all [core::kept $class]
    set found {}
    foreach row [core::rows "SELECT [join [concat name [lmap name $figures {
        lindex [dict get $all $name] 2}]] {, }] FROM $from"] {
        dict set found [lindex $row 0] [lrange $row 1 end]
    }
    return $found
}

proc ::tharsis::lib::saved_objects {of id figures} {
    return [figures_by_name $of $figures "saved_$of WHERE run_id = $id"]
}

# The references from which a run differs by less than their models are off by, in all metrics that
# are times or rates. Of two that differ by changes or faults alone, both are off alike.
proc ::tharsis::lib::within_error {run metrics references} {
    set within {}
    foreach reference $references {
        if {[keep key {on what mapping network stream} {
            [dict get $run $key] ne [dict get $reference $key]
        }] eq ""} continue
        set error [lindex [core::model_errors [list [dict get $run id] [dict get $reference id]]] 1]
        foreach metric $metrics {
            set change [change_from [dict get $run $metric] [dict get $reference $metric]]
            if {$metric in {latency throughput batch_throughput} && $change ne "" &&
                100 * abs($change) < $error} {
                lappend within [dict get $reference name]
                break
            }
        }
    }
    return [join $within " "]
}

# Of two runs, for their page; of plans what they reach and need.
proc ::tharsis::lib::two_runs {a b} {
    set runs [saved [list $a $b]]
    set metrics {latency throughput link_utilization accel_utilization energy}
    foreach metric {model_utilization accel_memory} {
        if {[join [lmap run $runs {dict get $run $metric}] {}] ne ""} {lappend metrics $metric}
    }
    return [compare_tables [list $a $b] $metrics $a]
}

# The metrics of each run, and their change against every reference.
proc ::tharsis::lib::compare_tables {ids shown references} {
    set references [saved $references]
    set before [lmap run $references {lmap metric $shown {dict get $run $metric}}]
    set notes [lmap {metric note} {
        throughput {throughput: samples per second}
        link_utilization {links busy: mean over the links that carried something}
    } {
        if {$metric ni $shown} continue
        list $metric $note
    }]
    set any 0
    set runs [saved $ids]
    set plans [plan_names [lmap run $runs {dict get $run plan}]]
    set rows [lmap run $runs plan $plans {
        set within [within_error $run $shown $references]
        if {$within ne ""} {set any 1}
        list [dict get $run name] $plan {*}[metric_cells [lmap metric $shown {
            dict get $run $metric}] $before] $within \
            [dict get $run system] [dict get $run system_digest] [dict get $run workload_digest] \
            [core::saved_changes [dict get $run id] 2147483647]
    }]
    if {$any} {
        lappend notes {within_error {within error of: its time or rate differs from that run's by\
            less than the largest known model error}}
    }
    return [dict create tables [list [dict create name comparison wraps_at plan rows $rows \
        notes $notes columns [list {run run text} \
            [list plan [expr {[join $plans {}] ne "" ? "plan" : ""}] text] \
            {*}[metric_columns run $shown $references] \
            [list within_error [expr {$any ? "within error of" : ""}] text] {system {} text} \
            {system_digest {} text} {workload_digest {} text} {changes {} text}]]]]
}

# ---- report_diff ----

proc ::tharsis::lib::report_diff {o} {
    set ids [concat {*}[lmap name [dict get $o words] {core::saved_ids [list $name]}]]
    set runs [saved $ids]
    set is_text [is_text $o]
    set head [concat [saved_head $runs] [lmap run $runs side {a b} {
        list field $side text [dict get $run name]}]]
    set asked [get $o figures ""]
    check_figures -figures $asked [concat all {*}[lmap class {run layers accels links} {
        dict keys [core::kept $class]}]]
    set found [diff_tables $ids $is_text [get $o limit [expr {$is_text ? 10 : 0}]] $asked]
    return [report diff Differences [dict get $found tables] own_head 1 \
        head [concat $head [dict get $found head]]]
}

# Inputs and results of two runs where they differ; in text, tables with rows alone. Details only
# where asked for.
proc ::tharsis::lib::diff_tables {ids is_text limit {asked ""}} {
    lassign [saved $ids] a b
    set tables [list [diff_inputs $a $b] [diff_changes $a $b $limit] \
        [diff_table totals Totals "" $a $b $is_text $limit [diff_totals $a $b $asked]]]
    foreach {name title class} {
        layers Layers layers accelerators Accelerators accels links Links links
    } {
        lappend tables [diff_table $name $title [string trimright $class s] $a $b $is_text $limit \
            [diff_objects $class [dict get $a id] [dict get $b id] $asked]]
    }
    if {$is_text} {set tables [keep table $tables {[llength [dict get $table rows]] > 0}]}
    return [dict create tables $tables head [expr {[llength $tables] == 0 ?
        {{line differ "in nothing"}} : ""}]]
}

proc ::tharsis::lib::diff_inputs {a b} {
    set is_made [expr {[dict get $a program] ne "" || [dict get $b program] ne ""}]
    set rows {}
    foreach {what key otherwise} [list system system - "system's digest" system_digest - workload \
        workload - "workload's digest" workload_digest - program program - batch batch 0 \
        precision precision - \
        [expr {$is_made ? "program's digest" : "mapping"}] mapping - algorithm algorithm - \
        seed seed - network network - inputs inputs 0] {
        set values [lmap run [list $a $b] {
            expr {[dict get $run $key] eq "" ? $otherwise : [dict get $run $key]}
        }]
        if {[lindex $values 0] ne [lindex $values 1]} {lappend rows [list $what {*}$values]}
    }
    lassign [plan_names [list [dict get $a plan] [dict get $b plan]]] of_a of_b
    if {$of_a ne $of_b} {lappend rows [list plan $of_a $of_b]}
    return [dict create name inputs title "Inputs that differ" wraps 1 rows $rows columns [list \
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
    for {set before 0} {$before < $n} {incr before} {
        if {[lindex $events(a) $before 1] ne [lindex $events(b) $before 1]} break
    }
    for {set after 0} {$after < $n - $before} {incr after} {
        if {[lindex $events(a) end-$after 1] ne [lindex $events(b) end-$after 1]} break
    }
    if {$limit > 0} {dict set table limit $limit}
    return [rows_of $table [concat [lrange $events(a) $before end-$after] \
        [lrange $events(b) $before end-$after]]]
}

# NAME KIND TITLE ... of the numbers of a class that were asked for, else of all but details.
proc ::tharsis::lib::diffed {class asked {besides {}}} {
    return [concat {*}[dict values [dict map {name x} [core::kept $class] {
        lassign $x kind heading - - use
        expr {$kind ne "text" && ($asked eq "all" || $name in $asked ||
            $asked eq "" && ($use eq "figure" || $name in $besides)) ?
            [list $name $kind [expr {$class eq "run" || $name eq "bytes" ? $heading :
                [string map {_ { }} $name]}]] : ""}
    }]]]
}

# Differences are {OBJECT FIGURE KIND A B}.
proc ::tharsis::lib::diff_totals {a b asked} {
    set is_made [expr {[dict get $a program] ne "" || [dict get $b program] ne ""}]
    set is_single [expr {[dict get $a samples] <= 1 && [dict get $b samples] <= 1}]
    set differ {}
    foreach {name kind heading} [diffed run $asked {makespan moved}] {
        if {$name eq "latency" && $is_made || $name eq "batch_throughput" && $is_single} continue
        lappend differ {*}[difference "" [get {throughput throughput moved moved} $name $heading] \
            $kind [dict get $a $name] [dict get $b $name]]
    }
    return $differ
}

# Nothing where both are absent or equal.
proc ::tharsis::lib::difference {object figure kind a b} {
    if {$a eq $b || ($a ne "" && $b ne "" && $a == $b)} return
    return [list [list $object $figure $kind $a $b]]
}

# By name: objects of a, matched with b or alone, then objects of b alone.
proc ::tharsis::lib::diff_objects {class a b asked} {
    set figures [diffed $class $asked]
    set names [lmap {name - -} $figures {set name}]
    lassign [lmap id [list $a $b] {saved_objects $class $id $names}] of_a of_b
    set found {}
    foreach object [dict keys [dict merge $of_a $of_b]] {
        set x [get $of_a $object {}]
        set y [get $of_b $object {}]
        foreach {- kind heading} $figures before $x after $y {
            lappend found {*}[difference $object $heading $kind $before $after]
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
    set change [change_from $b $a]
    if {!$is_text} {
        set unit [get {time ps bytes bytes energy J rate per_s share of_1} $kind ""]
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
