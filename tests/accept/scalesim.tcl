# SPDX-License-Identifier: GPL-3.0-or-later
# scalesim.tcl - cycles and buffer accesses of systolic arrays, held against SCALE-Sim's compute
# reports.
#
#   tharsis -exit tests/accept/scalesim.tcl DIRECTORY
#
# DIRECTORY holds compute_reports.csv, a layer of a run of SCALE-Sim per row: run, mode (CALC,
# USER), bw (words per cycle), dataflow (os, ws, is), R, C, sram_kB (input-filter-output), layer, M,
# N, K, folds, total_cycles, stall_cycles, if_sram_reads, fl_sram_reads, of_sram_writes. The rows of
# a run become a configuration and a topology in SCALE-Sim's own formats, which are read, mapped and
# run. Rows without stalls must agree in cycles of the array and in all three counts; the report
# prints the index of the last cycle, one less than their number, and counts folds (R + C) writes
# too many where outputs are stationary. Rows with stalls are shown beside the time of ours with
# ports of bw words, and do not count, but ours must not be quicker than the array. Exit status: 0
# where no row without stalls differs, 1 where one does, 2 where the data cannot be read.

set columns {run mode bw dataflow R C sram_kB layer M N K folds total_cycles stall_cycles\
        if_sram_reads fl_sram_reads
    of_sram_writes}

# ---- rows ----

# Rows as dicts, by the names of the first line. No field is quoted.
proc csv_read {file} {
    set f [open $file]
    set lines [lassign [split [string map {\r {}} [string trim [read $f]]] \n] header]
    close $f
    set names [split $header ,]
    foreach column $::columns {
        if {$column ni $names} {error "$file: there is no column $column"}
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

# Rows that share a system, in the order of the file: a list of lists.
proc runs_of {rows} {
    set of {}
    foreach row $rows {
        dict lappend of [lmap column {run mode bw dataflow R C sram_kB} {dict get $row $column}] \
            $row
    }
    return [dict values $of]
}

# ---- a run of SCALE-Sim as system and workload ----

proc write_file {file text} {
    set f [open $file w]
    puts $f $text
    close $f
}

proc write_config {file row} {
    dict with row {
        lassign [split $sram_kB -] input filter output
        write_file $file "\[general\]
run_name = $run
\[architecture_presets\]
ArrayHeight: $R
ArrayWidth: $C
IfmapSramSzkB: $input
FilterSramSzkB: $filter
OfmapSramSzkB: $output
Dataflow: $dataflow
Bandwidth: $bw
\[run_presets\]
InterfaceBandwidth: $mode"
    }
}

# Layers are named by their places in the list: rows may repeat.
proc write_topology {file rows} {
    set lines [list "Layer, M, N, K,"]
    foreach row $rows {
        lappend lines "l[llength $lines], [dict get $row M], [dict get $row N], [dict get $row K],"
    }
    write_file $file [join $lines \n]
}

# ---- comparison ----

proc figure {name attribute} {
    return [get_property layer/$name $attribute -exact]
}

# What a row should say, as {attribute value ...}.
proc expected_of {row} {
    dict with row {
        set defect [expr {$dataflow eq "os" ? $folds * ($R + $C) : 0}]
        return [list busy_cycles [expr {$total_cycles + 1}] input_reads $if_sram_reads \
                weight_reads $fl_sram_reads \
            output_writes [expr {$of_sram_writes - $defect}]]
    }
}

# One line; returns whether a row without stalls agrees.
proc show_exact {title row name} {
    set differs {}
    dict for {attribute expected} [expected_of $row] {
        set got [figure $name $attribute]
        if {$got != $expected} {
            lappend differs "$attribute: expected [format %.0f $expected], got $got"
        }
    }
    set expected [expr {[dict get $row total_cycles] + 1}]
    set got [figure $name busy_cycles]
    puts [format "%-52s %12d %12d %10d  %s" $title $expected $got [expr {$got - $expected}] \
            [join $differs "; "]]
    return [expr {$differs eq ""}]
}

# One line about a row with stalls: the layer's whole time, in cycles of 1 ns.
proc show_stalled {title row name} {
    set expected [expr {[dict get $row total_cycles] + 1}]
    set got [expr {[figure $name active] / 1000}]
    puts [format "%-52s %12d %12d %+9.1f%%  (not counted)" $title $expected $got \
            [expr {100.0 * $got / $expected - 100}]]
    if {$got < [figure $name busy_cycles]} {error "$title: quicker than the array"}
}

# Runs the rows of one system; adds {rows without stalls, those that agree} to totals.
proc run_rows {rows folder totals} {
    upvar 1 $totals sum
    write_config [file join $folder run.cfg] [lindex $rows 0]
    write_topology [file join $folder layers.csv] $rows
    read_system -format scalesim [file join $folder run.cfg]
    read_workload -format scalesim [file join $folder layers.csv]
    map_workload -algorithm uniform
    run -all
    set place 0
    foreach row $rows {
        set name l[incr place]
        set title "[dict get $row run] layer [dict get $row layer]"
        if {[dict get $row stall_cycles] != 0} {
            show_stalled $title $row $name
            continue
        }
        incr sum(rows)
        incr sum(same) [show_exact $title $row $name]
    }
    regexp {"events": (\d+)} [report_summary -format json -return_string] -> events
    puts "    $events events"
}

proc run_all {directory folder} {
    array set sum {rows 0 same 0}
    puts [format "%-52s %12s %12s %10s" case {expected} {got [cycles]} deviation]
    foreach rows [runs_of [csv_read [file join $directory compute_reports.csv]]] {
        run_rows $rows $folder sum
    }
    if {$sum(rows) == 0} {error "compute_reports.csv: no row without stalls"}
    set mismatching [expr {$sum(rows) - $sum(same)}]
    puts "scalesim: $mismatching mismatching rows ($sum(rows) cases)"
    return [expr {$mismatching == 0}]
}

if {[llength $argv] != 1} {
    puts stderr "usage: tharsis -exit tests/accept/scalesim.tcl DIRECTORY"
    exit 2
}
close [file tempfile folder]
file delete $folder
file mkdir $folder
if {[catch {run_all [lindex $argv 0] $folder} holds]} {
    puts stderr "scalesim.tcl: $holds"
    set status 2
} else {
    set status [expr {!$holds}]
}
file delete -force $folder
exit $status
