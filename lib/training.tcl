# SPDX-License-Identifier: GPL-3.0-or-later
# training.tcl - report_training: the time of a step, what its stages wait for, and what would make
# it shorter; how plans differ.

::tharsis::lib::columns training training_stages stages {
    {stage stage count id} compute optimizer bubble_warm_up bubble_drain bubble_imbalance
    bubble_waiting exposed_tensor exposed_context exposed_expert exposed_data exposed_pipeline
    memory share=memory_share -layers -bubble -end
}

proc ::tharsis::lib::report_training {o} {
    core::need run
    fail_if {![dict get [core::about] is_step]} TCL-0928 "what ran is no step of training:\
        parallel_plan makes one"
    fail_if {[row {SELECT state FROM run}] ne "done"} TCL-1180 "the step is not done: run first"
    set tables [dict get [expr {[dict exists $o by] ? [stages_tables] : [training_tables]}] tables]
    if {[dict exists $o parts]} {lappend tables [step_parts]}
    return [report training "Training step" $tables head [step_head] arranged \
        [expr {[dict exists $o by] ? 1 : [llength $tables]}]]
}

# Of the stage that ends last, the first of equals.
proc ::tharsis::lib::of_last_stage {columns} {
    return [row "SELECT $columns FROM stages ORDER BY end_ps DESC, id LIMIT 1"]
}

proc ::tharsis::lib::training_tables {} {
    return [dict create head [step_head] tables [list [table training {} \
        "stages s, run r ORDER BY s.end_ps DESC, s.id LIMIT 1" {
            {step step time r.makespan_ps} {tokens "tokens per s" rate r.tokens_per_s}
            {accel_tokens "tokens per s and accelerator" rate r.accel_tokens_per_s}
            {tokens_per_joule "tokens per J" number r.tokens_per_joule}
            {model_utilization "model utilization" share r.model_utilization}
            {hardware_utilization "hardware utilization" share r.hardware_utilization}
            {stage "stage that ends last" count s.id} {compute computation time s.compute_ps}
            {optimizer optimizer time s.optimizer_ps} {bubble bubble time s.bubble_ps}
            {bubble_warm_up "bubble: warm-up" time s.bubble_warm_up_ps}
            {bubble_drain "bubble: drain" time s.bubble_drain_ps}
            {bubble_fill {} time {s.bubble_warm_up_ps + s.bubble_drain_ps}}
            {bubble_imbalance "bubble: imbalance" time s.bubble_imbalance_ps}
            {bubble_waiting "bubble: waiting" time s.bubble_waiting_ps}
            {exposed_tensor "exposed: tensor" time s.exposed_tensor_ps}
            {exposed_context "exposed: context" time s.exposed_context_ps}
            {exposed_expert "exposed: expert" time s.exposed_expert_ps}
            {exposed_data "exposed: data" time s.exposed_data_ps}
            {exposed_pipeline "exposed: pipeline" time s.exposed_pipeline_ps}
            {memory "memory of an accelerator" bytes r.accel_memory_bytes}
        } is_record 1]]]
}

# A row for each stage; kinds of messages that none waits for are not in text.
proc ::tharsis::lib::stages_tables {} {
    set hides [lmap kind {tensor context expert data pipeline} {
        if {[row "SELECT max(exposed_${kind}_ps) FROM stages"] > 0} continue
        string cat exposed_ $kind
    }]
    return [dict create tables [list [table training_stages Stages stages \
        [shown training training_stages $hides]]]]
}

# What the kernels of the last stage do: {PART PS}, without what there is nothing of.
proc ::tharsis::lib::work_parts {} {
    set names [lsearch -all -inline -glob [dict keys [core::figures stages]] work_*]
    set values [of_last_stage [join [lmap name $names {string cat $name _ps}] {, }]]
    return [concat {*}[lmap name $names ps $values {
        if {$ps == 0} continue
        list [string range $name 5 end] $ps
    }]]
}

proc ::tharsis::lib::step_parts {} {
    set step [row {SELECT makespan_ps FROM run}]
    return [dict create name training_parts columns {{part part text} {time time time}
        {of_step "of the step" share}} rows [lmap {part ps} [work_parts] {
            list $part $ps [expr {double($ps) / $step}]}]]
}

# ---- the verdict ----

proc ::tharsis::lib::step_head {} {
    set about [core::about]
    set plan [plan_keys [dict get $about plan]]
    return [list [list line verdict [step_verdict]] [list line plan [plan_text $plan]] \
        [list line precision [dict get $about precision]] \
        [list line software [software_of $plan]] \
        {*}[held_against] {line predicted "by the accelerator's data sheet"}]
}

# What measured steps stand behind those of these accelerators. Where there are none, the head of
# every report says so.
proc ::tharsis::lib::held_against {} {
    set said [dict get [core::about] held_against]
    return [expr {$said eq "" ? {} : [list [list line "held against" $said]]}]
}

# The parts that -software sets, as the plan has them.
proc ::tharsis::lib::software_of {plan} {
    dict with plan {}
    if {$launch eq "auto"} {
        append launch " ([expr {$kernels eq "eager" ? "python" : "compiled"}])"
    }
    return "kernels $kernels, attention $attention, launch $launch, overlap [expr {$overlap eq "" ?
        "none" : $overlap}]"
}

# The keys of a plan and their values.
proc ::tharsis::lib::plan_keys {text} {
    return [concat {*}[lmap item [lrange [split $text ";"] 0 end-1] {
        regexp {^\s*(\w+) = (.*)$} $item - key value
        list $key [string map {\" {} ( {} ) {} \[ {} \] {} , {}} $value]
    }]]
}

# What loses time, and what would help, by the keys of the plan. on_node: of the ranks of experts,
# how many share a node; 0: the last stage has no experts, whose kernels no graph launches.
proc ::tharsis::lib::remedies {plan on_node} {
    dict with plan {}
    set overlaps [lmap kind {data tensor pipeline} {expr {$kind in $overlap}}]
    lassign $overlaps data_overlaps tensor_overlaps pipeline_overlaps
    set micro_batches [expr {$global_batch / ($data * $micro_batch)}]
    set tensor_help [expr {$tensor_overlaps ? "fewer -tensor ranks" :
        "-sequence_parallel with -overlap tensor, or fewer -tensor ranks"}]
    return [list \
        {bubble_warm_up bubble_drain} "warm-up and drain of the pipeline" "more micro-batches than\
            $micro_batches, more -virtual chunks, or fewer stages" \
        bubble_imbalance "waiting for the busiest stage" "[expr {$layout eq "with_embedding" ?
            "another number of stages" : "-layout with_embedding, or another number of stages"}]" \
        bubble_waiting "waiting for the order of operations" [expr {$pipeline_overlaps ?
            "another -schedule" : "-overlap pipeline, or another -schedule"}] \
        exposed_tensor "messages of tensor ranks" $tensor_help \
        exposed_context "messages of context ranks" "fewer -context ranks" \
        exposed_expert "the exchange of tokens" [expr {$pipeline > 1 && $schedule ne "dualpipe_v" ?
            "-schedule dualpipe_v, or fewer -expert ranks" : $on_node in [list 1 $expert] ||
            $expert_exchange eq "by_node" ? "fewer -expert ranks" :
            "-expert_exchange by_node, or fewer -expert ranks"}] \
        exposed_data "the exchange of weights and gradients" [expr {$data_overlaps ?
            "a larger -global_batch, or fewer replicas" : "-overlap data"}] \
        exposed_pipeline "messages between stages" [expr {$pipeline_overlaps ?
            "fewer stages" : "-overlap pipeline"}] \
        work_host "the host that launches kernels" [expr {$on_node > 0 ?
            "more -expert ranks, or a larger -micro_batch" : $launch eq "graph" ?
            "a larger -micro_batch" : "-launch graph, or a larger -micro_batch"}] \
        work_overlap "what computation loses to messages beside it" "fewer bytes to exchange" \
        optimizer "the optimizer" [expr {$zero > 0 ? "more ranks in -zero_group" : "-zero 1"}]]
}

# One sentence: what computation is of the step, the largest loss, and what would make it smaller.
proc ::tharsis::lib::step_verdict {} {
    set step [row {SELECT makespan_ps FROM run}]
    set losses {}
    set about [core::about]
    set on_node [expr {[of_last_stage work_tokens_ps] > 0 ? [dict get $about experts_on_node] : 0}]
    foreach {figures what help} [remedies [plan_keys [dict get $about plan]] $on_node] {
        set sum [join [lmap f $figures {string cat $f _ps}] " + "]
        lappend losses [list [of_last_stage $sum] $what $help]
    }
    lassign [lindex [lsort -integer -decreasing -index 0 $losses] 0] ps what help
    set computes [of_last_stage "compute_ps - work_host_ps - work_overlap_ps"]
    set share [format "%.0f %%" [expr {100.0 * $computes / $step}]]
    set loss [format "%.0f %%" [expr {100.0 * $ps / $step}]]
    lassign [lindex [lsort -integer -decreasing -stride 2 -index 1 [work_parts]] 0] part
    if {$ps * 20 < $step} {
        return "computation bounds the step ($share, most of it $part): no wait is above 5 %"
    }
    set bounds [expr {$ps > $computes ? "the step is bound by $what ($loss; computation $share)" :
        "computation bounds the step ($share, most of it $part), then $what ($loss)"}]
    return "$bounds: $help would help"
}

# ---- how plans differ ----

# Short names, as people write plans.
set ::tharsis::lib::plan_words {
    tensor TP pipeline PP virtual VP context CP expert EP expert_tensor ETP data DP zero ZeRO
    micro_batch MB global_batch GB
}

# All that divides the work: "TP 8 PP 4 DP 2 ZeRO 1 MB 1 GB 64, schedule 1f1b, recompute none".
proc ::tharsis::lib::plan_text {plan} {
    variable plan_words
    set words [concat {*}[lmap {key word} $plan_words {
        if {[get $plan $key 1] == 1 && $key ni {zero micro_batch global_batch}} continue
        list $word [dict get $plan $key]
    }]]
    return "$words, schedule [dict get $plan schedule], recompute [dict get $plan recompute]"
}

# Of plans, texts that name each by what is not the same in all: "TP 8 PP 4". What is no plan has
# none, nor have equal plans.
proc ::tharsis::lib::plan_names {plans} {
    variable plan_words
    set all [lmap plan $plans {plan_keys $plan}]
    set known [lsearch -all -inline -not -exact $all {}]
    set differ [keep key [dict keys [lindex $known 0]] {
        [llength [lsort -unique [lmap plan $known {dict get $plan $key}]]] > 1
    }]
    # What follows from other keys says nothing more.
    if {[llength $differ] > 1} {set differ [lsearch -all -inline -not $differ zero_group]}
    return [lmap plan $all {
        join [lmap key [expr {$plan eq "" ? "" : $differ}] {
            set value [dict get $plan $key]
            string cat [get $plan_words $key $key] " " [expr {$value eq "" ? "none" : $value}]
        }]
    }]
}
