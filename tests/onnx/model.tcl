# SPDX-License-Identifier: GPL-3.0-or-later
# model.tcl - writes ONNX models for tests.
#   onnx_model FILE ?-opset N? SCRIPT
# In SCRIPT:
#   input NAME TYPE {EXTENT ...}        EXTENT is a number, or the name of an open axis
#   weight NAME {EXTENT ...} ?TYPE?     an initializer without numbers
#   ints NAME {NUMBER ...}, int NAME NUMBER, reals NAME {NUMBER ...}   initializers with numbers
#   node OP {INPUT ...} {OUTPUT ...} ?-ATTRIBUTE VALUE ...?   "" is an input that is not given;
#       -ATTRIBUTE* VALUE is a list; a graph is made by "graph SCRIPT"
#   in DOMAIN SCRIPT                    its nodes are of this domain
#   output NAME
#   stated NAME {EXTENT ...}            the shape that the file states for a tensor
#   external NAME N FILE ?OFFSET?       N integers that are in another file
# A node is called as its first output. TYPE: float, double, fp16, bf16, int8,
# uint8, int16, int32, uint32, int64, bool.
# Protobuf by hand: messages are lists of fields, field number << 3 | kind, of varints (kind 0), of
# bytes behind their length (2), and of four bytes (5).
namespace eval onnx {
    namespace export onnx_model
    variable types {float 1 uint8 2 int8 3 int16 5 int32 6 int64 7 string 8 bool 9 fp16 10 double 11
        uint32 12 bf16 16}
    variable domain {}
    variable fields

    proc varint {n} {
        set n [expr {$n & 0xffffffffffffffff}]
        set bytes {}
        while {$n > 127} {
            lappend bytes [expr {$n & 127 | 128}]
            set n [expr {$n >> 7}]
        }
        binary format c* [lappend bytes $n]
    }
    proc number {field n} {return [varint [expr {$field << 3}]][varint $n]}
    proc bytes {field bytes} {
        return [varint [expr {$field << 3 | 2}]][varint [string length $bytes]]$bytes
    }
    proc text {field text} {bytes $field [encoding convertto utf-8 $text]}
    proc real {field x} {return [varint [expr {$field << 3 | 5}]][binary format r $x]}

    proc tensor {name type extents data} {
        variable types
        set out {}
        foreach n $extents {append out [number 1 $n]}
        append out [number 2 [dict get $types $type]] [text 8 $name] $data
    }
    proc value {name type extents} {
        variable types
        set shape {}
        foreach n $extents {
            append shape [bytes 1 [expr {[string is integer $n] ? [number 1 $n] : [text 2 $n]}]]
        }
        set of [number 1 [dict get $types $type]][bytes 2 $shape]
        return [text 1 $name][bytes 2 [bytes 1 $of]]
    }
    # AttributeProto.type: FLOAT 1, INT 2, STRING 3, TENSOR 4, GRAPH 5, FLOATS 6, INTS 7, STRINGS 8
    proc attribute {name value} {
        set is_list [string match *\\* $name]
        set out [text 1 [string trimright $name *]]
        if {$is_list} {
            set is_real [expr {[lsearch -not -regexp $value {^-?[0-9]+$}] >= 0}]
            foreach x $value {append out [expr {$is_real ? [real 7 $x] : [number 8 $x]}]}
            return $out[number 20 [expr {$is_real ? 6 : 7}]]
        }
        if {[lindex $value 0] eq "graph"} {
            return $out[bytes 6 [graph [lindex $value 1]]][number 20 5]
        }
        if {[lindex $value 0] eq "tensor"} {
            return $out[bytes 5 [tensor {} {*}[lrange $value 1 end]]][number 20 4]
        }
        if {[string is wideinteger -strict $value]} {return $out[number 3 $value][number 20 2]}
        if {[string is double -strict $value]} {return $out[real 2 $value][number 20 1]}
        return $out[text 4 $value][number 20 3]
    }

    proc add {field bytes} {
        variable fields
        append fields [bytes $field $bytes]
    }
    proc input {name type extents} {add 11 [value $name $type $extents]}
    proc output {name} {add 12 [text 1 $name]}
    proc stated {name extents} {add 13 [value $name float $extents]}
    # Integers in another file.
    proc external {name n file {offset 0}} {
        add 5 [tensor $name int64 $n [bytes 13 [text 1 location][text 2 $file]][bytes 13 \
            [text 1 offset][text 2 $offset]][number 14 1]]
    }
    proc weight {name extents {type float}} {add 5 [tensor $name $type $extents {}]}
    proc ints {name numbers} {
        add 5 [tensor $name int64 [llength $numbers] [bytes 9 [binary format w* $numbers]]]
    }
    proc int {name n} {add 5 [tensor $name int64 {} [bytes 9 [binary format w $n]]]}
    proc reals {name numbers} {
        add 5 [tensor $name float [llength $numbers] [bytes 9 [binary format r* $numbers]]]
    }
    proc node {op inputs outputs args} {
        variable domain
        set out {}
        foreach name $inputs {append out [text 1 $name]}
        foreach name $outputs {append out [text 2 $name]}
        append out [text 4 $op]
        foreach {name x} $args {append out [bytes 5 [attribute [string range $name 1 end] $x]]}
        if {$domain ne ""} {append out [text 7 $domain]}
        add 1 $out
        return [lindex $outputs 0]
    }
    proc in {name script} {
        variable domain
        set domain $name
        uplevel 1 $script
        set domain {}
    }
    # The bytes of a GraphProto; its script runs where onnx_model was called.
    proc graph {script} {
        variable fields
        set outer [expr {[info exists fields] ? $fields : ""}]
        set fields [text 2 g]
        namespace eval [namespace current] $script
        set made $fields
        set fields $outer
        return $made
    }
    # variables of the caller are seen through "upvar #0" or by substitution in the script
    proc onnx_model {file args} {
        set opset 17
        if {[lindex $args 0] eq "-opset"} {set args [lassign $args - opset]}
        set model [number 1 8][bytes 7 [graph [lindex $args 0]]]
        append model [bytes 8 [text 1 {}][number 2 $opset]]
        append model [bytes 8 [text 1 com.microsoft][number 2 1]]
        set f [open $file wb]
        puts -nonewline $f $model
        close $f
        return $file
    }
}
namespace import onnx::onnx_model
