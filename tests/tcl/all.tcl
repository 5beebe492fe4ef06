# SPDX-License-Identifier: GPL-3.0-or-later
# all.tcl - every tests/tcl/*.test in a process of its own, told in TAP.
#   tharsis -no_init -exit tests/tcl/all.tcl ?NAME.test ...?
# tcltest's verdicts become "ok" and "not ok" lines, all else it says becomes comments. A file that crashes,
# or says nothing, has failed.

set here [file dirname [file normalize [info script]]]
set files [lsort [glob -directory $here *.test]]
if {[llength $argv] > 0} {
    set files [lmap name $argv {file join $here [file tail $name]}]
}
set count 0

proc tell {verdict name} {
    puts "$verdict [incr ::count] - $name"
}

foreach file $files {
    set name [file tail $file]
    set pipe [open "|[list [info nameofexecutable] -no_init -exit $file 2>@1]" r]
    fconfigure $pipe -encoding utf-8
    set before $count
    while {[gets $pipe line] >= 0} {
        if {[regexp {^\+\+\+\+ (\S+) PASSED$} $line -> test]} {
            tell ok $test
        } elseif {[regexp {^==== (\S+) FAILED$} $line -> test]} {
            tell "not ok" $test
        } elseif {[regexp {^\+\+\+\+ (\S+) SKIPPED: (.*)$} $line -> test why]} {
            tell ok "$test # SKIP $why"
        } else {
            puts "# $line"
        }
    }
    if {[catch {close $pipe} message]} {
        tell "not ok" "$name: $message"
    } elseif {$count == $before} {
        tell "not ok" "$name: says nothing"
    }
    flush stdout
}
puts "1..$count"
