# SPDX-License-Identifier: GPL-3.0-or-later
# probed.tcl - tests in TAP that need the probe, by name:
#   test NAME BODY      the body fails a test by an error, or by check
#   check GOT EXPECTED ?WHERE?
# A script that sets `script` to its name and sources this is run by the probe, whatever shell it
# was started in. It works in a folder of its own; NAMES behind the script run those tests alone.
set here [file dirname [file normalize [info script]]]
set root [file normalize [expr {[info exists env(srcdir)] ? $env(srcdir) : "$here/../.."}]]
set builddir [file normalize [expr {[info exists env(builddir)] ? $env(builddir) : [pwd]}]]
set script [file normalize $script]
if {[info commands alloc] eq ""} {
    exec [file join $builddir tests soak probe] $script {*}$argv >@stdout 2>@stderr
    exit
}
source [file join $here repeats.tcl]
namespace import ::tharsis::*
set folder [file join $builddir tests soak [file rootname [file tail $script]]_tmp]
file delete -force $folder
file mkdir $folder
cd $folder
set n_tests 0
set wrong {}

proc check {got expected {where ""}} {
    if {$got ne $expected} {lappend ::wrong "$where: got $got, expected $expected"}
}

proc test {name body} {
    if {[llength $::argv] > 0 && $name ni $::argv} return
    set ::wrong {}
    if {[catch {apply [list {} $body]} said]} {lappend ::wrong $said}
    puts "[expr {$::wrong eq {} ? {} : {not }}]ok [incr ::n_tests] - $name"
    foreach line [split [join $::wrong \n] \n] {puts "# $line"}
    flush stdout
}

proc finish {} {
    puts 1..$::n_tests
    cd $::builddir
    file delete -force $::folder
}
