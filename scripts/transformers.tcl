# SPDX-License-Identifier: GPL-3.0-or-later
# transformers.tcl - writes the workload files of whole transformers: every operation that PyTorch
# runs, one by one, for the eager models of the library "transformers" (version 4.40).
#   tharsis -no_init -exit scripts/transformers.tcl FOLDER ?NAME TITLE TOKENS SHAPE?
# SHAPE, of one of your own: gpt2 WIDTH HEADS DEPTH VOCABULARY POSITIONS, or one of opt, bert below.
# What is no operation of its own (views, transposes that nobody copies) has no layer. torch.matmul
# copies factors whose heads do not lie one after the other, so queries, keys and values are copied;
# so is the context, to join its heads. A mask is added (bert, opt) or chosen by (gpt2): a pass over
# the scores either way. Dropouts run in training alone. Sources: the models' configurations as
# published on huggingface.co; modeling_bert.py, modeling_gpt2.py, modeling_opt.py.

namespace eval transformers {
    variable layers {}
    variable last input
    variable tokens 0

    # Adds a layer and returns its name.
    proc add {name type args} {
        variable layers
        variable last
        set text "    { name = \"$name\"; type = \"$type\";"
        foreach {key value} $args {
            if {$key eq "weights_of"} {
                append text " weights_of = \"$value\";"
            } elseif {$key eq "inputs"} {
                if {[llength $value] == 1} {
                    if {$value ne $last} { append text " inputs = \"$value\";" }
                } else {
                    append text " inputs = \[[join [lmap v $value {set _ \"$v\"}] {, }]\];"
                }
            } else {
                append text " $key = $value;"
            }
        }
        lappend layers "$text }"
        set last $name
    }

    # A linear layer of a sequence.
    proc linear {name from columns {bias true}} {
        add $name matmul inputs $from columns $columns bias $bias
    }

    # The output layer over the vocabulary, whose weights are the words' embedding.
    proc tied {from vocabulary bias} {
        add logits matmul inputs $from columns $vocabulary bias $bias weights_of words
    }

    # Scores, mask, softmax, context; the way from queries, keys and values to the joined context. A
    # causal mask is said of the softmax; unfused, it is a pass over all scores.
    proc attention {p q k v heads mask} {
        set q [add $p.q_copy copy inputs $q]
        set k [add $p.k_copy copy inputs $k]
        set scores [add $p.scores matmul inputs [list $q $k] heads $heads transposed true]
        if {"scaled" ni $mask} { add $p.scaled scale inputs $scores }
        add $p.masked shift inputs [set transformers::last]
        if {"bounded" in $mask} { add $p.bounded shift inputs [set transformers::last] }
        set hidden [expr {"causal" in $mask ? [list causal_rows [set transformers::tokens]] : {}}]
        add $p.softmax softmax inputs [set transformers::last] heads $heads {*}$hidden
        add $p.dropped dropout inputs [set transformers::last]
        set weights [set transformers::last]
        set v [add $p.v_copy copy inputs $v]
        add $p.context matmul inputs [list $weights $v] heads $heads
        add $p.joined copy inputs $p.context
    }

    # 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), kernel by kernel
    proc gelu_new {p x} {
        add $p.cubed power inputs $x
        add $p.weighed scale inputs $p.cubed
        add $p.sum add inputs [list $x $p.weighed]
        add $p.inner scale inputs $p.sum
        add $p.tanh tanh inputs $p.inner
        add $p.plus_1 shift inputs $p.tanh
        add $p.half scale inputs $x
        add $p.gelu mul inputs [list $p.half $p.plus_1]
    }

    proc embed {vocabulary positions width} {
        add words embedding inputs input vocabulary $vocabulary outputs $width
        add positions embedding inputs input vocabulary $positions outputs $width
    }

    proc gpt2 {width heads depth vocabulary positions} {
        embed $vocabulary $positions $width
        add embedded add inputs {words positions}
        set x [add embedded_dropped dropout inputs embedded]
        for {set i 0} {$i < $depth} {incr i} {
            set p h$i
            add $p.ln1 layer_norm inputs $x
            linear $p.qkv $p.ln1 [expr {3 * $width}]
            foreach part {q k v} first {0 1 2} {
                add $p.$part slice inputs $p.qkv first [expr {$first * $width}] channels $width
            }
            set context [attention $p $p.q $p.k $p.v $heads causal]
            linear $p.proj $context $width
            add $p.proj_dropped dropout inputs $p.proj
            set x [add $p.add1 add inputs [list $p.proj_dropped $x]]
            add $p.ln2 layer_norm inputs $x
            linear $p.up $p.ln2 [expr {4 * $width}]
            gelu_new $p $p.up
            linear $p.down $p.gelu $width
            add $p.down_dropped dropout inputs $p.down
            set x [add $p.add2 add inputs [list $x $p.down_dropped]]
        }
        add ln layer_norm inputs $x
        tied ln $vocabulary false
    }

    proc opt {width heads depth inner vocabulary positions} {
        embed $vocabulary $positions $width
        set x [add embedded add inputs {words positions}]
        for {set i 0} {$i < $depth} {incr i} {
            set p h$i
            add $p.ln1 layer_norm inputs $x
            linear $p.q $p.ln1 $width
            add $p.q_scaled scale inputs $p.q
            linear $p.k $p.ln1 $width
            linear $p.v $p.ln1 $width
            # queries and keys come scaled, masked scores are kept above the least number
            set context [attention $p $p.q_scaled $p.k $p.v $heads {scaled bounded causal}]
            linear $p.proj $context $width
            add $p.proj_dropped dropout inputs $p.proj
            set x [add $p.add1 add inputs [list $x $p.proj_dropped]]
            add $p.ln2 layer_norm inputs $x
            linear $p.up $p.ln2 $inner
            add $p.relu relu inputs $p.up
            linear $p.down $p.relu $width
            add $p.down_dropped dropout inputs $p.down
            set x [add $p.add2 add inputs [list $x $p.down_dropped]]
        }
        add ln layer_norm inputs $x
        tied ln $vocabulary false
    }

    # head: for pretraining, words are predicted; else one class for all, which is next to nothing
    proc bert {width heads depth inner vocabulary positions head} {
        embed $vocabulary $positions $width
        add types embedding inputs input vocabulary 2 outputs $width
        add embedded add inputs {words types}
        add placed add inputs {embedded positions}
        add embedded_ln layer_norm inputs placed
        set x [add embedded_dropped dropout inputs embedded_ln]
        for {set i 0} {$i < $depth} {incr i} {
            set p h$i
            foreach part {q k v} { linear $p.$part $x $width }
            set context [attention $p $p.q $p.k $p.v $heads {}]
            linear $p.proj $context $width
            add $p.proj_dropped dropout inputs $p.proj
            add $p.add1 add inputs [list $p.proj_dropped $x]
            set x [add $p.ln1 layer_norm inputs $p.add1]
            linear $p.up $x $inner
            add $p.gelu gelu inputs $p.up
            linear $p.down $p.gelu $width
            add $p.down_dropped dropout inputs $p.down
            add $p.add2 add inputs [list $p.down_dropped $x]
            set x [add $p.ln2 layer_norm inputs $p.add2]
        }
        if {$head} {
            linear head $x $width
            add head_gelu gelu inputs head
            add head_ln layer_norm inputs head_gelu
            tied head_ln $vocabulary true
        } else {
            add pooled mean_pool inputs $x
            linear pooler pooled $width
            add pooler_tanh tanh inputs pooler
            linear logits pooler_tanh 2
        }
    }

    proc write {folder name title length arguments} {
        variable layers {}
        variable last input
        variable tokens $length
        {*}$arguments
        set f [open [file join $folder $name.cfg] w]
        puts $f "# SPDX-License-Identifier: GPL-3.0-or-later"
        puts $f "# $title"
        puts $f "# Every operation as PyTorch runs it eagerly. Written by scripts/transformers.tcl."
        puts $f "name = \"$name\";\nbatch = 1;\nprecision = \"fp32\";"
        puts $f "input = { channels = 1; height = $length; width = 1; };"
        puts $f "layers = (\n[join $layers ,\n]\n);"
        close $f
    }

    proc write_all {folder} {
        foreach {name title length arguments} {
            bert_base  "BERT base, to classify 512 words: \"BERT: pre-training of deep\
                    bidirectional transformers\" (Devlin et al., 2019)."
                512 {bert 768 12 12 3072 30522 512 0}
            bert_large "BERT large, to classify 512 words: \"BERT: pre-training of deep\
                    bidirectional transformers\" (Devlin et al., 2019)."
                512 {bert 1024 16 24 4096 30522 512 0}
            bert_large_pretraining "BERT large in pretraining,\
                    which predicts 512 words (Devlin et al., 2019)."
                512 {bert 1024 16 24 4096 30522 512 1}
            gpt2       "GPT-2 over 1024 words: \"Language models are unsupervised multitask\
                    learners\" (Radford et al., 2019)."
                1024 {gpt2 768 12 12 50257 1024}
            gpt2_med   "GPT-2 medium over 1024 words: \"Language models are unsupervised multitask\
                    learners\" (Radford et al., 2019)."
                1024 {gpt2 1024 16 24 50257 1024}
            gpt2_large "GPT-2 large over 1024 words: \"Language models are unsupervised multitask\
                    learners\" (Radford et al., 2019)."
                1024 {gpt2 1280 20 36 50257 1024}
            gpt3_xl    "GPT-3 XL over 2048 words: \"Language models are few-shot learners\"\
                    (Brown et al., 2020), with 16 heads\n# of 128: the 24 of its table 2.1 are more\
                    than its width."
                2048 {gpt2 2048 16 24 50257 2048}
            gpt3_27    "GPT-3 2.7B over 2048 words: \"Language models are few-shot learners\"\
                    (Brown et al., 2020)."
                2048 {gpt2 2560 32 32 50257 2048}
            opt_13     "OPT 1.3B over 2048 words: \"OPT: open pre-trained transformer language\
                    models\" (Zhang et al., 2022)."
                2048 {opt 2048 32 24 8192 50272 2050}
        } { write $folder $name $title $length $arguments }
    }
}

switch [llength $argv] {
    1 {transformers::write_all [lindex $argv 0]}
    5 {transformers::write {*}$argv}
    default {
        error "usage: tharsis -no_init -exit scripts/transformers.tcl FOLDER ?NAME TITLE TOKENS\
            SHAPE?"
    }
}
