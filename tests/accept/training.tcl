# SPDX-License-Identifier: GPL-3.0-or-later
# training.tcl - step times of language models in training, held against measured runs.
#
#   tharsis -exit tests/accept/training.tcl DIRECTORY ?-numbers {NAME X ...}?
#
# DIRECTORY holds systems.csv and runs.csv, a measured run per row: model, plan, batch, precision,
# accelerators, software and the time of a step. Of every row the step is simulated under its plan;
# the error is |predicted - measured| / measured. Figures, each with its bar: median and ninetieth
# percentile with the shipped numbers, and with those that tests/accept/training_folds has for each
# source, fitted without its rows; plans of one model and machine that are ordered as measured; the
# median error of memory where the source prints it. Exit status: 0 where all bars hold, 1 where
# one does not, 2 where the data cannot be read.

# ---- the data ----

# Fields in quotes may hold commas.
proc split_line {line} {
    set fields {}
    set rest $line
    while {1} {
        if {[regexp {^"((?:[^"]|"")*)"(,?)(.*)$} $rest - field comma tail]} {
            set field [string map {{""} {"}} $field]
        } else {
            regexp {^([^,]*)(,?)(.*)$} $rest - field comma tail
        }
        lappend fields $field
        set rest $tail
        if {$comma eq ""} {return $fields}
    }
}

proc csv_rows {file} {
    set f [open $file]
    fconfigure $f -encoding utf-8
    set text [read $f]
    close $f
    set lines [lassign [split [string map {\r {}} [string trim $text]] \n] header]
    set names [split_line $header]
    return [lmap line $lines {
        set row {}
        foreach name $names field [split_line $line] {dict set row $name $field}
        set row
    }]
}

# ---- systems ----

# The system files of accelerators, by their names in systems.csv.
array set accels {
    A100-SXM-80GB a100_80  A100-SXM-40GB a100_40  H100-SXM-80GB h100_sxm
    H100-SXM-96GB-HBM2e-500W h100_96  H200-SXM-141GB h200_sxm  B200 b200_sxm  B300 b300_sxm
    GB200 gb200  GB300 gb300  TPU-v5e tpu_v5e  TPU-v5p tpu_v5p  MI300X mi300x  MI355X mi355x
}

# Bytes/s of the network card of one accelerator: those of a node over its accelerators. Of hosts
# whose cards are not stated, one of 200 Gbit/s for 8 accelerators.
proc nic_rate {machine} {
    dict with machine {}
    if {$nics_per_node eq ""} {return [expr {200e9 / 8 / 8}]}
    return [expr {$nics_per_node * $nic_gbit_s * 1e9 / 8 / $accelerators_per_node}]
}

# A torus of 16 x 16 and slices of it behind switches, or islands on a fabric.
proc make_system {system n} {
    global accels
    set name [dict get $system system]
    set accel $accels([dict get $system accelerator])
    set up [expr {int([dict get $system scale_up_gbps_per_direction] * 1e9)}]
    set out [expr {int([nic_rate $system])}]
    set domain [dict get $system scale_up_domain]
    if {[string match TPU* [dict get $system accelerator]]} {
        set dims {{ring 16} {ring 16}}
        set rate [expr {$up / 4}]B/s
        set rates [list $rate $rate]
        if {$n > 256} {
            lappend dims [list switch [expr {$n / 256}]]
            lappend rates ${out}B/s
        }
        create_system -name $name -topology composition -dims $dims -accel $accel\
            -link_bandwidth $rates -link_latency 1us
    } elseif {$n <= $domain} {
        create_system -name $name -topology star -dims $n -accel $accel -link_bandwidth ${up}B/s\
            -link_latency 1us
    } else {
        create_system -name $name -topology islands -dims [list [expr {$n / $domain}] $domain]\
            -accel $accel -link_bandwidth [list ${up}B/s ${out}B/s] -link_latency {1us 3us}
    }
}

# ---- a row ----

proc or_else {value otherwise} {
    return [expr {$value eq "" ? $otherwise : $value}]
}

# What is computed again. PyTorch's checkpoints stop at the last tensor that a gradient needs;
# Megatron-Bridge names modules, of which only core_attn computes scores again.
proc recompute_of {row} {
    dict with row {}
    if {$recompute eq "full" && [regexp {^(mosaicml|pytorch|foundation)} $source]} {return needed}
    if {$recompute eq "selective" && [regexp {recompute modules} $note] &&\
            ![regexp core_attn $note]} {
        return none
    }
    return $recompute
}

proc precision_of {row} {
    dict with row {}
    if {$precision eq "fp8" && [regexp rowwise $note]} {return fp8_rows}
    return $precision
}

proc make_model {row} {
    dict with row {}
    set options [list -name $model -layers $layers -hidden $hidden -heads $heads\
        -kv_heads $kv_heads -head_dim $head_dim -vocab $vocab -gated $gated_ffn\
        -sequence $sequence -recompute [recompute_of $row]\
        -precision [precision_of $row]]
    if {$ffn > 0} {lappend options -ffn $ffn}
    if {$experts > 0} {
        lappend options -experts $experts -top_k $top_k -expert_ffn $moe_ffn\
            -shared_expert_ffn $shared_expert_ffn -dense_layers $dense_layers
    }
    if {[regexp {window (\d+)} $attention - window]} {
        lappend options -window $window -window_every [expr {[regexp second $attention] ? 2 : 1}]
    }
    # packed sequences of some hundred tokens do not meet each other
    if {[regexp {packed sequences} $note] && ![regexp unpacked $note]} {
        lappend options -window 512
    }
    create_transformer {*}$options
}

# What is known of the software of a source: kernels, attention, precision of gradients.
proc software {row} {
    set source [dict get $row source]
    switch -glob $source {
        mosaicml/* {return {-kernels eager -attention portable -gradients 16bit}}
        InternLM/* {return {-kernels eager -attention portable -gradients 16bit}}
        arXiv* - calculon* {return {-kernels eager -attention unfused}}
        pytorch/* {
            set eager [expr {[dict get $row overlap] eq "eager" ? "-kernels eager" : ""}]
            return "-attention portable $eager"
        }
        google/* {return {-gradients 16bit}}
    }
    # their attention has sinks, for which there was no fused kernel
    if {[string match gpt-oss* [dict get $row model]]} {return {-attention unfused}}
    return {}
}

proc schedule_of {row} {
    dict with row {}
    return [dict get {none 1f1b 1f1b 1f1b interleaved interleaved zb-1p zb_h1 zb-2p zb_h2 gpipe\
            gpipe zbv zbv zb-h1 zb_h1} $schedule]
}

# Do stages compute while they send and receive? In plain 1F1B they wait, and so they did in the
# interleaved schedule of 2022; later releases of Megatron overlap, and so do zero bubble schedules.
proc overlaps_pipeline {row} {
    dict with row {}
    return [expr {$schedule ni {none 1f1b gpipe} && ![string match calculon* $source]}]
}

proc make_plan {row numbers} {
    dict with row {}
    set overlaps {}
    if {$zero_stage == 3 || [regexp -nocase {overlapped|prefetch|XLA|recipe} $overlap]} {
        lappend overlaps data
    }
    if {[regexp {TP overlap where|async TP|recipe} $overlap]} {lappend overlaps tensor}
    if {[overlaps_pipeline $row]} {lappend overlaps pipeline}
    set options [list -tensor $tensor_parallel -pipeline $pipeline_parallel\
        -virtual $virtual_stages -context $context_parallel -expert $expert_parallel\
        -expert_tensor [or_else $expert_tensor_parallel 1] -data $data_parallel -zero $zero_stage\
        -zero_group [or_else $zero_group [expr {$data_parallel * $context_parallel}]]\
        -micro_batch $micro_batch -global_batch $global_batch -schedule [schedule_of $row]\
        -overlap $overlaps -ignore_memory -numbers $numbers {*}[software $row]]
    if {$sequence_parallel eq "1"} {lappend options -sequence_parallel}
    if {[string match embedding* $pipeline_layout]} {lappend options -layout with_embedding}
    if {$task eq "lora"} {lappend options -frozen}
    parallel_plan {*}$options
}

# {step time in s, GiB of the fullest stage} of a row.
proc predict {row machine numbers} {
    make_system $machine [dict get $row n_accelerators]
    make_model $row
    make_plan $row $numbers
    run
    regexp {"step_ps": (\d+)} [report_training -format json -return_string] - ps
    set most 0
    foreach {- bytes} [regexp -all -inline {"sum_bytes": (\d+)}\
            [report_memory -format json -return_string]] {
        set most [expr {max($most, $bytes)}]
    }
    return [list [expr {$ps / 1e12}] [expr {$most / 2.0 ** 30}]]
}

# ---- all rows ----

proc percentile {list share} {
    if {[llength $list] == 0} {return NaN}
    set sorted [lsort -real $list]
    set at [expr {int(ceil($share * [llength $sorted])) - 1}]
    return [lindex $sorted [expr {max($at, 0)}]]
}

# {row measured predicted GiB} of the rows of sources that match, but not of one source.
proc run_rows {directory pattern numbers {except ""}} {
    foreach machine [csv_rows [file join $directory systems.csv]] {
        set machines([dict get $machine system]) $machine
    }
    return [lmap row [csv_rows [file join $directory runs.csv]] {
        set source [dict get $row source]
        if {$source eq $except || ![string match $pattern $source]} continue
        list $row [dict get $row step_s]\
            {*}[predict $row $machines([dict get $row system]) $numbers]
    }]
}

proc error_of {result} {
    lassign $result - measured got
    return [expr {$got / $measured - 1}]
}

# What is thought to be missing where a row is more than 30 % off.
proc missing {row} {
    if {[string match qwen3* [dict get $row model]]} {
        return "the same row of another release takes 28.9 s"
    }
    if {[regexp rowwise [dict get $row note]]} {return "passes that scale rows"}
    return ""
}

proc show_row {result} {
    lassign $result row measured got
    set off [error_of $result]
    dict with row {}
    puts [format "%s %-24s %-14s %5d %-4s t%s p%s v%s c%s d%-4s e%-2s z%s S%-6s b%-3s %9.4f %9.4f\
        %+6.1f %% %s" $id [string range $source 0 23] $model $n_accelerators $precision\
        $tensor_parallel $pipeline_parallel $virtual_stages $context_parallel $data_parallel\
        $expert_parallel $zero_stage $sequence $micro_batch $measured $got [expr {100 * $off}]\
        [expr {abs($off) > 0.3 ? [missing $row] : ""}]]
}

proc show_sources {results} {
    foreach result $results {
        lappend by([dict get [lindex $result 0] source]) [expr {abs([error_of $result])}]
    }
    foreach source [lsort [array names by]] {
        puts [format "%-26s %4d rows  median %5.1f %%  ninetieth %5.1f %%" $source\
            [llength $by($source)] [expr {100 * [percentile $by($source) 0.5]}]\
            [expr {100 * [percentile $by($source) 0.9]}]]
    }
}

# Pairs of rows of a source, model, accelerator, count and sequence whose measured times of a
# sequence differ by more than 3 %: the share, in percent, that is ordered rightly.
proc ranked {results} {
    set groups {}
    foreach result $results {
        set row [lindex $result 0]
        set batch [dict get $row global_batch]
        set key [lmap name {source model accelerator n_accelerators sequence} {dict get $row $name}]
        dict lappend groups $key [list [expr {[lindex $result 1] / $batch}]\
            [expr {[lindex $result 2] / $batch}]]
    }
    set pairs 0
    set right 0
    dict for {key members} $groups {
        for {set i 0} {$i < [llength $members]} {incr i} {
            for {set j 0} {$j < $i} {incr j} {
                lassign [lindex $members $i] a x
                lassign [lindex $members $j] b y
                if {max($a, $b) <= 1.03 * min($a, $b)} continue
                incr pairs
                incr right [expr {($a < $b) == ($x < $y)}]
            }
        }
    }
    puts "$right of $pairs pairs of plans are ordered as measured"
    return [expr {$pairs ? 100.0 * $right / $pairs : 100}]
}

proc memory_errors {results} {
    return [lmap result $results {
        lassign $result row - - got
        set printed [dict get $row memory_gib]
        if {$printed eq ""} continue
        expr {100 * abs($got / $printed - 1)}
    }]
}

proc check_bar {what got side bar} {
    set holds [expr {$side eq "most" ? $got <= $bar : $got >= $bar}]
    puts [format "bar: %s: got %.2f %%, at %s %s %%: %s" $what $got $side $bar\
        [expr {$holds ? "holds" : "MISSED"}]]
    return $holds
}

# The numbers that scripts/fit_training.tcl found without a source, by source.
proc folds {} {
    set f [open [file join [file dirname [info script]] training_folds]]
    set lines [split [string trim [read $f]] \n]
    close $f
    set out {}
    foreach line $lines {
        if {![string match #* $line]} {dict set out {*}$line}
    }
    return $out
}

proc left_out {directory results} {
    set off {}
    dict for {source numbers} [folds] {
        foreach result [run_rows $directory $source $numbers] {
            lappend off [expr {100 * abs([error_of $result])}]
        }
    }
    return $off
}

proc check_all {directory numbers} {
    set results [run_rows $directory * $numbers]
    foreach result $results {show_row $result}
    show_sources $results
    set off [lmap result $results {expr {100 * abs([error_of $result])}}]
    set left [left_out $directory $results]
    set memory [memory_errors $results]
    set holds 1
    foreach {what got side bar} [list\
        "median, fitted" [percentile $off 0.5] most 6\
        "ninetieth, fitted" [percentile $off 0.9] most 15\
        "median, without its source" [percentile $left 0.5] most 12\
        "ninetieth, without its source" [percentile $left 0.9] most 30\
        "plans ranked" [ranked $results] least 80\
        "memory, median" [percentile $memory 0.5] most 15] {
        if {$got eq "NaN"} continue
        set holds [expr {[check_bar $what $got $side $bar] && $holds}]
    }
    puts [format "training: %.2f %.2f percent (%d cases)" [percentile $off 0.5]\
        [percentile $off 0.9] [llength $off]]
    return $holds
}

if {[info exists training_library]} return
set numbers {}
if {[lindex $argv 1] eq "-numbers"} {
    set numbers [lindex $argv 2]
}
if {$argc != 1 && $argc != 3} {
    puts stderr "usage: tharsis -exit tests/accept/training.tcl DIRECTORY ?-numbers {NAME X ...}?"
    exit 2
}
suppress_message TCL-0079
if {[catch {check_all [lindex $argv 0] $numbers} holds]} {
    puts stderr "training.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
