# SPDX-License-Identifier: GPL-3.0-or-later
# allocations.tcl - every command with an allocation that fails, in TAP: a line for each command.
#   tharsis -no_init -exit tests/soak/allocations.tcl ?COMMAND ...?
#
# A command runs in the session and with the arguments of its example in the manual, once for each
# allocation that is to fail. When that makes it fail, it says so in one line, the session is as it
# was, and nothing stays allocated; in the end the command succeeds with the result that it has in a
# new session. Allocations: the first six and a sample of the others; with THARSIS_LONG=SECONDS all
# up to the 2,000th and 500 of the others, and for each command no longer than that.
set here [file dirname [file normalize [info script]]]
set root [expr {[info exists env(srcdir)] ? $env(srcdir) : [file join $here .. ..]}]
set builddir [expr {[info exists env(builddir)] ? $env(builddir) : [pwd]}]
set root [file normalize $root]
set builddir [file normalize $builddir]
source [file join $root tests soak session.tcl]

set commands [lsort [lmap name [info commands ::tharsis::*] {namespace tail $name}]]
if {[llength $argv] > 0} {set commands $argv}
# Which end the process, are other names of commands, or names that are gone.
set without {
    Complete Source Unknown bd bp when examine create_pod disable_breakpoint read_plan write_plan
}
set folder [file join $builddir tests soak tmp]
file delete -force $folder
file mkdir $folder
cd $folder

proc lines_of {path} {
    set f [open $path]
    set lines [split [string trim [read $f]] \n]
    close $f
    return $lines
}

set count 0
foreach command $commands {
    if {$command in $without} {continue}
    incr count
    if {[example_of $command] eq ""} {
        puts "not ok $count - $command: has no example"
        continue
    }
    set script [file join $root tests soak fail_allocations.tcl]
    set code [catch {
        exec [file join $builddir tests soak probe] $script $root $command >/dev/null 2>said.txt
    } ended]
    set lines [lines_of said.txt]
    if {$code} {lappend lines $ended}
    set is_good [expr {$code == 0 && [string match "passed *" [lindex $lines end]]}]
    puts "[expr {$is_good ? "ok" : "not ok"}] $count - $command: [lindex $lines end]"
    if {!$is_good} {
        foreach line [lrange $lines end-30 end] {puts "# $line"}
    }
    flush stdout
}
puts "1..$count"
