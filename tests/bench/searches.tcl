# SPDX-License-Identifier: GPL-3.0-or-later
# searches.tcl - what the searches find on f1_16xlarge, one image, seed 1; the last row lets no set
# span groups; user and wall time of the default search.
#   tharsis -no_init -exit tests/bench/searches.tcl ?EVALUATIONS?   of random, annealing, two_level
source [file join [file dirname [file normalize [info script]]] cost.tcl]
set budget [expr {[llength $argv] ? [lindex $argv 0] : 4000}]
set models {alexnet vgg16 resnet34 resnet101 wrn50_2}
read_system f1_16xlarge
puts [format "%-26s%s" search [join [lmap model $models {format %14s $model}] ""]]
foreach {title options} [list \
        computation_prioritized {} uniform {} greedy {} greedy_rotating {} \
        random [list -evaluations $budget] dp {} annealing [list -evaluations $budget] \
        two_level [list -evaluations $budget] portfolio {} inside {-sets inside_groups}] {
    set before [cpu]
    set wall [clock milliseconds]
    set algorithm [expr {$title eq "inside" ? "portfolio" : $title}]
    set found [lmap model $models {
        read_workload $model
        format %14s [map_workload -algorithm $algorithm {*}$options]
    }]
    puts [format "%-26s%s %8.1f CPU s %8.1f s" $title [join $found ""] [expr {[cpu] - $before}] \
        [expr {([clock milliseconds] - $wall) / 1000.0}]]
}
