# SPDX-License-Identifier: GPL-3.0-or-later
# mars.tcl - the mapper on the platforms of MARS (DAC 2023): is what it finds better than what it
# should beat?
#
#   tharsis -exit tests/accept/mars.tcl ?-quick?
#
# -quick: on three networks of five, in a third of the time; the bars are the same.
#
# Every line is a mapping that was found, written, read again, checked and run: "expected" is what
# the search said of it, "got" what the run took, to the picosecond; the last column is its change
# against computation_prioritized on the same network. Bars stand in lines of their own. Exit
# status: 0 where all hold, 1 where one does not, 2 where something could not be run.

set networks {alexnet vgg16 resnet34 resnet101 wrn50_2}
set baselines {computation_prioritized uniform greedy greedy_rotating single data_parallel\
        model_parallel pipeline_parallel}
set evaluations 200
set seeded_evaluations 2000
set portfolio_evaluations 1000
set other_evaluations 400
set stream_evaluations 40
set stream {-inputs 64}

# ---- one mapping ----

# A figure of a report.
proc figure {report name} {
    if {![regexp "\"$name\": (\[0-9.e+-\]+)" [$report -format json -return_string] -> value]} {
        error "$report: no $name"
    }
    return $value
}

# A column of a table of report_mapping, row by row.
proc rows_of {table} {
    set lines [split [report_mapping -format csv -return_string] \n]
    set rows {}
    foreach line [lrange $lines [lsearch -exact $lines "# table: $table"]+2 end] {
        if {$line eq ""} break
        lappend rows [split $line ,]
    }
    return $rows
}

# The mapping of the session goes into a file and comes back. Returns the makespan of both runs, in
# ps.
proc run_twice {stream} {
    if {[run -all] ne "done"} {error "the run did not end"}
    set makespan [figure report_summary makespan_ps]
    read_mapping [write_mapping $::file]
    if {![check_setup]} {error "check_setup: the mapping is not clean"}
    run -all {*}$stream
    if {[figure report_summary makespan_ps] != $makespan} {
        error "written and read, the mapping takes another time"
    }
    return $makespan
}

# Maps, runs, prints a line. Returns the objective in ps, as the run has it.
proc line {title args} {
    map_workload {*}$args
    set expected [figure report_search best_ps]
    set with_stream [expr {"-inputs" in $args ? $::stream : {}}]
    set got [run_twice $with_stream]
    if {"throughput" in $args} {
        set got [expr {1e12 / [figure report_summary batch_throughput_per_s]}]
        set differs [expr {abs($got / $expected - 1) > 1e-9}]
    } else {
        set differs [expr {$got != $expected}]
    }
    if {![info exists ::reference] || $::reference eq ""} {set ::reference $got}
    puts [format "%-50s %12.6f %12.6f %9d %9d %+8.1f" $title [expr {$expected / 1e9}] \
            [expr {$got / 1e9}] \
        [expr {round($got - $expected)}] [figure report_summary events] \
        [expr {100.0 * $got / $::reference - 100}]]
    if {$differs} {error "$title: the run takes another time than the search said"}
    return $got
}

# Which layers use which design and split, in a line per set.
proc show_mapping {} {
    set sets [rows_of sets]
    foreach set $sets {
        lassign $set number size layers design
        set count {}
        foreach row [rows_of layers] {
            lassign $row layer - of strategy
            if {$of == $number && [is_on_array $layer]} {dict incr count $strategy}
        }
        set splits {}
        foreach {strategy n} [lsort -stride 2 -index 1 -integer -decreasing $count]\
            {lappend splits "$strategy: $n"}
        puts "    $size x $design, layers on the array by split: [join $splits {, }]"
    }
}

proc is_on_array {layer} {
    return [expr {[get_property layer/$layer macs -exact] > 0}]
}

# ---- bars ----

# A line that tests/check/accept.sh reads.
proc bar {what got bar unit} {
    set holds [expr {$got >= $bar}]
    puts [format "bar: %s: got %.4g %s, at least %g %s: %s" $what $got $unit $bar $unit \
            [expr {$holds ? "holds" : "MISSED"}]]
    if {!$holds} {set ::missed 1}
}

proc mean {values} {
    return [expr {[tcl::mathop::+ {*}$values] / double([llength $values])}]
}

# By how many percent one is less than another.
proc less {one other} {
    return [expr {100.0 * (1 - double($one) / $other)}]
}

# ---- the platform ----

# Both searches try the same initial mappings first, 133 of each network, of which the best can stay
# the best for hundreds of evaluations: so the budget must reach far beyond them for the searches to
# be what is compared.
proc map_seeded {network} {
    return [lmap search {two_level random} {
        line "$network $search, $::seeded_evaluations" -algorithm $search -initial heuristic \
            -evaluations $::seeded_evaluations
    }]
}

# Every baseline and search on one network; adds to the lists of reductions.
proc map_network {network} {
    upvar reductions r
    read_workload $network
    set ::reference {}
    foreach baseline $::baselines {
        set took($baseline) [line "$network $baseline" -algorithm $baseline]
        if {$baseline in {uniform greedy greedy_rotating}} {show_mapping}
    }
    foreach {name sets} {inside inside_groups free free} {
        set took($name) [line "$network two_level, sets [string map {_ { }} $sets]" \
                -algorithm two_level -sets $sets \
            -evaluations $::evaluations]
        show_mapping
    }
    set took(portfolio) \
        [line "$network portfolio" -algorithm portfolio -evaluations $::portfolio_evaluations]
    show_mapping
    foreach {name search} {lone two_level  chance random} {
        set took($name) [line "$network $search, random seeds" -algorithm $search -initial random \
                -evaluations $::evaluations]
    }
    lappend r(random) [less $took(lone) $took(chance)]
    lappend r(heuristic) [less {*}[map_seeded $network]]
    foreach name {inside free portfolio} {
        lappend r($name) [less $took($name) $took(computation_prioritized)]
    }
    foreach name {uniform greedy greedy_rotating} {
        lappend r($name) [less $took(portfolio) $took($name)]
    }
}

proc show_platform {} {
    foreach network $::networks {map_network $network}
    bar "two_level, sets inside a group, under computation_prioritized, mean" \
        [mean $reductions(inside)] 25 %
    bar "two_level, sets free, under computation_prioritized, mean" [mean $reductions(free)] 45 %
    foreach {name mean} {uniform 5 greedy 3 greedy_rotating 3} {
        bar "portfolio under $name, least of the networks" \
            [tcl::mathfunc::min {*}$reductions($name)] 0 %
        bar "portfolio under $name, mean" [mean $reductions($name)] $mean %
    }
    bar "two_level under random, without seeds, mean" [mean $reductions(random)] 20 %
    bar "two_level under random, with the same seeds, least" \
        [tcl::mathfunc::min {*}$reductions(heuristic)] 0 %
    bar "networks where two_level is ahead of random with the same seeds" \
        [llength [lmap reduction $reductions(heuristic) \
                {if {$reduction <= 0} continue; set reduction}]] 1 networks
    puts "On a chain of layers computation_prioritized leaves one group of accelerators idle,\
            so a reduction against it\
        says less than one against uniform or greedy."
    return [mean $reductions(portfolio)]
}

# ---- little memory, balanced designs, streams ----

# 24 MiB each: weights must be cut or rotate. The report tells what a rotation buys.
proc show_small {} {
    read_system f1_16xlarge_small
    set rotating 0
    foreach network {resnet34 resnet101} {
        read_workload $network
        set ::reference {}
        line "f1_16xlarge_small $network portfolio" -algorithm portfolio \
            -evaluations $::other_evaluations
        foreach row [rows_of layers] {incr rotating [string match *rotate* [lindex $row 3]]}
        report_mapping -alternatives -sort_by change -limit 12
    }
    bar "layers with a rotation on f1_16xlarge_small" $rotating 1 layers
}

# How many layers each design would be the quickest for, alone on the layer's set; adds to the dict.
proc count_quickest {counts} {
    upvar $counts n
    set lines [split [report_mapping -alternatives -format csv -return_string] \n]
    set at [lsearch -exact $lines "# table: designs"]
    set names [lrange [split [lindex $lines $at+1] ,] 4 end]
    foreach line [lrange $lines $at+2 end] {
        if {$line eq ""} break
        set times [lrange [split $line ,] 4 end]
        set least [tcl::mathfunc::min {*}[lsearch -all -inline -not -exact $times {}]]
        dict incr n [string map {_ps {}} [lindex $names [lsearch -exact $times $least]]]
    }
}

# Designs of near-equal strength: which one is the quickest for a layer differs, and the report has
# the times.
proc show_balanced {} {
    read_system f1_16xlarge_balanced
    set quickest {}
    foreach network $::networks {
        read_workload $network
        set ::reference {}
        line "f1_16xlarge_balanced $network portfolio" -algorithm portfolio \
            -evaluations $::other_evaluations
        show_mapping
        count_quickest quickest
        if {$network eq "resnet34"} {report_mapping -alternatives}
    }
    puts "    layers by the design that is quickest for them, alone on their set: $quickest"
    bar "designs that are the quickest for some layer on f1_16xlarge_balanced" \
        [dict size $quickest] 2 designs
}

proc show_streams {} {
    set most 0
    foreach {system network} \
        {f1_16xlarge alexnet f1_16xlarge resnet34 f1_16xlarge_balanced resnet101} {
        read_system $system
        read_workload $network
        set ::reference {}
        set best inf
        foreach search {single greedy pipeline_parallel two_level} {
            set budget \
                [expr {$search eq "two_level" ? [list -evaluations $::stream_evaluations] : {}}]
            set took [line "$system $network $search, $::stream" -algorithm $search {*}$::stream \
                    -objective throughput \
                {*}$budget]
            show_mapping
            if {$took < $best} {
                set best $took
                set sets [llength [rows_of sets]]
                set winner $search
            }
        }
        puts "    $network: $winner wins, with $sets sets"
        set most [expr {max($most, $sets)}]
        if {$network eq "resnet34"} {report_utilization}
    }
    bar "sets that win for throughput, most of the networks" $most 2 sets
}

proc run_all {} {
    read_system f1_16xlarge
    puts [format "%-50s %12s %12s %9s %9s %8s" case {expected [ms]} {got [ms]} {off [ps]} \
            events {change %}]
    set figure [show_platform]
    show_small
    show_balanced
    show_streams
    puts [format "mars: %.1f percent (%d cases)" $figure [llength $::networks]]
}

if {$argv eq "-quick"} {
    set networks {alexnet vgg16 resnet34}
} elseif {$argv ne ""} {
    puts stderr "usage: tharsis -exit tests/accept/mars.tcl ?-quick?"
    exit 2
}
set missed 0
close [file tempfile file mars.map]
if {[catch {run_all} message]} {
    puts stderr "mars.tcl: $message"
    set missed 2
}
file delete $file
exit $missed
