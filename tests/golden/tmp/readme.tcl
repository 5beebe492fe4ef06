read_system   f1_16xlarge              ;# eight adaptive FPGAs in two groups
read_workload resnet34 -batch 1
check_setup
map_workload  -algorithm computation_prioritized
run -all
lappend runs [save_run baseline]
map_workload  -algorithm two_level -seed 7 -evaluations 1000
run -all
lappend runs [save_run two_level]
report_compare $runs -metrics latency -relative_to baseline
