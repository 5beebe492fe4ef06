# SPDX-License-Identifier: GPL-3.0-or-later
# llm_ops.tcl - published times of operators of language models, as measurements of format tharsis.
#
#   source scripts/llm_ops.tcl
#   llm_ops::read FILE ?-name NAME? ?-device GPU? ?-models {MODEL ...}? ?-operators {OPERATOR ...}?
# reads a file (plain or packed by xz) of one of these tables, and returns the number of rows taken:
#   vidur        model,operator,tensor_parallel,tokens,m,n,k,width,time_ms    microsoft/vidur
#   attention    kind,sequences,prefill_tokens,kv_tokens,time_ms              LLMServingSim
#   llmcompass   operator,count,batch,m,n,k,elements,dtype,gpus,...,time_ms   LLMCompass
# The second word of the file's name is the GPU ("vidur_a100.csv.xz"); of attention, the third on is
# the model. llm_ops::table FILE returns the rows alone: {model operator group measurement}, group
# one of products, memory, attention. Operations that are equal have equal row_id, so that they are
# held out together.
namespace eval llm_ops {}

# GPUs of the sources where the bare name is not one of predictor/devices.csv.
set llm_ops::devices {a100 a100_80 h100 h100}
# Query and key/value heads of one rank, and their width, by the file's words behind the GPU.
set llm_ops::heads {
    llama31_70b_tp4 {16 2 128}
    mixtral_8x7b_tp4 {8 2 128}
    llama31_8b_tp1 {32 8 128}
    llama31_8b_tp4 {8 2 128}
}
set llm_ops::columns {kind precision function batch rows channels_in channels_out heads kv_heads\
        keys causal unsplit attention}

# A measurement, by its columns; those that are not given are empty.
proc llm_ops::measurement {fields} {
    set values [lmap column $::llm_ops::columns {
        expr {[dict exists $fields $column] ? [dict get $fields $column] : ""}
    }]
    set shape [join $values ,]
    set row_id [expr {[zlib crc32 $shape] & 0x7fffffff}]
    return $shape,$row_id
}

proc llm_ops::product {m n k precision} {
    return [list kind dense precision $precision batch $m channels_in $k channels_out $n]
}

proc llm_ops::pass {kind function rows width precision} {
    return [list kind $kind function $function batch $rows channels_in $width precision $precision]
}

# {group fields} of a row of vidur. phi-2 is the model without gates, with three terms in a sum and
# layer norms.
proc llm_ops::vidur {row} {
    dict with row {}
    set is_phi [string match phi* $model]
    if {$k ne ""} {return [list products [product $m $n $k fp16]]}
    set one [switch $operator {
        add {pass elementwise [expr {$is_phi ? "add_three" : "add"}] $m $width fp16}
        mlp_act {pass elementwise [expr {$is_phi ? "gelu" : "silu_gate"}] $m $width fp16}
        attn_rope {pass elementwise rotary $m $width fp16}
        emb {pass elementwise embedding $m $width fp16}
        input_layernorm - post_attention_layernorm {
            pass [expr {$is_phi ? "norm" : "rms_norm"}] {} $m $width fp16
        }
        default {error "operator \"$operator\": unknown"}
    }]
    return [list memory $one]
}

# Of a row of attention: cached tokens of all sequences together; those of a prefill contain the
# chunk. No sequence is split over multiprocessors.
proc llm_ops::attention {row heads} {
    dict with row {}
    lassign $heads queries keys_values width
    set rows [expr {$kind eq "prefill" ? $prefill_tokens : 1}]
    set keys [expr {$kv_tokens / $sequences}]
    return [list attention [list kind attention precision fp16 batch $sequences rows $rows\
            channels_in $width channels_out $width heads $queries kv_heads $keys_values\
            keys $keys causal 1 unsplit 1 attention flash2]]
}

# Of a row of LLMCompass; {} of what is no operator of one GPU.
proc llm_ops::llmcompass {row} {
    dict with row {}
    set precision [expr {$dtype eq "bf16" ? "bf16" : "fp16"}]
    if {[string match all_reduce* $operator]} {return {}}
    if {$k ne ""} {
        if {$batch in {"" 1}} {return [list products [product $m $n $k $precision]]}
        return [list products [list kind matmul precision $precision batch $batch rows $m\
                channels_in $k channels_out $n]]
    }
    if {[string match gelu* $operator]} {
        set width 1024
        return [list memory \
                [pass elementwise gelu [expr {max(1, $elements / $width)}] $width $precision]]
    }
    set kind [expr {[string match softmax* $operator] ? "softmax" : "norm"}]
    return [list memory [pass $kind {} $m $n $precision]]
}

proc llm_ops::text {file} {
    if {[string match *.xz $file]} {return [exec xz -dc $file]}
    set f [open $file]
    set text [::read $f]
    close $f
    return $text
}

# The rows of a file: {model operator group measurement time_ms}.
proc llm_ops::table {file} {
    set lines [split [string trim [string map {\r {}} [text $file]]] \n]
    set names [split [lindex $lines 0] ,]
    set words [split [lindex [split [file tail $file] .] 0] _]
    set heads {}
    if {"kv_tokens" in $names} {
        set model [join [lrange $words 2 end] _]
        if {![dict exists $::llm_ops::heads $model]} {error "$file: model \"$model\": unknown"}
        set heads [dict get $::llm_ops::heads $model]
    }
    set out {}
    foreach line [lrange $lines 1 end] {
        set row {}
        while {[regexp -indices {"[^"]*"} $line quoted]} { # no comma inside of a field is needed
            set inside [string map {, {} \" {}} [string range $line {*}$quoted]]
            set line [string replace $line {*}$quoted $inside]
        }
        foreach name $names value [split $line ,] {dict set row $name $value}
        set operator [dict get $row [expr {$heads eq "" ? "operator" : "kind"}]]
        set time_ms [dict get $row time_ms]
        if {$heads ne ""} {
            set one [attention $row $heads]
        } elseif {"tensor_parallel" in $names} {
            set model [dict get $row model]
            set one [vidur $row]
        } else {
            set model llmcompass
            set one [llmcompass $row]
            if {[dict get $row count] ne ""} {
                set time_ms [expr {$time_ms / double([dict get $row count])}]
            }
        }
        if {$one eq ""} continue
        lassign $one group fields
        lappend out [list $model $operator $group [measurement $fields] $time_ms]
    }
    return $out
}

# Adds rows of a table to the measurements called NAME.
proc llm_ops::add {rows device name {phase execution}} {
    if {$rows eq ""} {return 0}
    set f [file tempfile path .csv]
    puts $f [join $::llm_ops::columns ,],row_id,time_ms
    foreach row $rows {puts $f [lindex $row 3],[lindex $row 4]}
    close $f
    try {
        return [read_measurements $path -device $device -name $name -format tharsis -phase $phase]
    } finally {
        file delete $path
    }
}

proc llm_ops::device {file} {
    set word [lindex [split [lindex [split [file tail $file] .] 0] _] 1]
    return [expr {[dict exists $::llm_ops::devices $word] ? [dict get $::llm_ops::devices $word] :\
            $word}]
}

proc llm_ops::read {file args} {
    set options [dict merge [list -name measurements -device [device $file] -models {}\
            -operators {}] $args]
    dict with options {}
    set rows [lmap row [table $file] {
        lassign $row model operator
        if {(${-models} ne "" && $model ni ${-models}) ||
            (${-operators} ne "" && $operator ni ${-operators})} continue
        set row
    }]
    add $rows ${-device} ${-name}
    return [llength $rows]
}
