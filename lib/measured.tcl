# SPDX-License-Identifier: GPL-3.0-or-later
# measured.tcl - tables of measured operators as others write them, as measurements of format
# tharsis.
#   measured::own PATH TEXT HAS_DEVICE HAS_PHASE -> {TEXT NOTES}; TEXT is empty where the table is
#   none of these
# Tables are told by their columns: gemm, attention, latent_attention, moe, power (aiconfigurator),
# and attention with unequal lengths (Frontier). Where no device is given it is the file's name up
# to the table's ("b200_sxm_gemm.csv"). A row is a line of both texts, so that messages tell its
# line; what is left out is an empty line. Equal shapes have equal row_id, to be held out together.
namespace eval ::tharsis::lib::measured {namespace path {::tharsis::lib ::tharsis}}
namespace eval ::tharsis::lib::measured::known {
    # A table by its columns, in any order: the first that has them all.
    variable tables {
        power {operator dtype m n k batch tokens cached heads kv_heads_x_head_dim time_ms power_w
            power_limit_w}
        gemm {dtype m n k time_ms}
        attention {phase dtype kv_dtype batch tokens cached heads kv_heads head_dim window time_ms}
        latent_attention {phase dtype kv_dtype heads batch tokens cached time_ms}
        moe {dtype tokens hidden inter top_k experts tensor_parallel expert_parallel distribution
            time_ms}
        mixed {gpu timed precision heads kv_heads head_dim tensor batch prefill_chunk cached_tokens
            prefill mixed sequence_lengths prefill_ms decode_ms}
    }
    # Times of what is no operator of one GPU, and who takes them.
    variable others {
        collectives {backend operation dtype gpus elements time_ms}
        expert_exchange {mode nodes hidden tokens dispatch_us combine_us}
    }
    variable precisions {
        bfloat16 bf16 float16 fp16 half fp16 fp8 fp8 fp8_block fp8 nvfp4 fp4 BF16 bf16 FP16 fp16
        "" fp16
    }
    # Of the result: of all tables, and of attention and of experts besides.
    variable columns {kind phase precision batch channels_in channels_out}
    variable more {
        moe {n_experts top_k ranks skew}
        "" {rows heads kv_heads keys causal window kv_precision paged latent members group}
    }
    # Of DeepSeek's latent attention, in numbers: the latent, what of it is rotated beside it, and
    # a head's own part of a key, and its value.
    variable latent 512 rotated 64 own 128
}

# The table whose columns all are among these names; empty: none.
proc ::tharsis::lib::measured::table_of {names tables} {
    dict for {table columns} $tables {
        if {[keep column $columns {$column ni $names}] eq ""} {return $table}
    }
    return ""
}

proc ::tharsis::lib::measured::precision {where dtype} {
    if {[dict exists $known::precisions $dtype]} {return [dict get $known::precisions $dtype]}
    fail PRED-0730 "$where: dtype \"[clip $dtype 20]\": must be bfloat16, float16, fp8, fp8_block\
        or nvfp4"
}

# ---- rows: a dict of columns of the result; empty: left out ----

# Times of products by blocks hold an engine's cast.
proc ::tharsis::lib::measured::gemm {where row} {
    dict with row {}
    set precision [precision $where $dtype]
    if {$dtype eq "fp8_block"} {return {}}
    return [list kind dense phase execution precision $precision batch $m channels_in $k \
        channels_out $n]
}

# Queries attend to what is cached and to themselves. keys of an engine lie in pages.
proc ::tharsis::lib::measured::attend {where row} {
    dict with row {}
    set kv [precision $where $kv_dtype]
    set own [precision $where $dtype]
    return [list phase execution precision $own kv_precision [expr {$kv eq $own ? "same" : $kv}] \
        batch $batch rows $tokens keys [expr {$tokens + $cached}] heads $heads causal 1 paged 1]
}

proc ::tharsis::lib::measured::attention {where row} {
    return [dict merge [attend $where $row] [list kind attention \
        kv_heads [dict get $row kv_heads] window [dict get $row window] \
        channels_in [dict get $row head_dim] channels_out [dict get $row head_dim]]]
}

# A prompt's keys and values are expanded for every head; a decode step reads the latent itself.
# Times are those of calls of an engine, without a graph.
proc ::tharsis::lib::measured::latent_attention {where row} {
    set out [attend $where $row]
    set heads [dict get $row heads]
    if {[dict get $row phase] eq "decode"} {
        lappend out kv_heads 1 channels_in [expr {$known::latent + $known::rotated}] \
            channels_out $known::latent
    } else {
        lappend out kv_heads $heads channels_in [expr {$known::own + $known::rotated}] \
            channels_out $known::own
    }
    return [dict merge $out [list kind attention phase call latent $known::latent]]
}

# The experts of the fullest rank, each of which tensor parallelism cuts. Weights of 4 bits beside
# wider activations have no precision here.
proc ::tharsis::lib::measured::moe {where row} {
    dict with row {}
    if {![dict exists $known::precisions $dtype]} {return {}}
    return [list kind experts phase execution precision [precision $where $dtype] batch $tokens \
        channels_in $hidden channels_out [expr {$inter / $tensor_parallel}] n_experts $experts \
        top_k $top_k ranks $expert_parallel \
        skew [expr {[scan $distribution power_law_%f skew] == 1 ? round(100 * $skew) : 0}]]
}

# Power is not read.
proc ::tharsis::lib::measured::power {where row} {
    if {[dict get $row operator] eq "gemm"} {return [gemm $where $row]}
    lassign [split [dict get $row kv_heads_x_head_dim] x] kv_heads width
    if {$width eq ""} {return {}}
    return [attention $where [dict merge $row [list kv_heads $kv_heads head_dim $width window 0 \
        kv_dtype [dict get $row dtype]]]]
}

# Heads are those of the model, over so many ranks. A step of prompts and decodes at once is two
# kernels, of which a row tells both times: left out, as are those timed on the host.
proc ::tharsis::lib::measured::mixed {where row} {
    dict with row {}
    set time_ms [expr {$prefill ? $prefill_ms : $decode_ms}]
    if {$timed ne "kernel" || $mixed || $time_ms <= 0} {return {}}
    set rows [expr {$prefill ? $prefill_chunk : 1}]
    set out [list kind attention phase execution precision [precision $where $precision] \
        rows $rows heads [expr {$heads / $tensor}] channels_in $head_dim channels_out $head_dim \
        kv_heads [expr {$kv_heads > $tensor ? $kv_heads / $tensor : 1}] causal 1 \
        group [dict get $row model] time_ms $time_ms]
    if {$prefill} {return [list {*}$out batch $batch keys [expr {$rows + $cached_tokens}]]}
    set keys [lmap one [split $sequence_lengths ,] {expr {$one + $cached_tokens}}]
    if {![llength $keys]} {return {}}
    return [list {*}$out members $keys]
}

# ---- files ----

# The fields of a line, the n-th of the file. Commas within quotes divide nothing.
proc ::tharsis::lib::measured::fields {where line n} {
    if {[string first \" $line] < 0} {
        set out [split $line ,]
    } else {
        set out {}
        foreach {before quoted} [split $line \"] {
            if {$before ne ""} {lappend out {*}[split [string trim $before ,] ,]}
            if {$quoted ne ""} {lappend out $quoted}
        }
    }
    if {[llength $out] != $n} {
        fail PRED-0731 "$where: [llength $out] fields: must be $n, as in the first line"
    }
    return $out
}

# "b200_sxm" of "b200_sxm_gemm.csv.xz".
proc ::tharsis::lib::measured::device_of {path table} {
    set name [lindex [split [file tail $path] .] 0]
    set at [string first _$table $name]
    return [expr {$at > 0 ? [string range $name 0 [expr {$at - 1}]] : ""}]
}

proc ::tharsis::lib::measured::columns_of {table} {
    return [list {*}$known::columns {*}[get $known::more $table [dict get $known::more ""]]]
}

proc ::tharsis::lib::measured::line {where table names fields device} {
    foreach name $names value $fields {dict set row $name $value}
    set out [$table $where $row]
    if {$out eq ""} return
    set shape [join [lmap column [columns_of $table] {get $out $column ""}] ,]
    if {$device eq "gpu"} {append shape ,[dict get $row gpu]} elseif {$device ne ""} {
        append shape ,$device
    }
    return $shape,[expr {[zlib crc32 $shape] & 0x7fffffff}],[get $out time_ms [get $row time_ms ""]]
}

proc ::tharsis::lib::measured::own {path text has_device} {
    set end [string first \n $text]
    set names [split [string trim [string range $text 0 [expr {$end < 0 ? "end" : $end}]]] ,]
    set other [table_of $names $known::others]
    fail_if {$other ne ""} PRED-0732 "$path: a table of $other: must be of operators of one GPU\
        ([join [dict keys $known::tables] {, }]); calibrate_network reads collectives"
    set table [table_of $names $known::tables]
    if {$table eq ""} {return {{} {}}}
    set device ""
    if {!$has_device} {set device [expr {$table eq "mixed" ? "gpu" : [device_of $path $table]}]}
    set out [join [columns_of $table] ,][expr {$device eq "" ? "" : ",device"}],row_id,time_ms\n
    set left {}
    set i 1
    foreach line [lrange [split [string map {\r {}} [string trimright $text]] \n] 1 end] {
        incr i
        set one [line $path:$i $table $names [fields $path:$i $line [llength $names]] $device]
        if {$one eq ""} {lappend left $i}
        append out $one \n
    }
    return [list $out [join [lines_note $left "timed on the host, of two kernels, without\
        shapes, or with weights of 4 bits alone" row] {; }]]
}
