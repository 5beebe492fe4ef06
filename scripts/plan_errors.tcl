# SPDX-License-Identifier: GPL-3.0-or-later
# plan_errors.tcl - step times of training plans, held against measured runs that no number of the
# model was fitted to, and no description of software was chosen with.
#
#   tharsis -no_init -exit scripts/plan_errors.tcl VTRAIN SAILOR ?-rows?
#
# VTRAIN holds steps.csv of vTrain (a plan per row: GPT models on 2 to 512 A100), SAILOR plans.csv
# of Sailor, of which the rows of one kind of GPU are read (OPT-350M on 4 to 128 GH200). Prints the
# median and the ninetieth percentile of |simulated - measured| / measured for each set, the share
# of pairs of plans of one group that are ordered as measured (3 % apart or more), and with -rows
# every row. Software: that of the other Megatron rows of tests/accept/training.tcl (eager kernels,
# attention that is not fused). Assumed, as the sources do not say: a GH200 by its data sheet, four
# a node behind 25 GB/s each, OPT-350M with 2,048 tokens and 16 bits, stages of as many layers.

source [file join [file dirname [file dirname [file normalize [info script]]]] tests accept lib \
    training_rows.tcl]

set machines {
    a100 {system a100 accelerator A100-SXM-80GB accelerators_per_node 8 scale_up_domain 8
        scale_up_gbps_per_direction 300 nics_per_node 4 nic_gbit_s 200}
    gh200 {system gh200 accelerator GH200 accelerators_per_node 4 scale_up_domain 4
        scale_up_gbps_per_direction 450 nics_per_node 4 nic_gbit_s 200 peak_bf16_tflops 989
        memory_gb 96 memory_gbps 4000}
}

proc vtrain_row {row} {
    dict with row {}
    return [list set vtrain_$set group $group machine a100 n_accelerators $gpus note "" \
        hidden $hidden heads $heads layers $layers sequence $sequence vocab 51200 recompute full \
        tensor $tensor data $data pipeline $pipeline micro_batch $micro_batch \
        global_batch $global_batch step_s $step_s]
}

# A node per replica and stage; four tensor ranks in each.
proc sailor_row {row} {
    dict with row {}
    set data [lindex [split $replicas_per_stage /] 0]
    return [list set sailor_gh200 group $nodes,$global_batch machine gh200 \
        n_accelerators [expr {4 * $nodes}] note "" hidden 1024 heads 16 layers 24 sequence 2048 \
        vocab 50272 recompute none tensor 4 data $data pipeline $stages micro_batch $micro_batch \
        global_batch $global_batch step_s $step_s]
}

# Seconds of a step.
proc simulate {row} {
    dict with row {}
    make_system [dict get $::machines $machine] $row
    create_transformer -name plan -layers $layers -hidden $hidden -heads $heads -kv_heads $heads \
        -vocab $vocab -sequence $sequence -recompute $recompute -precision fp16
    parallel_plan -tensor $tensor -pipeline $pipeline -data $data -micro_batch $micro_batch \
        -global_batch $global_batch -schedule 1f1b -kernels eager -attention unfused \
        -layout [expr {$layers % $pipeline == 0 ? "layers" : "uneven"}] -ignore_memory
    run
    regexp {"step_ps": (\d+)} [report_training -format json -return_string] - ps
    return [expr {$ps / 1e12}]
}

proc percentile {list share} {
    return [lindex [lsort -real $list] [expr {int(ceil($share * [llength $list])) - 1}]]
}

# {pairs right}: of {group measured simulated}, those of one group 3 % apart or more.
proc ordered {results} {
    set pairs 0
    set right 0
    foreach result $results {
        lassign $result group a x
        foreach {b y} [expr {[info exists seen($group)] ? $seen($group) : {}}] {
            if {max($a, $b) <= 1.03 * min($a, $b)} continue
            incr pairs
            incr right [expr {($a < $b) == ($x < $y)}]
        }
        lappend seen($group) $a $x
    }
    return [list $pairs $right]
}

proc show_set {name results n_refused} {
    set errors [lmap result $results {
        expr {100 * abs([lindex $result 2] / [lindex $result 1] - 1)}
    }]
    lassign [ordered $results] pairs right
    puts [format "%-14s %4d rows  median %5.1f %%  ninetieth %5.1f %%  %d of %d pairs of plans\
        ordered as measured%s" $name [llength $errors] [percentile $errors 0.5] \
        [percentile $errors 0.9] $right $pairs \
        [expr {$n_refused > 0 ? "  $n_refused refused" : ""}]]
}

proc run_all {rows shows_rows} {
    foreach row $rows {
        set name [dict get $row set]
        if {[catch {simulate $row} seconds]} {
            incr refused($name)
            puts "refused: [dict get $row group]: $seconds"
            continue
        }
        set measured [dict get $row step_s]
        lappend results($name) [list [dict get $row group] $measured $seconds]
        if {$shows_rows} {
            puts [format "%-32s t%d p%d d%d b%d %10.4f %10.4f %+6.1f %%" [dict get $row group] \
                {*}[lmap key {tensor pipeline data micro_batch} {dict get $row $key}] $measured \
                $seconds [expr {100 * ($seconds / $measured - 1)}]]
        }
    }
    foreach name [lsort [array names results]] {
        show_set $name $results($name) [expr {[info exists refused($name)] ? $refused($name) : 0}]
    }
}

if {[llength $argv] ni {2 3}} {
    puts stderr "plan_errors.tcl VTRAIN SAILOR ?-rows?"
    exit 2
}
set rows [lmap row [csv_rows [file join [lindex $argv 0] steps.csv]] {vtrain_row $row}]
foreach row [csv_rows [file join [lindex $argv 1] plans.csv]] {
    if {[dict get $row cluster] eq "gh200"} {lappend rows [sailor_row $row]}
}
run_all $rows [expr {[lindex $argv 2] eq "-rows"}]
delete_accelerator_files
