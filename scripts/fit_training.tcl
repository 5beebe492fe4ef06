# SPDX-License-Identifier: GPL-3.0-or-later
# fit_training.tcl - fits the numbers of the model of training steps (docs/models/training.md) to
# measured runs, and writes them without the rows of each source in turn.
#
#   tharsis -exit scripts/fit_training.tcl DIRECTORY ?FOLDS? ?ROUNDS?
#
# DIRECTORY is that of tests/accept/training.tcl; FOLDS a file for the numbers without each source,
# which that script reads. Every row is simulated with the numbers that the fit begins with, and
# with each number alone 5 % larger; these slopes of the logarithms of predicted over measured times
# stay, for the fit without a source as well. A fit moves on from there by ROUNDS steps: each
# minimises the sum of absolute errors by iteratively reweighted least squares, moves no number by
# more than a quarter, and simulates again. A prior pulls every number to where it began, so that
# what few rows tell of stays there. The fit without a source begins at the same place, and sees
# none of its rows.

set training_library 1
source [file join [file dirname [info script]] .. tests accept training.tcl]


# What every fit begins with, not chosen by these rows. Clock: single operations are timed while a
# board is cool and its power free; assumed. Attention: forward and backward together take, as
# FlashAttention 2 and 3 are published for heads of 128, 1.1 and 1.4 times as long as the law says:
# 0.8. An eager kernel reads and writes what a fused one need not: twice. Messages: channels of the
# communication library on 24 of 132 multiprocessors; 0.8 of a link's rate in tests of eight A100. A
# launch from Python: 10 us, assumed.
set start {
    clock 0.9  attention 0.8  passes_eager 2.0
    overlap_cost 0.2  overlap_tensor 0.2  network 0.8  host_experts 1e-5
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

# The step of the logarithms of the numbers: errors e by row, slopes by row and number. The numbers
# are away from where they began by so much.
proc least_absolute {errors slopes away prior} {
    set n [llength $away]
    set x [lrepeat $n 0.0]
    for {set round 0} {$round < 30} {incr round} {
        set a [lrepeat $n [lrepeat $n 0.0]]
        set b {}
        for {set k 0} {$k < $n} {incr k} {
            lset a $k $k $prior
            lappend b [expr {-$prior * [lindex $away $k]}]
        }
        foreach e $errors row $slopes {
            set left $e
            foreach s $row step $x {set left [expr {$left + $s * $step}]}
            set w [expr {1.0 / max(abs($left), 0.01)}]
            for {set k 0} {$k < $n} {incr k} {
                set s [lindex $row $k]
                if {$s == 0} continue
                lset b $k [expr {[lindex $b $k] - $w * $s * $e}]
                for {set i 0} {$i < $n} {incr i} {
                    lset a $k $i [expr {[lindex $a $k $i] + $w * $s * [lindex $row $i]}]
                }
            }
        }
        set x [lmap step [solve $a $b] {expr {min(max($step, -0.25), 0.25)}}]
    }
    return $x
}

# log(predicted / measured) of the rows of sources that match, and of all but one source.
proc errors {directory pattern except numbers} {
    return [lmap result [run_rows $directory $pattern $numbers $except] {
        lassign $result row measured got
        expr {log($got / $measured)}
    }]
}

# What is of rows, by source, of all rows but those of one source.
proc without {except sources of_rows} {
    return [lmap source $sources x $of_rows {
        if {$source eq $except} continue
        set x
    }]
}

proc slopes_of {directory numbers base} {
    set rows [lrepeat [llength $base] {}]
    foreach {name value} $numbers {
        set changed $numbers
        dict set changed $name [expr {$value * 1.05}]
        set i -1
        foreach e [errors $directory * "" $changed] b $base {
            incr i
            lset rows $i end+1 [expr {($e - $b) / log(1.05)}]
        }
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

proc away {numbers start} {
    return [lmap {- value} $numbers {- from} $start {expr {log($value / $from)}}]
}

proc tell {what errors} {
    set all [lmap e $errors {expr {abs(exp($e) - 1)}}]
    puts [format "%-28s median %5.2f %%  ninetieth %5.2f %%" $what\
        [expr {100 * [percentile $all 0.5]}] [expr {100 * [percentile $all 0.9]}]]
    flush stdout
}

# The host's time is the greater of two or is not seen at all, so that it has no slope below some
# value: {numbers errors} of a few.
proc scan_host {directory} {
    global start
    return [lmap factor {1 2 3} {
        set numbers $start
        dict set numbers host_experts [expr {$factor * [dict get $start host_experts]}]
        list $numbers [errors $directory * "" $numbers]
    }]
}

# {numbers errors} of the best of them for all sources but one.
proc best_host {scanned sources except} {
    set least Inf
    foreach one $scanned {
        set sum 0
        foreach e [without $except $sources [lindex $one 1]] {set sum [expr {$sum + abs($e)}]}
        if {$sum < $least} {
            set least $sum
            set best $one
        }
    }
    return $best
}

# The numbers fitted to all rows but those of one source, from {numbers errors}.
proc fit {directory from sources except slopes rounds} {
    global start
    set prior 1
    lassign $from numbers errors
    set errors [without $except $sources $errors]
    set slopes [without $except $sources $slopes]
    for {set round 0} {$round < $rounds} {incr round} {
        if {$round > 0} {set errors [errors $directory * $except $numbers]}
        set step [least_absolute $errors $slopes [away $numbers $start] $prior]
        set numbers [moved $numbers $step]
    }
    return $numbers
}

proc write_folds {file folds} {
    set f [open $file w]
    puts $f "# SPDX-License-Identifier: GPL-3.0-or-later"
    puts $f "# training_folds - the numbers of docs/models/training.md, fitted without the rows of\
        a source: what\n# tests/accept/training.tcl asks for that source. Written by\
        scripts/fit_training.tcl."
    foreach fold $folds {puts $f $fold}
    close $f
}

proc fit_all {directory file rounds} {
    global start
    set sources [lmap row [csv_rows [file join $directory runs.csv]] {dict get $row source}]
    set scanned [scan_host $directory]
    tell start [lindex $scanned 0 1]
    set from [best_host $scanned $sources ""]
    set slopes [slopes_of $directory {*}$from]
    set numbers [fit $directory $from $sources "" $slopes $rounds]
    puts $numbers
    tell "all rows" [errors $directory * "" $numbers]
    set folds {}
    set left {}
    foreach source [lsort -unique $sources] {
        set from [best_host $scanned $sources $source]
        set fold [fit $directory $from $sources $source $slopes $rounds]
        lappend folds [list $source $fold]
        set of_source [errors $directory $source "" $fold]
        tell "without $source" $of_source
        lappend left {*}$of_source
    }
    tell "leave one source out" $left
    if {$file ne ""} {write_folds $file $folds}
}

suppress_message TCL-0079
if {$argc < 1} {
    puts stderr "usage: tharsis -exit scripts/fit_training.tcl DIRECTORY ?FOLDS? ?ROUNDS?"
    exit 2
}
fit_all [lindex $argv 0] [lindex $argv 1] [expr {$argc > 2 ? [lindex $argv 2] : 4}]
