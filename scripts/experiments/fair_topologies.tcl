# SPDX-License-Identifier: GPL-3.0-or-later
# fair_topologies.tcl - 64 GPUs on seven topologies whose cables cost the same: which one is best?
#
#   tharsis -exit scripts/experiments/fair_topologies.tcl ?-size SIZE? ?-per_cable GBPS?
#
# All topologies have the same budget, in which equal cables share: few cables are fast ones. A
# cable costs its rate in Gbit/s, and GBPS (0) more whatever its rate. Assumed: length, switches and
# their ports cost nothing. Collectives of SIZE by the algorithm that is fastest on the topology; a
# training step of a mixture of experts (Mixtral with 8 of its 32 layers), of which every GPU has an
# eighth of the experts.

array set options [concat {-size 256MB -per_cable 0} $argv]
set jobs {all_reduce all_to_all step}

create_study fair -file out/fair_$options(-size)_$options(-per_cable).db -parameters [list \
    topology {ring torus_2d torus_3d fat_tree fat_tree_4_1 dragonfly full} \
    type {ring torus torus fattree fattree dragonfly fully_connected} \
    dims {64 {8 8} {4 4 4} {8 2} {8 2} {2 4 2 8} 64} \
    more {{} {} {} {} {-oversubscription 4} {} {}} \
    size $options(-size) per_cable $options(-per_cable) budget 80640] \
    -zip {topology type dims more} -metrics {
        {cables count} {rate bandwidth} {cost number} {all_reduce time} {by text} {all_to_all time}
        {step time}
    } -script {
    # With links of that many Gbit/s; the number of cables.
    proc create {rate} {
        global topology type dims more
        create_system -name $topology -topology $type -dims $dims -accel h100_sxm \
            -link_bandwidth ${rate}Gbps -link_latency 500ns {*}$more
        return [expr {[llength [get_links]] / 2}]
    }
    # By the fastest algorithm, its messages whole or in 32 chunks: {END ALGORITHM}.
    proc run_collective {kind} {
        foreach chunks {1 32} {
            create_program $kind
            add_collective $kind -bytes $::size -algorithm auto -chunks $chunks
            run
            lappend found [list [get_property task/0 end -exact] [get_property task/0 algorithm]]
        }
        return [lindex [lsort -integer -index 0 $found] 0]
    }

    set cables [create 100] ;# any rate: they are counted
    set rate [expr {double($budget) / $cables - $per_cable}]
    create $rate
    lassign [run_collective all_reduce] all_reduce by
    lassign [run_collective all_to_all] all_to_all
    create_transformer -model mixtral_8x7b -layers 8 -sequence 4096
    parallel_plan -expert 8 -zero 2 -global_batch 64 -merge 0
    run
    set step [tcl::mathfunc::max {*}[lmap task [get_tasks] {get_property $task end -exact}]]
    dict create cables $cables rate ${rate}Gbps cost [expr {$cables * ($rate + $per_cable)}] \
        all_reduce ${all_reduce}ps by $by all_to_all ${all_to_all}ps step ${step}ps
}
if {[run_study fair] ne "done"} {exit 1}
report_study fair -columns {topology cables rate cost all_reduce by all_to_all step} -width 110
write_plot fair -of study -type bar -x topology -y $jobs -log y out/fair_topologies.svg

# The verdict: rows of the study as dicts, times of each job against the least.
proc read_points {study} {
    set lines [split [string trim [report_study $study -format csv -return_string]] \n]
    set lines [lsearch -all -inline -not -glob $lines "#*"]
    set names [split [lindex $lines 0] ,]
    return [lmap line [lrange $lines 1 end] {
        concat {*}[lmap name $names value [split $line ,] {list $name $value}]
    }]
}

proc name_times {times} {
    return [join [lmap time $times {
        lassign $time topology ratio
        format "%s %.2f" $topology $ratio
    }] ", "]
}

set points [read_points fair]
set ratios [dict create] ;# by topology: of every job
puts "Times the best, at equal cost"
foreach job $jobs {
    set best [tcl::mathfunc::min {*}[lmap point $points {dict get $point ${job}_ps}]]
    set times [lmap point $points {
        set ratio [expr {double([dict get $point ${job}_ps]) / $best}]
        set topology [dict get $point topology]
        dict lappend ratios $topology $ratio
        list $topology $ratio
    }]
    puts [format "%-12s %s" $job [name_times [lsort -real -index 1 $times]]]
}
set means [lsort -real -index 1 [lmap {topology all} $ratios {
    list $topology [expr {[tcl::mathop::* {*}$all] ** (1.0 / [llength $all])}]
}]]
puts [format "%-12s %s" {geom. mean} [name_times $means]]
lassign $means first second
puts "Verdict: [lindex $first 0] is best over the three; the next, [lindex $second 0], takes\
    [format %.0f [expr {100 * ([lindex $second 1] / [lindex $first 1] - 1)}]] % longer, and the\
    last, [lindex $means end 0], [format %.1f [expr {[lindex $means end 1] / [lindex $first 1]}]]\
    times as long."
