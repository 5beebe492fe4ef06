# SPDX-License-Identifier: GPL-3.0-or-later
# compare_topologies.tcl - the same sixteen accelerators in five topologies: a table and a plot.
#
#   tharsis -exit scripts/experiments/compare_topologies.tcl ?OPTIONS of map_workload?

foreach {name type dims} \
    {ring ring 16  mesh mesh {4 4}  torus torus {4 4}  cube hypercube 4  clos fattree {4 2}} {
    create_system -name $name -topology $type -dims $dims -accel npu_v1 \
        -link_bandwidth 100Gbps -link_latency 500ns
    read_workload resnet101 -batch 16
    map_workload -algorithm two_level -seed 1 -objective latency {*}$argv
    run -all
    lappend runs [save_run $name]
}
report_compare $runs -metrics {latency throughput energy link_utilization} -relative_to mesh
write_plot $runs -x name -y latency -type bar out/topologies.svg
