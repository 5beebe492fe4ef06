# SPDX-License-Identifier: GPL-3.0-or-later
# f1_resnet34.tcl - the gain from a good mapping on eight FPGAs.
#
#   tharsis -exit scripts/experiments/f1_resnet34.tcl ?MODEL? ?-seed N? ?-evaluations N? ?-out FILE?
#
# MODEL is resnet34 by default; others are alexnet, vgg16, resnet101 and wrn50_2. The script finds
# and simulates seven mappings: three baselines, dynamic programming, random search as the control
# experiment, genetic search in two levels and the default search (a portfolio), each with the same
# number of evaluations. The last line tells how far the best one is above a bound that no mapping
# can beat. On a chain of layers computation_prioritized leaves the second group of accelerators
# idle, so a reduction against it says less than one against uniform or greedy_rotating.

set model resnet34
array set option {-seed 1 -evaluations 4000 -out {}}
set words $argv
if {[llength $words] % 2 == 1} {
    set words [lassign $words model]
}
foreach {name value} $words {
    if {![info exists option($name)]} {
        error "unknown option \"$name\": must be one of [lsort [array names option]]"
    }
    set option($name) $value
}
if {$option(-out) eq ""} {
    set option(-out) out/f1_$model.json
}

read_system   f1_16xlarge
read_workload $model -batch 1
check_setup

set budget [list -seed $option(-seed) -evaluations $option(-evaluations)]
foreach baseline {computation_prioritized uniform greedy_rotating} {
    map_workload -algorithm $baseline -objective latency
    run -all
    lappend runs [save_run $baseline]
}
foreach search {dp random two_level portfolio} {
    map_workload -algorithm $search -objective latency {*}$budget
    run -all
    lappend runs [save_run $search]
}

report_mapping
report_search
report_summary
report_compare $runs -metrics latency -relative_to {greedy_rotating uniform dp}
report_bounds -fields {bound makespan gap}
puts "On a chain of layers computation_prioritized leaves one group of accelerators"
puts "idle, so a reduction against it says less than one against uniform or"
puts "greedy_rotating.\n"
puts "seed $option(-seed), $option(-evaluations) evaluations;\
        results in [write_results $option(-out)]"
