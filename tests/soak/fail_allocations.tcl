# SPDX-License-Identifier: GPL-3.0-or-later
# fail_allocations.tcl - one command with allocations that fail (allocations.tcl).
#   probe fail_allocations.tcl ROOT COMMAND
# Prints what is wrong, and a last line "passed ..." where nothing is.
lassign $argv root target
set srcdir $root
source [file join $root tests soak repeats.tcl]
source [file join $root tests soak session.tcl]
set is_long [info exists env(THARSIS_LONG)]
set few [repeats 6]
set each [expr {$is_long ? 2000 : $few}]    ;# allocations from the first on
set sampled [expr {$is_long ? 500 : $few}]  ;# of the rest
# Sessions made anew: after commands that succeed without an allocation.
set renewals [expr {$is_long ? 200 : 4}]
set limit_s [expr {$is_long ? $env(THARSIS_LONG) : 1000}]
# A run that runs out of memory is lost; a trace is closed even where its end cannot be written.
set lose_run {run step inject_fault}
set ends_anyway {close_trace}
set wrong 0
set tried 0
set failed 0

proc wrong {text} {
    puts stderr $text
    incr ::wrong
}

# A session in which the commands before the one have run, and the file names that they left.
proc session_before {before} {
    set child [new_session]
    foreach command $before {$child eval $command}
    return $child
}

# The command with allocation k failing: whether it failed, and what it said.
proc run_with {child command k} {
    alloc fail $k
    set code [catch {$child eval $command} said]
    alloc fail 0
    return [list [expr {$code != 0}] $said]
}

proc check_failure {child command k said before} {
    if {[string match *\n* $said] || ![regexp {memory (ran|is) out} $said]} {
        wrong "allocation $k: says: $said"
    }
    set where [difference $before [look $child]]
    if {$where ne "" && !($::target in $::lose_run && [$child eval now] eq "0s")} {
        wrong "allocation $k: $where is another"
    }
    return [expr {$where eq ""}]
}

# Blocks that stay whenever the same allocation fails again; what is kept for later stays once.
proc check_leak {child command k} {
    set grown 0
    for {set i 0} {$i < 8} {incr i} {
        set live [alloc live]
        if {![lindex [run_with $child $command $k] 0]} {return 0}
        set grown [expr {[alloc live] > $live ? $grown + 1 : 0}]
    }
    if {$grown > 1} {wrong "allocation $k: [expr {[alloc live] - $live}] blocks stay"}
    return 1
}

# The numbers of the allocations to fail, of n.
proc numbers {n} {
    set all {}
    for {set k 1} {$k <= $n && $k <= $::each} {incr k} {lappend all $k}
    for {set i 1} {$i <= $::sampled && $n > $::each} {incr i} {
        set part [expr {pow(double($i) / $::sampled, 2)}]
        lappend all [expr {$::each + int(($n - $::each) * $part)}]
    }
    return [lsort -integer -unique $all]
}

proc try_command {before command} {
    set child [session_before $before]
    set calls [alloc calls]
    set code [catch {$child eval $command} expected]
    set n [expr {[alloc calls] - $calls}]
    if {$code} {
        wrong "fails by itself: $expected"
        return
    }
    interp delete $child
    set child [session_before $before]
    set seen [look $child]
    set renewed 0
    set start [clock seconds]
    foreach k [numbers $n] {
        incr ::tried
        set live [alloc live]
        lassign [run_with $child $command $k] has_failed said
        if {$has_failed} {
            incr ::failed
            set has_failed [check_failure $child $command $k $said $seen]
            if {$has_failed && [alloc live] > $live} {
                set has_failed [check_leak $child $command $k]
            }
        }
        if {!$has_failed} {
            if {[incr renewed] > $::renewals} {break}
            interp delete $child
            set child [session_before $before]
        }
        if {$::wrong > 5} {return}
        if {[clock seconds] - $start > $::limit_s} {break}
    }
    if {$renewed <= $::renewals && $::target ni $::ends_anyway} {
        if {[catch {$child eval $command} said]} {
            wrong "afterwards: $said"
        } elseif {$said ne $expected} {
            wrong "afterwards: another result: $said, expected $expected"
        }
    }
    interp delete $child
}

file mkdir out
set before {}
foreach command [commands_of [example_of $target]] {
    set is_inside [string match "*\\\[$target *" $command]
    if {[lindex [split $command] 0] eq $target || $is_inside} {
        try_command $before $command
    }
    lappend before $command
}
if {$wrong == 0} {puts stderr "passed ($tried allocations, $failed failures)"}
