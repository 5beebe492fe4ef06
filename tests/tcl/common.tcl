# SPDX-License-Identifier: GPL-3.0-or-later
# common.tcl - what every test file starts with. The commands are those of the shell.
package require tcltest
namespace import -force ::tcltest::*
tcltest::configure -verbose {pass skip error} -tmpdir [file join [expr {
    [info exists ::env(builddir)] ? $::env(builddir) : \
        [pwd]}] tests tcl tmp [file rootname [file tail $::argv0]]]
file mkdir [tcltest::temporaryDirectory]
testConstraint python [expr {[auto_execok python3] ne ""}]
testConstraint static [expr {![catch {load {} Tharsis}]}]
# A plain tclsh cannot load what was built with the sanitizers of addresses or of threads.
testConstraint module [expr {
    [file exists [file join [file dirname [info nameofexecutable]] pkgIndex.tcl]] &&
    [catch {exec grep -q {__[at]san_init} [info nameofexecutable]}]}]
# Where the kernel can limit a process, and no sanitizer needs what the limits take.
proc has_kernel_limits {} {
    return [expr {![catch {exec [info nameofexecutable] -safe -no_init -exit << {} 2>@1}]}]
}
set root [file dirname [file dirname [file dirname [file normalize [info script]]]]]

# AlexNet on eight FPGAs, and a mapping of it by hand: no search, so quick and always the same.
proc small_problem {} {
    read_system f1_16xlarge
    read_workload alexnet
}

proc small_mapping {} {
    small_problem
    read_mapping [file join $::root tests tcl hand.map]
}

# All that a failing command must leave alone.
proc session_state {} {
    set state {}
    foreach question {
        {get_accels} {get_links} {get_layers} {now} {report_mapping -return_string -format json}
        {report_search -return_string} {report_summary -return_string}\
            {report_breakpoints -return_string}
        {set_threads}
    } {
        catch $question answer
        lappend state $answer
    }
    return $state
}

# The error of a script, and whether it left the session as it was.
proc failure {script} {
    set before [session_state]
    if {![catch {uplevel 1 $script} message options]} {
        return "no error: $message"
    }
    if {[lindex [dict get $options -errorcode] 0] ne "THARSIS"} {
        return "not an error of Tharsis: $message"
    }
    if {[session_state] ne $before} {
        return "the session changed: $message"
    }
    return $message
}

proc read_all {file} {
    set f [open $file]
    set text [read $f]
    close $f
    return $text
}

# A JSON text: objects as dicts, arrays as lists.
proc from_json {text} {
    set tokens [regexp -all -inline {"(?:[^"\\]|\\.)*"|[][\{\}]|[^][\{\},:\s"]+} $text]
    set next 0
    return [json_value $tokens next]
}

proc json_value {tokens next} {
    upvar 1 $next i
    set token [lindex $tokens $i]
    incr i
    if {[string first $token "\{\["] < 0} {
        if {[string match "\"*" $token]} {
            return [subst -nocommands -novariables [string range $token 1 end-1]]
        }
        return $token
    }
    set values {}
    while {$i < [llength $tokens] && [string first [lindex $tokens $i] "\}\]"] < 0} {
        lappend values [json_value $tokens i]
    }
    incr i
    return $values
}

# What the scripts of a page draw it from; a section of it, {} where there is none; and a member of
# a timeline.
proc document_of {page} {
    set text [read_all $page]
    set mark {<script type="application/json" id="document">}
    set from [expr {[string first $mark $text] + [string length $mark]}]
    return [from_json [string range $text $from [string first </script> $text $from]-1]]
}

proc section_of {document id} {
    return [lsearch -inline -index 1 [dict get $document sections] $id]
}

proc timeline_of {document args} {
    return [dict get [lindex [dict get $document runs] 0] timeline {*}$args]
}

# A test of an error message, by glob pattern.
proc test_failure {name what script pattern} {
    uplevel 1 [list test $name $what -body [list failure $script] -match glob -result $pattern]
}

# A file in the temporary folder, with this text.
proc file_with {name text} {
    return [makeFile $text $name]
}

proc finish {} {
    file delete -force [temporaryDirectory]
    cleanupTests
}
