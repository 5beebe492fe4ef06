# SPDX-License-Identifier: GPL-3.0-or-later
# trace.tcl - finishing times of the ranks of execution traces, held against ASTRA-sim to the
# nanosecond.
#
#   tharsis -exit tests/accept/trace.tcl DIRECTORY
#
# DIRECTORY holds results.csv, a rank of a run of ASTRA-sim per row: case, backend (aware, unaware),
# roofline (0, 1), rank, cycles_ns, exposed_ns and status; and a folder for each case with
# rank.N.et, network.yml, system.json, memory.json and, where there are groups, groups.json. The
# figure is the share of rows of status finished whose cycles_ns is reproduced. Cases whose times
# rest on rules that were read in ASTRA-sim's sources only (2-D systems; a group on the congestion-
# aware network) are counted as well, and shown apart. Rows not_finished must be reported so, with
# what they wait for; rows of status error are skipped. Exit status: 0 where the figure is 100 and
# all of those are reported, 1 where not, 2 where the data cannot be read.

proc csv_rows {text} {
    set lines [lassign [split [string map {\r {}} [string trim $text]] \n] header]
    set names [split $header ,]
    return [lmap line $lines {
        set row {}
        foreach name $names field [split $line ,] {dict set row $name $field}
        set row
    }]
}

proc read_file {file} {
    set f [open $file]
    set text [read $f]
    close $f
    return $text
}

# What report_ranks says, by rank: {state finish_ns reason}.
proc run_case {folder backend roofline} {
    read_system -format astra [file join $folder network.yml] [file join $folder system.json]
    set options [list -memory [file join $folder memory.json]]
    set groups [file join $folder groups.json]
    if {[file exists $groups]} {lappend options -groups $groups}
    read_program -format chakra $folder {*}$options -roofline [lindex {off on} $roofline]
    run -lenient -network astra_$backend
    set found {}
    set report [report_ranks -format json -return_string]
    foreach {- rank state rest} [regexp -all -inline \
            {"rank": (\d+), "state": "(\w+)"([^\}]*)\}} $report] {
        set finish ""
        set reason ""
        regexp {"finish_ps": (\d+)} $rest - finish
        regexp {"reason": "([^"]*)"} $rest - reason
        dict set found $rank [list $state $finish $reason]
    }
    return $found
}

# One line for each case; returns {rows, reproduced, not finished, of these reported}.
proc show_case {directory key rows} {
    lassign $key case backend roofline
    set n {0 0 0 0}
    if {[catch {run_case [file join $directory $case] $backend $roofline} found]} {
        puts [format "%-24s %-8s %s  %s" $case $backend $roofline $found]
        set found {}
    }
    set worst 0
    foreach row $rows {
        set rank [dict get $row rank]
        lassign [expr {[dict exists $found $rank] ? [dict get $found $rank] : "none"}] state finish\
            reason
        set is_finished [expr {[dict get $row status] eq "finished"}]
        set at [expr {$is_finished ? 0 : 2}]
        lset n $at [expr {[lindex $n $at] + 1}]
        if {$is_finished} {
            set off [expr {$finish eq "" ? "none" : $finish / 1000.0 - [dict get $row cycles_ns]}]
            if {$off eq "none" || abs($off) > abs($worst)} {set worst $off}
            set holds [expr {$off eq "none" ? 0 : $off == 0}]
        } else {
            set holds [expr {$state eq "not_finished" && $reason ne ""}]
            puts "    rank $rank is $state: $reason"
        }
        if {$holds} {lset n [expr {$at + 1}] [expr {[lindex $n $at+1] + 1}]}
        if {$worst eq "none"} {set worst 1e99}
    }
    puts [format "%-24s %-8s %s %5d of %5d %12g ns" $case $backend $roofline \
        [expr {[lindex $n 1] + [lindex $n 3]}] [llength $rows] $worst]
    return $n
}

# Does the time of this case rest on rules that were read in the sources only?
proc is_from_sources {directory case backend} {
    set network [read_file [file join $directory $case network.yml]]
    set has_groups [file exists [file join $directory $case groups.json]]
    return [expr {[regexp {topology:[^\n]*,} $network] || ($has_groups && $backend eq "aware")}]
}

proc run_all {directory} {
    set cases {}
    foreach row [csv_rows [read_file [file join $directory results.csv]]] {
        if {[dict get $row status] eq "error"} continue
        dict lappend cases [list [dict get $row case] [dict get $row backend]\
                [dict get $row roofline]] $row
    }
    array set sum {}
    puts [format "%-24s %-8s %s %14s %15s" case backend roof reproduced "worst"]
    foreach is_apart {0 1} {
        if {$is_apart} {puts "by rules read in the sources only:"}
        dict for {key rows} $cases {
            lassign $key case backend
            if {[is_from_sources $directory $case $backend] != $is_apart} continue
            foreach name {rows same left told} n [show_case $directory $key $rows] {
                incr sum($name,$backend) $n
                incr sum($name) $n
            }
        }
    }
    if {![info exists sum(rows)] || $sum(rows) == 0} {error "results.csv: no row is in scope"}
    foreach backend {aware unaware} {
        if {[info exists sum(rows,$backend)]} {
            puts "$backend: $sum(same,$backend) of $sum(rows,$backend) finished rows reproduced"
        }
    }
    puts "not finished: $sum(told) of $sum(left) rows reported with their reason"
    puts [format "trace: %.6g percent (%d cases)" [expr {100.0 * $sum(same) / $sum(rows)}]\
            $sum(rows)]
    return [expr {$sum(same) == $sum(rows) && $sum(told) == $sum(left)}]
}

if {[llength $argv] != 1} {
    puts stderr "usage: tharsis -exit tests/accept/trace.tcl DIRECTORY"
    exit 2
}
suppress_message TCL-0804
if {[catch {run_all [lindex $argv 0]} holds]} {
    puts stderr "trace.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
