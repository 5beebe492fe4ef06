# SPDX-License-Identifier: GPL-3.0-or-later
# reliability.tcl - report_reliability: a training run of days or months with checkpoints and
# failures.
#   kinds of failures, the run, its interval -> simulate all runs -> tables: figures, time by cause,
#   failures by kind, intervals
# All intervals are simulated with the same failures, so that their shares can be compared.

proc ::tharsis::lib::report_reliability {o} {
    set x [training_run $o [failure_kinds $o]]
    dict with x {}
    set sums [simulate_training $x $interval]
    set trains [expr {[dict exists $o tokens] ? ", which trains [dict get $o tokens] tokens" : ""}]
    set head [list [list line duration [core::quantity duration $duration]$trains] \
        [list field failure_seed count $seed] [list field detection_s number $detection] \
        [list field step_s number $step]]
    return [report reliability Reliability [list [training_figures $x $sums] \
        [training_times $x $sums] [training_failures $x $sums] [training_intervals $x]] \
        head $head arranged 3]
}

# ---- kinds of failures: {NAME UNITS MTBF SHAPE TAKES_SPARE ?TIMES?} ----

proc ::tharsis::lib::failure_kinds {o} {
    if {![dict exists $o failures]} {return [kinds_of_system]}
    set list [dict get $o failures]
    fail_if {[catch {llength $list} n] || $n > 64} TCL-1109 "-failures: must be a list of at most\
        64 kinds"
    return [lmap kind $list {failure_kind $kind}]
}

proc ::tharsis::lib::failure_kind {text} {
    fail_if {[catch {llength $text} n] || $n < 3 || $n % 2 == 0} TCL-1108 "-failures:\
        \"[clip $text 100]\": must be NAME UNITS MTBF ?KEY VALUE ...?, or NAME times FILE ?KEY\
        VALUE ...?"
    set keys [lassign $text name units mtbf]
    lassign {1 1} shape spare times
    if {$units eq "times"} {
        set times [list [about -failures {core::failure_times $mtbf}]]
        lassign {1 0} units mtbf
    } else {
        if {![string is wideinteger -strict $units] || $units < 1 || $units > 16777216} {
            fail_kind $name units $units "an integer from 1 to 16777216, or the word times"
        }
        set said $mtbf
        set mtbf [about -failures {core::seconds $mtbf}]
        if {$mtbf <= 0} {fail_kind $name "mean time between failures" $said "more than 0"}
    }
    foreach {key value} $keys {
        switch -- $key {
            shape {
                if {![is_within $value 0.1 10]} {
                    fail_kind $name shape $value "a number from 0.1 to 10"
                }
                set shape $value
            }
            spare {
                if {[catch {expr {$value ? 1 : 0}} spare]} {fail_kind $name spare $value "0 or 1"}
            }
            default {fail_unknown TCL-1107 "-failures: key" $key {shape spare}}
        }
    }
    return [list $name $units $mtbf $shape $spare {*}$times]
}

proc ::tharsis::lib::fail_kind {kind key value expected} {
    fail TCL-1106 "-failures: \"[clip $kind 60]\": $key \"[clip $value 60]\": must be $expected"
}

# Accelerators, hosts, switches and cables each, with different means one for each mean, named after
# its first unit then. Those that fail with an accelerator or a host take a spare unit.
proc ::tharsis::lib::kinds_of_system {} {
    set units {}
    foreach unit [core::unit_mtbfs] {
        lassign $unit class name mtbf
        dict incr units [list $class $mtbf]
        if {[dict get $units [list $class $mtbf]] == 1} {
            dict set first [list $class $mtbf] $name
            dict incr n_means $class
        }
    }
    fail_if {[dict size $units] > 64} TCL-1170 "the system has more than 64 different mtbf: must be\
        fewer, or -failures"
    set kinds {}
    dict for {key n} $units {
        lassign $key class mtbf
        set name [expr {[dict get $n_means $class] > 1 ? "$class/[dict get $first $key]" : $class}]
        lappend kinds [list $name $n $mtbf 1 [expr {$class in {accel host}}]]
    }
    return $kinds
}

# ---- the run: a dict of seconds and counts ----

proc ::tharsis::lib::seconds_of {o name otherwise} {
    if {![dict exists $o $name]} {return $otherwise}
    return [core::seconds [dict get $o $name]]
}

proc ::tharsis::lib::training_run {o kinds} {
    set training [time_of_tokens $o]
    set duration [seconds_of $o duration $training]
    lassign [checkpoint_of $o] write stall restart
    set x [dict create duration $duration write $write stall $stall restart $restart \
        detection [seconds_of $o detection_time 0] repair [seconds_of $o repair_time Inf] \
        step [step_of $o] spares [get $o spares -1] runs [get $o runs 100] seed [get $o seed 1] \
        kinds $kinds]
    set wanted [get $o checkpoint_interval daly]
    lassign [training_forms $x [expr {$write + 1}]] draws mtbf - young daly best
    dict set x mtbf $mtbf
    if {$wanted in {young daly best}} {
        fail_if {$mtbf == Inf || $write <= 0} TCL-1101 "-checkpoint_interval: must be a time where\
            nothing fails (no -failures, no mtbf in the system) or a checkpoint takes no time"
        set wanted [set $wanted]
    } else {
        set wanted [core::seconds $wanted]
    }
    dict set x interval [check_interval $x $wanted]
    check_draws [dict get $x runs] $draws
    return [expr {$training eq "" ? $x : [lasting_for $x $training]}]
}

# The time that training -tokens takes when nothing fails.
proc ::tharsis::lib::time_of_tokens {o} {
    if {![dict exists $o tokens]} return
    set rate [row {SELECT tokens_per_s FROM run}]
    fail_if {![is_within $rate 1e-300 1e300]} TCL-1174 "-tokens: needs a finished step of training"
    return [expr {[dict get $o tokens] / $rate}]
}

# The run, as long as its runs train so much in the mean: the share that trains hardly depends on
# the length.
proc ::tharsis::lib::lasting_for {x training} {
    foreach round {1 2 3} {
        set share [lindex [simulate_training $x [dict get $x interval]] 0]
        fail_if {$share < 0.01} TCL-1175 "-tokens: less than 1 % of the time trains"
        dict set x duration [expr {$training / $share}]
        check_draws [dict get $x runs] [lindex [training_forms $x [dict get $x interval]] 0]
    }
    return $x
}

# A run as core commands take it.
proc ::tharsis::lib::run_of {x every} {
    dict with x {}
    return [list $duration $every $stall $write $detection $restart $repair $spares]
}

proc ::tharsis::lib::training_forms {x every} {
    return [core::training_forms [run_of $x $every] [dict get $x kinds]]
}

# {WRITE STALL RESTART}, a restart with reading over the network.
proc ::tharsis::lib::checkpoint_of {o} {
    set read 0.0
    if {[dict exists $o checkpoint_bytes]} {
        lassign [simulate_checkpoint $o] write read
    } else {
        set write [seconds_of $o checkpoint_time 0]
    }
    set stall [seconds_of $o checkpoint_stall $write]
    set restart [expr {[seconds_of $o restart_time 0] + $read}]
    if {$stall > $write} {
        set said [dict get $o checkpoint_stall]
        fail TCL-1114 "-checkpoint_stall \"$said\": must be at most the time of a checkpoint,\
            [core::quantity duration $write]"
    }
    return [list $write $stall $restart]
}

# Every accelerator writes its bytes to one of the nodes, in turn, and reads them: {WRITE READ}.
proc ::tharsis::lib::simulate_checkpoint {o} {
    core::need system
    set nodes [get $o storage [get_nodes -filter {kind == host} -quiet]]
    fail_if {[llength $nodes] == 0} TCL-1111 "-storage: the system has no host: name the nodes that\
        checkpoints are written to (get_nodes lists those that there are)"
    set i 0
    foreach accel [get_accels] {
        set node [lindex $nodes [expr {$i % [llength $nodes]}]]
        lappend writes $accel $node
        lappend reads $node $accel
        incr i
    }
    set bytes [dict get $o checkpoint_bytes]
    return [list [core::transfer_time $bytes $writes] [core::transfer_time $bytes $reads]]
}

# That of the call, or of the finished run; 0: any.
proc ::tharsis::lib::step_of {o} {
    set of_run [core::step_time]
    lassign $of_run word now
    fail_if {$word eq "at" && ![dict exists $o step_time]} TCL-1173 "the run has failed or has\
        stopped, at $now, so the time of a step is not known: must be at its end, or -step_time\
        TIME"
    return [seconds_of $o step_time $of_run]
}

# ---- the interval between checkpoints ----

# Whole steps, at least one.
proc ::tharsis::lib::whole_steps {x interval} {
    set step [dict get $x step]
    if {$step <= 0} {return $interval}
    set steps [expr {floor($interval / $step + 0.5)}]
    return [expr {$steps < 1 ? $step : $steps * $step}]
}

proc ::tharsis::lib::check_interval {x wanted} {
    dict with x {}
    set interval [whole_steps $x $wanted]
    fail_if {$write > $interval + $stall} TCL-1100 "-checkpoint_interval [core::quantity duration\
        $interval]: a checkpoint of [core::quantity duration $write] must be complete before the\
        next one"
    return $interval
}

# Of -runs and -duration, the one that has to be less: times of failures that all runs together may
# draw, per interval between checkpoints: 20 intervals take some minutes.
proc ::tharsis::lib::check_draws {runs draws} {
    set most 1e8
    set most_runs [expr {$draws > 0 ? floor($most / $draws) : Inf}]
    if {$runs <= $most_runs} return
    fail_if {$most_runs >= 1} TCL-1118 "-runs $runs: must be at most [format %.0f $most_runs]: one\
        run draws some [format %.3g $draws] times of failures, and all together may draw\
        [format %.0e $most]"
    fail TCL-1119 "-duration, -failures: must be a shorter time or fewer units: one run draws some\
        [format %.3g $draws] times of failures, at most [format %.0e $most]"
}

# ---- simulation ----

# All runs with this interval: the sums of core::training_runs, and before them the mean and the
# standard deviation of the share that trains.
proc ::tharsis::lib::simulate_training {x interval} {
    set n [dict get $x runs]
    set sums [core::training_runs [run_of $x $interval] [dict get $x kinds] $n [dict get $x seed]]
    lassign [lrange [lindex $sums 0] 6 7] shares squares
    return [list [expr {$shares / $n}] [deviation $shares $squares $n] {*}$sums]
}

# The standard deviation of n values from sums of values and squares.
proc ::tharsis::lib::deviation {sum squares n} {
    if {$n <= 1} {return 0.0}
    set variance [expr {($squares - $sum * $sum / $n) / ($n - 1)}]
    return [expr {$variance > 0 ? sqrt($variance) : 0.0}]
}

# What the closed form expects of an interval.
proc ::tharsis::lib::expected {x every} {return [lindex [training_forms $x $every] 2]}

# ---- tables ----

proc ::tharsis::lib::training_figures {x sums} {
    dict with x {}
    lassign $sums share share_deviation parts extremes failures squares
    set all [lindex $failures end]
    set mtbf [expr {$mtbf == Inf ? "" : $mtbf}]
    return [dict create name reliability is_record 1 columns {
        {training "effective training time" share} {deviation "standard deviation" share}
        {least "least of a run" share} {most "most of a run" share} {expected "closed form" share}
        {interruptions interruptions mean} {interruptions_deviation "their deviation" mean}
        {mtbf "time between failures" duration} {interval "checkpoint interval" duration}
        {write checkpoint duration} {stall "training stops for" duration}
        {restart restart duration} {runs runs count}
    } rows [list [list $share $share_deviation {*}$extremes [expected $x $interval] \
        [expr {$all / $runs}] [deviation $all [lindex $squares end] $runs] $mtbf \
        $interval $write $stall $restart $runs]]]
}

proc ::tharsis::lib::training_times {x sums} {
    dict with x {}
    set rows {}
    foreach part {training checkpoints "lost work" detection restart "waiting for spares"} \
        seconds [lrange [lindex $sums 2] 0 5] {
        lappend rows [list $part [expr {$seconds / $runs}] [expr {$seconds / $runs / $duration}]]
    }
    return [dict create name times rows $rows columns {
        {part "time of a run" text} {time time duration} {share share share}
    }]
}

proc ::tharsis::lib::training_failures {x sums} {
    dict with x {}
    lassign $sums - - - - failures squares lost
    set rows {}
    foreach kind $kinds n [lrange $failures 0 end-1] square [lrange $squares 0 end-1] hours $lost {
        lassign $kind name units kind_mtbf
        set of_units {{} {}}
        if {[llength $kind] == 5} {set of_units [list $units $kind_mtbf]}
        lappend rows [list $name {*}$of_units [expr {$n / $runs}] [deviation $n $square $runs] \
            [expr {$hours / $runs / $duration}]]
    }
    return [dict create name failures rows $rows columns {
        {kind failure text} {units units count} {unit_mtbf "time between, of one" duration}
        {interruptions interruptions mean} {interruptions_deviation deviation mean}
        {lost "time lost" share}
    }]
}

proc ::tharsis::lib::training_intervals {x} {
    dict with x {}
    set rows [list [interval_row $x used $interval]]
    if {$mtbf != Inf && $stall > 0} {
        lassign [training_forms $x $interval] - - - young daly best around
        foreach {name known} [list Young $young Daly $daly "closed form" $best] {
            if {[fits $x $known]} {lappend rows [interval_row $x $name [whole_steps $x $known]]}
        }
        set most -1
        foreach tried $around {
            if {![fits $x $tried]} continue
            set tried [whole_steps $x $tried]
            set share [lindex [simulate_training $x $tried] 0]
            if {$share > $most} {
                set most $share
                set best $tried
            }
        }
        lappend rows [interval_row $x "best simulated" [whole_steps $x $best]]
    }
    return [dict create name intervals rows $rows columns {
        {interval "checkpoint interval" text} {every every duration} {expected "closed form" share}
        {training simulated share} {deviation deviation share}
    }]
}

# Is a checkpoint complete before the next one?
proc ::tharsis::lib::fits {x interval} {
    return [expr {[dict get $x write] <= [whole_steps $x $interval] + [dict get $x stall]}]
}

proc ::tharsis::lib::interval_row {x name interval} {
    return [list $name $interval [expected $x $interval] \
        {*}[lrange [simulate_training $x $interval] 0 1]]
}
