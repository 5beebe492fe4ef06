# SPDX-License-Identifier: GPL-3.0-or-later
# fit_training.tcl - fits the numbers of the model of training steps (docs/models/training.md) to
# measured runs.
#
#   tharsis -exit scripts/fit_training.tcl DIRECTORY ?ROUNDS?
#
# DIRECTORY is that of tests/accept/training.tcl. Every round simulates all rows with the present
# numbers, and with each number alone 5 % larger; in these logarithms of predicted over measured
# times, which are taken to be linear in the logarithms of the numbers, it minimises the sum of
# absolute errors by iteratively reweighted least squares, with a step of at most a quarter of a
# number. A prior keeps numbers that few rows tell of where they are. At the end the
# last step is done without the rows of each source in turn, which are then asked for it: leave one
# source out.

set training_library 1
source [file join [file dirname [info script]] .. tests accept training.tcl]


# What the fit begins with, and what its prior holds numbers to that few rows tell of: products of
# 2,048 and more in every direction, measured on their own, reach 0.72 of the peak on A100 and 0.70
# on H100 in the median (microsoft/vidur, data/profiling/compute). Shares are at most 1.
set start {
    products_a100 0.72  products_h100 0.70  products_fp8 0.57  products_tpu 0.82
    products_limited 0.5  attention 0.75  attention_portable 0.45  passes_eager 2.0
    overlap_cost 0.2  overlap_tensor 0.4  network 0.8  host_experts 1.5e-3
}

# Solves the n x n system a x = b by elimination with pivots.
proc solve {a b} {
    set n [llength $b]
    for {set k 0} {$k < $n} {incr k} {
        set best $k
        for {set i $k} {$i < $n} {incr i} {
            if {abs([lindex $a $i $k]) > abs([lindex $a $best $k])} {set best $i}
        }
        set row [lindex $a $best]
        lset a $best [lindex $a $k]
        lset a $k $row
        set value [lindex $b $best]
        lset b $best [lindex $b $k]
        lset b $k $value
        for {set i [expr {$k + 1}]} {$i < $n} {incr i} {
            set f [expr {[lindex $a $i $k] / [lindex $row $k]}]
            if {$f == 0} continue
            for {set j $k} {$j < $n} {incr j} {
                lset a $i $j [expr {[lindex $a $i $j] - $f * [lindex $row $j]}]
            }
            lset b $i [expr {[lindex $b $i] - $f * $value}]
        }
    }
    for {set k [expr {$n - 1}]} {$k >= 0} {incr k -1} {
        set sum [lindex $b $k]
        for {set j [expr {$k + 1}]} {$j < $n} {incr j} {
            set sum [expr {$sum - [lindex $a $k $j] * [lindex $b $j]}]
        }
        lset b $k [expr {$sum / [lindex $a $k $k]}]
    }
    return $b
}

# The step of the logarithms of the numbers: errors r by row, slopes j by row and number.
proc least_absolute {r j prior} {
    set n [llength [lindex $j 0]]
    set x [lrepeat $n 0.0]
    for {set round 0} {$round < 30} {incr round} {
        set a [lrepeat $n [lrepeat $n 0.0]]
        set b [lrepeat $n 0.0]
        for {set k 0} {$k < $n} {incr k} {lset a $k $k $prior}
        foreach e $r slopes $j {
            set left $e
            foreach s $slopes step $x {set left [expr {$left + $s * $step}]}
            set w [expr {1.0 / max(abs($left), 0.01)}]
            for {set k 0} {$k < $n} {incr k} {
                set s [lindex $slopes $k]
                if {$s == 0} continue
                lset b $k [expr {[lindex $b $k] - $w * $s * $e}]
                for {set i 0} {$i < $n} {incr i} {
                    lset a $k $i [expr {[lindex $a $k $i] + $w * $s * [lindex $slopes $i]}]
                }
            }
        }
        set x [lmap step [solve $a $b] {expr {min(max($step, -0.25), 0.25)}}]
    }
    return $x
}

# log(predicted / measured) of every row.
proc errors {directory pattern numbers} {
    return [lmap result [run_rows $directory $pattern $numbers] {
        lassign $result row measured got
        expr {log($got / $measured)}
    }]
}

proc slopes_of {directory numbers base} {
    set columns {}
    foreach {name value} $numbers {
        set changed $numbers
        dict set changed $name [expr {$value * 1.05}]
        set log [expr {log(1.05)}]
        lappend columns [lmap e [errors $directory * $changed] b $base {
            expr {($e - $b) / $log}
        }]
    }
    set rows {}
    for {set i 0} {$i < [llength $base]} {incr i} {
        lappend rows [lmap column $columns {lindex $column $i}]
    }
    return $rows
}

proc moved {numbers step} {
    set out {}
    foreach {name value} $numbers s $step {
        set x [expr {$value * exp($s)}]
        if {$name ne "passes_eager"} {set x [expr {min($x, 1.0)}]}
        lappend out $name [format %.4g $x]
    }
    return $out
}

proc tell {what errors} {
    set all [lmap e $errors {expr {abs(exp($e) - 1)}}]
    puts [format "%-28s median %5.2f %%  ninetieth %5.2f %%" $what\
        [expr {100 * [percentile $all 0.5]}] [expr {100 * [percentile $all 0.9]}]]
    flush stdout
}

proc without {list sources source} {
    return [lmap e $list s $sources {
        if {$s eq $source} continue
        set e
    }]
}

# A ceiling that no row is left to tell of is that of products on H100.
proc neutral {numbers slopes} {
    set k -1
    foreach {name value} $numbers {
        incr k
        set told 0
        foreach row $slopes {incr told [expr {[lindex $row $k] != 0}]}
        if {$told == 0 && [string match products_* $name]} {
            dict set numbers $name [dict get $numbers products_h100]
        }
    }
    return $numbers
}

proc fit {directory numbers rounds} {
    set prior 50
    set sources [lmap row [csv_rows [file join $directory runs.csv]] {dict get $row source}]
    set base [errors $directory * $numbers]
    tell start $base
    for {set round 1} {$round <= $rounds} {incr round} {
        set slopes [slopes_of $directory $numbers $base]
        set before $numbers
        set errors $base
        set numbers [moved $before [least_absolute $errors $slopes $prior]]
        puts $numbers
        set base [errors $directory * $numbers]
        tell "round $round" $base
    }
    set left {}
    foreach source [lsort -unique $sources] {
        set rest [without $slopes $sources $source]
        set step [least_absolute [without $errors $sources $source] $rest $prior]
        set fold [neutral [moved $before $step] $rest]
        puts [list $source $fold]
        set of_source [errors $directory $source $fold]
        tell "without $source" $of_source
        lappend left {*}$of_source
    }
    tell "leave one source out" $left
}

suppress_message TCL-0079
if {$argc < 1} {
    puts stderr "usage: tharsis -exit scripts/fit_training.tcl DIRECTORY ?ROUNDS?"
    exit 2
}
fit [lindex $argv 0] $start [expr {$argc > 1 ? [lindex $argv 1] : 3}]
