# SPDX-License-Identifier: GPL-3.0-or-later
# sailor.tcl - step time and memory of plans with stages of their own, held against measured runs.
#
#   tharsis -exit tests/accept/sailor.tcl DIRECTORY ?-rows?
#
# DIRECTORY/plans.csv: OPT-350M on nodes of four GH200, and on a cluster of Titan RTX, RTX 2080 and
# RTX 3090 whose replicas of a stage have unlike GPUs. A plan is "layers A-B: GPU x COUNT:tpN | ...;
# ..." with the embedding as layer 0, the output layer as the last, and a node per replica; it is
# run as parallel_plan -stages. Bars of the rows of GH200: medians of |simulated / measured - 1|
# of the step, and of the memory of the fullest GPU. Rows of the cluster have no bar. -rows prints
# every row. Exit status: 0 where the bars hold, 1 where one does not, 2 where the data cannot be
# read.
#
# What the plans do not say, and where it is from:
#   2,048 tokens   operators.csv: the embedding of 8 sequences is 64 MB in 32 bits
#   TF32           layer_profiles.csv and operators.csv: backward a layer of 8 sequences takes 13.4
#                  ms on 4 A100, its operators 11.6 in 32 bits and 4.5 in 16, and products "in 32
#                  bits" run at 80 Tflop/s, where the A100 has 19.5 in FP32 and 156 in TF32; FP32
#                  on Turing, which lacks TF32, and on the RTX 3090, where both are as fast
#   no dropout     of attention's scores: attention_dropout 0.0 in config.json of facebook/opt-350m
#   rates          intra_node_bandwidths.json and network_coeffs_all_homo.json: the highest that
#                  was measured; of unlike nodes the lowest
#   software       of 2022: the source trains with Megatron-DeepSpeed (assumed)

set here [file dirname [file normalize [info script]]]
source [file join $here lib training_rows.tcl]

# Design, peak TFLOP/s of 16 bits added up in 32, GB, GB/s.
set gpus {
    GH-96 {gh200 989 96 4000}  RTX-3090 {rtx3090 71 24 936}  RTX-2080 {rtx2080 40.3 8 448}
    Titan-RTX {2080ti 130.5 24 672}
}

# The highest bandwidth, bytes/s, of so many GPUs of a node, in a file of {"GPU": {"N":
# [[coefficients], HIGHEST]}}.
proc highest {text gpu n} {
    if {![regexp "\"$gpu\": *\{(\[^\}\]*)" $text - sizes] ||
        ![regexp "\"$n\": *\\\[\\s*\\\[\[^\]\]*\],\\s*(\[0-9.e+\]+)" $sizes - rate]} {
        error "no bandwidth of $n $gpu"
    }
    return $rate
}

# Bytes/s of an accelerator inside a node, and of its share of the node's link.
proc rates {nodes} {
    set f [open [file join $::directory intra_node_bandwidths.json]]
    set inside [read $f]
    close $f
    set f [open [file join $::directory network_coeffs_all_homo.json]]
    set outside [lindex [split [string map {\"intra\" \x01} [read $f]] \x01] 0]
    close $f
    foreach node [lsort -unique $nodes] {
        lassign $node gpu n
        lappend in [highest $inside $gpu $n]
        lappend out [expr {[highest $outside $gpu $n] / $n}]
    }
    return [lmap of [list $in $out] {lindex [lsort -real $of] 0}]
}

# {LAYERS {{GPU COUNT} ...}} of each stage; layers of the transformer alone.
proc stages_of {plan} {
    set stages [lmap stage [split $plan ";"] {
        if {![regexp {layers (\d+)-(\d+): (.*)} $stage - first last replicas]} {
            error "no stage: \"$stage\""
        }
        set nodes [lmap replica [split $replicas "|"] {
            if {![regexp {([\w-]+)x(\d+):tp(\d+)} $replica - gpu n tensor] || $tensor != $n} {
                error "no replica of one node: \"$replica\""
            }
            list $gpu $n
        }]
        list [expr {$last - max($first, 1) + 1}] $nodes
    }]
    lset stages end 0 [expr {[lindex $stages end 0] - 1}]
    return $stages
}

proc write_system {cluster nodes} {
    set n [lindex $nodes 0 1]
    set kinds [lsort -unique [lmap node $nodes {lindex $node 0}]]
    set designs [join [lmap gpu $kinds {
        lassign [dict get $::gpus $gpu] name peak
        format {{ name = "%s"; type = "roofline"; clock = "1GHz"; macs_per_cycle = %d; }} $name \
            [expr {int($peak * 500)}]
    }] ,]
    set accelerators [join [lmap node $nodes {
        lassign [dict get $::gpus [lindex $node 0]] name - memory rate
        format {{ count = %d;
            dram = { capacity = "%dGB"; bandwidth = "%dGB/s"; latency = "400ns"; };
            vector = { clock = "1GHz"; elements_per_cycle = 10000; }; designs = ["%s"]; }} \
            $n $memory $rate $name
    }] ,]
    lassign [rates $nodes] inside outside
    set f [file tempfile path .cfg]
    puts $f "name = \"$cluster\"; designs = ( $designs ); accelerators = ( $accelerators );
        topology = { [expr {[llength $nodes] > 1 ? "type = \"islands\"; dims = \[[llength $nodes],\
            $n\]; bandwidth = \[\"${inside}B/s\", \"${outside}B/s\"\]; latency = \[\"1us\",\
            \"3us\"\];" : "type = \"star\"; dims = \[$n\]; bandwidth = \"${inside}B/s\"; latency =\
            \"1us\";"}] };"
    close $f
    return $path
}

# {SECONDS BYTES} of a row.
proc simulate {row} {
    dict with row {}
    set stages [stages_of $plan]
    set nodes [concat {*}[lmap stage $stages {lindex $stage 1}]]
    set path [write_system $cluster $nodes]
    read_system $path
    file delete $path
    create_transformer -model gpt3_xl -name opt_350m -layers 24 -hidden 1024 -heads 16 \
        -kv_heads 16 -head_dim 64 -ffn 4096 -vocab 50272 -sequence 2048 -attention_dropout 0 \
        -precision [expr {$cluster eq "gh200" ? "tf32" : "fp32"}]
    parallel_plan -tensor [lindex $nodes 0 1] -data [llength [lindex $stages 0 1]] \
        -stages [lmap stage $stages {lindex $stage 0}] -schedule 1f1b -micro_batch $micro_batch \
        -global_batch $global_batch -software 2022 -ignore_memory
    run
    set json [report_training -format json -return_string]
    regexp {"step_ps": (\d+)} $json - step
    regexp {"memory_bytes": (\d+)} $json - bytes
    return [list [expr {$step / 1e12}] $bytes]
}

# Percent that a simulated figure is above the measured one.
proc percent {got measured} {return [expr {100 * (double($got) / $measured - 1)}]}

proc median {list} {
    set sorted [lsort -real [lmap x $list {expr {abs($x)}}]]
    return [lindex $sorted [expr {([llength $sorted] - 1) / 2}]]
}

# {{ERROR OF THE STEP} {OF THE MEMORY}} of the rows of a cluster.
proc errors_of {rows cluster prints} {
    set steps {}
    set memories {}
    foreach row $rows {
        if {[dict get $row cluster] ne $cluster} continue
        lassign [simulate $row] step bytes
        lappend steps [percent $step [dict get $row step_s]]
        lappend memories [percent $bytes [dict get $row max_memory_bytes]]
        if {!$prints} continue
        puts [format "%-16s %10.4f %10.4f s %+6.1f %%   %6.2f %6.2f GB %+6.1f %%" \
            [dict get $row run] [dict get $row step_s] $step [lindex $steps end] \
            [expr {[dict get $row max_memory_bytes] / 1e9}] [expr {$bytes / 1e9}] \
            [lindex $memories end]]
    }
    return [list $steps $memories]
}

proc check_bar {what got bar} {
    set holds [expr {$got <= $bar}]
    puts [format "bar: %s: got %.2f %%, at most %s %%: %s" $what $got $bar \
        [expr {$holds ? "holds" : "MISSED"}]]
    return $holds
}

proc check_all {prints} {
    set rows [csv_rows [file join $::directory plans.csv]]
    lassign [errors_of $rows mixed_rtx $prints] steps memories
    if {[llength $steps]} {
        puts [format "mixed_rtx, without a bar: median step %.2f %%, memory %.2f %% (%d cases)" \
            [median $steps] [median $memories] [llength $steps]]
    }
    lassign [errors_of $rows gh200 $prints] steps memories
    if {![llength $steps]} {error "plans.csv: no row is of gh200"}
    set holds [check_bar "step, median" [median $steps] 12]
    set holds [expr {[check_bar "memory, median" [median $memories] 10] && $holds}]
    puts [format "sailor: step %.2f percent, memory %.2f percent (%d cases)" [median $steps] \
        [median $memories] [llength $steps]]
    return $holds
}

if {[llength $argv] == 0} {
    puts stderr "usage: tharsis -exit tests/accept/sailor.tcl DIRECTORY ?-rows?"
    exit 2
}
suppress_message TCL-0079 TCL-3035
set directory [lindex $argv 0]
if {[catch {check_all [expr {"-rows" in $argv}]} holds]} {
    puts stderr "sailor.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
