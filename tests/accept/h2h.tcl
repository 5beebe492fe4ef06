# SPDX-License-Identifier: GPL-3.0-or-later
# h2h.tcl - heterogeneous systems: the steps of the H2H mapper, and how much less our mapping takes.
#
#   tharsis -exit tests/accept/h2h.tcl ?-quick? DIRECTORY ?REDUCTION_PERCENT?
#
# DIRECTORY holds accelerators.json (a list of accelerators with their throughput, clock, bus,
# memory and tiles), MODEL_layers.csv (chains of layers by modality) and h2h_mapper_results.csv
# (seconds after each of the four steps of the public mapper, by model and network bandwidth). An
# accelerator becomes a serial_tiled design of its own on a system with serial transfers, a model a
# workload with free shapes (docs/models/h2h.md). Every step is found by map_workload -algorithm h2h
# -steps N, ours by the default search, and all are run. Exit status: 0 where, over the rows without
# edges between modalities, steps 1 and 2 deviate by at most 1 %, 3 and 4 by at most 10 %, and our
# mapping takes at least REDUCTION_PERCENT (64) less than step 4 in the mean; 1 where not; 2 where
# the data cannot be read. Rows with such edges are printed, no more; -quick leaves them out.

set bars {1 0.01 2 0.01 3 0.10 4 0.10}
set reduction_bar 64.0

source [file join [file dirname [file normalize [info script]]] lib h2h_models.tcl]

# ---- rows ----

# {seconds events} of the mapping at hand.
proc run_mapping {} {
    run -all
    set summary [report_summary -format json -return_string]
    regexp {"makespan_ps": (\d+)} $summary -> makespan
    regexp {"events": (\d+)} $summary -> events
    return [list [expr {$makespan / 1e12}] $events]
}

proc check_row {row folder} {
    set worst {1 0 2 0 3 0 4 0}
    set label "[dict get $row model] [dict get $row net_bandwidth_GB_per_s]"
    if {[dict get $row cross_modality_edges_added]} {append label " +edges"}
    foreach step {1 2 3 4} {
        set expected [dict get $row s_step$step]
        map_workload -algorithm h2h -steps $step
        lassign [run_mapping] got events
        set deviation [expr {abs($got / $expected - 1)}]
        dict set worst $step $deviation
        puts [format "%-26s %-6s %12.6f %12.6f %9.4f %8d" $label "step $step" $expected $got \
                [expr {100 * $deviation}] $events]
    }
    set bound [dict get $row s_step4]
    map_workload
    lassign [run_mapping] got events
    set reduction [expr {100 * (1 - $got / $bound)}]
    puts [format "%-26s %-6s %12.6f %12.6f %8.2f%% %8d" $label ours $bound $got $reduction $events]
    return [list $worst $reduction]
}

# The default search may find more than step 4 of ours; the figure is against the published step 4.
proc run_all {directory folder} {
    set reductions {}
    set holds 1
    puts [format "%-26s %-6s %12s %12s %9s %8s" row mapping {expected [s]} {got [s]} \
            {dev. [%]} events]
    foreach row [csv_read [file join $directory h2h_mapper_results.csv]] {
        set model [string map {- _} [string tolower [dict get $row model]]]
        set has_edges [dict get $row cross_modality_edges_added]
        if {$has_edges && $::is_quick} continue
        write_h2h_case $directory $folder $model [dict get $row net_bandwidth_GB_per_s] $has_edges
        read_system [file join $folder system.cfg]
        read_workload [file join $folder model.cfg]
        lassign [check_row $row $folder] deviations reduction
        if {$has_edges} continue
        lappend reductions $reduction
        dict for {step bar} $::bars {
            if {[dict get $deviations $step] > $bar} {set holds 0}
        }
    }
    if {$reductions eq ""} {error "h2h_mapper_results.csv: no rows without edges"}
    set mean [expr {[::tcl::mathop::+ {*}$reductions] / [llength $reductions]}]
    puts [format "h2h: %.1f %% (%d cases)" $mean [llength $reductions]]
    return [expr {$holds && $mean >= $::reduction_bar}]
}

set is_quick [expr {[lindex $argv 0] eq "-quick"}]
set argv [lrange $argv $is_quick end]
if {[llength $argv] ni {1 2}} {
    puts stderr "usage: tharsis -exit tests/accept/h2h.tcl ?-quick? DIRECTORY ?REDUCTION_PERCENT?"
    exit 2
}
if {[llength $argv] == 2} {set reduction_bar [lindex $argv 1]}
close [file tempfile folder]
file delete $folder
file mkdir $folder
if {[catch {run_all [lindex $argv 0] $folder} holds]} {
    puts stderr "h2h.tcl: $holds"
    set status 2
} else {
    set status [expr {!$holds}]
}
file delete -force $folder
exit $status
