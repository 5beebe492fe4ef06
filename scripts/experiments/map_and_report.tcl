# SPDX-License-Identifier: GPL-3.0-or-later
# map_and_report.tcl - map a network onto the eight-FPGA system and print reports.
#
#   tharsis -exit scripts/experiments/map_and_report.tcl ?OPTIONS of map_workload?

read_system   f1_16xlarge
read_workload resnet34 -batch 1
check_setup
map_workload -algorithm two_level -seed 7 -objective latency {*}$argv
report_mapping
run -all
report_summary
report_critical_path -limit 10
