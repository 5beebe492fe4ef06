# SPDX-License-Identifier: GPL-3.0-or-later
# training.tcl - step times of language models in training, held against measured runs.
#
#   tharsis -exit tests/accept/training.tcl DIRECTORY ?-numbers {NAME X ...}?
#
# DIRECTORY holds systems.csv and runs.csv, a measured run per row: model, plan, batch, precision,
# accelerators, software and the time of a step. Of every row the step is simulated under its plan;
# the error is |predicted - measured| / measured, and without end for a row whose plan is refused.
# lib/training_rows.tcl reads the rows, and makes accelerators that Tharsis has no file of from
# their line of systems.csv. Figures, each with its bar: median and ninetieth percentile with the
# shipped numbers, and with those that tests/accept/training_folds has for each source, fitted
# without its rows; plans of one model and machine that are ordered as measured; the median error of
# memory where the source prints it. Exit status: 0 where all bars hold, 1 where
# one does not, 2 where the data cannot be read.

source [file join [file dirname [file normalize [info script]]] lib training_rows.tcl]

# ---- a row ----

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

# Names of precisions, the first that matches.
set precisions {
    *nvfp4* nvfp4  *fp4* nvfp4  *mxfp8* mxfp8  *mx* mxfp8  *row* fp8_rows  *fp8* fp8  *float8* fp8
    *e4m3* fp8  *bf16* bf16  *bfloat16* bf16  *fp16* fp16  *float16* fp16  half fp16
}

proc precision_of {row} {
    dict with row {}
    set name $precision
    foreach {pattern known} $::precisions {
        if {[string match $pattern $precision]} {
            set name $known
            break
        }
    }
    if {$name eq "fp8" && [regexp rowwise "$note $precision_as_printed"]} {return fp8_rows}
    return $name
}

# A number behind a name in the text of a column.
proc number_behind {text pattern otherwise} {
    return [expr {[regexp "${pattern}\\D{0,12}?(\\d+)" $text - n] ? $n : $otherwise}]
}

# Sizes of latent attention; those of DeepSeek-V3 where none are given. A printed head is that
# without the part for the position, or with it.
proc latent_options {row} {
    dict with row {}
    set rope [number_behind $attention {(?:rope|rotary)[a-z_ ]*} 64]
    set value [number_behind $attention {\mv(?:alue)?[a-z_ ]*} 128]
    set nope [number_behind $attention {nope[a-z_ ]*} [expr {$head_dim == $value + $rope ?
        $value : $head_dim}]]
    return [list -query_rank [number_behind $attention {\mq(?:uery)?[_ ](?:lora|rank|comp)[a-z_ ]*}\
        1536] -latent_rank [number_behind $attention {\mkv[_ ][a-z_ ]*} 512] -rope_dim $rope\
        -value_dim $value -head_dim $nope -kv_heads $heads]
}

proc attention_options {row} {
    dict with row {}
    if {[regexp {latent|\mmla\M} $attention]} {return [latent_options $row]}
    set options [list -kv_heads $kv_heads -head_dim $head_dim]
    # packed sequences of some hundred tokens do not meet each other
    if {[regexp {packed sequences} $note] && ![regexp unpacked $note]} {
        lappend options -window 512
    } elseif {[regexp {window\D{0,8}(\d+)} $attention - window]} {
        lappend options -window $window -window_every [expr {[regexp second $attention] ? 2 : 1}]
    }
    return $options
}

proc make_model {row} {
    dict with row {}
    set options [list -name [string range $model 0 62] -layers $layers -hidden $hidden\
        -heads $heads -vocab $vocab -gated $gated_ffn -sequence $sequence\
        -recompute [recompute_of $row] -precision [precision_of $row]\
        {*}[attention_options $row]]
    if {$ffn > 0} {lappend options -ffn $ffn}
    if {$experts > 0} {
        lappend options -experts $experts -top_k $top_k -expert_ffn $moe_ffn\
            -shared_expert_ffn $shared_expert_ffn -dense_layers $dense_layers
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

# The schedule of a row, and "" or what it stands in for. What is found by its authors' search
# (zb-1p, zb-2p) has the schedule with the same memory, other names the nearest.
set schedules {
    none 1f1b "" 1f1b* 1f1b "" "" 1f1b "" interleaved_zero* zbv nearest interleaved* interleaved ""
    gpipe gpipe "" afab gpipe "" zb_1p zb_h1 nearest zb_2p zb_h2 nearest zb_h1 zb_h1 ""
    zb_h2 zb_h2 "" zbv* zbv "" zb_v* zbv "" v_* zbv nearest dualpipe* zbv nearest
    zero* zb_h1 nearest looped* interleaved nearest
}

proc schedule_of {row} {
    dict with row {}
    set word [string map {- _ " " _} $schedule]
    if {$pipeline_parallel == 1} {return {1f1b ""}}
    foreach {pattern name nearest} $::schedules {
        if {![string match $pattern $word]} continue
        if {$virtual_stages > 1 && $name eq "1f1b"} {set name interleaved}
        if {$virtual_stages == 1 && $name in {interleaved zbv}} {
            set name [dict get {interleaved 1f1b zbv zb_h1} $name]
        }
        return [list $name [expr {$nearest ne "" ? "$name for $schedule" : ""}]]
    }
    return [list 1f1b "1f1b for $schedule"]
}

proc layout_of {row} {
    dict with row {}
    set chunks [expr {$pipeline_parallel * $virtual_stages}]
    if {[string match embedding* $pipeline_layout] && ($layers + 2) % $chunks == 0} {
        return with_embedding
    }
    return [expr {$layers % $chunks == 0 ? "layers" : "uneven"}]
}

# Do stages compute while they send and receive? In plain 1F1B they wait, and so they did in the
# interleaved schedule of 2022; later releases of Megatron overlap, and so do zero bubble schedules.
proc overlaps_pipeline {row} {
    set name [lindex [schedule_of $row] 0]
    return [expr {$name ni {1f1b gpipe} && ![string match calculon* [dict get $row source]]}]
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
        -expert_tensor $expert_tensor_parallel -data $data_parallel -zero $zero_stage\
        -zero_group $zero_group -micro_batch $micro_batch -global_batch $global_batch\
        -schedule [lindex [schedule_of $row] 0] -layout [layout_of $row] -overlap $overlaps\
        -ignore_memory -numbers $numbers {*}[software $row]]
    if {$sequence_parallel eq "1"} {lappend options -sequence_parallel}
    if {$task eq "lora"} {lappend options -frozen}
    parallel_plan {*}$options
}

# {step time in s, GiB of the fullest stage} of a row.
proc predict {row machine numbers} {
    set share [expr {[dict exists $numbers network] ? [dict get $numbers network] : 0.7345}]
    make_system $machine $row $share
    make_model $row
    set numbers [dict remove $numbers network]
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

# {step time in s, GiB} of a row, or {Inf ""} where its plan is refused, which is printed.
proc predict_or_refuse {row machines numbers} {
    set system [dict get $row system]
    if {![dict exists $machines $system]} {
        set why "systems.csv has no \"$system\""
    } elseif {![catch {predict $row [dict get $machines $system] $numbers} result]} {
        return $result
    } else {
        set why $result
    }
    puts "[dict get $row id] refused: $why"
    return {Inf ""}
}

# {row measured predicted GiB} of the rows of sources that match, but not of one source.
proc run_rows {directory pattern numbers {except ""}} {
    foreach machine [csv_rows [file join $directory systems.csv]] {
        dict set machines [dict get $machine system] $machine
    }
    set results [lmap row [csv_rows [file join $directory runs.csv]] {
        set row [complete_row $row]
        set source [dict get $row source]
        if {$source eq $except || ![string match $pattern $source]} continue
        list $row [dict get $row step_s] {*}[predict_or_refuse $row $machines $numbers]
    }]
    delete_accelerator_files
    return $results
}

proc error_of {result} {
    lassign $result - measured got
    return [expr {$got / $measured - 1}]
}

# What stands in for the schedule of a row; what is thought to be missing where it is more than 30 %
# off.
proc remark {row off} {
    set schedule [lindex [schedule_of $row] 1]
    return [join [lmap text [list $schedule [expr {abs($off) > 0.3 ? [missing $row] : ""}]] {
        expr {$text eq "" ? [continue] : $text}
    }] "; "]
}

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
    puts [format "%s %-24s %-14s %5s %-4s t%s p%s v%s c%s d%-4s e%-2s z%s S%-6s b%-3s %9.4f %9.4f\
        %+6.1f %% %s" $id [string range $source 0 23] $model $n_accelerators $precision\
        $tensor_parallel $pipeline_parallel $virtual_stages $context_parallel $data_parallel\
        $expert_parallel $zero_stage $sequence $micro_batch $measured $got [expr {100 * $off}]\
        [remark $row $off]]
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
        if {$printed eq "" || $got eq ""} continue
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
