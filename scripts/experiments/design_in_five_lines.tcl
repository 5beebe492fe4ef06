# SPDX-License-Identifier: GPL-3.0-or-later
# design_in_five_lines.tcl - an accelerator design in five lines of Tcl: maps a network onto it, for
# several shapes of its array.
#
#   tharsis -exit scripts/experiments/design_in_five_lines.tcl ?OPTIONS of map_workload?
#
# The design: weights stay in an array of rows x cols, output channels along the rows, input
# channels and kernel along the columns; for every fold of the array, all output pixels stream
# through it, one per cycle. rows and cols come from the design in the system file
# (topology/systems/script_4.cfg).

proc tharsis::design::array_npu {shard parameters} {
    dict with shard {}
    dict with parameters {}
    set fillings [expr {$groups * ceil(1.0 * $k / $groups / $rows)
            * ceil(1.0 * $c / $groups * $r * $s / $cols)}]
    dict create cycles [expr {$fillings * $batch * $h * $w}] tiles [expr {min($h, 16)}] \
        macs_per_cycle [expr {$rows * $cols}]
}

read_system   script_4
read_workload resnet34 -batch 1
check_setup
map_workload -algorithm two_level -seed 1 {*}$argv
report_mapping
run -all
report_summary
