# SPDX-License-Identifier: GPL-3.0-or-later
# onnx.tcl - layers and multiply-accumulates of networks that are read from ONNX models.
#
#   tharsis -exit tests/accept/onnx.tcl DIRECTORY ?DIRECTORY ...?
#
# A DIRECTORY holds the models, and expected.csv, a model per row. Its columns, by their names:
#   file           the model
#   dims           lengths of the axes that it leaves open: "NAME=N NAME=N", or nothing
#   convs, conv_layers       convolutions           conv_macs    their multiply-accumulates
#   gemms                    fully connected layers and matrix products
#   matmul_macs              multiply-accumulates of all layers but convolutions
#   macs                     multiply-accumulates of all layers
# Others are ignored. Every model is read and its layers are counted.
# Exit status: 0 where none differs, 1 where one does, 2 where the data cannot be read.

set figures {convs conv_layers gemms conv_macs matmul_macs macs}

# The figures of the workload, by name.
proc counted {} {
    set n [dict create convs 0 gemms 0 conv_macs 0 matmul_macs 0 macs 0]
    foreach layer [get_layers *] {
        set macs [get_property $layer macs -exact]
        set kind [get_property $layer kind]
        dict incr n macs $macs
        dict incr n [expr {$kind eq "conv" ? "conv_macs" : "matmul_macs"}] $macs
        switch $kind {
            conv {dict incr n convs}
            fc - matmul {dict incr n gemms}
        }
    }
    dict set n conv_layers [dict get $n convs]
    return $n
}

# The rows of expected.csv: dictionaries by the names of the columns.
proc rows_of {file} {
    set f [open $file]
    set lines [lassign [split [string map {\r {}} [string trim [read $f]]] \n] header]
    close $f
    set names [split $header ,]
    foreach needed {file macs} {
        if {$needed ni $names} {error "$file: there is no column $needed"}
    }
    return [lmap line $lines {
        set fields [split $line ,]
        if {[llength $fields] != [llength $names]} {
            error "$file: \"$line\": not [llength $names] fields"
        }
        set row {}
        foreach name $names field $fields {dict set row $name $field}
        set row
    }]
}

# Reads the model of a row; prints what was expected and found. 1: a figure differs.
proc differs {directory row} {
    set dims {}
    if {[dict exists $row dims]} {
        foreach dim [dict get $row dims] {lappend dims {*}[split $dim =]}
    }
    read_workload [file join $directory [dict get $row file]] -format onnx -dim $dims
    set got [counted]
    set differs 0
    set text {}
    foreach figure $::figures {
        if {![dict exists $row $figure]} {continue}
        set expected [dict get $row $figure]
        set found [dict get $got $figure]
        lappend text "$figure $expected"
        if {$expected != $found} {
            set differs 1
            lappend text "(got $found)"
        }
    }
    puts [format "%-34s %s" [dict get $row file] [join $text]]
    return $differs
}

proc run_all {directories} {
    set differing 0
    set cases 0
    foreach directory $directories {
        foreach row [rows_of [file join $directory expected.csv]] {
            incr differing [differs $directory $row]
            incr cases
        }
    }
    puts "onnx: $differing differing files ($cases cases)"
    return [expr {$cases > 0 && $differing == 0}]
}

if {[llength $argv] == 0} {
    puts stderr "usage: tharsis -exit tests/accept/onnx.tcl DIRECTORY ?DIRECTORY ...?"
    exit 2
}
if {[catch {run_all $argv} holds]} {
    puts stderr "onnx.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
