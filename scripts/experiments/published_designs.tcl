# SPDX-License-Identifier: GPL-3.0-or-later
# published_designs.tcl - published accelerators with the networks of their papers.
#
#   tharsis -exit scripts/experiments/published_designs.tcl
#
# One line for each convolution and one for all of them: GOP/s (two operations for each
# multiply-accumulate of the direct convolution), time, and the difference from the published
# figure.
# docs/models/anchors.md gives the sources of the figures and explains the differences.

# System, workload, published GOP/s of all convolutions, and per layer where there are any.
set published {
    {"C. Zhang et al., FPGA 2015" vc707_fpga15 alexnet_2012_fp32 61.62
        {conv1 27.50 conv2 83.79 conv3 78.81 conv4 77.94 conv5 77.61}}
    {"L. Lu et al., FCCM 2017" zcu102_fccm17 alexnet_2012 1006.4
        {conv1 409.6 conv2 1355.6 conv3 1535.7 conv4 1361.7 conv5 1285.7}}
    {"L. Lu et al., FCCM 2017" zcu102_fccm17 vgg16 3044.7 {}}
}

# Multiply-accumulates and picoseconds of the layers of one kind.
proc layer_times {kind} {
    set rows {}
    foreach layer [get_layers -filter "kind == $kind"] {
        array set value [get_property $layer -exact]
        lappend rows $value(name) $value(macs) [expr {$value(end) - $value(start)}]
    }
    return $rows
}

proc print_row {name macs ps published} {
    set rate [expr {2e3 * $macs / $ps}]
    set more {}
    if {$published ne ""} {
        set more [format "%9.2f  %+6.1f" $published [expr {100 * ($rate / $published - 1)}]]
    }
    puts [string trimright [format "%-8s %9.4f  %9.2f  %s" $name [expr {$ps / 1e9}] $rate $more]]
}

proc compare_design {paper system workload all layers} {
    read_system $system
    read_workload $workload
    map_workload -algorithm uniform
    run -all
    puts "$paper: $workload on $system"
    puts [format "%-8s %9s  %9s  %9s  %6s" layer {time, ms} GOP/s published {off, %}]
    set macs 0
    set ps 0
    foreach {name layer_macs layer_ps} [layer_times conv] {
        incr macs $layer_macs
        incr ps $layer_ps
        set known [expr {[dict exists $layers $name] ? [dict get $layers $name] : ""}]
        print_row $name $layer_macs $layer_ps $known
    }
    print_row all $macs $ps $all
    puts ""
}

foreach design $published {
    compare_design {*}$design
}
