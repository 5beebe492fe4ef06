# SPDX-License-Identifier: GPL-3.0-or-later
# study_topologies.tcl - a sweep over topology, bandwidth, batch and mapping method for sixteen
# accelerators, with the cost of the links and Pareto fronts: tables and plots.
#
#   tharsis -exit scripts/experiments/study_topologies.tcl ?OPTIONS of run_study?
#
# After any interruption, the same command continues the study.

create_study topologies -file out/topologies.db -parameters {
    topology       {ring mesh torus hypercube}
    dims           {16 {4 4} {4 4} 4}
    link_bandwidth {25Gbps 100Gbps 400Gbps}
    batch          {1 16}
    algorithm      {uniform greedy}
} -zip {topology dims} -metrics {latency throughput link_utilization {cost number}} -script {
    create_system -name $topology -topology $topology -dims $dims -accel npu_v1 \
        -link_bandwidth $link_bandwidth -link_latency 500ns
    read_workload alexnet -batch $batch
    map_workload -algorithm $algorithm
    run -all
    # A port and its cable cost something, and each Gb/s of it.
    scan $link_bandwidth %dGbps gbps
    dict create cost [expr {[llength [get_links]] * (20 + $gbps)}]
}
run_study topologies {*}$argv
report_study topologies -where {$batch == 1} -pareto {latency cost}
report_study topologies -where {$batch == 16} -sort_by latency -increasing -limit 5 \
    -columns {point topology link_bandwidth algorithm latency cost}
write_plot topologies -of study -type scatter -x cost -y latency -by topology \
    -where {$batch == 1} out/front.svg
write_plot topologies -of study -type line -x link_bandwidth -y latency -by {topology algorithm} \
    -where {$batch == 16} out/bandwidth.svg
write_plot topologies -of study -type heat -x link_bandwidth -y topology -z latency \
    -where {$batch == 1} out/heat.svg
