# SPDX-License-Identifier: GPL-3.0-or-later
# measured_networks.tcl - reads the workloads that were measured, where what the measurements call
# by a network's name has another shape than what was published: sourced by scripts of tests/accept
# and tests/bench.

namespace eval measured {
    variable scripts \
        [file join [file dirname [file normalize [info script]]] .. .. .. scripts]

    # LeNet as the examples of Keras have it: 155,606 parameters.
    variable lenet {
        name = "lenet_keras"; batch = 1; precision = "fp32";
        input = { channels = 1; height = 28; width = 28; };
        layers = (
            { name = "c1"; type = "conv"; outputs = 32; kernel = 5; },
            { name = "pool1"; type = "max_pool"; kernel = 2; },
            { name = "c2"; type = "conv"; outputs = 64; kernel = 5; },
            { name = "pool2"; type = "max_pool"; kernel = 2; },
            { name = "fc1"; type = "fc"; outputs = 100; },
            { name = "fc2"; type = "fc"; outputs = 10; }
        );
    }
}

# NeuSight's GPT-3 XL is as wide as the 24 heads of 128 that the paper's table 2.1 prints: 3072.
proc measured::read {name} {
    variable scripts
    variable lenet
    if {$name ni {lenet gpt3_xl}} {return [::read_workload $name]}
    close [file tempfile path]
    file delete $path
    file mkdir $path
    try {
        set file [file join $path $name.cfg]
        if {$name eq "lenet"} {
            set f [open $file w]
            puts $f $lenet
            close $f
        } else {
            exec [info nameofexecutable] -no_init -exit [file join $scripts transformers.tcl] \
                $path gpt3_xl "GPT-3 XL of width 3072, as NeuSight measured it" 2048 \
                {gpt2 3072 24 24 50257 2048}
        }
        return [::read_workload $file]
    } finally {
        file delete -force $path
    }
}
