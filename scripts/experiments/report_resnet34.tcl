# SPDX-License-Identifier: GPL-3.0-or-later
# report_resnet34.tcl - map a network onto the eight-FPGA system, simulate it, and write an HTML
# report: out/resnet34.html (docs/report.md).
#
#   tharsis -exit scripts/experiments/report_resnet34.tcl

read_system   f1_16xlarge
read_workload resnet34 -batch 1
check_setup
map_workload -algorithm two_level -seed 7 -objective latency
report_mapping
run -all
report_summary
report_critical_path -limit 10
write_report out/resnet34.html
