# SPDX-License-Identifier: GPL-3.0-or-later
# simgrid.tcl - completion times of concurrent flows, held against SimGrid's CM02 model.
#
#   tharsis -exit tests/accept/simgrid.tcl DIRECTORY
#
# DIRECTORY holds cases.json (of each case: name, hosts, links with name, bandwidth_Bps and
# latency_s) and flows.csv (case, flow, src, dst, bytes, start_s, route, finish_simgrid_cm02_s; a
# route is names of links). A case becomes a system file: SimGrid's hosts are hosts, its links are
# segments, and every pair of hosts that a flow joins has the flow's route. Its flows become a
# program, which runs under set_network -weights latency. Exit status: 0 where no flow's end
# deviates by more than 1e-6 of it, 1 where one does, 2 where the data cannot be read.

set bar 1e-6

# ---- reading ----

# The value whose tokens begin at place i, which moves behind it: an object as dict, an array as
# list.
proc json_value {tokens i} {
    upvar 1 $i place
    set token [lindex $tokens $place]
    incr place
    switch -glob -- $token {
        "\\{" - "\\[" {return [json_members $tokens place [expr {$token eq "\{"}]]}
        "\"*" {return [subst -nocommands -novariables [string range $token 1 end-1]]}
        "\\}" - "\\]" - "," - ":" - "" {error "JSON: unexpected \"$token\""}
        default {return $token}
    }
}

# What stands up to the closing bracket; keys and values in turn for an object.
proc json_members {tokens i is_object} {
    upvar 1 $i place
    set members {}
    set end [expr {$is_object ? "\}" : "\]"}]
    while {[lindex $tokens $place] ne $end} {
        if {$is_object} {
            lappend members [json_value $tokens place]
            if {[lindex $tokens $place] ne ":"} {error "JSON: a key without a value"}
            incr place
        }
        lappend members [json_value $tokens place]
        if {[lindex $tokens $place] eq ","} {
            incr place
        } elseif {[lindex $tokens $place] ne $end} {
            error "JSON: \"[lindex $tokens $place]\" where a comma or $end was expected"
        }
    }
    incr place
    return $members
}

proc json_read {text} {
    set place 0
    return [json_value [regexp -all -inline {"(?:[^"\\]|\\.)*"|[^][{}:,"\s]+|[][{}:,]} $text] place]
}

# Rows as dicts, by the names of the first line. No field is quoted.
proc csv_read {text} {
    set lines [lassign [split [string map {\r {}} [string trim $text]] \n] header]
    set names [split $header ,]
    return [lmap line $lines {
        set fields [split $line ,]
        if {[llength $fields] != [llength $names]} {
            error "flows.csv: \"$line\": not [llength $names] fields"
        }
        set row {}
        foreach name $names field $fields {dict set row $name $field}
        set row
    }]
}

proc read_all {file} {
    set f [open $file]
    set text [read $f]
    close $f
    return $text
}

# ---- a case as a system ----

proc time_text {seconds} {
    return [format %.0fps [expr {$seconds * 1e12}]]
}

# The hosts of a flow. Two flows between the same hosts may have different routes: the later one
# then ends at a host of its own.
proc ends_of {flow routes} {
    set from h[dict get $flow src]
    set to h[dict get $flow dst]
    for {set n 1} {[dict exists $routes $from $to] &&\
            [dict get $routes $from $to] ne [dict get $flow route]} {incr n} {
        set to h[dict get $flow dst].$n
    }
    return [list $from $to]
}

# One accelerator, because a system has one; no flow comes near it.
proc write_system {file case routes} {
    set hosts {}
    dict for {from there} $routes {lappend hosts $from {*}[dict keys $there]}
    set hosts [join [lmap host [lsort -unique $hosts] {format {"%s"} $host}] {, }]
    set segments [join [lmap link [dict get $case links] {
        format "    { name = \"%s\"; bandwidth = \"%.0fbps\"; latency = \"%s\";
                }" [dict get $link name] \
            [expr {8 * [dict get $link bandwidth_Bps]}] [time_text [dict get $link latency_s]]
    }] ",\n"]
    set entries {}
    dict for {from there} $routes {
        dict for {to links} $there {
            lappend entries [format "    { from = \"%s\"; to = \"%s\"; links = \[%s\];
                        }" $from $to \
                [join [lmap link $links {format {"%s"} $link}] {, }]]
        }
    }
    set f [open $file w]
    puts $f "name = \"[dict get $case name]\";
designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 1; } );
accelerators = ( { names = \[\"a\"\]; designs = \[\"d\"\];
        vector = { clock = \"1GHz\"; elements_per_cycle = 1; };
    dram = { capacity = \"1GiB\"; bandwidth = \"1TB/s\"; latency = \"0ns\"; burst = \"1B\"; }; } );
hosts = ( $hosts );
links = ( { center = \"a\"; leaves = \[$hosts\]; bandwidth = \"1Gbps\"; latency = \"0ns\"; } );
segments = (\n$segments\n);
routes = (\n[join $entries ",\n"]\n);"
    close $f
}

# ---- a case as a run ----

# Runs a case; returns {expected got deviation} of its worst flow, and the number of events.
proc run_case {case flows folder} {
    set routes {}
    set ends {}
    foreach flow $flows {
        lassign [ends_of $flow $routes] from to
        dict set routes $from $to [dict get $flow route]
        lappend ends $from $to
    }
    set file [file join $folder case.cfg]
    write_system $file $case $routes
    read_system $file
    create_program [dict get $case name]
    foreach flow $flows {from to} $ends {
        add_transfer -from $from -to $to -bytes [dict get $flow bytes]B \
            -at [time_text [dict get $flow start_s]]
    }
    set_network -weights latency
    run -network fluid
    set worst {0 0 -1}
    set n 0
    foreach flow $flows {
        set expected [dict get $flow finish_simgrid_cm02_s]
        set got [expr {[get_property task/$n end -exact] / 1e12}]
        set deviation [expr {abs($got / $expected - 1)}]
        if {$deviation > [lindex $worst 2]} {set worst [list $expected $got $deviation]}
        incr n
    }
    regexp {"events": (\d+)} [report_summary -format json -return_string] -> events
    return [list {*}$worst $events]
}

proc run_all {directory folder} {
    set of_case {}
    foreach flow [csv_read [read_all [file join $directory flows.csv]]] {
        dict lappend of_case [dict get $flow case] $flow
    }
    set worst 0
    set n 0
    puts [format "%-28s %6s %14s %14s %10s %8s" case flows {expected [s]} {got [s]} \
            deviation events]
    foreach case [dict get [json_read [read_all [file join $directory cases.json]]] cases] {
        set name [dict get $case name]
        if {![dict exists $of_case $name]} {error "$name: flows.csv has no flow of it"}
        lassign [run_case $case [dict get $of_case $name] $folder] expected got deviation events
        puts [format "%-28s %6d %14.9f %14.9f %10.2e %8d" $name \
                [llength [dict get $of_case $name]] \
            $expected $got $deviation $events]
        set worst [expr {max($worst, $deviation)}]
        incr n
    }
    if {$n == 0} {error "cases.json: no cases"}
    puts [format "simgrid: %.2e worst relative deviation (%d cases)" $worst $n]
    return $worst
}

if {[llength $argv] != 1} {
    puts stderr "usage: tharsis -exit tests/accept/simgrid.tcl DIRECTORY"
    exit 2
}
close [file tempfile folder]
file delete $folder
file mkdir $folder
if {[catch {run_all [lindex $argv 0] $folder} worst]} {
    puts stderr "simgrid.tcl: $worst"
    set status 2
} else {
    set status [expr {$worst > $bar}]
}
file delete -force $folder
exit $status
