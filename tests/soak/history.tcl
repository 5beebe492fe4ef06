# SPDX-License-Identifier: GPL-3.0-or-later
# history.tcl - what a session did before changes no result, in TAP: random cases, and each again
# with something changed that a key of some cache must see, one after the other in one session in
# random order, with questions before the run and in the midst of it; every one prints the same
# bytes as alone in a process of its own, unasked.
#   tharsis -no_init -exit tests/soak/history.tcl           the test
#   tharsis -no_init -exit tests/soak/history.tcl ?-ask? CASE ...  plays these cases and prints them
# 40 cases, five of each system; with THARSIS_LONG=SECONDS as many as there is time for.
set here [file dirname [file normalize [info script]]]
set root [file normalize [expr {[info exists env(srcdir)] ? $env(srcdir) : "$here/../.."}]]
set builddir [file normalize [expr {[info exists env(builddir)] ? $env(builddir) : [pwd]}]]
source [file join $root tests soak repeats.tcl]
source [file join $root tests soak random_case.tcl]
set reports {
    {report_summary -format csv} {report_links -format csv} {report_layers -format csv}
    {report_collectives -format csv} {report_utilization -format csv} {report_mapping -format csv}
    {report_bounds -format csv} {report_search -format csv}
}

# Questions that change nothing.
set questions {
    {report_mapping} {report_memory} {report_bounds} {report_layers} {report_links} {report_summary}
    {report_collectives} {report_utilization} {report_critical_path} {report_jobs}
    {report_sensitivity -of accel/0 -properties clock} {report_contention} {report_latency}
    {get_links -of task/0} {get_tasks -of accel/1} {examine accel/0} {report_property accel/0}
    {where} {get_property [lindex [get_links] 0] utilization} {predict_layer conv -gpu t4}
    {help run} {save_program kept} {save_run kept} {report_compare kept kept}
}

# The same case with other designs: of a procedure whose figures depend on another and a variable,
# or of learned times.
proc with_design {case number} {
    expr {srand(7000 + $number)}
    draw 2
    if {[dict get $case layers] eq ""} {dict set case layers [draw_layers]}
    if {[dict get $case map] eq ""} {dict set case map [draw_map]}
    set design [one_of {
        {name mine type script procedure mine clock 1GHz}
        {name mine type learned model default gpu t4}
        {name mine type learned model default gpu v100}
        {name mine type script procedure mine clock 1GHz wide 2}
    }]
    set system [dict get $case system]
    if {[lindex $system 0] eq "graph"} {
        lassign [draw_regular] system n
        dict set case n $n
    }
    dict set case system [list {*}$system -design $design]
    dict set case map [list {*}[dict get $case map] -designs mine]
    dict set case events {}
    dict set case begin [list [list set ::slow [one_of {1 2 5}]] \
        [list proc per_mac {} [list return [one_of {0.25 1 3}]]]]
    return $case
}
proc tharsis::design::mine {shard parameters} {
    set wide [expr {[dict exists $parameters wide] ? [dict get $parameters wide] : 1}]
    set cycles [expr {ceil([dict get $shard macs] * [per_mac] * $::slow / $wide)}]
    dict create cycles $cycles variant "[per_mac] a mac"
}

# The same program as two jobs or more, under any network, with a property set in the midst.
proc with_jobs {case number} {
    expr {srand(8000 + $number)}
    draw 2
    dict set case layers {}
    if {[dict get $case tasks] eq ""} {dict set case tasks [draw_tasks [dict get $case n]]}
    dict set case run [one_of {{} {-network packet} {-network ideal} {-weights latency}}]
    dict set case jobs {}
    for {set i [draw 3]} {$i >= 0} {incr i -1} {
        dict lappend case jobs "add_job one -name job$i -start [one_of {0s 3us 50us}]"
    }
    dict set case events {}
    if {[dict get $case run] in {{} {-weights latency}}} {
        dict set case events [one_of {
            {} {{set_property [lindex [get_links] 0] bandwidth x0.5}}
            {{set_property accel/1 clock x0.25}}
            {{inject_fault [lindex [get_links] 0] -at 2us -for 9us}}
        }]
    }
    return $case
}

# Case N * 5 + V: random case N, V of 1 with a change that a key of some cache must see, of 2 with
# another one, of 3 with other designs, of 4 as jobs.
proc case_of {number} {
    set case [random_case [expr {1000 + $number / 5}]]
    set v [expr {$number % 5}]
    if {$v > 2} {return [[lindex {with_design with_jobs} $v-3] $case $number]}
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

# The commands of a case up to its run.
proc commands_of {case} {
    set begin {{set_network -reset}}
    if {[dict exists $case begin]} {lappend begin {*}[dict get $case begin]}
    set script [script_of $case]
    if {$::is_there} {set script [lrange $script [lsearch $script map_workload*] end]}
    if {![dict exists $case jobs]} {return [concat $begin $script]}
    set events [dict get $case events]
    dict set case events {}
    return [concat $begin $script {{save_program one} {create_program all}} [dict get $case jobs] \
        $events]
}

# Random questions, whose answers nobody reads; not in a case alone.
proc ask {} {
    if {!$::asks} return
    for {set i 0} {$i < 3} {incr i} {
        catch {uplevel #0 [lindex $::questions [expr {int([tcl::mathfunc::rand] * \
            [llength $::questions])}]] -return_string}
    }
}

# The case with other figures of its procedure and on another network, up to its run; what follows
# begins with its mapping again, on the system that is there.
proc play_other {case} {
    if {[dict get $case layers] eq ""} return
    dict set case begin {{set ::slow 9} {proc per_mac {} {return 7}}}
    uplevel #0 [join [commands_of $case] \n]
    ask
    uplevel #0 {run -network ideal}
    ask
    set ::is_there 1
}

# The result of a case, or why it has none: figures of the time that the machine took are left out.
proc play {number} {
    set case [case_of $number]
    set run [run_line $case]
    set ::is_there 0
    puts "== $number"
    if {[catch {
        if {$::asks} {play_other $case}
        uplevel #0 [join [commands_of $case] \n]
        ask
        if {$::asks} {
            uplevel #0 "$run -for 2us"
            ask
        }
        uplevel #0 $run
    } said]} {puts "refused: $said"}
    puts [now]
    foreach report $::reports {
        catch {uplevel #0 $report -return_string} said
        foreach line [split $said \n] {
            if {![regexp {^# (elapsed|cpu|written|date|threads)} $line]} {puts $line}
        }
    }
}

set asks [expr {[lindex $argv 0] eq "-ask"}]
set argv [lrange $argv $asks end]
if {[llength $argv] > 0} {
    set_threads 1
    foreach number $argv {play $number}
    return
}

proc played {args} {
    return [exec [info nameofexecutable] -no_init -exit [file join $::here history.tcl] \
        {*}$args 2>@1]
}

set folder [file join $builddir tests soak history.tmp]
file delete -force $folder
file mkdir $folder
cd $folder
set is_long [info exists env(THARSIS_LONG)]
set end [expr {[clock seconds] + ($is_long ? $env(THARSIS_LONG) : 0)}]
set n_groups [expr {$is_long ? 1000000 : [repeats 4]}]
if {!$is_long} {puts "1..$n_groups"}
for {set group 0} {$group < $n_groups} {incr group} {
    set numbers {}
    for {set i 0} {$i < 10} {incr i} {lappend numbers [expr {10 * $group + $i}]}
    expr {srand(1 + $group)}
    set numbers [lsort -command {apply {{a b} {expr {rand() < 0.5 ? -1 : 1}}}} $numbers]
    set wrong {}
    set session [split [string map [list "== " \x01] [played -ask {*}$numbers]] \x01]
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
    puts "[expr {$wrong eq {} ? {} : {not }}]ok [expr {$group + 1}] - cases [expr {10 * $group}]\
        to [expr {10 * $group + 9}] are the same alone"
    if {$is_long && [clock seconds] >= $end} break
}
if {$is_long} {puts "1..[expr {$group + 1}]"}
cd $builddir
file delete -force $folder
