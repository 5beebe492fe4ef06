# SPDX-License-Identifier: GPL-3.0-or-later
# all.tcl - every test file of tests/tcl and its folders in a process of its own, as many at a
# time as there are processors; output is TAP.
#   tharsis -no_init -exit tests/tcl/all.tcl ?NAME.test ...?
# tcltest's verdicts become "ok" and "not ok" lines, all else it says becomes comments. A file that
# crashes, or prints nothing, has failed.

set here [file dirname [file normalize [info script]]]
set files [lsort [glob -directory $here *.test */*.test]]
if {[llength $argv] > 0} {
    set files [lmap name $argv {
        set name [file tail $name]
        lindex [glob -directory $here $name */$name] 0
    }]
}
# With sanitizers all but the acceptance scripts and the script in Python: other tests run what they
# call.
if {[info exists env(THARSIS_SANITIZERS)] && $env(THARSIS_SANITIZERS) eq "yes"} {
    set files [lsearch -all -inline -not -regexp $files {/(accept|measure)\.test$}]
}
set count 0

proc print_verdict {verdict name} {
    puts "$verdict [incr ::count] - $name"
}

# Starts the next file that has not run. What it says is kept until its turn: verdicts stand in the
# order of the files.
proc start {} {
    global files next pipes said
    if {$next == [llength $files]} {
        return
    }
    set file [lindex $files $next]
    set pipe [open "|[list [info nameofexecutable] -no_init -exit $file 2>@1]" r]
    fconfigure $pipe -encoding utf-8 -blocking 0
    set said($next) {}
    set pipes($next) $pipe
    fileevent $pipe readable [list receive $next]
    incr next
}

proc receive {number} {
    global pipes said closed
    while {[gets $pipes($number) line] >= 0} {
        lappend said($number) $line
    }
    if {[eof $pipes($number)]} {
        fconfigure $pipes($number) -blocking 1
        set closed($number) [expr {[catch {close $pipes($number)} message] ? $message : ""}]
        start
    }
}

# The verdicts of a file that has ended.
proc report {name lines message} {
    set before $::count
    foreach line $lines {
        if {[regexp {^\+\+\+\+ (\S+) PASSED$} $line -> test]} {
            print_verdict ok $test
        } elseif {[regexp {^==== (\S+) FAILED$} $line -> test]} {
            print_verdict "not ok" $test
        } elseif {[regexp {^\+\+\+\+ (\S+) SKIPPED: (.*)$} $line -> test why]} {
            print_verdict ok "$test # SKIP $why"
        } else {
            puts "# $line"
        }
    }
    if {$message ne ""} {
        print_verdict "not ok" "$name: $message"
    } elseif {$::count == $before} {
        print_verdict "not ok" "$name: prints nothing"
    }
    flush stdout
}

# As many at a time as there are processors, which is what the shell starts with.
set next 0
for {set i 0} {$i < [set_threads]} {incr i} {
    start
}
for {set i 0} {$i < [llength $files]} {incr i} {
    while {![info exists closed($i)]} {
        vwait closed
    }
    report [file tail [lindex $files $i]] $said($i) $closed($i)
}
puts "1..$count"
