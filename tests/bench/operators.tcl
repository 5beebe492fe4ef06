# SPDX-License-Identifier: GPL-3.0-or-later
# operators.tcl - what the prediction of a network of 10,000 operations takes, with the default
# predictor, 16 bits, on an H100: user time, mean of twenty; 20 ms was asked.
#   tharsis -no_init -exit tests/bench/operators.tcl
source [file join [file dirname [file normalize [info script]]] cost.tcl]
set layers {}
for {set i 0} {$i < 2000} {incr i} {
    foreach {name type} \
        {a {fc"; outputs = 2048} b gelu" c {fc"; outputs = 512} d relu" e rms_norm"} {
        lappend layers "{ name = \"$name$i\"; type = \"$type; }"
    }
}
set f [open operators.tmp.cfg w]
puts $f "name = \"stack\"; batch = 512; precision = \"bf16\";
    input = { channels = 512; height = 1; width = 1; }; layers = ( [join $layers ,] );"
close $f
read_workload operators.tmp.cfg
file delete operators.tmp.cfg
read_predictor default
suppress_message TCL-0352
set before [cpu]
for {set i 0} {$i < 20} {incr i} {set ms [predict_network -gpu h100 -precision bf16]}
puts [format "%.1f ms for a network of %d operations, which takes %s" \
    [expr {1000 * ([cpu] - $before) / 20}] [llength [get_layers]] $ms]
