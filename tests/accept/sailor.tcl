# SPDX-License-Identifier: GPL-3.0-or-later
# sailor.tcl - step time and memory of plans with stages of their own, held against measured runs.
#
#   tharsis -exit tests/accept/sailor.tcl DIRECTORY ?-rows?
#
# DIRECTORY/plans.csv: OPT-350M on nodes of four GH200, and on a cluster of Titan RTX, RTX 2080 and
# RTX 3090 whose replicas of a stage have unlike GPUs. A plan is "layers A-B: GPU x COUNT:tpN | ...;
# ..." with the embedding as layer 0, the output layer as the last, and a node per replica; it is
# run as parallel_plan -stages. Bars of the rows of GH200: medians of |simulated / measured - 1|
# of the step, and of the memory of the fullest GPU. The cluster's network is not told, so its
# figures have no bar. -rows prints every row. Exit status: 0 where the bars hold, 1 where one does
# not, 2 where the data cannot be read.
#
# Assumed, as the source does not say: 2,048 tokens, 16 bits, kernels and overlap of 2022 (the
# source trains with Megatron-DeepSpeed); GPUs by their data sheets; behind a node of GH200 four
# links of 200 Gbit/s, of the cluster one of 10 Gbit/s, and PCIe 3.0 inside.

set here [file dirname [file normalize [info script]]]
source [file join $here lib training_rows.tcl]

# Peak TFLOP/s of 16 bits added up in 32, GB, GB/s.
set gpus {
    GH-96 {989 96 4000}  RTX-3090 {71 24 936}  RTX-2080 {40.3 8 448}  Titan-RTX {130.5 24 672}
}
# GB/s of an accelerator inside a node, and of its share of the node's link.
proc rates {cluster per_node} {
    if {$cluster eq "gh200"} {return {450 25}}
    return [list 16 [expr {1.25 / $per_node}]]
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
        format {{ name = "%s"; type = "roofline"; clock = "1GHz"; macs_per_cycle = %d;
            device = "%s"; }} $gpu [expr {int([lindex [dict get $::gpus $gpu] 0] * 500)}] \
            [::tharsis::lib::get {GH-96 gh200 Titan-RTX 2080ti} $gpu $gpu]
    }] ,]
    set accelerators [join [lmap node $nodes {
        lassign [dict get $::gpus [lindex $node 0]] - memory rate
        format {{ count = %d;
            dram = { capacity = "%dGB"; bandwidth = "%dGB/s"; latency = "400ns"; };
            vector = { clock = "1GHz"; elements_per_cycle = 10000; }; designs = ["%s"]; }} \
            $n $memory $rate [lindex $node 0]
    }] ,]
    lassign [rates $cluster $n] inside outside
    set f [file tempfile path .cfg]
    puts $f "name = \"$cluster\"; designs = ( $designs ); accelerators = ( $accelerators );
        topology = { [expr {[llength $nodes] > 1 ? "type = \"islands\"; dims = \[[llength $nodes],\
            $n\]; bandwidth = \[\"${inside}GB/s\", \"${outside}GB/s\"\]; latency = \[\"1us\",\
            \"3us\"\];" : "type = \"star\"; dims = \[$n\]; bandwidth = \"${inside}GB/s\"; latency =\
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
        -kv_heads 16 -head_dim 64 -ffn 4096 -vocab 50272 -sequence 2048 -precision fp16
    parallel_plan -tensor [lindex $nodes 0 1] -data [llength [lindex $stages 0 1]] \
        -stages [lmap stage $stages {lindex $stage 0}] -schedule 1f1b -micro_batch $micro_batch \
        -global_batch $global_batch -software 2022 -gradients 16bit -ignore_memory
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

proc check_all {directory prints} {
    set rows [csv_rows [file join $directory plans.csv]]
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
if {[catch {check_all [lindex $argv 0] [expr {"-rows" in $argv}]} holds]} {
    puts stderr "sailor.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
