# SPDX-License-Identifier: GPL-3.0-or-later
# train_gpt3.tcl - GPT-3 175B on 1,024 A100: which parallel plan on which network?
#
#   tharsis -exit scripts/experiments/train_gpt3.tcl ?-top N? ?-software YEAR? ?-nodes N?
#
# A batch of 1,536 sequences of 2,048 tokens on DGX A100 nodes with a full fat tree, the same with
# an oversubscription of 4, and the same accelerators as a torus whose links are the NVLinks of an
# A100 (six of 50 GB/s instead of switches and network cards; assumed). The -top best plans of each
# (5), proven: no other plan that divides and fits is faster. A message between stages is timed
# alone, so only exchanges of gradients over more than a unit of 20 nodes feel the oversubscription.

array set options [concat {-top 5 -software 2024 -nodes 128} $argv]
set run $options(-nodes)_$options(-top)_$options(-software)
create_study gpt3 -file out/train_gpt3_$run.db -parameters [list \
    network {full_tree tree_4_1 torus} more {{} {-oversubscription 4} {}} \
    nodes $options(-nodes) top $options(-top) software $options(-software)] -zip {network more} \
    -metrics {
        {step time} {tokens number} {plan text} {mfu number} {plans_run count} {best text}
    } -script {
        if {$network eq "torus"} {
            create_system -name torus -topology torus -dims [list 8 8 [expr {$nodes / 8}]] \
                -accel a100_80 -link_bandwidth 50GB/s -link_latency 1us
        } else {
            create_system dgx_a100 -size $nodes {*}$more
        }
        create_transformer -model gpt3_175b -sequence 2048
        search_plan -global_batch 1536 -software $software -top $top -threads 1
        # The plans of the report as {PLAN SCHEDULE ZERO BATCH RECOMPUTE SECONDS PERCENT PROVEN}.
        set lines [split [report_search -format csv -return_string -limit $top] \n]
        set at [lsearch $lines "# table: plans"]
        set names [split [lindex $lines $at+1] ,]
        foreach line [lrange $lines $at+2 [expr {$at + 1 + $top}]] {
            set row [dict create {*}[concat {*}[lmap name $names value [split $line ,] {
                list $name $value
            }]]]
            dict with row {
                lappend found [list $plan $schedule $zero $micro_batch $recompute \
                    [expr {$step_ps / 1e12}] $utilization_percent $proven]
            }
        }
        lassign [lindex $found 0] plan - - - - step mfu
        dict create step ${step}s tokens [expr {1536 * 2048 / $step}] plan $plan mfu $mfu \
            plans_run [regexp -all {\n\d+,} [report_search -format csv -return_string]] \
            best $found
    }
if {[run_study gpt3] ne "done"} {exit 1}

# Rows of the study as dicts; lists in CSV are quoted.
proc read_points {study} {
    set json [report_study $study -format json -return_string]
    return [lmap {- network} [regexp -all -inline {"network": "(\w+)"} $json] \
        {- step} [regexp -all -inline {"step_ps": (\d+)} $json] \
        {- best} [regexp -all -inline {"best": "([^"]*)"} $json] {
        dict create network $network step [expr {$step / 1e12}] best $best
    }]
}

set points [read_points gpt3]
foreach point $points {
    puts "\n[dict get $point network]: the best plans"
    puts [format "  %-28s %-12s %4s %5s %-9s %8s %6s  %s" \
        plan schedule ZeRO batch recompute "step s" "MFU %" proven]
    foreach row [dict get $point best] {
        puts [format "  %-28s %-12s %4d %5d %-9s %8.3f %6.2f  %s" {*}$row]
    }
}
puts ""
report_study gpt3 -columns {network plan step tokens mfu plans_run} -width 100
write_plot gpt3 -of study -type bar -x network -y step out/train_gpt3.svg

set sorted [lsort -real -command {apply {{a b} {
    expr {[dict get $a step] < [dict get $b step] ? -1 : [dict get $a step] > [dict get $b step]}
}}} $points]
lassign $sorted first second third
set plans [lsort -unique [lmap point $points {lindex [dict get $point best] 0 0}]]
proc longer {point first} {
    set percent [expr {100 * ([dict get $point step] / [dict get $first step] - 1)}]
    return "[dict get $point network] takes\
        [expr {$percent < 0.05 ? "as long" : "[format %.1f $percent] % longer"}]"
}
puts "\nVerdict: [dict get $first network] is fastest with [lindex [dict get $first best] 0 0];\
    [longer $second $first], [longer $third $first].\
    [expr {[llength $plans] == 1 ? "The best plan is the same on all three"
        : "The best plan depends on the network"}]."
