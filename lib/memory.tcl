# SPDX-License-Identifier: GPL-3.0-or-later
# memory.tcl - report_memory: what fills the memories of accelerators, and of the stages of a step.

# Of a step of training; else of all accelerators, and what fills one, in csv where it is named.
proc ::tharsis::lib::report_memory {o} {
    if {[dict get [core::about] is_step]} {return [step_memory]}
    core::need mapping
    set tables [dict get [memory_table] tables]
    if {[dict exists $o of]} {
        set accel [core::accel -of [set of [dict get $o of]]]
        set held [expr {$accel eq "" ? "" : [core::held $accel]}]
        fail_if {$held eq ""} TCL-0701 "-of \"[clip $of 100]\": must be an accelerator with\
            something in its memory"
        lappend tables [held_table $o $accel $held]
    } elseif {[get $o format text] ne "csv"} {
        set accel [row {SELECT id FROM accels WHERE peak_layer IS NOT NULL AND peak_bytes > 0
            ORDER BY peak_bytes * 1.0 / dram_bytes DESC, id LIMIT 1}]
        if {$accel ne ""} {lappend tables [held_table $o $accel [core::held $accel]]}
    }
    return [report memory Memory $tables arranged 1]
}

# The largest first; in text the weights of all layers in one line.
proc ::tharsis::lib::held_table {o accel held} {
    lassign [row "SELECT name, peak_bytes FROM accels WHERE id = $accel"] name peak
    set weights [lsearch -all -inline -index 1 $held weights]
    if {[is_text $o] && [set n [llength $weights]] > 0} {
        set sum [expr [join [lmap x $weights {lindex $x 2}] +]]
        set held [linsert [lsearch -all -inline -not -index 1 $held weights] 0 \
            [list "([count $n layer])" weights $sum]]
    }
    return [dict create name held title "What fills accel/[clip $name 60] at its peak" rows \
        [lmap x [lsort -integer -decreasing -index 2 $held] {
            list {*}$x [expr {double([lindex $x 2]) / $peak}]
        }] columns {{layer layer text} {what what text} {bytes bytes bytes} {share "of peak" share}
    } total [list peak "" $peak [expr {$peak > 0}]] limit [get $o limit [expr {[is_text $o] ? 10 :
        2147483647}]]]
}

proc ::tharsis::lib::step_memory {} {
    core::need simulation
    return [report step_memory "Memory of a training step" [list [table step_memory {} stages {
        {stage stage count id} weights gradients states activations buffers
        {sum sum bytes memory_bytes}
        share=memory_share
    }]] arranged 1]
}
