# SPDX-License-Identifier: GPL-3.0-or-later
# quality.tcl - how good the mappings of the searches are, on instances of different character.
#
#   tharsis -exit tests/bench/quality/quality.tcl ?quick?
#   tharsis -exit tests/bench/quality/quality.tcl default ?OPTION VALUE ...?
#   tharsis -exit tests/bench/quality/quality.tcl compare ?OPTION VALUE ...?
#   tharsis -exit tests/bench/quality/quality.tcl record ?OPTION VALUE ...?
#   tharsis -exit tests/bench/quality/quality.tcl replay ?OPTION VALUE ...?
#   tharsis -exit tests/bench/quality/quality.tcl bounds ?OPTION VALUE ...?
#   tharsis -exit tests/bench/quality/quality.tcl gains ?OPTION VALUE ...?
#   tharsis -exit tests/bench/quality/quality.tcl opponent ?OPTION VALUE ...?
#
# quick runs the default search on six instances with 300 evaluations, and default on every
# instance with its default budget; a TAP line each says how far it is behind the best value
# known. compare runs every algorithm at several budgets and seeds, and prints its mean gap to the
# best value known, by instance and over all, and the CPU time. record searches with large
# budgets, and keeps what is better than the best known: best.csv has the value, its bound, and
# the algorithm, seed and budget that found it; mappings/INSTANCE.map the mapping. bounds finds
# the lower bounds again, for recorded mappings, and holds the mean gap on five networks to a bar.
# gains says which search of the default one found how much of what it gained over its first
# mapping. opponent runs another search (set_annealing.tcl) and the default one with as many
# evaluations, on f1_16xlarge and the torus. What compare and record have searched is kept in
# runs.csv, search by search, with its CPU time, and not searched again: both can be stopped at
# any time and go on. Remove runs.csv after a change of the models or of a search.
#   -instances PATTERNS   those whose names match one of these (*)
#   -algorithms LIST      (portfolio two_level annealing polish dp nsga2 random)
#   -evaluations LIST     budgets (compare: 300 1000 4000; record: 50000; opponent: 1000)
#   -seeds LIST           (compare: 1 2 3; record: 1 2 3 4 5; gains, opponent: 1)
#   -h2h FOLDER           H2H's data (tests/accept/h2h.tcl): without it, its instances are left out

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
    casia_surf_f1 {{read_system f1_16xlarge; read_workload casia_surf} {}}
    facebagnet_f1 {{read_system f1_16xlarge; read_workload facebagnet} {}}
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
# H2H's models at two bandwidths, in GB/s.
foreach model {casia_surf facebag vfs cnn_lstm} {
    foreach bandwidth {0.125 0.5} {
        dict set instances h2h_${model}_$bandwidth \
            [list [list read_h2h $model $bandwidth] {}]
    }
}

# By instance: how many percent the default search may be behind the best known with 300
# evaluations; how many with its default budget; and where it is known to be more, with what it was.
set quick_limits {
    alexnet_f1 2 resnet34_f1 8 resnet34_balanced 8 resnet18_heterogeneous 8 mobilenet_v2_f1 12
    bert_torus 8
}
set quick_misses {resnet18_heterogeneous 17.51}
set default_limit 1
# The mean gap to the bound, and what it is known to be.
set bound_limit 20
set bound_miss 23.7
set default_misses {
    wrn50_2_small 6.3 resnet18_stream 2.1 mobilenet_v2_f1 2.0 resnet101_f1 1.5 casia_surf_f1 1.2
    h2h_facebag_0.125 2.4 h2h_facebag_0.5 2.1 h2h_cnn_lstm_0.5 2.5
}

source [file join $folder .. .. accept lib h2h_models.tcl]
source [file join $folder set_annealing.tcl]

proc read_h2h {model bandwidth} {
    close [file tempfile name]
    file delete $name
    file mkdir $name
    write_h2h_case [dict get $::options -h2h] $name $model $bandwidth 0
    read_system [file join $name system.cfg]
    read_workload [file join $name model.cfg]
    file delete -force $name
}

# ---- one search ----

# A dict of value (in ps or J s, as -format csv has it) and bound; "" where nothing in time was
# found. evaluations 0: the default.
proc search {instance algorithm evaluations seed args} {
    lassign [dict get $::instances $instance] setup options
    lappend options {*}$args
    uplevel #0 $setup
    if {$evaluations > 0} {lappend options -evaluations $evaluations}
    if {[catch {map_workload -algorithm $algorithm -seed $seed {*}$options} message]} {
        puts stderr "$instance $algorithm: $message"
        return ""
    }
    set row [lindex [rows [report_search -format csv -return_string]] 0]
    if {[dict get $row lateness_ps] ni {"" 0}} {
        puts stderr "$instance $algorithm: late"
        return ""
    }
    return [dict create value [value_of $row] bound [dict get $row lower_bound_ps]]
}

# The rows of a table in csv, as dicts.
proc rows {csv} {
    set lines [lmap line [split [string trim $csv] \n] {
        if {[string match #* $line]} continue
        csv_fields $line
    }]
    return [lmap fields [lrange $lines 1 end] {
        set row {}
        foreach name [lindex $lines 0] field $fields {dict set row $name $field}
        set row
    }]
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

# ---- searches that were done ----

set runs_file [file join $folder runs.csv]

# By instance, algorithm, evaluations and seed: value ("" where nothing in time was found), CPU s.
proc read_runs {} {
    set runs {}
    if {![file exists $::runs_file]} {return $runs}
    set f [open $::runs_file]
    foreach line [lrange [split [string trim [read $f]] \n] 1 end] {
        lassign [split $line ,] instance algorithm evaluations seed value cpu_s
        dict set runs $instance,$algorithm,$evaluations,$seed [list $value $cpu_s]
    }
    close $f
    return $runs
}

# As search, but a search that was done before, whose result nobody keeps, is read. Adds cpu_s.
proc search_once {instance algorithm evaluations seed} {
    set key $instance,$algorithm,$evaluations,$seed
    set runs [read_runs]
    if {[dict exists $runs $key]} {
        lassign [dict get $runs $key] value cpu_s
        return [dict create value $value cpu_s $cpu_s is_old 1]
    }
    set began [cpu_seconds]
    set found [search $instance $algorithm $evaluations $seed]
    set value [expr {$found eq "" ? "" : [dict get $found value]}]
    set cpu_s [format %.2f [expr {[cpu_seconds] - $began}]]
    set is_new [expr {![file exists $::runs_file]}]
    set f [open $::runs_file a]
    if {$is_new} {puts $f instance,algorithm,evaluations,seed,value,cpu_s}
    puts $f $key,$value,$cpu_s
    close $f
    return [dict merge $found [dict create value $value cpu_s $cpu_s is_old 0]]
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
        if {![is_selected $name]} continue
        if {[string match h2h_* $name] && [dict get $::options -h2h] eq ""} continue
        set name
    }
}

proc is_selected {name} {
    foreach pattern [dict get $::options -instances] {
        if {[string match $pattern $name]} {return 1}
    }
    return 0
}

# Seeds one after the other, so that what is there at any time is even.
proc record {} {
    foreach evaluations [dict get $::options -evaluations] {
        foreach seed [dict get $::options -seeds] {
            foreach instance [selected] {
                foreach algorithm [dict get $::options -algorithms] {
                    record_one $instance $algorithm $evaluations $seed
                }
            }
        }
    }
    return 0
}

proc record_one {instance algorithm evaluations seed} {
    set found [search_once $instance $algorithm $evaluations $seed]
    if {[dict get $found is_old] || [dict get $found value] eq ""} return
    keep_if_best $instance $found $algorithm $evaluations $seed
}

# The mapping of the session is found's.
proc keep_if_best {instance found algorithm evaluations seed} {
    set best [read_best]
    set value [dict get $found value]
    puts "$instance $algorithm $evaluations $seed: $value, [dict get $found cpu_s] CPU s"
    flush stdout
    if {[dict exists $best $instance] && $value >= [dict get $best $instance value]} return
    dict set best $instance [dict create value $value bound [dict get $found bound] \
            algorithm $algorithm seed $seed evaluations $evaluations]
    write_mapping [mapping_file $instance]
    write_best $best
}

proc mapping_file {instance} {file join $::folder mappings $instance.map}

proc replay {} {
    set best [read_best]
    foreach instance [selected] {
        set found [search $instance annealing 1 1 -start [mapping_file $instance]]
        if {$found eq ""} {return 1}
        set recorded [dict get $best $instance value]
        puts [format "%-24s %.12g, recorded %.12g" $instance [dict get $found value] $recorded]
        dict set best $instance value [dict get $found value]
    }
    write_best $best
    return 0
}

# The largest lower bound for mappings like the one recorded, in ps.
proc largest_bound {instance} {
    uplevel #0 [lindex [dict get $::instances $instance] 0]
    read_mapping [mapping_file $instance]
    set text [report_bounds -return_string -format csv]
    set row {^(?:compute|memory|cut|critical path),(\d+),}
    set most 0
    foreach {- bound} [regexp -all -inline -line $row $text] {set most [expr {max($most, $bound)}]}
    return $most
}

proc bounds {} {
    set best [read_best]
    foreach instance [selected] {
        lassign [list [dict get $best $instance value] [dict get $best $instance bound]] value bound
        if {$bound eq ""} continue
        dict set best $instance bound [set bound [largest_bound $instance]]
        set gaps($instance) [gap_percent $value $bound]
        puts [format "# %-24s %.1f %% above the bound" $instance $gaps($instance)]
    }
    write_best $best
    set five {alexnet_f1 vgg16_f1 resnet34_f1 resnet101_f1 wrn50_2_f1}
    set mean [mean [lmap name $five {expr {[info exists gaps($name)] ? $gaps($name) : Inf}}]]
    set line "1 - mean gap of the best known to the bound, five networks"
    if {$mean <= $::bound_limit} {
        puts [format "ok %s: %.1f %%, bar %g %%" $line $mean $::bound_limit]
    } elseif {$mean <= $::bound_miss * 1.01} {
        puts [format "not ok %s # TODO got %.1f %%, bar %g %%" $line $mean $::bound_limit]
    } else {
        puts [format "not ok %s: %.1f %%, bar %g %%" $line $mean $::bound_limit]
    }
    puts 1..1
    return 0
}

# CPU time of this process so far; 0 where the system does not tell.
proc cpu_seconds {} {
    set file /proc/[pid]/stat
    if {![file readable $file]} {return 0}
    set f [open $file]
    set fields [lrange [split [lindex [split [read $f] )] end]] 12 13]
    close $f
    return [expr {([lindex $fields 0] + [lindex $fields 1]) / 100.0}]
}

proc compare {} {
    foreach evaluations [dict get $::options -evaluations] {
        foreach algorithm [dict get $::options -algorithms] {
            compare_one $algorithm $evaluations
        }
    }
    return 0
}

# Prints the mean gap over the seeds for each instance, and over all.
proc compare_one {algorithm evaluations} {
    set gaps {}
    set line [format "%-10s %6d" $algorithm $evaluations]
    set cpu_s 0.0
    foreach instance [selected] {
        set of_seeds {}
        foreach seed [dict get $::options -seeds] {
            set found [search_once $instance $algorithm $evaluations $seed]
            set cpu_s [expr {$cpu_s + [dict get $found cpu_s]}]
            if {[dict get $found value] eq ""} continue
            if {![dict get $found is_old]} {
                keep_if_best $instance $found $algorithm $evaluations $seed
            }
            set known [dict get [read_best] $instance value]
            lappend of_seeds [gap_percent [dict get $found value] $known]
        }
        append line "  $instance "
        if {$of_seeds eq ""} {
            append line -
            continue
        }
        lappend gaps [mean $of_seeds]
        append line [format %.2f [lindex $gaps end]]
    }
    puts $line
    if {$gaps ne ""} {
        puts [format "  mean gap %.2f %% over %d instances, %.1f CPU s" [mean $gaps] \
                [llength $gaps] $cpu_s]
    }
    flush stdout
}

proc mean {values} {expr {[tcl::mathop::+ {*}$values] / [llength $values]}}

# Is the default search within limit percent of the best known? A known miss does not count, unless
# it is worse by more than a tenth.
proc verdict {number instance evaluations limit misses} {
    set known [dict get [read_best] $instance value]
    set found [search $instance portfolio $evaluations 1]
    set gap [expr {$found eq "" ? Inf : [gap_percent [dict get $found value] $known]}]
    set line [format "%d - %s: %.2f %% behind the best known, bar %g %%" \
            $number $instance $gap $limit]
    if {$gap <= $limit} {
        puts "ok $line"
    } elseif {[dict exists $misses $instance] && $gap <= 1.1 * [dict get $misses $instance]} {
        puts [format "not ok %d - %s: %% behind the best known # TODO got %.2f, bar %g" \
                $number $instance $gap $limit]
    } else {
        puts "not ok $line"
    }
    flush stdout
}

proc quick {} {
    puts 1..[dict size $::quick_limits]
    set number 0
    dict for {instance limit} $::quick_limits {
        verdict [incr number] $instance 300 $limit $::quick_misses
    }
    return 0
}

proc default {} {
    set number 0
    foreach instance [selected] {
        verdict [incr number] $instance 0 $::default_limit $::default_misses
    }
    puts 1..$number
    return 0
}

# By search, the percent of what was gained over the first mapping, and what that is of its value.
proc gains {} {
    foreach instance [selected] {
        foreach seed [dict get $::options -seeds] {
            if {[search $instance portfolio 0 $seed] eq ""} continue
            set found {}
            foreach row [rows [report_search -convergence -format csv -return_string]] {
                set value [value_of $row]
                if {[info exists last]} {
                    dict incr gained [dict get $row found_by] 0
                    dict set gained [dict get $row found_by] \
                        [expr {[dict get $gained [dict get $row found_by]] + $last - $value}]
                } else {
                    lassign [list $value {}] first gained
                }
                set last $value
            }
            set line [format "%-24s %5.1f %% over the first" $instance \
                    [expr {100 * (1 - $last / double($first))}]]
            foreach {by much} [lsort -stride 2 -index 1 -real -decreasing $gained] {
                append line [format "  %s %.0f" $by [expr {100.0 * $much / ($first - $last)}]]
            }
            puts $line
            flush stdout
            unset last
        }
    }
    return 0
}

# The other search, the default one without chunks, which the other does not know, and with them.
proc opponent {} {
    foreach instance [selected] {
        lassign [dict get $::instances $instance] setup options
        foreach evaluations [dict get $::options -evaluations] {
            foreach seed [dict get $::options -seeds] {
                uplevel #0 $setup
                set other [set_annealing::search $options $evaluations $seed]
                set plain [search $instance portfolio $evaluations $seed -chunks 1]
                set own [search $instance portfolio $evaluations $seed]
                puts [format "%-18s %6d  first %.6g  other %.6g  own without chunks %.6g, own\
                        %.6g %s" \
                        $instance $evaluations [dict get $other first] [dict get $other value] \
                        [dict get $plain value] [dict get $own value] [dict get $other gained]]
                flush stdout
            }
        }
    }
    return 0
}

set command [expr {[llength $argv] ? [lindex $argv 0] : "quick"}]
set options {
    -instances * -algorithms {portfolio two_level annealing polish dp nsga2 random} -seeds {1 2 3}
    -evaluations {300 1000 4000} -h2h ""
}
if {$command eq "record"} {
    set options [dict merge $options {-seeds {1 2 3 4 5} -evaluations 50000}]
}
if {$command in {gains opponent}} {set options [dict merge $options {-seeds 1 -evaluations 1000}]}
foreach {name value} [lrange $argv 1 end] {
    if {![dict exists $options $name]} {
        puts stderr "quality.tcl: unknown option \"$name\": must be one of [dict keys $options]"
        exit 2
    }
    dict set options $name $value
}
if {$command ni {compare record replay bounds gains opponent quick default}} {
    puts stderr "usage: tharsis -exit quality.tcl\
            quick|default|compare|record|replay|bounds|gains|opponent ?OPTION VALUE?"
    exit 2
}
exit [$command]
