# SPDX-License-Identifier: GPL-3.0-or-later
# hub.tcl - a config.json of huggingface.co as options of create_transformer, by its fields; what a
# family's code has besides them is in the table.
#   model -> read, numbers_of -> layers_of: mixers (what attends in each), kind_of -> options, notes
namespace eval ::tharsis::lib::hub {namespace path {::tharsis::lib ::tharsis}}
namespace eval ::tharsis::lib::hub::known {
    # bias: none; qkv; all; or of attention_bias: with that of the output (out), without (in).
    # norm: its parameters per channel. more: parameters of a layer that no field tells, h hidden, a
    # heads, k of keys, d their width, n experts (0 in a dense layer); once: those outside the
    # layers, v words. period: every so many layers attention has no window. given: fields that
    # files leave out; dense, shared: those of the widths of layers without, and beside, experts.
    variable families {
        llama {} mistral {} mistral3 {} ministral {} ministral3 {} mixtral {} phi3 {} phi4mm {}
        deepseek_v2 {} nemotron {gated 0 norm 2} mimo {bias qkv}
        qwen2 {bias qkv} qwen2_moe {bias qkv} qwen2_vl {bias qkv} qwen2_5_vl {bias qkv}
        qwen3 {qk 1} qwen3_moe {qk 1} qwen3_vl {qk 1} qwen3_vl_moe {qk 1}
        qwen3_next {qk 1 given {attn_output_gate 1 full_attention_interval 4}}
        qwen3_5 {qk 1 given {attn_output_gate 1 full_attention_interval 4}}
        qwen3_5_moe {qk 1 given {attn_output_gate 1 full_attention_interval 4}}
        gemma {tied 1 given {head_dim 256}} gemma2 {tied 1 more 2*$h period 2 given {head_dim 256}}
        gemma3 {tied 1 qk 1 more 2*$h period 6 given {num_attention_heads 8 num_key_value_heads 4
            head_dim 256 vocab_size 262208 sliding_window 4096}}
        gemma4 {tied 1 qk 1 more 2*$h+1+($n?4*$h+$n:0) period 6 shared intermediate_size}
        phi {gated 0 norm 2 bias all qk qk_layernorm more -2*$h once $v} phimoe {norm 2 once $v}
        deepseek_v3 {more $n} deepseek_v32 {more $n} deepseek_v4 {more $n} kimi_k2 {more $n}
        glm {bias in} glm4 {bias in more 2*$h} glm4_moe {bias in qk use_qk_norm more $n}
        glm4v {bias in more 2*$h} glm4v_moe {bias in qk use_qk_norm more $n}
        glm4_moe_lite {more $n} glm_moe_dsa {more $n} minimax_m2 {more ($a+$k)*$d+$n}
        minimax {} minimax_text_01 {} gpt_oss {bias all more $a+$n period 2}
        llama4 {period 4 dense intermediate_size_mlp shared intermediate_size given {head_dim 128}}
        nemotron_h {gated 0 more $n} kimi_linear {more $n}
    }
    variable sparse {moe|mixtral|gpt_oss|minimax|kimi|deepseek_v[34]|llama4} ;# always have experts
    # Kinds that layer_types and letters of a pattern name.
    variable mixers {full_attention full attention full * full sliding_attention window
        chunked_attention window linear_attention linear mamba mamba mamba2 mamba M mamba
        moe experts E experts mlp dense - dense}
}

# The first of these fields that has a value, as a whole number. Without otherwise it is needed.
proc ::tharsis::lib::hub::number {keys {otherwise {}}} {
    variable config; variable missing; variable file
    foreach key $keys {
        lassign [get $config $key null] kind x
        if {$kind eq "null"} continue
        set least [expr {$otherwise eq ""}]
        fail_if {$kind ni {number truth} || ![string is entier $x] || $x < $least || $x >= 1<<24} \
            TCL-2960 "$file: $key \"[clip $x 40]\": a whole number from $least to 16777215 was\
            expected"
        return $x
    }
    if {$otherwise eq ""} {lappend missing [lindex $keys 0]; return 1}
    return $otherwise
}

# The elements of a list that is a field; none where it has no value.
proc ::tharsis::lib::hub::items {key} {
    variable config; variable file
    lassign [get $config $key null] kind x
    if {$kind ni {null list text}} {fail TCL-2961 "$file: $key: must be a list"}
    if {$kind eq "text"} {return [split $x {}]}
    return [lmap each $x {lindex $each 1}]
}

# What attends in each layer, by one of the ways in which files say so.
proc ::tharsis::lib::hub::mixers {layers family} {
    variable file
    foreach key {layer_types layers_block_type hybrid_override_pattern} {
        if {[set types [items $key]] ne ""} {
            fail_if {[llength $types] < $layers} TCL-2962 "$file: $key has [llength $types] of\
                num_hidden_layers $layers"
            return [lmap type [lrange $types 0 $layers-1] {
                fail_if_unknown TCL-2963 "$file: $key:" [clip $type 40] [dict keys $known::mixers]
                dict get $known::mixers $type
            }]
        }
    }
    set lightning [items attn_type_list]
    set whole [number full_attention_interval 0]
    set period [number {sliding_window_pattern _sliding_window_pattern no_rope_layer_interval}\
        [get $family period 0]]
    set from [expr {[number use_sliding_window 0] ? [number max_window_layers 0] : 0}]
    set has [expr {[number use_sliding_window 1] &&
        [number {sliding_window attention_chunk_size} 0]}]
    for {set i 0} {$i < $layers} {incr i} {
        lappend made [expr {$whole && ($i + 1) % $whole ? "linear" :
            [lindex $lightning $i] == 0 && $lightning ne "" ? "linear" :
            $has && $i >= $from && (!$period || ($i + 1) % $period) ? "window" : "full"}]
    }
    return $made
}

# Has this layer experts?
proc ::tharsis::lib::hub::is_sparse {i mixer} {
    if {$mixer in {experts dense}} {return [expr {$mixer eq "experts"}]}
    set types [items mlp_layer_types]
    if {$types ne ""} {return [expr {[lindex $types $i] eq "sparse"}]}
    set step [number {decoder_sparse_step interleave_moe_layer_step} 1]
    if {$step < 1} {set step 1}
    set every [number moe_layer_freq 1]
    if {$every < 1} {set every 1}
    return [expr {$i >= [number first_k_dense_replace 0] && ($i + 1) % $step == 0 &&
        $i % $every == 0 && $i ni [items mlp_only_layers]}]
}

# weights, parameters, operations and bytes of states that take the place of attention. Gated delta
# rule: arXiv 2412.06464; KDA: 2510.26692; Mamba 2: 2405.21060; lightning attention: 2501.08313.
proc ::tharsis::lib::hub::state_of {mixer m} {
    dict with m {}
    if {$mixer eq "mamba"} {
        set heads [number mamba_num_heads]
        set i [expr {$heads * [number mamba_head_dim]}]
        set state [number ssm_state_size]
        set c [expr {$i + 2 * [number n_groups] * $state}]
        set width [number conv_kernel 4]
        set w [expr {$h * (2 * $i + $c + $heads)}]
        set p [expr {$c * ($width + [number use_conv_bias 1]) + 3 * $heads + $i}]
        set all [expr {6 * $i * $state}]
    } elseif {$linear ne ""} {
        set heads [number linear_attn_config.num_heads]
        set i [expr {$heads * [set x [number linear_attn_config.head_dim]]}]
        set c [expr {3 * $i}]
        set width [number linear_attn_config.short_conv_kernel_size]
        set w [expr {$h * (4 * $i + $heads + 2 * $x) + 2 * $x * $i}]
        set p [expr {$c * $width + $heads + $i + $x}]
        set all [expr {7 * $i * $x}]
    } elseif {[number linear_num_value_heads 0]} {
        set heads [number linear_num_value_heads]
        set i [expr {$heads * [set x [number linear_value_head_dim]]}]
        set c [expr {2 * [number linear_num_key_heads] * [set y [number linear_key_head_dim]] + $i}]
        set width [number linear_conv_kernel_dim 4]
        set w [expr {$h * ($c + 2 * $i + 2 * $heads)}]
        set p [expr {$c * $width + 2 * $heads + $x}]
        set all [expr {7 * $i * $y}]
    } else {
        set i [set p [expr {$a * $d}]]
        set c [expr {3 * $i}]
        set width 0
        set w [expr {5 * $h * $i}]
        set all [expr {5 * $i * $d}]
    }
    return [list weights $w parameters $p operations [expr {$all + 2 * $c * $width}]\
        bytes [expr {4 * ($c + $i)}]]
}

# Attention whose weights, width or keys are not the model's own; empty where they are.
proc ::tharsis::lib::hub::attention_of {i mixer m} {
    dict with m {}
    set kind [expr {$mixer eq "window" ? [list window $window] : ""}]
    set chooses [number index_n_heads 0]
    set index [expr {$chooses * [number index_head_dim 0]}]
    set choice [expr {$q * $index + $h * $chooses + $h * [number index_head_dim 0]}]
    if {$compressed ne ""} {
        set ratio [lindex $compressed $i]
        set out [number o_lora_rank]
        set w [expr {$h * ($q + $d + [number o_groups] * $out) + $a * $d * ($q + $out)}]
        set p [expr {$q + $d + $a}]
        set kind [list window $window]
        if {$ratio} {
            set c [expr {$ratio == 4 ? 2 : 1}]
            incr w [expr {2 * $h * $c * $d}]
            incr p [expr {$ratio * $c * $d + $d}]
            lappend kind ratio $ratio
        }
        if {$ratio == 4} {
            set y [number index_head_dim]
            incr w [expr {$choice + 3 * $h * $y}]
            incr p [expr {9 * $y}]
            lappend kind top [number index_topk] index $index
        }
        return [list {*}$kind weights $w parameters $p]
    }
    if {$index && [lindex [items indexer_types] $i] ne "shared"} {
        return [list weights [expr {$latent + $choice}] index $index\
            parameters [expr {2 * [number index_head_dim]}] window [number index_topk]]
    } elseif {$index} {
        return [list window [number index_topk]]
    }
    set wide [expr {$mixer eq "full" ? [number global_head_dim 0] : 0}]
    if {$wide} {
        set shared [number attention_k_eq_v 0]
        set k [expr {$shared ? [number num_global_key_value_heads $k] : $k}]
        lappend kind head_dim $wide kv_heads $k\
            weights [expr {$h * $wide * (2 * $a + (2 - $shared) * $k)}]
    } elseif {[number attn_output_gate 0]} {
        lappend kind weights [expr {$h * $d * (3 * $a + 2 * $k)}]
    }
    return $kind
}

# A layer: what it has in place of the model's, and its name.
proc ::tharsis::lib::hub::kind_of {i mixer m family} {
    dict with m {}
    set sparse [expr {$n > 0 && [is_sparse $i $mixer]}]
    if {!$sparse} {set n 0}
    set kind [switch $mixer {
        linear - mamba {list heads 0 {*}[state_of $mixer $m]}
        experts - dense {list heads 0}
        default {attention_of $i $mixer $m}
    }]
    set p [expr "[get $kind parameters 0] + [get $family more 0] + $more +\
        ($n && [number shared_expert_intermediate_size 0] ? $h : 0)"]
    if {$alone && $mixer ni {experts dense}} {lappend kind ffn 0 experts 0}
    if {$alone && $mixer ni {experts}} {incr p [expr {-$p + [get $kind parameters 0]}]}
    if {$sparse && $narrow} {dict set kind weights [expr {2 * $h * $narrow}]}
    if {$p != 0 || [dict exists $kind parameters]} {dict set kind parameters $p}
    if {!$sparse && [dict get $m n] > 0 && ![dict exists $kind experts]} {lappend kind experts 0}
    if {[dict exists $kind ratio]} {set mixer [dict get $kind ratio]_to_1}
    return [list [expr {$mixer in {experts dense} || $sparse || [dict get $m n] == 0 || $alone ?\
        $mixer : "${mixer}_dense"}] $kind]
}

# -precision of products as quantization_config has them, and a note where there is none like it.
proc ::tharsis::lib::hub::precision {} {
    variable config
    lassign [get $config quantization_config null] kind x
    if {$kind ne "object"} {
        set type [lindex [get $config torch_dtype [get $config dtype {text bfloat16}]] 1]
        return [list [get {float16 fp16 float32 fp32} $type bf16] ""]
    }
    set how [lmap key {quant_method quant_algo format} {lindex [get $x $key {}] 1}]
    if {[regexp -nocase {nvfp4} $how]} {return {nvfp4 ""}}
    if {[regexp -nocase {\m(fp8|fbgemm_fp8|float-quantized)\M} $how]} {return {fp8 ""}}
    return [list bf16 "quantization [string trim [join $how]]: products are taken as bf16"]
}

# What the reader leaves out or takes as something else, as one text.
proc ::tharsis::lib::hub::notes_of {kinds extra} {
    set said {
        linear "linear attention: operations and bytes are counted, no measured law"
        mamba "Mamba layers: operations and bytes are counted, no measured law"
        index "indexers: operations are counted, no measured law"
        ratio "compressed attention: operations are counted, no measured law"
    }
    set notes [lmap {word note} $said {
        if {![regexp "\\m$word" $kinds]} continue
        set note
    }]
    foreach {keys note} {
        {num_nextn_predict_layers num_mtp_modules mtp_num_hidden_layers}
            "modules for further tokens are left out"
        attention_chunk_size "chunks of attention are taken as windows"
        num_kv_shared_layers "layers that share keys are taken as having their own"
    } {
        if {[number $keys 0]} {lappend notes $note}
    }
    return [join [keep note [list {*}$notes {*}$extra] {$note ne ""}] "; "]
}

# The text model's fields, with what only the whole has, and its family's; the name of the family.
proc ::tharsis::lib::hub::read {path} {
    variable config; variable missing {}; variable file $path
    lassign [core::table $path 8388608 json] text root
    lassign $root kind config
    if {$kind ne "object"} {fail TCL-2964 "$path: must be fields and their values"}
    set has_more 0
    foreach key {text_config llm_config language_config} {
        lassign [get $config $key null] kind inner
        if {$kind eq "object"} {
            set has_more 1
            set config [dict merge $config [dict filter $inner script {key value} {
                expr {[lindex $value 0] ne "null"}
            }]]
            break
        }
    }
    lassign [get $config model_type null] kind type
    if {$kind ne "text"} {fail TCL-2965 "$path: model_type is missing"}
    regsub {_text$} $type {} type
    fail_if_unknown TCL-2966 "$path: model_type" [clip $type 40] [dict keys $known::families]
    set family [dict get $known::families $type]
    if {[regexp $known::sparse $type]} {dict set family experts {}}
    foreach {key value} [get $family given {}] {
        if {[lindex [get $config $key null] 0] eq "null"} {
            dict set config $key [list number $value]
        }
    }
    lassign [get $config linear_attn_config null] kind inner
    fail_if {$kind ni {object null}} TCL-2975 "$path: linear_attn_config: must be fields"
    foreach {key value} $inner {dict set config linear_attn_config.$key $value}
    return [list $family [expr {$has_more ? "only the text model is read" : ""}]]
}

# Experts: number, of a token, width, of all shared ones; width in which they work (0: the model's).
proc ::tharsis::lib::hub::of_experts {family} {
    set n [number {num_local_experts num_experts n_routed_experts} [get $family experts 0]]
    if {$n == 0} {return {0 1 0 0 0}}
    set width [number {moe_intermediate_size intermediate_size}]
    set shared [number {n_shared_experts num_shared_experts} 0]
    set own {shared_expert_intermediate_size moe_shared_expert_intermediate_size\
        shared_intermediate_size}
    if {[dict exists $family shared]} {set own [dict get $family shared]}
    return [list $n [number {num_experts_per_tok num_experts_per_token top_k_experts\
        experts_per_token}] $width [number $own [expr {$shared * $width}]]\
        [number moe_latent_size 0]]
}

# Biases: -bias, and what it does not count of a layer.
proc ::tharsis::lib::hub::of_bias {family h f latent} {
    set bias [get $family bias out]
    if {$bias in {qkv all}} {return [list $bias 0]}
    if {![number attention_bias 0]} {
        return [list none [expr {[number mlp_bias 0] ? 2 * $f + $h : 0}]]
    }
    if {$latent ne ""} {return [list none [expr $latent]]}
    if {[number mlp_bias 0]} {return {all 0}}
    return [list qkv [expr {$bias eq "out" ? $h : 0}]]
}

# Ends with an error about the fields that are missing.
proc ::tharsis::lib::hub::missing {path} {
    variable missing
    fail TCL-2967 "$path: [join [lsort -unique $missing] {, }]: missing"
}

# What streams of DeepSeek-V4 (m of them) and embeddings per layer of gemma 4 (p wide) add: in a
# layer, and outside of them.
proc ::tharsis::lib::hub::of_streams {h v layers} {
    set m [number hc_mult 0]
    set p [number hidden_size_per_layer_input 0]
    set words [number vocab_size_per_layer_input $v]
    return [list [expr {($m ? 2 * (2 + $m) * $m * ($m * $h + 1) + 6 : 0) +
        ($p ? 2 * $h * $p + $h : 0)}] [expr {($m ? $m * $m * $h + $m + 1 : 0) +
        ($p ? ($words + $h) * $layers * $p + $p : 0)}]]
}

# The model's numbers as a dict: h width, a heads, k of keys, d their width, v words, n experts, e
# their width, f that of a dense network, q and r ranks of latent attention ...
proc ::tharsis::lib::hub::numbers_of {path family} {
    variable config; variable missing
    foreach {name key} {h hidden_size layers num_hidden_layers a num_attention_heads v vocab_size} {
        set $name [number $key]
    }
    fail_if {$layers > 1024} TCL-2973 "$path: num_hidden_layers $layers: must be at most 1024"
    lassign [of_experts $family] n topk e shared narrow
    set f [number [get $family dense intermediate_size] [expr {$n && [lindex [get $config\
        moe_intermediate_size null] 0] ne "null" ? 0 : ""}]]
    set r [number kv_lora_rank 0]
    set q [number q_lora_rank 0]
    set k [expr {$r ? $a : [number num_key_value_heads $a]}]
    set d [expr {$r ? [number qk_nope_head_dim] : [number head_dim [expr {$h / $a}]]}]
    set turned [expr {$r ? [number qk_rope_head_dim] : 0}]
    set value [expr {$r ? [number v_head_dim] : 0}]
    if {$missing ne ""} {tailcall missing $path}
    set latent [expr {($q ? $h * $q + $q * $a * ($d + $turned) : $h * $a * ($d + $turned)) +
        $h * ($r + $turned) + $r * $a * ($d + $value) + $a * $value * $h}]
    lassign [of_bias $family $h $f [expr {$r ? "$q + $r + $turned + $h" : ""}]] bias more
    lassign [of_streams $h $v $layers] in_layer once
    incr more $in_layer
    incr once [expr [get $family once 0]]
    set window [number {sliding_window attention_chunk_size} 0]
    set linear [items linear_attn_config.full_attn_layers]
    set compressed [items compress_ratios]
    foreach x $compressed {
        fail_if {![string is digit -strict $x]} TCL-2974\
            "$path: compress_ratios \"[clip $x 40]\": must be whole numbers"
    }
    foreach x {h layers a v n topk e shared narrow f r q k d turned value latent bias more once\
            window linear compressed} {
        dict set m $x [set $x]
    }
    return $m
}

# {NAME KEY N ...} of each kind of layer, the names of the kinds of all layers, and how many dense
# ones there are in front.
proc ::tharsis::lib::hub::layers_of {m family} {
    variable missing
    dict with m {}
    set mixers [mixers $layers $family]
    set i 0
    if {$linear ne ""} {
        set mixers [lmap x $mixers {expr {[incr i] in $linear ? "full" : "linear"}}]
    }
    dict set m alone [expr {"experts" in $mixers || "dense" in $mixers}]
    set i -1
    set dense 0
    foreach mixer $mixers {
        lassign [kind_of [incr i] $mixer $m $family] name kind
        if {$kind eq "experts 0" && $dense == $i} {incr dense}
        if {![info exists of($kind)]} {
            set of($kind) [expr {[info exists is($name)] ? "${name}_[array size of]" : $name}]
            set is($of($kind)) 1
            lappend kinds [list $of($kind) {*}$kind]
        }
        lappend pattern $of($kind)
    }
    if {$dense < $layers && !$f && {experts 0} in [lmap x $kinds {lrange $x end-1 end}]} {
        lappend missing intermediate_size
    }
    return [list $kinds $pattern $dense]
}

# The options that say which layers are of which kind, if there are several.
proc ::tharsis::lib::hub::options_of_layers {kinds pattern dense} {
    set all [lsort -unique [lmap x $kinds {lrange $x 1 end}]]
    if {$all ni {{{}} {{} {experts 0}}} || "full" in [lrange $pattern 0 $dense-1]} {
        return [list -layer_kinds $kinds -layer_pattern $pattern]
    }
    return [expr {$dense ? [list -dense_layers $dense] : ""}]
}

# The options of create_transformer, and notes.
proc ::tharsis::lib::hub::model {path} {
    variable config; variable missing
    lassign [read $path] family part
    set m [numbers_of $path $family]
    lassign [layers_of $m $family] kinds pattern dense
    if {$missing ne ""} {tailcall missing $path}
    lassign [precision] precision note
    set qk [get $family qk 0]
    if {![string is digit $qk]} {set qk [number $qk 0]}
    set name [file rootname [file tail $path]]
    if {$name eq "config"} {set name [file tail [file dirname [file join [pwd] $path]]]}
    dict with m {}
    set options [list -name [clip $name 63] -layers $layers -hidden $h -heads $a -kv_heads $k\
        -head_dim $d -vocab $v -bias $bias -precision $precision -gated [get $family gated 1]\
        -qk_norm $qk -norm_size [get $family norm 1] -other_parameters $once\
        -tied [number tie_word_embeddings [get $family tied 0]]]
    lassign [get $config attention_dropout null] kind rate
    if {$kind eq "number" && $rate == 0} {lappend options -attention_dropout 0}
    if {$f} {lappend options -ffn $f}
    if {$n} {
        lappend options -experts $n -top_k $topk -shared_expert_ffn $shared\
            -expert_ffn [expr {$narrow ? $e * $narrow / $h : $e}]
    }
    if {$r} {lappend options -latent_rank $r -query_rank $q -rope_dim $turned -value_dim $value}
    lappend options {*}[options_of_layers $kinds $pattern $dense]
    return [list $options [notes_of [list $kinds $pattern] [list $part $note]]]
}
