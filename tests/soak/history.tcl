# SPDX-License-Identifier: GPL-3.0-or-later
# history.tcl - what a session did before changes no result, in TAP: random cases, and each again on
# a system that differs a little, one after the other in one session; every one prints the same
# bytes as alone in a process of its own.
#   tharsis -no_init -exit tests/soak/history.tcl           the test
#   tharsis -no_init -exit tests/soak/history.tcl CASE ...  plays these cases and prints them
# 36 cases, three of each system; with THARSIS_LONG=SECONDS as many as there is time for.
set here [file dirname [file normalize [info script]]]
set root [file normalize [expr {[info exists env(srcdir)] ? $env(srcdir) : "$here/../.."}]]
set builddir [file normalize [expr {[info exists env(builddir)] ? $env(builddir) : [pwd]}]]
source [file join $root tests soak random_case.tcl]
set reports {
    {report_summary -format csv} {report_links -format csv} {report_layers -format csv}
    {report_collectives -format csv} {report_utilization -format csv} {report_mapping -format csv}
    {report_bounds -format csv} {report_search -format csv}
}

# Case N * 3 + V: random case N, V of 1 with a change that a key of some cache must see, of 2 with
# another one.
proc case_of {number} {
    set case [random_case [expr {1000 + $number / 3}]]
    set v [expr {$number % 3}]
    set system [dict get $case system]
    if {$v > 0 && [lindex $system 0] ne "graph"} {
        lset system [lsearch $system -link_latency]+1 [lindex {{} 11ns 2us} $v]
        if {[lindex $system 1] in {star tree fattree islands}} {
            lappend system -switches_reduce {*}[lindex {{} {} {-reduction_rate 1Gbps}} $v]
        }
        if {$v == 2} {lappend system -design [list name npu_v1 efficiency 0.37]}
        dict set case system $system
    } elseif {$v > 0} {
        dict set case run [lindex {{} {-weights latency} {-network ideal}} $v]
        dict set case events {}
    }
    return $case
}

# The result of a case, or why it has none: figures of the time that the machine took are left out.
proc play {number} {
    set case [case_of $number]
    set commands [concat [script_of $case] [list "run [dict get $case run]"]]
    puts "== $number"
    if {[catch {uplevel #0 [join $commands \n]} said]} {puts "refused: $said"}
    puts [now]
    foreach report $::reports {
        catch {uplevel #0 $report -return_string} said
        foreach line [split $said \n] {
            if {![regexp {^# (elapsed|cpu|written|date|threads)} $line]} {puts $line}
        }
    }
}

if {[llength $argv] > 0} {
    set_threads 1
    foreach number $argv {play $number}
    return
}

proc played {numbers} {
    return [exec [info nameofexecutable] -no_init -exit [file join $::here history.tcl] \
        {*}$numbers 2>@1]
}

set folder [file join $builddir tests soak history.tmp]
file delete -force $folder
file mkdir $folder
cd $folder
set is_long [info exists env(THARSIS_LONG)]
set end [expr {[clock seconds] + ($is_long ? $env(THARSIS_LONG) : 0)}]
set n_groups [expr {$is_long ? 1000000 : 4}]
if {!$is_long} {puts "1..$n_groups"}
for {set group 0} {$group < $n_groups} {incr group} {
    set numbers {}
    for {set i 0} {$i < 9} {incr i} {lappend numbers [expr {9 * $group + $i}]}
    set wrong {}
    set session [split [string map [list "== " \x01] [played $numbers]] \x01]
    foreach number $numbers text [lrange $session 1 end] {
        set alone "== [lindex [split [string map [list "== " \x01] [played $number]] \x01] 1]"
        if {[string trim "== $text"] ne [string trim $alone]} {
            lappend wrong $number
            puts "# case $number after [lrange $numbers 0 [lsearch $numbers $number]-1]:"
            foreach line [split "== $text" \n] other [split $alone \n] {
                if {$line ne $other} {puts "#   $line\n#   alone: $other"}
            }
        }
    }
    puts "[expr {$wrong eq {} ? {} : {not }}]ok [expr {$group + 1}] - cases [lindex $numbers 0]\
        to [lindex $numbers end] are the same alone"
    if {$is_long && [clock seconds] >= $end} break
}
if {$is_long} {puts "1..[expr {$group + 1}]"}
cd $builddir
file delete -force $folder
