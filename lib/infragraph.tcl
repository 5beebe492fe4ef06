# SPDX-License-Identifier: GPL-3.0-or-later
# infragraph.tcl - an InfraGraph (YAML or JSON) as the text of a system file of ours
# (docs/formats.md). Devices are graphs of components, instances are copies of devices, edges join
# slices of both. An xpu becomes an accelerator, a cpu or a memory a host, the rest a switch; an
# instance is an island. It describes no computation: accelerators are those of lib/astra.tcl.
namespace eval ::tharsis::lib::infragraph {namespace path {::tharsis::lib ::tharsis}}
namespace eval ::tharsis::lib::infragraph::known {
    variable file_max 67108864 nodes_max 1048576
    variable rates {gigabits_per_second Gbps g_bits_per_second Gbps
        gigabytes_per_second GB/s g_bytes_per_second GB/s}
    variable names [concat [dict keys $rates] {infrastructure name description devices links
        instances edges components count choice type custom device cpu xpu nic memory port switch
        physical bandwidth latency ms us ns ep1 ep2 scheme link component instance}]
}

proc ::tharsis::lib::infragraph::bad {where problem} {fail TOPO-0423 "$where: $problem"}

# The value of a key of an object, as its kind and itself; a text; the members of a list. What is
# not there is an error where nothing stands for it; a list is then empty.
proc ::tharsis::lib::infragraph::value {where object key args} {
    lassign $object kind d
    if {$kind ne "object"} {bad $where "must have the key \"$key\""}
    if {[dict exists $d $key]} {return [dict get $d $key]}
    if {[llength $args]} {return [lindex $args 0]}
    bad $where "key \"$key\" is missing"
}

proc ::tharsis::lib::infragraph::text {where object key args} {
    lassign [value $where $object $key {*}[lmap x $args {list text $x}]] kind x
    if {$kind in {object list null} || [string length $x] > 200} {
        bad $where "key \"$key\": must be a text"
    }
    return $x
}

proc ::tharsis::lib::infragraph::members {where object key} {
    lassign [value $where $object $key {list {}}] kind all
    if {$kind ni {list null}} {bad $where "key \"$key\": must be a list"}
    return $all
}

# The keys that are not read.
proc ::tharsis::lib::infragraph::unread {value} {
    lassign $value kind x
    if {$kind eq "list"} {return [concat {*}[lmap one $x {unread $one}]]}
    if {$kind ne "object"} return
    return [concat {*}[lmap {key one} $x {
        if {$key in $known::names} {unread $one} else {list $key}
    }]]
}

proc ::tharsis::lib::infragraph::count {where object} {
    set n [text $where $object count]
    if {![regexp {^\d{1,7}$} $n] || [scan $n %d n] != 1 || $n < 1 || $n > $known::nodes_max} {
        bad $where "key \"count\": must be a whole number from 1 to $known::nodes_max"
    }
    return $n
}

# By name, the bandwidth and the latency of links; empty: they are not said.
proc ::tharsis::lib::infragraph::links {where object} {
    set links {}
    foreach link [members $where $object links] {
        set at "$where: link \"[set name [text $where $link name]]\""
        lassign {} bandwidth latency
        set of [get [lindex $link 1] physical $link]
        foreach key {bandwidth latency} units [list $known::rates {ms ms us us ns ns}] {
            if {![dict exists [lindex $of 1] $key]} continue
            set what [dict get [lindex $of 1] $key]
            dict for {unit ours} $units {
                set x [text "$at, $key" $what $unit ""]
                if {$x eq ""} continue
                if {![is_within $x 0 1e9]} {bad $at "$unit: must be a number from 0 to 1e9"}
                set $key $x$ours
            }
        }
        dict set links $name [list $bandwidth $latency]
    }
    return $links
}

# "name", "name[2]", "name[:4]", "name[0:8:2]": the name and its indices, as Python has them.
proc ::tharsis::lib::infragraph::slice {where text counts} {
    if {![regexp {^([^][]+)(?:\[(\d{0,7})(:?)(\d{0,7})(?::(\d{0,7}))?\])?$} $text -> \
        name from colon to step] || ("$from$colon" eq "" && [string match *\] $text])} {
        bad $where "\"[clip $text 60]\": must be a name, or name\[FROM:TO\]"
    }
    fail_if_unknown TOPO-0424 "$where: component" $name [dict keys $counts]
    set n [dict get $counts $name]
    if {$colon eq "" && $from ne ""} {set to [expr {[scan $from %d] + 1}]}
    foreach {of otherwise} [list from 0 to $n step 1] {
        set $of [expr {[set $of] eq "" ? $otherwise : [scan [set $of] %d]}]
    }
    if {$step < 1 || $from >= $to || $to > $n} {
        bad $where "\"$text\": must be from the first to the last of $n"
    }
    set all {}
    for {set i $from} {$i < $to} {incr i $step} {lappend all $name.$i}
    return $all
}

# The ends that a path of slices stands for, through devices that are components.
proc ::tharsis::lib::infragraph::ends {where devices device path} {
    set all {{}}
    set elements [split $path .]
    if {[lindex $elements 0] eq $device} {set elements [lrange $elements 1 end]}
    foreach element $elements {
        if {![dict exists $devices $device]} {bad $where "\"[clip $path 60]\": no such device"}
        set found [slice $where $element [dict get $devices $device counts]]
        if {[llength $all] * [llength $found] > $known::nodes_max} {bad $where "too many ends"}
        set all [concat {*}[lmap before $all {lmap one $found {string cat $before . $one}}]]
        regexp {^[^[]+} $element device
    }
    return $all
}

# Joins the ends of an edge; nodes are its ends behind these fronts. Graphs have one edge of a pair.
proc ::tharsis::lib::infragraph::join_ends {where edge ends links out_name} {
    upvar 1 $out_name out
    lassign $ends ends1 ends2
    set link [text $where $edge link]
    fail_if_unknown TOPO-0425 "$where: link" $link [dict keys $links]
    set n [llength $ends1]
    switch [text $where $edge scheme one2one] {
        one2one {
            set pairs [lmap a [lrange $ends1 0 [llength $ends2]-1] b [lrange $ends2 0 $n-1] {
                list $a $b
            }]
        }
        many2many {
            if {$n * [llength $ends2] > $known::nodes_max} {bad $where "too many edges"}
            set pairs [concat {*}[lmap a $ends1 {lmap b $ends2 {list $a $b}}]]
        }
        default {bad $where "key \"scheme\": must be one2one or many2many"}
    }
    foreach pair $pairs {
        if {[lindex $pair 0] ne [lindex $pair 1]} {
            dict set out [lsort $pair] [list $link {*}[dict get $links $link]]
        }
    }
}

proc ::tharsis::lib::infragraph::device {where object} {
    lassign {} counts choices
    foreach component [members $where $object components] {
        set name [text $where $component name]
        set choice [text $where $component choice [text $where $component type custom]]
        dict set counts $name [count "$where: component \"$name\"" $component]
        dict set choices $name $choice
    }
    return [list counts $counts choices $choices edges [members $where $object edges] \
        links [links $where $object]]
}

# The nodes and the edges of a copy of a device.
proc ::tharsis::lib::infragraph::copy {where devices name front island depth} {
    upvar 1 nodes nodes edges edges
    if {![dict exists $devices $name]} {bad $where "device \"[clip $name 60]\" is not described"}
    if {$depth > 16} {bad $where "device \"$name\" is made of itself"}
    set own [dict get $devices $name]
    dict for {component n} [dict get $own counts] {
        set choice [dict get $own choices $component]
        if {[dict size $nodes] + $n > $known::nodes_max} {bad $where "too many components"}
        for {set i 0} {$i < $n} {incr i} {
            if {$choice eq "device"} {
                copy $where $devices $component $front.$component.$i $island [expr {$depth + 1}]
            } else {
                dict set nodes $front.$component.$i [list $choice $island]
            }
        }
    }
    foreach edge [dict get $own edges] {
        set at "$where: device \"$name\", edge [incr number]"
        set ends [lmap end {ep1 ep2} {
            set end [value $at $edge $end]
            set path [text $at $end component]
            set of [text $at $end device ""]
            if {$of ne ""} {set path $of.$path}
            lmap x [ends $at $devices $name $path] {string cat $front $x}
        }]
        join_ends $at $edge $ends [dict get $own links] edges
    }
}

# The text and notes. bandwidth and latency: of links that do not say theirs; empty: none.
proc ::tharsis::lib::infragraph::system {path bandwidth latency} {
    set format [expr {[string match -nocase *.json $path] ? "json" : "yaml"}]
    set root [lindex [core::table $path $known::file_max $format] 1]
    if {[lindex $root 0] eq "object"} {set root [get [lindex $root 1] infrastructure $root]}
    lassign {} devices counts nodes edges groups hosts switches links lacking
    set notes [scalesim::names_note keys [lsort -unique [unread $root]]]
    foreach device [members $path $root devices] {
        set name [text $path $device name]
        dict set devices $name [device "$path: device \"$name\"" $device]
    }
    foreach instance [members $path $root instances] {
        set name [text $path $instance name]
        dict set counts $name [count "$path: instance \"$name\"" $instance]
        dict set of $name [text $path $instance device]
        for {set i 0} {$i < [dict get $counts $name]} {incr i; incr island} {
            copy $path $devices [dict get $of $name] $name.$i [incr island 0] 0
        }
    }
    set shared [links $path $root]
    foreach edge [members $path $root edges] {
        set at "$path: edge [incr number]"
        set ends [lmap end {ep1 ep2} {
            set end [value $at $edge $end]
            set copies [slice $at [text $at $end instance] $counts]
            set name [file rootname [lindex $copies 0]]
            set inside [ends $at $devices [dict get $of $name] [text $at $end component]]
            concat {*}[lmap one $copies {lmap x $inside {string cat $one $x}}]
        }]
        join_ends $at $edge $ends $shared edges
    }
    dict for {pair link} $edges {
        lassign $link name rate time
        if {$rate eq "" && [set rate $bandwidth] eq ""} {
            bad $path "link \"$name\" has no bandwidth in bits or bytes: give -link_bandwidth"
        }
        if {$time eq "" && [set time $latency] eq ""} {
            dict set lacking $name 1
            set time 0ns
        }
        foreach node $pair {dict set joined $node 1}
        append links ", { between = \[\"[join $pair {", "}]\"\]; bandwidth = \"$rate\";\
            latency = \"$time\"; }"
    }
    dict for {node what} $nodes {
        lassign $what choice island
        if {$choice in {xpu npu gpu}} {
            dict lappend groups $island "\"$node\""
        } elseif {[info exists joined] && [dict exists $joined $node]} {
            lappend [expr {$choice in {cpu memory} ? "hosts" : "switches"}] "\"$node\""
        } else {
            incr n_alone
        }
    }
    if {![dict size $groups]} {bad $path "no component of choice \"xpu\" in an instance"}
    if {[dict size $lacking]} {lappend notes "links without a latency, taken as 0: [clip [join \
        [dict keys $lacking] {, }] 200]"}
    if {[info exists n_alone]} {lappend notes "$n_alone components without an edge: left out"}
    lappend notes "computation is not described: accelerators of 100 TFLOPS and 64 GiB are taken"
    set accelerators [join [lmap {island names} $groups {string cat "{ names = \[[join $names ,]\];\
        group = $island; dram = { capacity = \"64GiB\"; bandwidth = \"unlimited\"; }; vector =\
        { clock = \"1GHz\"; elements_per_cycle = 1024; }; designs = \[\"xpu\"\]; }"}] ,]
    set name [string map {\\ _ \" _} [text $path $root name infragraph]]
    return [list "name = \"$name\"; designs = ( { name = \"xpu\"; type = \"roofline\"; clock =\
        \"1GHz\"; macs_per_cycle = 50000; } ); accelerators = ($accelerators); hosts =\
        ([join $hosts ,]); switches = ([join $switches ,]); links = ([string range $links 2 end]);"\
        [join $notes "; "]]
}
