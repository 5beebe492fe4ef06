# SPDX-License-Identifier: GPL-3.0-or-later
# what_to_buy.tcl - two networks (fp32) with deadlines on 2 + 2 FPGAs and a GPU, late: what to buy?
#
#   tharsis -exit scripts/experiments/what_to_buy.tcl ?-evaluations N?
#
# Costs are in the system file, fpgas_and_gpu.cfg; a memory of twice the bandwidth and a faster
# clock cost what -costs says.
array set options [concat {-evaluations 500} $argv]
set here [file dirname [file normalize [info script]]]

read_system   [file join $here fpgas_and_gpu.cfg]
read_workload resnet50 -name camera -deadline 11ms -precision fp32
read_workload resnet34 -name radar -add -arrival 1ms -deadline 9.5ms -precision fp32
map_workload  -evaluations $options(-evaluations) -seed 1 -keep_late
run -all
report_summary
report_advice -evaluations $options(-evaluations) -width 110 \
    -costs {dram_bandwidth 1 clock 0.5 design 0}
