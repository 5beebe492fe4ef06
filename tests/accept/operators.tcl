# SPDX-License-Identifier: GPL-3.0-or-later
# operators.tcl - predicted times of operators of language models against measured ones.
#
#   tharsis -exit tests/accept/operators.tcl ?-quick? TRAIN ?TEST?
#   tharsis -exit tests/accept/operators.tcl ?-all? TRAIN ?TEST? -layout 2026 ?-devices FILE?
#
# The second form: lib/operators_2026.tcl. Of the first:
# TRAIN and TEST hold vidur_GPU.csv.xz (products and memory-bound operators of several models),
# attention_GPU_MODEL.csv.xz and llmcompass_GPU.csv; scripts/llm_ops.tcl reads them. Groups:
#   products, memory-bound, attention
# Without TEST, or where it is TRAIN:
#   seen     a fifth of the shapes is held out on all GPUs (equal shapes together)
#   model    each model of a file is left out whole; the others of the file are learned from
#   unseen   each GPU is left out in turn; the others are learned from
# With another TEST: all of TRAIN is learned, all of TEST asked for; a GPU that TRAIN has no rows of
# is unseen, else a model that TRAIN has none of.
# Errors are mean absolute percentages over rows. llmcompass: another card (A100 SXM), timed with a
# synchronisation of the host after each call; the predictor is calibrated with every other row of
# an operator, and asked for the rest; where it has no model of the operator (softmax), the data
# sheet's time and a constant of the host, fitted to the same half. Beside it stands the published
# error of LLMCompass. A line per operator and device, then the bars. An unseen GPU is asked of the
# law alone, which is what cross-validation (-learner auto) selects where one GPU was measured.
# Of all rows of a group on devices left out, 70 to 90 % have to lie inside the interval of 80 %.
# -quick: no models left out. Exit status: 0 where all bars hold, 1 where not, 2 where the data
# cannot be read.
source [file join [file dirname [file normalize [info script]]] .. .. scripts llm_ops.tcl]

set bars {
    seen,products 8.0 seen,memory 8.0 seen,attention 10.0
    model,products 10.0 model,memory 10.0 model,attention 10.0
    unseen,products 15.0 unseen,memory 20.0
}
# Of rows within the interval of 80 %, in percent, of a group on devices that were left out.
set cover {70 90}
set names {products "products" memory "memory-bound" attention "attention"}
# Of LLMCompass on the same rows, percent: ISCA 2024, section 5.
set published {matmul 9.0 softmax 12.0 layernorm 11.3 gelu 5.0}
set held_out_percent 20

# ---- rows ----

proc files_of {folder pattern} {
    return [lsort [glob -nocomplain -directory $folder ${pattern}.csv ${pattern}.csv.xz]]
}

# Rows of all files of a folder, read once: {file rows}.
proc tables_of {folder} {
    set tables {}
    foreach file [concat [files_of $folder vidur_*] [files_of $folder attention_*]] {
        if {[string match *_models.csv $file]} continue
        dict set tables $file [llm_ops::table $file]
    }
    if {$tables eq ""} {error "$folder: has no vidur_* and no attention_*"}
    return $tables
}

# Those rows of a table whose column (0 model, 1 operator, 2 group) has, or has not, this value.
proc rows_with {rows column value} {
    return [lmap row $rows {expr {[lindex $row $column] eq $value ? $row : [continue]}}]
}
proc rows_without {rows column value} {
    return [lmap row $rows {expr {[lindex $row $column] ne $value ? $row : [continue]}}]
}
proc values_of {rows column} {return [lsort -unique [lmap row $rows {lindex $row $column}]]}

# Sets of measurements are kept by name, so every one has a new name.
proc add_set {rows device} {
    set name set[incr ::n_sets]
    llm_ops::add $rows $device $name
    return $name
}

# Sets by device and operator: {device operator group set}.
proc sets_of {tables} {
    set sets {}
    dict for {file rows} $tables {
        set device [llm_ops::device $file]
        foreach operator [values_of $rows 1] {
            set own [rows_with $rows 1 $operator]
            lappend sets [list $device $operator [lindex $own 0 2] [add_set $own $device]]
        }
    }
    return $sets
}

# ---- errors ----

# {rows percent inside} of a set, by the predictor at hand: the mean over rows of all kinds in it,
# and how many of them, in percent, lie between the 10th and the 90th percentile that the predictor
# tells. No rows held out: 0 rows.
proc error_of {set args} {
    if {[catch {evaluate_predictor -on $set {*}$args -format csv -return_string} text]} {
        return {0 0.0 0.0}
    }
    set lines [split [string trim $text] \n]
    set columns [split [lindex $lines 0] ,]
    set seen [lsearch $columns seen]
    set rows [lsearch $columns rows]
    set percent [lsearch $columns mean_error_percent]
    set inside [lsearch $columns inside_percent]
    set n 0
    set sum 0.0
    set sum_inside 0.0
    foreach line [lrange $lines 1 end] {
        set fields [split $line ,]
        if {[lindex $fields $seen] eq ""} continue
        incr n [lindex $fields $rows]
        set sum [expr {$sum + [lindex $fields $rows] * [lindex $fields $percent]}]
        set sum_inside [expr {$sum_inside + [lindex $fields $rows] * [lindex $fields $inside]}]
    }
    return [list $n [expr {$sum / max($n, 1)}] [expr {$sum_inside / max($n, 1)}]]
}

proc show {what device operator rows percent {inside ""}} {
    puts [format "%-8s %-12s %-38s %8d %8.2f %10.6s" $what $device $operator $rows $percent $inside]
    flush stdout
    incr ::n_cases
}

# Adds to the sums of a bar: rows and rows times percent.
proc count {key device rows percent} {
    foreach place [list $key $key,$device] {
        lassign [expr {[dict exists $::sums $place] ? [dict get $::sums $place] : {0 0.0}}] n sum
        dict set ::sums $place [list [expr {$n + $rows}] [expr {$sum + $rows * $percent}]]
    }
}

# Asks for every set and counts it.
proc ask {what sets args} {
    foreach one $sets {
        lassign $one device operator group set
        lassign [error_of $set {*}$args] rows percent inside
        if {$rows == 0} continue
        show $what $device $operator $rows $percent $inside
        count $what,$group $device $rows $percent
        count $what,inside $device $rows $inside
        count $what,inside_$group $device $rows $inside
    }
}

# kind and field words of a row, for predict_layer.
proc words_of {row} {
    set fields [split [lindex $row 3] ,]
    set words [list [lindex $fields 0]]
    foreach column [lrange $::llm_ops::columns 1 end] value [lrange $fields 1 end-1] {
        if {$value ne ""} {lappend words $column $value}
    }
    return $words
}

# ---- our own split ----

proc all_sets {tables} {
    set name set[incr ::n_sets]
    dict for {file rows} $tables {llm_ops::add $rows [llm_ops::device $file] $name}
    return $name
}

proc seen {tables sets} {
    train_predictor -on [all_sets $tables] -held_out $::held_out_percent -learner $::learner
    ask seen $sets -held_out
}

# Each model of a file with several; operators of a model together.
proc models {tables} {
    dict for {file rows} $tables {
        set device [llm_ops::device $file]
        set models [values_of $rows 0]
        if {[llength $models] < 2} continue
        foreach model $models {
            train_predictor -on [add_set [rows_without $rows 0 $model] $device] \
                -learner $::learner
            set own [rows_with $rows 0 $model]
            foreach group [values_of $own 2] {
                lassign [error_of [add_set [rows_with $own 2 $group] $device]] n percent inside
                show model $device "$model, [dict get $::names $group]" $n $percent $inside
                count model,$group $device $n $percent
                count model,inside $device $n $inside
            }
        }
    }
}

proc unseen {tables sets} {
    set devices [lsort -unique [lmap one $sets {lindex $one 0}]]
    if {[llength $devices] < 2} return
    foreach device $devices {
        set name set[incr ::n_sets]
        dict for {file rows} $tables {
            set there [llm_ops::device $file]
            if {$there ne $device} {llm_ops::add $rows $there $name}
        }
        train_predictor -on $name -learner law
        ask unseen [lsearch -all -inline -index 0 $sets $device]
    }
}

# ---- rows of another folder ----

proc other {train test} {
    train_predictor -on [all_sets $train] -learner $::learner
    set devices {}
    set models {}
    dict for {file rows} $train {
        lappend devices [llm_ops::device $file]
        lappend models {*}[values_of $rows 0]
    }
    dict for {file rows} $test {
        set device [llm_ops::device $file]
        foreach model [values_of $rows 0] {
            set what [expr {$device ni $devices ? "unseen" : $model ni $models ? "model" : "seen"}]
            ask $what [sets_of [dict create $file [rows_with $rows 0 $model]]]
        }
    }
}

# ---- timed on the host ----

proc milliseconds {time} {
    if {![regexp {^([0-9.]+)(ps|ns|us|ms|s)$} $time -> number unit]} {error "a time: $time"}
    return [expr {$number * [dict get {ps 1e-9 ns 1e-6 us 1e-3 ms 1 s 1e3} $unit]}]
}

# Mean |predicted + host - measured| / measured, of pairs {predicted measured} in ms.
proc host_error {pairs host} {
    set sum 0.0
    foreach pair $pairs {
        lassign $pair predicted measured
        set sum [expr {$sum + abs(($predicted + $host) / $measured - 1)}]
    }
    return [expr {$sum / [llength $pairs]}]
}

# The host's constant, from 0 to 60 us, with the least error.
proc host_of {pairs} {
    set best 0
    for {set us 1} {$us <= 60} {incr us} {
        if {[host_error $pairs [expr {$us * 1e-3}]] < [host_error $pairs [expr {$best * 1e-3}]]} {
            set best $us
        }
    }
    return [expr {$best * 1e-3}]
}

# Predicted kernels of rows, with what was measured.
proc pairs_of {rows device} {
    set pairs {}
    foreach row $rows {
        set time [predict_layer {*}[words_of $row] -device $device -phase execution]
        lappend pairs [list [milliseconds $time] [lindex $row 4]]
    }
    return $pairs
}

proc every_other {list first} {
    set out {}
    for {set i $first} {$i < [llength $list]} {incr i 2} {lappend out [lindex $list $i]}
    return $out
}

# By the predictor at hand, of which it makes a copy.
proc host_timed {folder device} {
    close [file tempfile model .model]
    write_predictor $model
    foreach file [files_of $folder llmcompass_*] {
        set rows [llm_ops::table $file]
        foreach operator {matmul layernorm gelu softmax} {
            set own [rows_with $rows 1 $operator]
            if {[llength $own] < 16} continue
            set label "$operator, LLMCompass [dict get $::published $operator]"
            if {[catch {
                read_predictor $model -calibrate [add_set [every_other $own 0] $device]
                lassign [error_of [add_set [every_other $own 1] $device]] n percent
            }] || $n == 0} {
                set pairs [pairs_of $own $device]
                set rest [every_other $pairs 1]
                set n [llength $rest]
                set percent [expr {100 * [host_error $rest [host_of [every_other $pairs 0]]]}]
            }
            show host $device $label $n $percent
        }
    }
    read_predictor $model
    file delete $model
}

# ---- the whole ----

proc show_bars {} {
    set holds 1
    dict for {key sum} $::sums {
        lassign [split $key ,] what group device
        lassign $sum n total
        if {![dict exists $::bars $what,$group] || $n == 0} continue
        set bar [dict get $::bars $what,$group]
        set got [expr {$total / $n}]
        set held [expr {$got <= $bar}]
        puts [format "bar: %s %s%s: got %.2f %%, at most %g %%: %s" $what \
            [dict get $::names $group] [expr {$device eq "" ? ", all" : ", $device"}] $got $bar \
            [expr {$held ? "holds" : "MISSED"}]]
        set holds [expr {$holds && $held}]
    }
    return $holds
}

# Of a group on a device left out.
proc show_covers {} {
    set holds 1
    dict for {key sum} $::sums {
        if {![regexp {^unseen,inside_(\w+)$} $key -> group]} continue
        lassign $sum n total
        lassign $::cover least most
        set got [expr {$total / $n}]
        set held [expr {$got >= $least && $got <= $most}]
        puts [format "bar: unseen %s, inside: got %.1f %%, at %s %%: %s" \
            [dict get $::names $group] $got [expr {$got < $least ? "least $least" : "most $most"}] \
            [expr {$held ? "holds" : "MISSED"}]]
        set holds [expr {$holds && $held}]
    }
    return $holds
}

proc figure {key} {
    if {![dict exists $::sums $key]} {return -}
    lassign [dict get $::sums $key] n sum
    return [format %.2f [expr {$sum / $n}]]
}

proc run_all {train test} {
    puts [format "%-8s %-12s %-38s %8s %8s %10s" what device operator rows {got [%]} \
        {inside [%]}]
    set tables [tables_of $train]
    if {$test eq $train} {
        set sets [sets_of $tables]
        seen $tables $sets
        host_timed $train a100_80_sxm
        if {!$::quick} {models $tables}
        unseen $tables $sets
    } else {
        other $tables [tables_of $test]
        host_timed $test a100_80_sxm
    }
    set holds [expr {[show_bars] & [show_covers]}]
    foreach what {seen model unseen} {
        puts "inside the 10th to the 90th percentile, $what: [figure $what,inside] %"
    }
    set figures {}
    foreach what {seen model unseen} {
        lappend figures "$what [figure $what,products] [figure $what,memory]\
                [figure $what,attention]"
    }
    puts "operators: products, memory-bound, attention: [join $figures {; }] % ($::n_cases cases)"
    return $holds
}

suppress_message TCL-0330
suppress_message TCL-0329
suppress_message TCL-1205
suppress_message TCL-1206
# What of the words that are options holds, by name: a flag is 1.
proc take_options {} {
    set options {}
    set rest {}
    for {set i 0} {$i < [llength $::argv]} {incr i} {
        set word [lindex $::argv $i]
        if {$word in {-layout -devices}} {dict set options $word [lindex $::argv [incr i]]
        } elseif {$word in {-quick -all}} {dict set options $word 1
        } else {lappend rest [file normalize $word]}
    }
    set ::argv $rest
    return $options
}
set options [take_options]
set quick [dict exists $options -quick]
set learner law_boosting
set n_sets 0
set n_cases 0
set sums {}
if {[llength $argv] ni {1 2}} {
    puts stderr "usage: tharsis -exit tests/accept/operators.tcl ?-quick? ?-all? TRAIN ?TEST?\
        ?-layout 2026 ?-devices FILE??"
    exit 2
}
set train [lindex $argv 0]
set test [lindex $argv end]
if {[dict exists $options -layout]} {
    source [file join [file dirname [file normalize [info script]]] lib operators_2026.tcl]
    set code [catch {operators_2026::run $train $test $options} holds]
} else {
    set code [catch {run_all $train $test} holds]
}
if {$code} {
    puts stderr "operators.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
