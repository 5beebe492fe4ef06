# SPDX-License-Identifier: GPL-3.0-or-later
# common.tcl - what the procedures of lib/ share. A command whose row of the table says th_lib_run
# is the procedure of its name here. It gets a dict of the options that were given, and returns the
# command's result, of a report its description (tcl/core/lib_report.h). Nothing here needs Tcl's
# own library (init.tcl): an interpreter of an application may lack it.
namespace eval ::tharsis::lib {namespace path ::tharsis}

# Ends the command with this error.
proc ::tharsis::lib::fail {id text} {
    regexp {^([A-Z]+)-0*(\d+)$} $id -> area number
    regsub -all {[[:cntrl:]]} $text { } text ;# one line, whatever a file's words hold
    return -level 2 -code error -errorcode [list THARSIS $area $number $text] $text
}

# The same where the condition holds; the text is put together in any case.
proc ::tharsis::lib::fail_if {condition id text} {
    if {[uplevel 1 [list expr $condition]]} {tailcall fail $id $text}
}

# The text is none of these names: an error with what is near.
proc ::tharsis::lib::fail_unknown {id what text names} {
    core::fail_unknown $id $what [regsub -all {[[:cntrl:]]} $text { }] $names
}

proc ::tharsis::lib::fail_if_unknown {id what text names} {
    if {$text ni $names} {tailcall fail_unknown $id $what $text $names}
}

# Runs a script; an error in it is told as one about this.
proc ::tharsis::lib::about {what script} {
    set code [catch {uplevel 1 $script} result options]
    if {$code != 1} {return $result}
    lassign [dict get $options -errorcode] by area number text
    if {$by eq "THARSIS" && "$area-$number" ne "BASE-8"} {
        set text "$what: $text"
        return -code error -errorcode [list $by $area $number $text] $text
    }
    return -options $options $result
}

# The value of an option, or otherwise; no expr, which would write "0x10" as 16.
proc ::tharsis::lib::get {options name otherwise} {
    if {[dict exists $options $name]} {return [dict get $options $name]}
    return $otherwise
}

# The elements, each named so, for which the condition holds.
proc ::tharsis::lib::keep {name list condition} {
    upvar 1 $name element
    return [lmap element $list {
        if {![uplevel 1 [list expr $condition]]} continue
        set element
    }]
}

# The elements of a list. Another text ends the command with the error.
proc ::tharsis::lib::elements {text id problem} {
    if {[catch {llength $text}]} {uplevel 1 [list fail $id $problem]}
    return [list {*}$text]
}

# Is the text a number between these?
proc ::tharsis::lib::is_within {text least most} {
    return [expr {[string is double -strict $text] && ![string match -nocase *nan* $text] &&
        $text >= $least && $text <= $most}]
}

# The beginning of a text that a user wrote, for messages.
proc ::tharsis::lib::clip {text n} {return [string range $text 0 [expr {$n - 1}]]}

# Sentences as lines of the head of a report, broken at blanks.
proc ::tharsis::lib::sentences {texts} {
    set lines {}
    foreach text $texts {
        set indent ""
        foreach line [regexp -all -inline {.{1,63}(?: (?!%)|$)} $text] {
            lappend lines $indent[string trimright $line]
            set indent "  "
        }
    }
    return [head_lines verdict $lines]
}

proc ::tharsis::lib::percent {share {format %.2f}} {
    return [format "$format %%" [expr {100.0 * $share}]]
}

# The share by which a number is more than the one before; empty where one of them is none.
proc ::tharsis::lib::change_from {value before} {
    return [expr {[string is double -strict $value] && [string is double -strict $before] &&
        $before > 0 ? double($value) / $before - 1 : ""}]
}

# "3 layers", "1 layer".
proc ::tharsis::lib::count {n noun} {return "$n $noun[expr {$n == 1 ? {} : {s}}]"}

# Accelerators that nothing is mapped onto, and why: a note for each reason.
proc ::tharsis::lib::idle_notes {} {
    set said {}
    set reasons {"are in no set of the mapping" {a.set_id IS NULL}
        "are in a set without layers" {s.n_layers = 0}}
    if {[dict get [core::about] hand_built] ne ""} {
        set reasons {"have no task of the program" {a.tasks = 0}}
    }
    foreach {why condition} $reasons {
        set idle [core::rows "SELECT a.name FROM accels a LEFT JOIN sets s ON s.id = a.set_id\
            WHERE $condition"]
        if {$idle eq ""} continue
        if {[llength $idle] == 1} {set why [string map {are is have has} $why]}
        lappend said [list {} \
            "idle: [count [llength $idle] accelerator] $why: [clip [join $idle] 72]"]
    }
    return $said
}

# Lines that were left out, as a note; nothing where there are none.
proc ::tharsis::lib::lines_note {lines what {noun line}} {
    set n [llength $lines]
    if {$n == 0} {return {}}
    return [list "[count $n $noun], $what: left out, the first is $noun [lindex $lines 0]"]
}
