# SPDX-License-Identifier: GPL-3.0-or-later
# properties.tcl - report_property: the attributes of objects, a row for each.

# "400Gbps (50GB/s)": the rate of a link as data sheets of networks and of accelerators have it.
proc ::tharsis::lib::both_rates {text} {
    if {![regexp {^([0-9.]+)([kMGT]?)(bps|B/s)$} $text - n prefix unit]} {return $text}
    return "$text ([format %.6g [expr {$unit eq "bps" ? $n / 8.0 : $n * 8.0}]]$prefix[expr {
        $unit eq "bps" ? "B/s" : "bps"}])"
}

proc ::tharsis::lib::report_property {o} {
    set objects [lindex [dict get $o words] 0]
    set rows [concat {*}[lmap object $objects {
        set class [lindex [split $object /] 0]s
        lmap {name value} [get_property $object] {
            lassign [core::figure $class $name] kind - - meaning
            if {$kind eq "bandwidth" && [is_text $o]} {set value [both_rates $value]}
            list $object $name [or_dash $value] $meaning
        }
    }]]
    set table {name properties wraps 1 columns {{object object text} {attribute attribute text}
        {value value text} {meaning meaning text}}}
    if {[llength $objects] == 1} { ;# which needs no column of its own, in text
        dict set table title [lindex $objects 0]
        dict set table columns [lreplace [dict get $table columns] 0 0 {object {} text}]
    }
    return [report property Properties [list [rows_of $table $rows]] arranged 1]
}
