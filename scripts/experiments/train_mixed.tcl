# SPDX-License-Identifier: GPL-3.0-or-later
# train_mixed.tcl - Llama 2 70B on H100 and A100 in one job: what do unequal stages and shares gain?
#
#   tharsis -exit scripts/experiments/train_mixed.tcl ?-nodes N? ?-model NAME? ?-batch N? ?-tries N?
#
# Half of the -nodes (128, even) of eight accelerators are H100, half A100 80 GB; NVLinks of
# 300 GB/s in a node, 25 GB/s between nodes for each accelerator (those of the A100; assumed). The
# best plan with equal stages, of -tries (100) in the order of bounds, against the best of a genetic
# search of -tries plans with stages of their own, and shares of the micro-batches for unlike
# replicas.

array set options [concat {-nodes 128 -model llama2_70b -batch 1024 -tries 100} $argv]
set half [expr {$options(-nodes) / 2 * 8}]
if {$half * 2 != $options(-nodes) * 8} {error "-nodes $options(-nodes): must be even"}
set out out/mixed_[join [lmap key {-model -nodes -batch -tries} {set options($key)}] _]
file mkdir out
set file [open $out.cfg w]
puts $file "name = \"mixed\";
designs = ( { name = \"h100\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 494700; },
    { name = \"a100\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 156000; } );
accelerators = (
    { count = $half; dram = { capacity = \"80GB\"; bandwidth = \"3350GB/s\"; latency = \"400ns\"; };
      vector = { clock = \"1GHz\"; elements_per_cycle = 33000; }; designs = \[\"h100\"\]; },
    { count = $half; dram = { capacity = \"80GB\"; bandwidth = \"2039GB/s\"; latency = \"400ns\"; };
      vector = { clock = \"1GHz\"; elements_per_cycle = 9700; }; designs = \[\"a100\"\]; } );
topology = { type = \"islands\"; dims = \[$options(-nodes), 8\];
    bandwidth = \[\"300GB/s\", \"25GB/s\"\]; latency = \[\"1us\", \"3us\"\]; };"
close $file

create_study mixed -file $out.db -parameters [list stages {equal unequal} system $out.cfg \
    tries $options(-tries) model $options(-model) batch $options(-batch)] \
    -metrics {{step time} {tokens number} {mfu number} {plan text}} -script {
        read_system $system
        create_transformer -model $model -sequence 4096
        search_plan -global_batch $batch -software 2024 -context 1 -threads 1 \
            -evaluations $tries {*}[expr {$stages eq "equal" ? "" : "-unequal $tries"}]
        set lines [split [report_search -format csv -return_string] \n]
        set at [lsearch $lines "# table: plans"]
        lassign [lmap line [lrange $lines $at+1 $at+2] {split $line ,}] names row
        set step [expr {[lindex $row [lsearch $names step_ps]] / 1e12}]
        dict create step ${step}s tokens [expr {$batch * 4096 / $step}] \
            mfu [lindex $row [lsearch $names utilization_percent]] \
            plan [lindex $row [lsearch $names options]]
    }
if {[run_study mixed] ne "done"} {exit 1}
report_study mixed -columns {stages step tokens mfu plan} -width 160
write_plot mixed -of study -type bar -x stages -y step $out.svg

set json [report_study mixed -format json -return_string]
lassign [lmap {- step} [regexp -all -inline {"step_ps": (\d+)} $json] {set step}] equal unequal
puts [format "\nVerdict: %d H100 and %d A100: stages and shares by speed take %.1f %%\
    less than the best equal ones (%.3f s, %.3f s)." $half $half \
    [expr {100 * (1 - double($unequal) / $equal)}] [expr {$unequal / 1e12}] [expr {$equal / 1e12}]]
