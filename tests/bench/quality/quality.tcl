# SPDX-License-Identifier: GPL-3.0-or-later
# quality.tcl - how good the mappings of the searches are, on instances of different character.
#
#   tharsis -exit tests/bench/quality/quality.tcl compare ?OPTION VALUE ...?
#   tharsis -exit tests/bench/quality/quality.tcl record ?OPTION VALUE ...?
#   tharsis -exit tests/bench/quality/quality.tcl quick
#
# compare runs every algorithm at several budgets and seeds, and prints its mean gap to the best
# value known, by instance and over all. record searches with large budgets, and keeps what is
# better than the best known: best.csv has the value, its bound, and the algorithm, seed and budget
# that found it; mappings/INSTANCE.map the mapping. quick runs the default search on six instances
# with 300 evaluations; status 1 where one is more than 15 % behind the best known.
#   -instances PATTERN    those whose names match (*)
#   -algorithms LIST      (portfolio two_level annealing polish dp nsga2 random)
#   -evaluations LIST     budgets (compare: 300 1000 4000; record: 50000)
#   -seeds N              1 .. N (compare: 3; record: 5)

set folder [file dirname [file normalize [info script]]]

# name: commands that set the problem up, then the options of map_workload.
set instances {
    alexnet_f1 {{read_system f1_16xlarge; read_workload alexnet} {}}
    vgg16_f1 {{read_system f1_16xlarge; read_workload vgg16} {}}
    resnet34_f1 {{read_system f1_16xlarge; read_workload resnet34} {}}
    resnet101_f1 {{read_system f1_16xlarge; read_workload resnet101} {}}
    wrn50_2_f1 {{read_system f1_16xlarge; read_workload wrn50_2} {}}
    wrn50_2_small {{read_system f1_16xlarge_small; read_workload wrn50_2} {}}
    resnet34_balanced {{read_system f1_16xlarge_balanced; read_workload resnet34} {}}
    resnet18_heterogeneous {
        {read_system [file join $::folder heterogeneous.cfg]; read_workload resnet18} {}
    }
    unet_f1 {{read_system f1_16xlarge; read_workload unet} {}}
    mobilenet_v2_f1 {{read_system f1_16xlarge; read_workload mobilenet_v2} {}}
    two_deadlines {
        {
            read_system f1_16xlarge
            read_workload alexnet -name fast -deadline 2.5ms
            read_workload resnet18 -add -name slow -deadline 3.2ms
        } {-keep_late}
    }
    resnet18_stream {
        {read_system f1_16xlarge; read_workload resnet18} {-inputs 16 -objective throughput}
    }
    resnet18_edp {{read_system f1_16xlarge_energy; read_workload resnet18} {-objective edp}}
    bert_torus {
        {
            create_system -name torus -topology torus -dims {4 4} -accel npu_v1 \
                -link_bandwidth 400Gbps -link_latency 500ns
            read_workload bert_base
        } {}
    }
    resnet101_fattree {
        {
            create_system -name tree -topology fattree -dims {8 2} -accel npu_v1 \
                -link_bandwidth 200Gbps -link_latency 500ns
            read_workload resnet101 -batch 64
        } {}
    }
}
set quick_instances {
    alexnet_f1 resnet34_f1 resnet34_balanced resnet18_heterogeneous mobilenet_v2_f1 bert_torus
}
set quick_gap_percent 15.0

# ---- one search ----

# A dict of value (in ps or J s, as -format csv has it) and bound; "" where nothing in time was
# found.
proc search {instance algorithm evaluations seed} {
    lassign [dict get $::instances $instance] setup options
    uplevel #0 $setup
    if {[catch {
        map_workload -algorithm $algorithm -evaluations $evaluations -seed $seed {*}$options
    } message]} {
        puts stderr "$instance $algorithm: $message"
        return ""
    }
    set lines {}
    foreach line [split [string trim [report_search -format csv -return_string]] \n] {
        if {![string match #* $line]} {lappend lines $line}
    }
    lassign $lines names fields
    set row {}
    foreach name [csv_fields $names] field [csv_fields $fields] {dict set row $name $field}
    if {[dict get $row lateness_ps] ni {"" 0}} {
        puts stderr "$instance $algorithm: late"
        return ""
    }
    return [dict create value [value_of $row] bound [dict get $row lower_bound_ps]]
}

# The one figure of the objective: its columns begin with best.
proc value_of {row} {
    dict for {name field} $row {
        if {[string match best* $name] && $field ne ""} {return $field}
    }
    error "report_search has no best value"
}

proc csv_fields {line} {
    set fields {}
    foreach {- quoted plain} [regexp -all -inline {(?:^|,)(?:"([^"]*)"|([^,"]*))} $line] {
        lappend fields $quoted$plain
    }
    return $fields
}

# ---- the best known ----

proc read_best {} {
    set best {}
    set file [file join $::folder best.csv]
    if {![file exists $file]} {return $best}
    set f [open $file]
    foreach line [lrange [split [string trim [read $f]] \n] 1 end] {
        lassign [split $line ,] instance value bound algorithm seed evaluations
        dict set best $instance [dict create value $value bound $bound algorithm $algorithm \
                seed $seed evaluations $evaluations]
    }
    close $f
    return $best
}

proc write_best {best} {
    set f [open [file join $::folder best.csv] w]
    puts $f instance,value,bound,algorithm,seed,evaluations
    foreach instance [dict keys $::instances] {
        if {![dict exists $best $instance]} continue
        set b [dict get $best $instance]
        puts $f [join [list $instance {*}[lmap key {value bound algorithm seed evaluations} {
            dict get $b $key
        }]] ,]
    }
    close $f
}

proc gap_percent {value best} {expr {100.0 * ($value / double($best) - 1)}}

# ---- commands ----

proc selected {} {
    lmap name [dict keys $::instances] {
        if {![string match [dict get $::options -instances] $name]} continue
        set name
    }
}

proc record {} {
    set best [read_best]
    foreach instance [selected] {
        foreach algorithm [dict get $::options -algorithms] {
            foreach evaluations [dict get $::options -evaluations] {
                for {set seed 1} {$seed <= [dict get $::options -seeds]} {incr seed} {
                    set found [search $instance $algorithm $evaluations $seed]
                    if {$found eq ""} continue
                    dict with found {
                        puts "$instance $algorithm $evaluations $seed: $value"
                        flush stdout
                        if {[dict exists $best $instance] &&
                            $value >= [dict get $best $instance value]} continue
                    }
                    dict set best $instance [dict merge $found [dict create algorithm $algorithm \
                            seed $seed evaluations $evaluations]]
                    write_mapping [file join $::folder mappings $instance.map]
                    write_best $best
                }
            }
        }
    }
    return 0
}

proc compare {} {
    set best [read_best]
    foreach evaluations [dict get $::options -evaluations] {
        foreach algorithm [dict get $::options -algorithms] {
            set gaps {}
            set line [format "%-10s %6d" $algorithm $evaluations]
            foreach instance [selected] {
                if {![dict exists $best $instance]} continue
                set known [dict get $best $instance value]
                set sum 0.0
                set n 0
                for {set seed 1} {$seed <= [dict get $::options -seeds]} {incr seed} {
                    set found [search $instance $algorithm $evaluations $seed]
                    if {$found eq ""} continue
                    set sum [expr {$sum + [gap_percent [dict get $found value] $known]}]
                    incr n
                }
                if {$n == 0} {
                    append line "  $instance -"
                    continue
                }
                lappend gaps [expr {$sum / $n}]
                append line [format "  %s %.2f" $instance [expr {$sum / $n}]]
            }
            if {$gaps eq ""} continue
            puts [format "%s\n  mean gap %.2f %% over %d instances" $line \
                    [expr {[tcl::mathop::+ {*}$gaps] / [llength $gaps]}] [llength $gaps]]
            flush stdout
        }
    }
    return 0
}

proc quick {} {
    set best [read_best]
    set status 0
    foreach instance $::quick_instances {
        set found [search $instance portfolio 300 1]
        set gap [gap_percent [dict get $found value] [dict get $best $instance value]]
        set is_bad [expr {$gap > $::quick_gap_percent}]
        puts [format "%-20s %8.2f %% behind the best known%s" $instance $gap \
                [expr {$is_bad ? ": more than $::quick_gap_percent" : ""}]]
        set status [expr {$status || $is_bad}]
    }
    return $status
}

set command [lindex $argv 0]
set options {
    -instances * -algorithms {portfolio two_level annealing polish dp nsga2 random} -seeds 3
    -evaluations {300 1000 4000}
}
if {$command eq "record"} {set options [dict merge $options {-seeds 5 -evaluations 50000}]}
foreach {name value} [lrange $argv 1 end] {
    if {![dict exists $options $name]} {
        puts stderr "quality.tcl: unknown option \"$name\": must be one of [dict keys $options]"
        exit 2
    }
    dict set options $name $value
}
if {$command ni {compare record quick}} {
    puts stderr "usage: tharsis -exit quality.tcl compare|record|quick ?OPTION VALUE ...?"
    exit 2
}
exit [$command]
