# SPDX-License-Identifier: GPL-3.0-or-later
# topology_choice.tcl - sixteen chips, four topologies, two networks: which topology for both?
#   tharsis -exit topology_choice.tcl ?-evaluations N?
# A study maps every network on every topology; its table and its front of latency against cables
# say which topology is worth its cables.
set evaluations [expr {[lindex $argv 0] eq "-evaluations" ? [lindex $argv 1] : 300}]

create_study chips -file out/topology_choice_$evaluations.db -parameters [list \
    topology {ring mesh torus hypercube} network {resnet50 mobilenet_v2} \
    evaluations $evaluations] -metrics {latency throughput model_error {cables count}} -script {
    set dims [dict get {ring 16 mesh {4 4} torus {4 4} hypercube 4} $topology]
    create_system -name $topology -topology $topology -dims $dims -accel npu_v1 \
        -link_bandwidth 25Gbps -link_latency 500ns
    read_workload $network -batch 4
    map_workload -evaluations $evaluations -seed $seed
    run
    dict create cables [expr {[llength [get_links]] / 2}]
}
run_study chips
report_study chips -columns {topology network latency throughput model_error cables} \
    -sort_by network
foreach network {resnet50 mobilenet_v2} {
    puts "$network: topologies that no other beats in both latency and cables"
    report_study chips -where "\$network eq {$network}" -pareto {latency cables} \
        -columns {topology latency cables}
}
