# SPDX-License-Identifier: GPL-3.0-or-later
# profile.tcl - traces of PyTorch's profiler (Kineto; Chrome's JSON) as measurements of format
# tharsis.
#   profile::own PATH ROOT HAS_DEVICE -> {TEXT NOTES}: sums up the kernels by the operator that
#   launched them ("External id"), then a row for each operator whose kind and shapes are known
# The reader of the file knows the kinds of members: what is wrong with one of an object is its
# member "" (tcl/core/table_read.h).
# An operator that calls others has no kernels of its own, so that no kernel counts twice.
namespace eval ::tharsis::lib::profile {namespace path {::tharsis::lib ::tharsis}}
namespace eval ::tharsis::lib::profile::known {
    # What is read: axes of its factors, and the input that is the first of them (a bias is before).
    variable operators {
        aten::cudnn_convolution {4 0} aten::addmm {2 1} aten::mm {2 0} aten::bmm {3 0}
    }
    variable precisions {float fp32 c10::Half fp16 c10::BFloat16 bf16}
    variable columns {kind bias batch rows channels_in channels_out in_h in_w kernel_h kernel_w
        stride_h stride_w pad_h pad_w precision phase time_us group}
}

proc ::tharsis::lib::profile::check {where object {list ""}} {
    set fault [get $object "" ""]
    if {$fault eq "" && $list ne "" && ![dict exists $object $list]} {
        set fault "must have the list \"$list\" of a profiler"
    }
    if {$fault ne ""} {fail PRED-0610 "$where: $fault"}
}

# What the list of that name has of an operator's input; empty: nothing.
proc ::tharsis::lib::profile::input {arguments name i} {
    return [lindex [get $arguments $name ""] $i]
}

# The lengths of an input with n axes; empty: it has others, or they are not known.
proc ::tharsis::lib::profile::lengths {arguments i n} {
    set lengths [input $arguments "Input Dims" $i]
    if {[llength $lengths] != $n} return
    foreach length $lengths {if {![string is entier -strict $length] || $length < 1} return}
    return $lengths
}

# "[3, 2]": both axes of an input that is no tensor.
proc ::tharsis::lib::profile::axes {arguments i} {
    set n [scan [input $arguments "Concrete Inputs" $i] {[%d, %d]} h w]
    return [expr {$n == 2 && $h >= 0 && $w >= 0 ? [list $h $w] : ""}]
}

# Images by weights, from kind to pad_w. Empty: dilated, in groups, or not known.
proc ::tharsis::lib::profile::convolution {arguments images weights} {
    lassign $images batch channels height width
    lassign $weights out channels_in
    lassign [lmap i {2 3 4} {axes $arguments $i}] pad stride dilation
    if {$channels != $channels_in || $pad eq "" || $stride eq "" || $dilation ne {1 1}
        || [input $arguments "Concrete Inputs" 5] ne "1"} return
    return [list conv 0 $batch "" $channels $out $height $width {*}[lrange $weights 2 3] \
        {*}$stride {*}[lmap zeros $pad {expr {2 * $zeros}}]]
}

# A row up to pad_w by the factors of an operator; empty: not what is known.
proc ::tharsis::lib::profile::shape {arguments has_bias a b} {
    if {$a eq "" || $b eq ""} return
    if {[llength $a] == 4} {return [convolution $arguments $a $b]}
    if {[lindex $a end] != [lindex $b end-1]} return
    set columns [lindex $b end]
    if {[llength $a] == 3} {return [list matmul "" {*}$a $columns {*}[lrepeat 8 ""]]}
    return [list dense $has_bias [lindex $a 0] "" [lindex $a 1] $columns {*}[lrepeat 8 ""]]
}

# The row of an operator but for its device; empty: without shapes, or of another precision.
proc ::tharsis::lib::profile::row {name arguments us} {
    lassign [dict get $known::operators $name] n first
    set weights [lengths $arguments [expr {$first + 1}] $n]
    set shape [shape $arguments $first [lengths $arguments $first $n] $weights]
    set type [input $arguments "Input type" 0]
    if {$shape eq "" || ![dict exists $known::precisions $type]} return
    return [join [list {*}$shape [dict get $known::precisions $type] execution \
        [format %.9g $us] "$name [join $weights x]"] ,]
}

# Names by number, as fields of a row.
proc ::tharsis::lib::profile::devices {path devices} {
    set names {}
    foreach device $devices {
        check "$path: a device" $device
        set name [get $device name ""]
        if {[string first \" $name] < 0} {dict set names [get $device id 0] [clip $name 100]}
    }
    return $names
}

proc ::tharsis::lib::profile::own {path root has_device} {
    check $path $root traceEvents
    set devices [devices $path [get $root deviceProperties ""]]
    set operators {}
    set n -1
    foreach event [dict get $root traceEvents] {
        incr n
        set kind [string tolower [get $event cat ""]]
        if {$kind ni {cpu_op kernel ""}} continue
        check "$path: traceEvents\[$n]" $event
        if {$kind eq ""} continue
        set arguments [get $event args ""]
        check "$path: traceEvents\[$n].args" $arguments
        set id [get $arguments "External id" [get $arguments "external id" ""]]
        set us [get $event dur 0]
        if {$kind eq "cpu_op"} {lappend operators [get $event name ""] $id $arguments}
        if {$kind eq "cpu_op" || ![string is entier -strict $id] || $us <= 0} continue
        if {![info exists sum($id)]} {
            set sum($id) 0.0
            set device($id) [get $devices [get $arguments device 0] ""]
        }
        set sum($id) [expr {$sum($id) + $us}]
    }
    set out [join $known::columns ,][expr {$has_device ? "" : ",device"}]\n
    lassign {0 0 0} rows others unknown
    foreach {name id arguments} $operators {
        if {![info exists sum($id)]} continue
        if {![dict exists $known::operators $name]} {
            incr others
        } elseif {[set row [row $name $arguments $sum($id)]] eq ""} {
            incr unknown
        } else {
            append out $row [expr {$has_device ? "" : ",\"$device($id)\""}] \n
            incr rows
        }
    }
    set notes {}
    if {!$rows} {lappend notes "no operator with kernels that is read"}
    if {$others} {lappend notes "$others operators of kinds that are not read: left out"}
    if {$unknown} {
        lappend notes "$unknown operators without shapes, of another precision, dilated or in\
            groups: left out"
    }
    return [list $out [join $notes {; }]]
}
