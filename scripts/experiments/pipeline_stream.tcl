# SPDX-License-Identifier: GPL-3.0-or-later
# pipeline_stream.tcl - a stream of images: the fastest mapping for one is not the fastest for many.
#
#   tharsis -exit scripts/experiments/pipeline_stream.tcl ?OPTIONS of map_workload?
#
# The mapping found for latency and the one found for throughput both run the same stream.

read_system   f1_16xlarge
read_workload vgg16 -batch 1
foreach objective {latency throughput} {
    map_workload -algorithm two_level -seed 1 -objective $objective -inputs 16 -interval 0s {*}$argv
    run -all
    lappend runs [save_run $objective]
}
report_mapping
report_utilization
report_compare $runs -relative_to latency
