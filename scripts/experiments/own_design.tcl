# SPDX-License-Identifier: GPL-3.0-or-later
# own_design.tcl - a graph and two designs of your own, one as a table of measured times and one as
# a Tcl procedure: mapped, stepped and traced.
#
#   tharsis -exit scripts/experiments/own_design.tcl     then: gtkwave out/own_design.gtkw
set here [file dirname [file normalize [info script]]]

# Weights stay in an array of rows x cols while the pixels stream through it, one per cycle.
proc tharsis::design::my_array {shard parameters} {
    dict with shard {}
    dict with parameters {}
    set fillings [expr {ceil(1.0 * $k / $rows) * ceil(1.0 * $c * $r * $s / $cols)}]
    dict create cycles [expr {$fillings * $batch * $h * $w}] macs_per_cycle [expr {$rows * $cols}]
}

read_system [file join $here own_design.cfg]
create_workload -name fork -input {3 64 64} -layers {
    {stem  conv outputs 32 kernel 3 padding 1}
    {left  conv inputs stem outputs 32 kernel 3 padding 1}
    {right conv inputs stem outputs 32 kernel 3 padding 1}
    {join  add  inputs {left right}}
    {down  conv outputs 64 kernel 3 padding 1 stride 2}
    {pool  mean_pool}
    {fc    fc outputs 100}
}
check_setup
map_workload -evaluations 300 -seed 1
report_mapping

open_trace out/own_design.vcd -resolution 1ns
add_breakpoint -name fork -on task_start -of [get_tasks -of layer/right]
puts "stopped: [run -all]"
where
puts "a step later: [step]"
delete_breakpoint fork
run -all
close_trace
report_layers
report_critical_path -limit 5
