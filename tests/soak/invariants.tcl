# SPDX-License-Identifier: GPL-3.0-or-later
# invariants.tcl - what must hold of every run, on random systems with random programs and
# workloads (random_case.tcl), in TAP: a line for each ten cases.
#   tharsis -no_init -exit tests/soak/invariants.tcl ?-seed N? ?-count N?
#
# Of each case: bytes that leave a node are those that come in and its own; the flows over a link
# make up its bytes; each task starts after its predecessors and what its accelerator did before,
# and no transfer beats its slowest link; busy, stalled and idle time add up; no run beats a bound;
# the critical path is as long as the run; the spans of a trace are the busy times; the run is the
# same again, in steps, with a trace and from a checkpoint; without contention it ends no later, and
# with slower links or clocks no sooner.
# Cases run in processes of their own, ten in each. One that fails is made smaller while it
# fails in the same way, and printed as a script. 120 cases (30 with sanitizers); with
# THARSIS_LONG=SECONDS as many as there is time for.
set here [file dirname [file normalize [info script]]]
source [file join $here repeats.tcl]
source [file join $here random_case.tcl]

# ---- tables ----

proc fields_of {line} {
    set fields {}
    while {[regexp {^(?:"((?:[^"]|"")*)"|([^,]*))(,|$)(.*)} $line -> quoted plain comma line]} {
        lappend fields [expr {$quoted ne "" ? $quoted : $plain}]
        if {$comma eq ""} break
    }
    return $fields
}

# The rows of the table NAME of a report (the first, of several: of that name), as dictionaries.
proc rows_of {child command {name ""}} {
    set rows {}
    set table ""
    set head {}
    foreach line [split [$child eval "$command -format csv -return_string"] \n] {
        if {[regexp {^# table: (.*)$} $line -> table] || $line eq ""} {
            set head {}
        } elseif {[string match "#*" $line] || ($name ne "" && $table ne $name)} {
            continue
        } elseif {$head eq ""} {
            if {$rows ne ""} break
            set head [fields_of $line]
        } else {
            set row {}
            foreach key $head value [fields_of $line] {dict set row $key $value}
            lappend rows $row
        }
    }
    return $rows
}

proc sum_of {rows key} {
    set sum 0
    foreach row $rows {incr sum [dict get $row $key]}
    return $sum
}

proc rows_where {rows key value} {
    return [lmap row $rows {if {[dict get $row $key] ne $value} continue; set row}]
}

# ---- what must hold ----
# Each returns what does not hold: a word for the kind, and what was found; "": all holds.

proc property {child object name} {
    return [$child eval [list get_property $object $name -exact]]
}

# Do switches add data that pass through them, or copy them? Then bytes are not kept. but: kinds of
# collectives that do not count.
proc changes_in_network {child {but {}}} {
    foreach task [$child eval {get_tasks -filter {kind == collective}}] {
        if {[property $child $task algorithm] in {in_switch hierarchical} &&
            [property $child $task collective] ni $but} {return 1}
    }
    return 0
}

# What each node sent more than it received: node -> bytes; hosts, which forward nothing, are left
# out.
proc own_bytes {child} {
    foreach node [$child eval get_nodes] {
        set name [file tail $node]
        switch [$child eval [list get_property $node kind]] {
            accelerator {
                dict set own $name [expr {[property $child accel/$name sent] -
                    [property $child accel/$name received]}]
            }
            switch {dict set own $name 0}
        }
    }
    return $own
}

proc check_bytes {child links} {
    if {[changes_in_network $child]} {return ""}
    set more [dict create]
    foreach link $links {
        dict incr more [dict get $link from] [dict get $link bytes]
        dict incr more [dict get $link to] -[dict get $link bytes]
    }
    dict for {name own} [own_bytes $child] {
        set over [expr {[dict exists $more $name] ? [dict get $more $name] : 0}]
        if {$over != $own} {return "bytes: node $name: out - in $over, sent - received $own"}
    }
    return ""
}

# Where hosts forward, what they themselves send cannot be told.
proc check_sent {child links} {
    # in an all-reduce ranks send as much as they receive
    if {[changes_in_network $child all_reduce]} {return ""}
    set sent 0
    set received 0
    foreach accel [$child eval get_accels] {
        incr sent [property $child $accel sent]
        incr received [property $child $accel received]
    }
    foreach host [$child eval {get_nodes -quiet -filter {kind == host}}] {
        if {[$child eval [list get_property $host forwards]]} {return ""}
        incr sent [sum_of [rows_where $links from [file tail $host]] bytes]
        incr received [sum_of [rows_where $links to [file tail $host]] bytes]
    }
    set network [sum_of [rows_of $child report_summary] network_bytes]
    if {$sent != $received || $sent != $network} {
        return "sent: sent $sent, received $received, over the network $network"
    }
    return ""
}

# The flows over each link, and that a transfer has all of its bytes on each link of its route.
proc check_flows {child links} {
    set used [lsearch -all -inline -not [lmap link $links {
        expr {[dict get $link bytes] > 0 ? [dict get $link link] : ""}
    }] {}]
    foreach name [lrange $used 0 11] {
        set flows [rows_of $child "report_links -flows link/$name" flows]
        set bytes [property $child link/$name bytes]
        if {[sum_of $flows bytes] != $bytes} {
            return "flows: link $name: $bytes bytes, flows [sum_of $flows bytes]"
        }
        foreach flow $flows {
            set task task/[dict get $flow task]
            if {[property $child $task kind] eq "transfer" &&
                [property $child $task bytes] != [dict get $flow bytes]} {
                return "flows: link $name: $task: [dict get $flow bytes]"
            }
        }
    }
    return ""
}

proc end_of {row} {return [expr {[dict get $row start_ps] + [dict get $row duration_ps]}]}

# One computation at a time on each accelerator.
proc check_engines {child rows} {
    set last [dict create]
    set pairs [lmap row $rows {list [dict get $row start_ps] $row}]
    foreach pair [lsort -integer -index 0 $pairs] {
        set row [lindex $pair 1]
        if {[dict get $row kind] ne "compute" || [dict get $row duration_ps] == 0} continue
        set node [property $child task/[dict get $row task] node]
        if {[dict exists $last $node] && [dict get $last $node] > [dict get $row start_ps]} {
            return "engine: two at once on accelerator $node: task [dict get $row task]"
        }
        dict set last $node [end_of $row]
    }
    return ""
}

proc check_tasks {child case rows} {
    foreach row $rows {dict set ends [dict get $row task] [end_of $row]}
    foreach row $rows {
        set start [dict get $row start_ps]
        set after [dict get $row after]
        if {$after ne "" && [dict get $ends $after] > $start} {
            return "order: task [dict get $row task] begins at $start, before $after ends"
        }
        if {[dict get $row queued_ps] < 0 || [dict get $row slack_ps] < 0} {
            return "order: task [dict get $row task]: less than nothing: $row"
        }
    }
    foreach task [dict get $case tasks] { ;# numbers of tasks are those of the script
        set id [$child eval "file tail \$t[lindex $task 0]"]
        foreach other [lindex $task 3] {
            if {![$child eval "info exists t$other"]} continue
            set before [$child eval "file tail \$t$other"]
            if {[dict get $ends $before] > [dict get $ends $id] - [duration_of $rows $id]} {
                return "order: task $id begins before task $before ends"
            }
        }
    }
    return ""
}

proc duration_of {rows task} {
    foreach row $rows {
        if {[dict get $row task] == $task} {return [dict get $row duration_ps]}
    }
}

# No transfer is faster than the fastest link, no link carries more than it can.
proc check_rates {child case links rows makespan} {
    set fastest [tcl::mathfunc::max 0 {*}[lmap link $links {dict get $link bandwidth_bits_per_s}]]
    foreach row $rows {
        if {[dict get $row kind] eq "transfer" &&
            [dict get $row duration_ps] * $fastest < 8e12 * [dict get $row bytes] - $fastest} {
            return "rate: task [dict get $row task] is faster than the fastest link"
        }
    }
    foreach link $links {
        set capacity [expr {$makespan * 1e-12 * [dict get $link bandwidth_bits_per_s] / 8}]
        if {[dict get $link bytes] > $capacity + 1 && "ideal" ni [dict get $case run]} {
            return "rate: link [dict get $link link] carries more than it can"
        }
    }
    return ""
}

proc check_time {child rows makespan} {
    set end [tcl::mathfunc::max 0 {*}[lmap row $rows {end_of $row}]]
    if {$end != $makespan} {return "time: the last task ends at $end, the run at $makespan"}
    foreach row [rows_of $child report_utilization] {
        set sum [expr {[dict get $row busy_ps] + [dict get $row stall_in_ps] +
            [dict get $row stall_out_ps] + [dict get $row idle_ps]}]
        if {$sum != $makespan} {return "time: accelerator [dict get $row accel]: $sum of $makespan"}
    }
    return ""
}

proc check_path {child makespan} {
    set path [rows_of $child report_critical_path]
    set end 0
    foreach row $path {
        if {[dict get $row start_ps] != $end + [dict get $row wait_ps]} {
            return "path: task [dict get $row task] does not begin when the one before ends, $end"
        }
        set end [end_of $row]
    }
    if {$end != $makespan} {return "path: ends at $end, the run at $makespan"}
    return ""
}

proc check_bounds {child case makespan} {
    if {[dict get $case layers] eq "" || [dict get $case events] ne ""} {return ""}
    foreach row [rows_of $child report_bounds] {
        if {[dict get $row makespan_ps] ne "" && [dict get $row makespan_ps] > $makespan} {
            return "bound: [dict get $row bound]: [dict get $row makespan_ps], run $makespan"
        }
    }
    return ""
}

# ---- the same run by other means ----

set looks {
    {get_tasks} {now} {report_summary -return_string -format csv}
    {report_critical_path -slack -format csv -return_string}
    {report_utilization -format csv -return_string} {report_links -format csv -return_string}
}
proc look {child} {
    return [lmap command $::looks {$child eval $command}]
}

proc check_again {child makespan} {
    set whole [look $child]
    set half "[expr {$makespan / 2}]ps"
    foreach {how script} {
        again {restart; run}
        steps {restart; step 3; step 20; run}
        halves {restart; run -until $half; run}
        trace {restart; open_trace again.csv; run; close_trace}
        checkpoint {restart; run -until $half; save_checkpoint again.ckpt; run
            load_checkpoint again.ckpt; run}
    } {
        if {[catch {$child eval [list set half $half]\n$script} said]} {return "$how: $said"}
        foreach command $::looks before $whole after [look $child] {
            if {$before ne $after} {return "$how: $command is another"}
        }
    }
    return [check_trace $child]
}

# Sums of the spans in again.csv: of computations on accelerators, and of busy links.
proc spans_of {file} {
    set sums [dict create]
    set f [open $file]
    while {[gets $f line] >= 0} {
        if {[string match "#*" $line] || $line eq ""} continue
        lassign [fields_of $line] at event task kind from to layer input bytes object signal value
        set key [expr {$event eq "value" ? $object : "accel/$from"}]
        if {$kind eq "compute"} {
            set sign [expr {$event eq "end" ? 1 : -1}]
        } elseif {$event eq "value" && $signal eq "busy" && [string match link/* $object]} {
            set sign [expr {$value ? -1 : 1}]
        } else {
            continue
        }
        dict incr sums $key [expr {$sign * $at}]
    }
    close $f
    return $sums
}

proc check_trace {child} {
    set sums [spans_of again.csv]
    set expected [dict create]
    foreach row [rows_of $child report_links] {
        dict set expected link/[dict get $row link] [dict get $row busy_ps]
    }
    foreach row [rows_of $child report_utilization] {
        dict set expected accel/[dict get $row accel] [expr {[dict get $row busy_ps] +
            [dict get $row stall_in_ps] + [dict get $row stall_out_ps]}]
    }
    dict for {object time} $expected {
        set sum [expr {[dict exists $sums $object] ? [dict get $sums $object] : 0}]
        if {$sum != $time} {return "trace: $object: spans $sum, busy $time"}
    }
    return ""
}

# Can an accelerator choose between tasks, or is anything changed in the run? Then what is faster
# may take longer (R. Graham, Bounds on multiprocessing timing anomalies, 1969).
proc has_choice {child case rows} {
    foreach row $rows {
        if {[dict get $row kind] ne "compute"} continue
        set node [property $child task/[dict get $row task] node]
        if {[incr computations($node)] > 1} {return 1}
    }
    return [expr {[dict get $case events] ne ""}]
}

# Without contention no later: only where no accelerator can choose between tasks.
proc check_ideal {child case rows makespan} {
    if {[has_choice $child $case $rows]} {return ""}
    $child eval {restart; run -network ideal}
    set ideal [sum_of [rows_of $child report_summary] makespan_ps]
    return [expr {$ideal > $makespan ? "ideal: $ideal, with contention $makespan" : ""}]
}

# Links of half the bandwidth make nothing faster, by more than 0.1 % at most, nor do clocks of half
# the rate, by more than 1 %: of two transfers on a link one may then miss the other.
proc check_slower {child case rows makespan} {
    if {[has_choice $child $case $rows] || "-network" in [dict get $case run]} {return ""}
    foreach {what objects bar} {bandwidth get_links 0.001 clock get_accels 0.01} {
        $child eval "restart; set_property \[$objects\] $what x0.5; [run_line $case]"
        set slower [sum_of [rows_of $child report_summary] makespan_ps]
        if {$makespan > $slower * (1 + $bar)} {
            return "slower: $makespan, with $what x0.5 $slower"
        }
    }
    return ""
}

# ---- one case, in this process ----

# What does not hold; "": all holds; "refused: ...": there is no such run.
proc examine_run {child case} {
    set links [rows_of $child report_links]
    set rows [rows_of $child {report_critical_path -slack}]
    set makespan [sum_of [rows_of $child report_summary] makespan_ps]
    foreach check {
        {check_bytes $child $links} {check_sent $child $links} {check_flows $child $links}
        {check_engines $child $rows} {check_tasks $child $case $rows}
        {check_rates $child $case $links $rows $makespan} {check_time $child $rows $makespan}
        {check_path $child $makespan} {check_bounds $child $case $makespan}
        {check_again $child $makespan} {check_slower $child $case $rows $makespan}
        {check_ideal $child $case $rows $makespan}
    } {
        if {[catch $check what]} {return "[lindex $check 0]: $what"}
        if {$what ne ""} {return $what}
    }
    return ""
}

proc try_case {case} {
    set child [interp create]
    load {} Tharsis $child
    $child eval {namespace import ::tharsis::*; set_threads 1}
    set code [catch {$child eval [join [concat [script_of $case] \
        [list [run_line $case]]] \n]} said]
    set what [if {$code} {string cat "refused: " $said} else {examine_run $child $case}]
    interp delete $child
    return $what
}

# ---- many ----

# What is said of the cases in a file, in a process of its own.
proc tried {cases} {
    set f [open [file join $::folder cases.txt] w]
    puts $f $cases
    close $f
    catch {
        exec sh -c {ulimit -t 300; exec "$@"} try [info nameofexecutable] -no_init -exit \
            $::script -try $::folder 2>@1
    } said
    set answers [lmap {all what} [regexp -all -inline -line {^tried: (.*)$} $said] {set what}]
    while {[llength $answers] < [llength $cases]} {
        lappend answers "crashed: [string map {\n { | }} [string range $said end-300 end]]"
    }
    return $answers
}

proc is_same_kind {a b} {
    return [expr {[lindex [split $a :] 0] eq [lindex [split $b :] 0]}]
}

# The smallest case that fails in the same way.
proc made_smaller {case what} {
    for {set is_smaller 1} {$is_smaller} {} {
        set is_smaller 0
        foreach smaller [smaller_cases $case] {
            if {[is_same_kind [lindex [tried [list $smaller]] 0] $what]} {
                set case $smaller
                set is_smaller 1
                break
            }
        }
    }
    return $case
}

proc show_failure {seed case what} {
    puts "# seed $seed: $what"
    set case [made_smaller $case $what]
    puts "# the same with: [lindex [tried [list $case]] 0]"
    foreach line [split [join [concat [script_of $case] [list [run_line $case]]] \n] \n] {
        puts "#   $line"
    }
}

if {[lindex $argv 0] eq "-try"} {
    cd [lindex $argv 1]
    set f [open cases.txt]
    set cases [read $f]
    close $f
    foreach case $cases {
        puts "tried: [string map {\n { | }} [try_case $case]]"
        flush stdout
    }
    exit 0
}

set builddir [file normalize [expr {[info exists env(builddir)] ? $env(builddir) : [pwd]}]]
set script [file normalize [info script]]
set folder [file join $builddir tests soak invariants_tmp]
set options [dict merge {-seed 1 -count 0} $argv]
set end [expr {[info exists env(THARSIS_LONG)] ? [clock seconds] + $env(THARSIS_LONG) : 0}]
set count [dict get $options -count]
if {$count == 0} {
    set count [expr {$end > 0 ? 1000000000 : [repeats 120]}]
}
file delete -force $folder
file mkdir $folder
set lines 0
set refused 0
set all 0
set seed [dict get $options -seed]
while {$all < $count && ($end == 0 || [clock seconds] < $end)} {
    set cases {}
    for {set first $seed} {$seed < $first + min(10, $count - $all)} {incr seed} {
        lappend cases [random_case $seed]
    }
    incr all [llength $cases]
    set failed 0
    set number $first
    foreach case $cases what [tried $cases] {
        if {[string match refused* $what]} {
            incr refused
            if {[info exists env(SOAK_TALKS)]} {puts "# seed $number: $what"}
        } elseif {$what ne ""} {
            incr failed
            show_failure $number $case $what
        }
        incr number
    }
    puts "[expr {$failed ? "not ok" : "ok"}] [incr lines] - seeds $first to [expr {$seed - 1}]"
    flush stdout
}
puts "# $all cases, $refused of them refused"
puts "1..$lines"
file delete -force $folder
