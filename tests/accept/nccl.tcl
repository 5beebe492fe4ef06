# SPDX-License-Identifier: GPL-3.0-or-later
# nccl.tcl - predicted times of collectives against those that nccl-tests measured.
#
#   tharsis -exit tests/accept/nccl.tcl ?-v? ?-fit? DIRECTORY
#
# DIRECTORY holds machines.csv, a machine in each row, and collectives.csv, a measurement in each. A
# system is built from a machine's columns alone: a scale-up domain is an island round a switch,
# which reduces where nvls is yes; every GPU has its share of the network cards of its node (a
# rail). What NCCL may do is simulated, with the latencies and efficiencies of each of its
# protocols (docs/models/collectives.md, "NCCL"), and the fastest is the answer. Two numbers are
# fitted on the eight-GPU tables of `fitted_on`, the launch of a collective and the share of the
# links' bandwidth that arrives; all others are NCCL's own. -fit prints the fitted numbers instead.
# -v: a line per row. Exit status: 0 the bar holds, 1 it does not, 2 the data cannot be read.

set bar_percent 15.0
set least_bytes [expr {1 << 20}]
source [file join [file dirname [file normalize [info script]]] lib nccl_ways.tcl]

# ---- judging ----

set is_verbose 0
set is_fit 0
while {[string match -* [lindex $argv 0]]} {
    switch -- [lindex $argv 0] {
        -v {set is_verbose 1}
        -fit {set is_fit 1}
        default {unreadable "option [lindex $argv 0]: must be -v or -fit"}
    }
    set argv [lrange $argv 1 end]
}
if {[llength $argv] != 1} {unreadable "usage: nccl.tcl ?-v? ?-fit? DIRECTORY"}
set folder [lindex $argv 0]
set machines {}
foreach machine [csv_rows [file join $folder machines.csv]] {
    dict set machines [dict get $machine system] $machine
}
set rows {}
foreach row [csv_rows [file join $folder collectives.csv]] {
    if {![dict exists $machines [dict get $row system]]} {
        unreadable "collectives.csv: no machine \"[dict get $row system]\""
    }
    if {[dict get $row bytes] >= $least_bytes} {lappend rows $row}
}
if {[llength $rows] == 0} {unreadable "collectives.csv: no row from $least_bytes bytes"}

# The error of a row in percent, signed.
proc judge {row} {
    set machine [dict get $::machines [dict get $row system]]
    set shape [shape_of $machine [dict get $row nodes] [dict get $row gpus]]
    lassign [fastest [ways $shape [dict get $row collective] [dict get $row bytes]]] way us
    set error [expr {100.0 * ($us / [dict get $row time_us] - 1)}]
    if {$::is_verbose} {
        puts [format "%s %s %d ranks %d bytes: expected %.1f us, got %.1f us (%s),\
                deviation %+.1f %%, %d events" [dict get $row system] \
            [dict get $row collective] [dict get $row gpus] [dict get $row bytes] \
            [dict get $row time_us] $us $way $error $::events]
    }
    return $error
}

# The error in percent of a row of several nodes on links as create_system dgx_a100 makes them
# (docs/models/topologies.md, "The fitted share"), to which none of these rows was fitted.
proc judge_pod {row} {
    create_system dgx_a100 -size 1
    set share [expr {[get_property link/0_s2.0 bandwidth -exact] / 200e9}]
    set shape [shape_of [dict get $::machines [dict get $row system]] [dict get $row nodes]\
        [dict get $row gpus]]
    dict with shape {
        set rates [list [expr {round($inside * 0.78)}]GB/s\
            [expr {round($outside * 1e9 * $share)}]B/s]
        create_system -name pod -topology rails -dims [list $islands $size 20] -accel a100_80\
            -link_bandwidth $rates -link_latency {1us 2us}
    }
    set us [one [dict get $row collective] [dict get $row bytes] auto 0]
    return [expr {100.0 * ($us / [dict get $row time_us] - 1)}]
}

proc show_pod {} {
    set large [expr {1 << 27}]
    foreach row $::rows {
        set machine [dict get $::machines [dict get $row system]]
        if {[dict get $row nodes] > 1 && [number $machine scale_up_gbps_per_direction 0] <= 300} {
            lappend by([expr {[dict get $row bytes] >= $large}]) [judge_pod $row]
        }
    }
    foreach {is_large what} [list 1 "from 128 MiB" 0 "below"] {
        if {[info exists by($is_large)]} {
            set sorted [lsort -real $by($is_large)]
            puts [format "links as those of a pod, several nodes, %s: %+.1f to %+.1f %% (%d rows)"\
                $what [lindex $sorted 0] [lindex $sorted end] [llength $sorted]]
        }
    }
}

proc mean {values} {
    return [expr {[llength $values] == 0 ? 0.0 : [tcl::mathop::+ {*}$values] / [llength $values]}]
}

# Coordinate search of the fitted numbers on the rows of `fitted_on`.
proc fit {} {
    set ::is_verbose 0
    set own [lmap row $::rows {expr {[dict get $row system] in $::fitted_on ? $row : [continue]}}]
    set best Inf
    foreach {key step} {efficiency 0.01 launch 2 p2p_launch 2 efficiency 0.01 launch 2} {
        foreach direction {1 -1} {
            while {1} {
                set before $::fitted
                dict set ::fitted $key [expr {[dict get $::fitted $key] + $direction * $step}]
                set figure [mean [lmap row $own {expr {abs([judge $row])}}]]
                if {$figure >= $best} {
                    set ::fitted $before
                    break
                }
                set best $figure
                puts [format "%.2f %%: %s" $best $::fitted]
            }
        }
    }
}
if {$is_fit} {
    fit
    exit 0
}

set by_system {}
set by_kind {}
foreach row $rows {
    set error [judge $row]
    dict lappend by_system [dict get $row system] $error
    dict lappend by_kind [list [dict get $row system] [dict get $row collective]] $error
}
dict for {key errors} $by_kind {
    puts [format "%-40s mean error %6.2f %%, mean deviation %+6.2f %% (%d rows)" [join $key] \
        [mean [lmap e $errors {expr {abs($e)}}]] [mean $errors] [llength $errors]]
}
set judged {}
dict for {system errors} $by_system {
    set is_fitted [expr {$system in $fitted_on}]
    puts [format "%-40s mean error %6.2f %% (%d rows)%s" $system \
        [mean [lmap e $errors {expr {abs($e)}}]] [llength $errors] \
        [expr {$is_fitted ? ", fitted on: not judged" : ""}]]
    if {!$is_fitted} {lappend judged {*}[lmap e $errors {expr {abs($e)}}]}
}
if {[llength $judged] == 0} {
    foreach errors [dict values $by_system] {lappend judged {*}[lmap e $errors {expr {abs($e)}}]}
}
show_pod
set figure [mean $judged]
puts [format "bar: mean error from 1 MiB: got %.2f %%, at most %.0f %%: %s" $figure $bar_percent \
    [expr {$figure <= $bar_percent ? "holds" : "MISSED"}]]
puts [format "nccl: %.2f %% mean error from 1 MiB (%d cases)" $figure [llength $judged]]
exit [expr {$figure <= $bar_percent ? 0 : 1}]
