# SPDX-License-Identifier: GPL-3.0-or-later
# compare_mappers.tcl - baselines and searches on one network, side by side.
#
#   tharsis -exit scripts/experiments/compare_mappers.tcl ?OPTIONS?
#
# OPTIONS of map_workload, for the searches.

read_system   f1_16xlarge
read_workload resnet34 -batch 1
foreach baseline \
    {computation_prioritized single data_parallel model_parallel pipeline_parallel uniform greedy
        greedy_rotating} {
    map_workload -algorithm $baseline
    run -all
    lappend runs [save_run $baseline]
}
foreach search {random two_level} {
    map_workload -algorithm $search {*}$argv
    run -all
    lappend runs [save_run $search]
}
report_compare $runs -metrics latency -relative_to {uniform greedy greedy_rotating}
