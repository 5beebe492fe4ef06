# SPDX-License-Identifier: GPL-3.0-or-later
# pareto_front.tcl - the trade-off between latency and energy: the Pareto front of mappings.
#
#   tharsis -exit scripts/experiments/pareto_front.tcl ?OPTIONS of map_workload?

read_system   f1_16xlarge_energy
read_workload resnet18
map_workload -objective {pareto latency energy} -seed 1 {*}$argv
report_search -pareto
run -all
lappend runs [save_run quickest]
set members [regexp -all -line {^\d+,} [report_search -pareto -return_string -format csv]]
select_mapping [expr {$members - 1}]
run -all
lappend runs [save_run thriftiest]
report_compare $runs -relative_to quickest -metrics {latency energy}
