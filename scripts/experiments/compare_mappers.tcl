# SPDX-License-Identifier: GPL-3.0-or-later
# compare_mappers.tcl - baselines and searches on one network, side by side.
#
#   tharsis -exit scripts/experiments/compare_mappers.tcl ?OPTIONS of map_workload?

read_system   f1_16xlarge
read_workload resnet34 -batch 1
foreach algorithm {computation_prioritized single data_parallel model_parallel pipeline_parallel uniform greedy
        greedy_rotating random two_level} {
    map_workload -algorithm $algorithm {*}$argv
    run -all
    lappend runs [save_run $algorithm]
}
report_compare $runs -metrics latency -relative_to {computation_prioritized uniform greedy}
