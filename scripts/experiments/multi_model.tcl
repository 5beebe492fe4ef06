# SPDX-License-Identifier: GPL-3.0-or-later
# multi_model.tcl - two networks share a system; the second arrives later and has a deadline.
#
#   tharsis -exit scripts/experiments/multi_model.tcl ?OPTIONS of map_workload?
#
# The search meets it; the uniform split is late.

read_system   f1_16xlarge
read_workload alexnet  -name camera
read_workload resnet18 -name radar -add -arrival 500us -deadline 3.5ms
map_workload -algorithm two_level -seed 1 {*}$argv
run -all
lappend runs [save_run two_level]
report_summary
map_workload -algorithm uniform -keep_late
run -all
lappend runs [save_run uniform]
report_summary
report_compare $runs -relative_to uniform
