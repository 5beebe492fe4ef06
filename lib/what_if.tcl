# SPDX-License-Identifier: GPL-3.0-or-later
# what_if.tcl - report_sensitivity and report_bounds -what_if: the run, or its bound, on systems
# that each differ in one thing.
#   options -> properties and groups of objects -> a change each -> all are tried -> a table, the
#   largest gain first

# ---- links and accelerators in groups ----

# The rows of core::links or core::accels in groups of numbers, by their first members: of those
# that have a value at this place (empty: all), and are in the dict (empty: all), these with equal
# values from one place to another (each: none are); also, where medium is 1, links of one medium.
proc ::tharsis::lib::groups {rows place wanted key {medium 0}} {
    lassign {} by_value values
    set i -1
    foreach row $rows {
        incr i
        if {($place ne "" && [lindex $row $place] eq "") ||
            ($wanted ne "" && ![dict exists $wanted $i])} {
            lappend values - ;# it is in no group
            continue
        }
        set value [expr {$key ne "each" ? [lrange $row {*}$key] : $medium ? [lindex $row 1] : $i}]
        dict lappend by_value $value $i
        lappend values $value
    }
    return [expr {$medium ? [merge_media $rows $values $by_value] : [dict values $by_value]}]
}

# The groups where each gets also the rest of the links that share a medium with its first member.
proc ::tharsis::lib::merge_media {rows values by_value} {
    lassign {} by_medium all groups
    for {set i 0} {$i < [llength $rows]} {incr i} {
        if {[lindex $values $i] eq "-"} continue
        dict lappend by_medium [lindex $rows $i 1] $i
        lappend all $i
    }
    foreach i $all {
        if {[info exists is_taken($i)]} continue
        set group {}
        foreach member [lsort -integer -unique [concat [dict get $by_value [lindex $values $i]] \
                [dict get $by_medium [lindex $rows $i 1]]]] {
            if {![info exists is_taken($member)]} {lappend group $member}
            set is_taken($member) 1
        }
        lappend groups $group
    }
    return $groups
}

# "link/0_1", "link/0_1 +23", "all 40 links".
proc ::tharsis::lib::name_group {class rows group} {
    set n [llength $group]
    set first [lindex $rows [lindex $group 0] 0]
    if {$n == 1} {return $class/$first}
    if {$n == [llength $rows]} {return "all $n ${class}s"}
    return "$class/$first +[expr {$n - 1}]"
}

# Where the value of a property stands in a row, and of which kind it is; a clock has none.
proc ::tharsis::lib::place_of {property} {
    return [dict get {bandwidth {2 bandwidth} latency {3 time} dram_bandwidth {1 byte_rate}
        dram_latency {2 time} memory {3 bytes} clock {"" ""}} $property]
}

proc ::tharsis::lib::is_of_links {property} {return [expr {$property in {bandwidth latency}}]}

# ---- report_sensitivity ----

proc ::tharsis::lib::report_sensitivity {o} {
    core::need program
    set q [sensitivity_request $o]
    set changes [sensitivity_changes $q]
    core::check_columns [sensitivity_table $q {} {}]
    set by [dict get $q by]
    set results [core::try runs \
        [lmap change $changes {list property [lindex $change 0] $by [lindex $change 1]}] \
        [dict get $q remap] ""]
    return [report sensitivity Sensitivity [list [sensitivity_table $q $changes $results]] \
        head [sensitivity_head $q $changes] is_kept 1 arranged 1 text_limit 20]
}

proc ::tharsis::lib::sensitivity_request {o} {
    lassign [core::next_run] network is_hand_built
    set q [dict create group [get $o group each] remap [get $o remap 0] \
        is_hand_built $is_hand_built is_default [expr {![dict exists $o properties]}] \
        by [get $o by 0.1] links [core::links] accels [core::accels] \
        wants_all [expr {![dict exists $o of]}] link {} accel {}]
    foreach name [get $o of {}] {dict set q {*}[core::object $name] 1} ;# their numbers, as keys
    fail_if {[dict get $q by] == 0} TCL-0702 "-by 0%: must be another percentage, as 10%"
    fail_if {[dict get $q remap] > 0 && $is_hand_built} TCL-0720 "-remap: a hand-built program has\
        no mapping"
    dict set q properties [wanted_properties $o [dict get $q remap] [string match astra* $network]]
    fail_if {[dict get $q by] >= 1 && [regexp latency [dict get $q properties]]} TCL-0705 "-by:\
        latencies can only be reduced by less than 100%"
    return $q
}

# The astra networks have bandwidths of dimensions, which links only stand for.
proc ::tharsis::lib::wanted_properties {o remap is_astra} {
    set all {bandwidth clock dram_bandwidth latency dram_latency memory}
    if {![dict exists $o properties]} {
        return [concat [expr {$is_astra ? "" : "bandwidth"}] clock dram_bandwidth \
            [expr {$remap > 0 ? "memory" : ""}]]
    }
    set given [dict get $o properties]
    foreach property $given {
        fail_if {[is_of_links $property] && $is_astra} TCL-0709 "-properties $property: on the\
            astra networks it belongs to dimensions, not links"
        fail_if {$property eq "memory" && $remap == 0} TCL-0719 "-properties memory: has no effect\
            on a fixed mapping: needs -remap"
    }
    return [keep property $all {$property in $given}]
}

# {PROPERTY OBJECTS} of each group that can change.
proc ::tharsis::lib::sensitivity_changes {q} {
    set changes {}
    foreach property [dict get $q properties] {
        foreach group [groups_with $q $property] {
            if {[can_change $q $property $group]} {lappend changes [list $property $group]}
        }
    }
    fail_if {[llength $changes] == 0} TCL-0708 "nothing to change: none of these objects has such a\
        property with a limit"
    return $changes
}

proc ::tharsis::lib::groups_with {q property} {
    lassign [place_of $property] place
    if {[is_of_links $property]} {
        set class link
        set alike {2 3} ;# bandwidth, latency
    } else {
        set class accel
        set alike {1 5} ;# memory, the clock of the vector unit, designs
    }
    set wanted [dict get $q $class]
    if {![dict get $q wants_all] && $wanted eq ""} return
    return [groups [dict get $q ${class}s] $place $wanted \
        [dict get [list each each class $alike all {1 0}] [dict get $q group]] \
        [expr {$property eq "bandwidth"}]]
}

# A search does not see a clock that changes during a run: these accelerators are left out, unless
# they were asked for.
proc ::tharsis::lib::can_change {q property group} {
    if {$property ne "clock" || [dict get $q remap] == 0 || [core::own_clock $group]} {return 1}
    if {[dict get $q is_default]} {return 0}
    set name [lindex [dict get $q accels] [lindex $group 0] 0]
    fail TCL-0721 "-properties clock: accel/$name shares designs with others, which -remap needs to\
        change with it: -group class or all, or more of -of"
}

proc ::tharsis::lib::sensitivity_head {q changes} {
    dict with q {}
    set percent [format %+g [expr {$by * 100}]]
    set head [list [list line by "$percent % bandwidth[expr {$remap > 0 ? ", memory" : ""}] or\
        clock, [format %+g [expr {-$by * 100}]] % latency, one at a time"]]
    if {$remap > 0} {
        lappend head [list line mapped "anew for each, by $remap evaluations"] \
            [list field remap_evaluations count $remap]
    } elseif {!$is_hand_built} {
        lappend head [list line remap "no: the mapping stays (report_advice maps anew)"]
    }
    lappend head [list field by change $by]
    foreach change $changes {
        lassign $change property group
        if {$property eq "clock" && !$is_hand_built && ![core::own_clock $group]} {
            lappend head [list line tiles "of the old clock where designs are shared (-group all:\
                anew)"] [list field tiles_at_shared_designs text "of the old clock"]
            break
        }
    }
    return $head
}

proc ::tharsis::lib::sensitivity_table {q changes results} {
    set rows {}
    set baseline [lindex $results 0]
    set any_blind 0
    foreach change $changes result [lrange $results 1 end] {
        set is_blind [expr {[dict get $q remap] == 0 && [lindex $result 3]}]
        set any_blind [expr {$any_blind || $is_blind}]
        lappend rows [concat [describe_change $q {*}$change] [compare_runs $baseline $result] \
            [list [expr {$is_blind ? "unused" : ""}] [llength [lindex $change 1]]]]
    }
    set notes {
        {gain {gain: makespan of the baseline less this one}}
        {change {change: this one over the baseline}}
        {object {link/A +3: link/A and 3 links like it, changed together}}
    }
    if {$any_blind} {
        lappend notes {blind {blind: the mapping uses none of them, and it stays: only a new\
            mapping could gain (-remap, report_advice)}}
    }
    set rows [lsort -integer -decreasing -index 5 $rows]
    set table [dict create name sensitivity rows $rows notes $notes columns [list \
            {object object text} {property property text} {from {} text} \
            {to "changed to" text} {makespan makespan time} {gain gain time} \
            {change change change} {throughput {} rate} {throughput_change {} change} \
            [list blind [expr {$any_blind ? "blind" : ""}] text] {objects {} count}]]
    if {$results ne ""} {
        dict set table total [concat {baseline {} {} {}} [compare_runs $baseline $baseline] {{} 0}]
    }
    return $table
}

# {OBJECT PROPERTY FROM TO}: the values are factors where they differ, and of clocks.
proc ::tharsis::lib::describe_change {q property group} {
    set class [expr {[is_of_links $property] ? "link" : "accel"}]
    set rows [dict get $q ${class}s]
    lassign [place_of $property] place kind
    set by [dict get $q by]
    set factor [expr {1 + ($kind eq "time" ? -$by : $by)}]
    set values {}
    if {$place ne ""} {set values [lsort -unique [lmap i $group {lindex $rows $i $place}]]}
    if {[llength $values] == 1} {
        set from [core::quantity $kind [lindex $values 0]]
        set to [core::quantity $kind [expr {round([lindex $values 0] * $factor)}]]
    } else {
        set from x1
        set to x[format %g $factor]
    }
    return [list [name_group $class $rows $group] $property $from $to]
}

# {MAKESPAN GAIN CHANGE THROUGHPUT CHANGE_OF_IT}
proc ::tharsis::lib::compare_runs {baseline result} {
    lassign $baseline - end_before throughput_before
    lassign $result - end throughput
    set rates {{} {}}
    if {$throughput_before > 0} {
        set rates [list $throughput [change_from $throughput $throughput_before]]
    }
    return [list $end [expr {$end_before - $end}] [change_from $end $end_before] {*}$rates]
}

# ---- report_bounds -what_if ----

proc ::tharsis::lib::report_bounds {o} {
    if {![dict exists $o what_if]} {return [plan_bounds $o]}
    lassign [core::next_run] - - n_events description
    set before [core::bound {}]
    set rows [list [bound_row none $before $before]]
    foreach {text property by} {
        "twice the bandwidth of links" bandwidth 1 "no latency of links" latency 1
        "twice the bandwidth of DRAM" dram_bandwidth 1 "twice the clock" clock 1
    } {
        lappend rows [bound_row $text $before [bound_with $property $by]]
    }
    set n [llength [core::accels]]
    set more {}
    if {$n_events == 0} { # they say what they change by number, and media of more may have others
        set more [list more [expr {$n - 1}]]
    }
    set made [expr {$more eq "" ? "" : [core::changed $more]}]
    set n_more [expr {$made eq "" ? 1 : [lindex $made 0] - $n}]
    lappend rows [bound_row "[count $n_more accelerator] more" $before \
        [expr {$made eq "" ? "" : [core::bound $more]}]]
    return [report bounds "Lower bounds" [list [dict create name what_if rows $rows \
        title "Bounds with one change" columns {
            {change change text} {makespan "largest bound" time} {difference difference share}
            {limited_by "limited by" text}
        } notes {{difference {difference: largest bound / that of the system as it is - 1}}}]] \
        arranged 1 head [expr {$description eq "" ? "" : [list [list line for $description]]}]]
}

# The bound with a property of all links or accelerators changed; nothing where none has it.
proc ::tharsis::lib::bound_with {property by} {
    set rows [expr {[is_of_links $property] ? [core::links] : [core::accels]}]
    lassign [place_of $property] place
    set objects [lindex [groups $rows $place {} {1 0}] 0]
    if {$objects eq "" || ($property eq "clock" && ![core::own_clock $objects])} return
    return [core::bound [list property $property $by $objects]]
}

proc ::tharsis::lib::bound_row {text before bound} {
    lassign $bound now limit
    if {$bound eq "" || $now <= 0} {return [list $text {} {} {}]}
    return [list $text $now [change_from $now [lindex $before 0]] $limit]
}
