# SPDX-License-Identifier: GPL-3.0-or-later
# study.tcl - create_study, read_study: the definition of a study, and its file.
#   words -> definition -> cells -> file;  file -> definition
# A definition is a dict: name, version, script, where, seed; parameters {{NAME AXIS VALUES} ...};
# metrics {{NAME KIND COLUMN TYPE IS_OWN} ...}, of types 0 integer, 1 real, 2 text. Parameters of
# one axis advance together. Cell c of axes with n_0 ... n_k values has, on axis i, value
# (c / (n_(i+1) ... n_k)) mod n_i: the last axis is the fastest, as in nested loops. Points are the
# cells that a study includes, counted from 1.
# Files come from elsewhere too: what is read is checked like what a user writes. The only words of
# a study in SQL are names of columns, which are plain names; values are bound.
namespace eval ::tharsis::lib::study {
    variable all {} ;# of the session: NAME {PATH IS_OWN}; own: its script was given here
    variable none \x00 ;# a text that there is not (tcl/core/core_study.c)
    variable cells_max 10000000
    variable columns_max 32 ;# parameters, and metrics
    variable application 0x54487374 format 2 ;# of format 1 throughput is batches per second
    variable states {waiting done failed}
    variable precision {precision text precision 2 0} ;# of the workload: a metric of every study
    variable kinds {text count time bytes bandwidth share change rate mean number energy}
    variable tables {
        {CREATE TABLE study (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID}
        {CREATE TABLE parameter (position INTEGER PRIMARY KEY, name TEXT NOT NULL,\
            axis INTEGER NOT NULL)}
        {CREATE TABLE value (parameter INTEGER, position INTEGER, value TEXT NOT NULL,\
            PRIMARY KEY (parameter, position)) WITHOUT ROWID}
        {CREATE TABLE metric (position INTEGER PRIMARY KEY, name TEXT NOT NULL,\
            kind TEXT NOT NULL, "column" TEXT NOT NULL, type INTEGER NOT NULL,\
            own INTEGER NOT NULL)}
    }
}

# ---- the commands ----

# A file that holds the same study is taken up.
proc ::tharsis::lib::create_study {o} {
    set s [study_of_options $o]
    set path [core::path [dict get $o file]]
    if {![core::store_is_there $path] || ![open_file $path]} {
        make_file $path $s [cells_of $s]
    } else {
        set there [read_definition $path]
        if {$study::precision ni [dict get $there metrics]} {set s [with_precision $s 0]}
        compare_studies $there $s
    }
    dict set study::all [dict get $s name] [list $path 1]
    return [dict get $s name]
}

proc ::tharsis::lib::read_study {o} {
    set path [core::path [lindex [dict get $o words] 0]]
    set name [dict get [open_definition $path] name]
    dict set study::all $name [list $path 0]
    return $name
}

# The definition of a study of the session, whose file is then open.
proc ::tharsis::lib::open_study {name} {
    if {[dict exists $study::all $name]} {
        return [open_definition [lindex [dict get $study::all $name] 0]]
    }
    fail_if {[dict size $study::all] == 0} STUDY-0050 "study \"$name\": there is none yet:\
        create_study or read_study first"
    fail_unknown STUDY-0051 study $name [dict keys $study::all]
}

# ---- a definition ----

proc ::tharsis::lib::study_of_options {o} {
    set s [dict create name [lindex [dict get $o words] 0] version [package provide tharsis] \
        script [dict get $o script] where [get $o where ""] seed [get $o seed 1]]
    fail_if {[dict get $s name] eq ""} STUDY-0058 "the name of a study must not be empty"
    fail_if {![info complete [dict get $s script]]} STUDY-0059 "-script: is not complete: a brace,\
        bracket or quote is missing"
    set parameters [parameters_of [dict get $o parameters]]
    if {[dict exists $o zip]} {set parameters [join_groups $parameters [dict get $o zip]]}
    dict set s parameters $parameters
    set metrics [study_list -metrics [dict get $o metrics]]
    dict set s metrics [lmap metric $metrics {study_metric $metric}]
    check_study $s
    if {![catch {check_study [with_precision $s]}]} {set s [with_precision $s]}
    set globals [core::globals]
    foreach name [parameter_names $s] {
        fail_if {$name in $globals} STUDY-0057 "parameter \"$name\": is a variable of Tcl, and must\
            have another name"
    }
    return $s
}

proc ::tharsis::lib::study_list {option text} {
    set said [clip $text 80]
    return [elements $text STUDY-0052 "$option \"$said\": must be a list"]
}

# With that metric, or (0) without it, as files of older versions, and studies where a parameter or
# another metric has its name.
proc ::tharsis::lib::with_precision {s {n 1}} {
    return [dict replace $s metrics [list {*}[lsearch -all -inline -exact -not \
        [dict get $s metrics] $study::precision] {*}[lrepeat $n $study::precision]]]
}

# Each an axis of its own.
proc ::tharsis::lib::parameters_of {text} {
    set words [study_list -parameters $text]
    if {[llength $words] % 2 != 0} {
        set last [clip [lindex $words end] 60]
        fail STUDY-0054 "-parameters: must be a list {NAME VALUES NAME VALUES ...}; the last NAME\
            \"$last\" has no values"
    }
    set all {}
    foreach {name values} $words {
        lappend all [list $name [llength $all] [study_list -parameters $values]]
        check_parameter [lindex $all end] [llength $all]
    }
    return $all
}

proc ::tharsis::lib::check_parameter {parameter number} {
    lassign $parameter name - values
    fail_if {[llength $values] > $study::cells_max} STUDY-0053 "parameter \"$name\": has more than\
        $study::cells_max values"
    check_name parameter $name
    fail_if {$number > $study::columns_max} STUDY-0002 "parameter \"$name\": there may be at most\
        $study::columns_max"
    fail_if {[llength $values] < 1} STUDY-0003 "parameter \"$name\": must have values"
}

# A name that needs no quotes in Tcl and SQL.
proc ::tharsis::lib::check_name {what name} {
    fail_if {![regexp {^[A-Za-z0-9_]{1,60}$} $name] || ![regexp {[A-Za-z_]} $name]} STUDY-0001 \
        "$what \"[clip $name 80]\": must be a name of letters, digits and _, at most 60"
}

# -zip {a b}, or {{a b} {c d}}.
proc ::tharsis::lib::join_groups {parameters zip} {
    set groups [study_list -zip $zip]
    if {[llength $groups] == 0 || [llength [study_list -zip [lindex $groups 0]]] < 2} {
        set groups [list $zip]
    }
    foreach group $groups {
        set names [study_list -zip $group]
        fail_if {[llength $names] < 2} STUDY-0055 "-zip \"[clip $group 80]\": must be two\
            parameters at least, or a list of such lists"
        foreach name [lrange $names 1 end] {
            set parameters [join_parameters $parameters [lindex $names 0] $name]
        }
    }
    return $parameters
}

# Parameter b advances with a from here on.
proc ::tharsis::lib::join_parameters {parameters a b} {
    foreach name [list $a $b] {
        set at [lsearch -exact -index 0 $parameters $name]
        fail_if {$at < 0} STUDY-0005 "-zip: \"[clip $name 60]\" is no parameter"
        lassign [lindex $parameters $at] - axis values
        lappend axes $axis
        lappend lengths [llength $values]
    }
    lassign $lengths n m
    fail_if {$n != $m} STUDY-0006 "-zip: \"$a\" has $n values and \"$b\" has $m: parameters that\
        advance together must have equally many"
    lassign [lsort -integer $axes] low high
    fail_if {$low == $high} STUDY-0007 "-zip: \"$b\" advances with \"$a\" already"
    return [lmap parameter $parameters {
        lassign $parameter name axis values
        list $name [expr {$axis == $high ? $low : $axis - ($axis > $high)}] $values
    }]
}

# NAME, or {NAME KIND}.
proc ::tharsis::lib::study_metric {text} {
    set words [study_list -metrics $text]
    fail_if {[llength $words] ni {1 2}} STUDY-0056 "-metrics \"[clip $text 80]\": must be NAME or\
        {NAME KIND}"
    lassign $words name kind
    set of_run [dict filter [core::kept run] script {- x} {expr {[lindex $x 0] ne "text"}}]
    set is_own [expr {[llength $words] == 2}]
    if {$is_own && [lindex [get $of_run $name ""] 4] eq "figure"} {
        fail STUDY-0042 "-metrics: \"$name\" is a figure of the run: what the script returns must\
            have another name"
    } elseif {$is_own && $kind ni $study::kinds} {
        fail_unknown STUDY-0041 "-metrics: kind" $kind $study::kinds
    } elseif {!$is_own} {
        if {![dict exists $of_run $name]} {
            catch {core::fail_unknown STUDY-0 -metrics $name [dict keys $of_run]} - options
            set text [lindex [dict get $options -errorcode] 3]
            fail STUDY-0040 "$text; or {NAME KIND}, which the script returns"
        }
        set kind [lindex [dict get $of_run $name] 0]
    }
    set type [expr {$kind eq "text" ? 2 : $kind in {count time bytes bandwidth} ? 0 : 1}]
    return [list $name $kind $name[core::suffix $kind $name] $type $is_own]
}

proc ::tharsis::lib::check_study {s} {
    fail_if {[dict get $s parameters] eq ""} STUDY-0009 "a study must have parameters"
    set number 0
    foreach metric [dict get $s metrics] {
        lassign $metric name - column
        check_name metric $name
        check_name metric $column
        fail_if {[incr number] > $study::columns_max} STUDY-0004 "metric \"$name\": there may be at\
            most $study::columns_max"
    }
    fail_if {$number == 0} STUDY-0010 "a study must have metrics"
    fail_if {[lindex [grid_of $s] 0] > $study::cells_max} STUDY-0011 "the parameters make more than\
        $study::cells_max points"
    check_columns $s
}

# SQL ignores case.
proc ::tharsis::lib::check_columns {s} {
    set names {point cell status error mapping}
    foreach parameter [dict get $s parameters] {lappend names [lindex $parameter 0]}
    foreach metric [dict get $s metrics] {
        lassign $metric name - column
        lappend names $name
        if {![string equal -nocase $name $column]} {lappend names $column}
    }
    foreach name $names {
        fail_if {[incr seen([string tolower $name])] > 1} STUDY-0008 "\"$name\": the name is taken\
            already; parameters, metrics and point, cell, status, error, mapping must differ by\
            more than case"
    }
}

# ---- cells ----

# {NUMBER STRIDES}: how many cells there are, and of each parameter STRIDE LENGTH: cell c has its
# value number (c / STRIDE) mod LENGTH.
proc ::tharsis::lib::grid_of {s} {
    foreach parameter [dict get $s parameters] {
        lassign $parameter - axis values
        dict set lengths $axis [llength $values]
    }
    set n 1
    foreach axis [lsort -integer -decreasing [dict keys $lengths]] {
        dict set strides $axis [list $n [dict get $lengths $axis]]
        set n [expr {$n * [dict get $lengths $axis]}]
    }
    return [list $n [lmap parameter [dict get $s parameters] {
        dict get $strides [lindex $parameter 1]
    }]]
}

proc ::tharsis::lib::values_of_cell {s strides cell} {
    return [lmap parameter [dict get $s parameters] pair $strides {
        lindex $parameter 2 [expr {$cell / [lindex $pair 0] % [lindex $pair 1]}]
    }]
}

# 1 .. 2^31 - 1, of the seed of the study and the values of its parameters.
proc ::tharsis::lib::seed_of_values {seed names values} {
    set items [list w $seed]
    foreach name $names value $values {lappend items t $name t $value}
    return [expr {"0x[core::hash $items]" % 2147483647 + 1}]
}

proc ::tharsis::lib::parameter_names {s} {
    return [lmap parameter [dict get $s parameters] {lindex $parameter 0}]
}

proc ::tharsis::lib::has_seed {s} {return [expr {"seed" in [parameter_names $s]}]}

# The cells for which -where holds, as words of 8 bytes: there may be many.
proc ::tharsis::lib::cells_of {s} {
    set where [dict get $s where]
    lassign [grid_of $s] n strides
    set names [parameter_names $s]
    set interp [core::where_interp]
    set expression [list expr $where]
    set cells ""
    for {set cell 0} {$cell < $n} {incr cell} {
        if {$cell % 1024 == 0} {core::poll}
        if {$where ne "" && ![holds $interp $where $expression $names \
            [values_of_cell $s $strides $cell]]} continue
        append cells [binary format w $cell]
    }
    fail_if {[string length $cells] == 0} STUDY-0062 "-where {[clip $where 200]}: holds for none of\
        the $n points"
    return $cells
}

proc ::tharsis::lib::holds {interp where expression names values} {
    if {![catch {
        $interp eval [list lassign $values {*}$names]
        expr {[$interp eval $expression] ? 1 : 0}
    } answer]} {return $answer}
    core::poll
    fail STUDY-0060 "-where {[clip $where 200]}: [clip $answer 300]"
}

# ---- two studies ----

proc ::tharsis::lib::digest_of {s} {
    set items [list w [dict get $s seed]]
    foreach key {name version script where} {lappend items t [dict get $s $key]}
    foreach parameter [dict get $s parameters] {
        lassign $parameter name axis values
        lappend items t $name w $axis
        foreach value $values {lappend items t $value}
    }
    foreach metric [dict get [with_precision $s 0] metrics] {
        lassign $metric - kind column
        lappend items t $kind t $column
    }
    return [core::hash $items]
}

# What differs first is an error.
proc ::tharsis::lib::compare_studies {file here} {
    compare name [dict get $file name] [dict get $here name]
    compare "version of tharsis" [dict get $file version] [dict get $here version]
    foreach a [dict get $file parameters] b [dict get $here parameters] {
        compare -parameters [lindex $a 0] [lindex $b 0]
    }
    foreach a [dict get $file parameters] b [dict get $here parameters] {
        lassign $b name axis values
        compare "parameter $name" [lindex $a 2] $values
        if {[lindex $a 1] != $axis} {compare -zip "another grouping" $name}
    }
    compare -where [dict get $file where] [dict get $here where]
    foreach a [dict get $file metrics] b [dict get $here metrics] {
        compare -metrics [lindex $a 2] [lindex $b 2]
    }
    foreach a [dict get $file metrics] b [dict get $here metrics] {
        compare [lindex $a 0] [lindex $a 1] [lindex $b 1]
    }
    compare -seed [dict get $file seed] [dict get $here seed]
    set there [split [dict get $file script] \n]
    set lines [split [dict get $here script] \n]
    set line 0
    foreach a $there b $lines {compare "-script, line [incr line]" $a $b}
    compare "-script, number of lines" [llength $there] [llength $lines]
}

proc ::tharsis::lib::compare {what file here} {
    if {$file eq $here} return
    fail STUDY-0012 "the file holds another study: $what: \"[clip $file 120]\" there,\
        \"[clip $here 120]\" here"
}

# ---- a new file ----

# Is there a study of this format in the file, which is then open? Another content is an error.
proc ::tharsis::lib::open_file {path args} {
    core::store_open $path {*}$args
    set there [core::store_rows "PRAGMA application_id" "" {} i]
    set its_format [core::store_rows "PRAGMA user_version" "" {} i]
    set n_tables [core::store_rows "SELECT count(*) FROM sqlite_master" "" {} i]
    if {$n_tables == 0 && $there == 0} {return 0}
    fail_if {$there != $study::application} STUDY-0021 "$path: is a database of something else than\
        a study"
    fail_if {$its_format != $study::format} STUDY-0022 "$path: is a study of format $its_format:\
        must be $study::format"
    return 1
}

proc ::tharsis::lib::run_sql {sql} {core::store_run $sql "" {{}}}

# In one transaction: at any end before, what is there is empty.
proc ::tharsis::lib::make_file {path s cells} {
    open_file $path create
    run_sql "BEGIN IMMEDIATE"
    fail_if {[core::store_rows "SELECT count(*) FROM sqlite_master" "" {} i] > 0} STUDY-0024 \
        "$path: another process created a study in this file"
    write_definition $s
    write_points $s $cells
    run_sql COMMIT
}

proc ::tharsis::lib::write_definition {s} {
    run_sql "PRAGMA application_id = [expr {$study::application}]"
    run_sql "PRAGMA user_version = $study::format"
    foreach table $study::tables {run_sql $table}
    dict set s digest [digest_of $s]
    core::store_run "INSERT INTO study VALUES (?, ?)" tt [lmap key {
        name version script where seed digest
    } {list $key [dict get $s $key]}]
    set number -1
    foreach parameter [dict get $s parameters] {
        lassign $parameter name axis values
        core::store_run "INSERT INTO parameter VALUES (?, ?, ?)" iti \
            [list [list [incr number] $name $axis]]
        set position -1
        core::store_run "INSERT INTO value VALUES (?, ?, ?)" iit \
            [lmap value $values {list $number [incr position] $value}]
    }
    set number -1
    core::store_run "INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?)" itttii \
        [lmap metric [dict get $s metrics] {linsert $metric 0 [incr number]}]
    run_sql [table_of_points $s]
}

proc ::tharsis::lib::table_of_points {s} {
    set sql "CREATE TABLE point (point INTEGER PRIMARY KEY, cell INTEGER NOT NULL"
    foreach name [parameter_names $s] {append sql ", \"$name\""}
    if {![has_seed $s]} {append sql ", seed INTEGER NOT NULL"}
    append sql ", status TEXT NOT NULL, error TEXT, mapping TEXT"
    foreach metric [dict get $s metrics] {
        lassign $metric - - column type
        append sql ", \"$column\" [lindex {INTEGER REAL TEXT} $type]"
    }
    return "$sql)"
}

proc ::tharsis::lib::write_points {s cells} {
    set names [parameter_names $s]
    set n [llength $names]
    set has_seed [has_seed $s]
    set columns [lmap name $names {string cat \" $name \"}]
    if {!$has_seed} {lappend columns seed}
    set sql "INSERT INTO point (point, cell, status, [join $columns ", "]) VALUES (?, ?,\
        'waiting'[string repeat ", ?" [llength $columns]])"
    set letters ii[string repeat w $n][expr {$has_seed ? "" : "i"}]
    set strides [lindex [grid_of $s] 1]
    set seed [dict get $s seed]
    set point 0
    set bytes 8000 ;# of the cells of one step
    for {set at 0} {$at < [string length $cells]} {incr at $bytes} {
        binary scan [string range $cells $at [expr {$at + $bytes - 1}]] w* some
        core::store_run $sql $letters [lmap cell $some {
            set values [values_of_cell $s $strides $cell]
            set row [list [incr point] $cell {*}$values]
            if {!$has_seed} {lappend row [seed_of_values $seed $names $values]}
            set row
        }]
    }
}

# ---- a file is read ----

proc ::tharsis::lib::open_definition {path} {
    fail_if {![open_file $path]} STUDY-0023 "$path: is empty: create_study makes a study"
    return [read_definition $path]
}

proc ::tharsis::lib::read_definition {path} {
    check_tables
    set s [read_words]
    dict set s path $path
    dict set s parameters [read_parameters]
    dict set s metrics [read_metrics]
    check_study $s
    if {[dict get $s digest] ne [digest_of $s]} {fail_definition "its digest"}
    set sql [core::store_rows "SELECT sql FROM sqlite_master WHERE name = 'point'" "" {} t]
    fail_if {[lindex $sql 0 0] ne [table_of_points $s]} STUDY-0254 "$path: its table of points is\
        not that of its parameters and metrics"
    return $s
}

proc ::tharsis::lib::fail_definition {what} {
    fail STUDY-0030 "the definition in the file is damaged: $what"
}

# Views, triggers, indices, other columns and types would make SQLite run what they say.
proc ::tharsis::lib::check_tables {} {
    set n 0
    foreach row [core::store_rows "SELECT type, name, sql FROM sqlite_master" "" {} TTT] {
        lassign $row type name sql
        incr n
        if {$type ne "table" || ($sql ni $study::tables && ![string match \
            "CREATE TABLE point (point INTEGER PRIMARY KEY, cell INTEGER NOT NULL, *" $sql])} {
            fail STUDY-0252 "the [clip $type 20] \"[clip $name 80]\" in the file is none that\
                create_study makes: must be its tables, unchanged, and nothing else"
        }
    }
    if {$n != [llength $study::tables] + 1} {fail_definition "a table is missing"}
}

proc ::tharsis::lib::read_words {} {
    set s {}
    foreach row [core::store_rows "SELECT key, value FROM study" "" {} tt] {
        if {[llength $row] != 2} {fail_definition "a word of the study"}
        lassign $row key value
        if {[dict exists $s $key]} {fail_definition "a word that is there twice"}
        dict set s $key $value
    }
    foreach key {name version script where seed digest} {
        if {![dict exists $s $key]} {fail_definition "a word of the study"}
    }
    if {![string is wideinteger -strict [dict get $s seed]]} {fail_definition "its seed"}
    return $s
}

# Axes are numbered by their first parameters, and their parameters are equally long.
proc ::tharsis::lib::read_parameters {} {
    lassign {} all lengths
    foreach row [core::store_rows "SELECT position, name, axis FROM parameter ORDER BY position" \
        "" {} iti] {
        if {[llength $row] != 3} {fail_definition "axis of a parameter"}
        lassign $row position name axis
        set values [read_values $position]
        set length [llength $values]
        if {$axis < 0 || $axis > [dict size $lengths] || ([dict exists $lengths $axis] &&
            [dict get $lengths $axis] != $length)} {
            fail_definition "axis of a parameter"
        }
        dict set lengths $axis $length
        lappend all [list $name $axis $values]
        check_parameter [lindex $all end] [llength $all]
    }
    return $all
}

proc ::tharsis::lib::read_values {position} {
    set values {}
    foreach row [core::store_rows "SELECT position, value FROM value WHERE parameter = ? ORDER BY\
        position" i [list $position] it] {
        if {[llength $row] != 2 || [lindex $row 0] != [llength $values]} {
            fail_definition "values of a parameter"
        }
        lappend values [lindex $row 1]
    }
    if {$values eq ""} {fail_definition "values of a parameter"}
    return $values
}

proc ::tharsis::lib::read_metrics {} {
    return [lmap row [core::store_rows \
        "SELECT name, kind, \"column\", type, own FROM metric ORDER BY position" "" {} tttii] {
        lassign $row name kind column type is_own
        if {$type ni {0 1 2} || $is_own ni {0 1} || $kind ni $study::kinds} {
            fail_definition "type of a metric"
        }
        set row
    }]
}

# How many points are in each state: dict.
proc ::tharsis::lib::count_points {} {
    return [dict merge {waiting 0 done 0 failed 0} [concat {*}[core::store_rows {
        SELECT status, count(*) FROM point WHERE status IN ('waiting', 'done', 'failed')
        GROUP BY status
    } "" {} ti]]]
}

# Is the point in the study? n: its cells.
proc ::tharsis::lib::check_point {s point cell n} {
    fail_if {$point < 1} STUDY-0092 "[dict get $s path]: point $point: points are numbered from 1"
    fail_if {$cell < 0 || $cell >= $n} STUDY-0025 "[dict get $s path]: point $point is in no cell\
        of the study"
}
