# SPDX-License-Identifier: GPL-3.0-or-later
# systolic_array.tcl - a systolic array and a network in SCALE-Sim's own files: cycles, accesses,
# stalls per layer.
#   tharsis -exit scripts/experiments/systolic_array.tcl [CONFIG.cfg [TOPOLOGY.csv]]
# The layers run one after the other on the one array; a word is a byte, a cycle 1 ns.

set folder [file join [file dirname [info script]] .. scalesim]
set config [file join $folder edge_array.cfg]
set topology [file join $folder edge_net.csv]
if {[llength $argv] > 2} {error "usage: systolic_array.tcl \[CONFIG.cfg \[TOPOLOGY.csv\]\]"}
if {[llength $argv] > 0} {set config [lindex $argv 0]}
if {[llength $argv] > 1} {set topology [lindex $argv 1]}

read_system   -format scalesim $config
read_workload -format scalesim $topology
map_workload  -algorithm uniform
run -all
report_layers

puts [format "%-12s %10s %10s %12s %12s %12s  %s" layer cycles "with stalls" {input reads} \
        {weight reads} \
    {output writes} {how it runs}]
foreach layer [get_layers] {
    set figures [lmap attribute {input_reads weight_reads output_writes} \
            {get_property $layer $attribute -exact}]
    puts [format "%-12s %10d %11d %12d %12d %13d  %s" [get_property $layer name] \
        [get_property $layer busy_cycles -exact] \
        [expr {[get_property $layer active -exact] / 1000}] {*}$figures \
        [get_property $layer variant]]
}
