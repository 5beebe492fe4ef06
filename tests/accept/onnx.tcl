# SPDX-License-Identifier: GPL-3.0-or-later
# onnx.tcl - layers and multiply-accumulates of networks that are read from ONNX models.
#
#   tharsis -exit tests/accept/onnx.tcl DIRECTORY
#
# DIRECTORY holds the models, and expected.csv, a model per row: file, convs, gemms (fully connected
# layers and matrix products), macs. Every model is read and its layers are counted.
# Exit status: 0 where none differs, 1 where one does, 2 where the data cannot be read.

# {convs gemms macs} of the workload.
proc counted {} {
    array set n {conv 0 gemm 0 macs 0}
    foreach layer [get_layers *] {
        incr n(macs) [get_property $layer macs]
        switch [get_property $layer kind] {
            conv {incr n(conv)}
            fc - matmul {incr n(gemm)}
        }
    }
    return [list $n(conv) $n(gemm) $n(macs)]
}

# The rows of expected.csv: lists of four.
proc rows_of {file} {
    set f [open $file]
    set lines [lassign [split [string map {\r {}} [string trim [read $f]]] \n] header]
    close $f
    if {$header ne "file,convs,gemms,macs"} {
        error "$file: must begin with \"file,convs,gemms,macs\""
    }
    return [lmap line $lines {
        set fields [split $line ,]
        if {[llength $fields] != 4} {error "$file: \"$line\": not 4 fields"}
        set fields
    }]
}

proc run_all {directory} {
    set rows [rows_of [file join $directory expected.csv]]
    set differing 0
    puts [format "%-28s %-22s %-22s %s" case "expected (convs gemms macs)" got deviation]
    foreach row $rows {
        set expected [lassign $row file]
        read_workload [file join $directory $file] -format onnx
        set got [counted]
        set deviation [expr {[lindex $got 2] - [lindex $expected 2]}]
        incr differing [expr {$got ne $expected}]
        puts [format "%-28s %-27s %-22s %d" $file $expected $got $deviation]
    }
    puts "onnx: $differing differing files ([llength $rows] cases)"
    return [expr {[llength $rows] > 0 && $differing == 0}]
}

if {[llength $argv] != 1} {
    puts stderr "usage: tharsis -exit tests/accept/onnx.tcl DIRECTORY"
    exit 2
}
if {[catch {run_all [lindex $argv 0]} holds]} {
    puts stderr "onnx.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
