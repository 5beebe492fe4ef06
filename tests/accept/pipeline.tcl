# SPDX-License-Identifier: GPL-3.0-or-later
# pipeline.tcl - bubble rates of pipeline schedules, held against those of arXiv 2401.10241.
#
#   tharsis -exit tests/accept/pipeline.tcl DIRECTORY
#
# DIRECTORY holds times.csv (model, stages, microbatches, T_F_ms, T_B_ms, T_W_ms, T_comm_ms) and
# bubble_rates.csv (model, stages, microbatches, bubble_1f1b ...). The figure is the number of rates
# of 1F1B, ZB-H1 and ZB-H2 that differ in the fourth digit. The rates of interleaved 1F1B are shown:
# the printed cost is shorter than that of the schedule by T_comm times the stages in every row,
# which stands beside it. Chunks of one layer: layers + 2 is a multiple of the stages. The zb_1p and
# zb_2p of the data come from their authors' search; zb_h1 and zb_h2 are the nearest schedules.
# Exit status: 0 where the figure is 0, 1 where not, 2 where the data cannot be read.

proc csv_rows {file} {
    set f [open $file]
    set text [read $f]
    close $f
    set lines [lassign [split [string map {\r {}} [string trim $text]] \n] header]
    set names [split $header ,]
    return [lmap line $lines {
        set row {}
        foreach name $names field [split $line ,] {dict set row $name $field}
        set row
    }]
}

# The layers of a chunk, by model: (layers + 2) / stages chunks of one layer.
array set chunks {zb-1.5b 3 zb-6.2b 4 zb-14.6b 3 zb-28.3b 2}

# The bubble rate of a run, from report_pipeline, and its cost in ms.
proc run_schedule {schedule row times {n 1}} {
    dict with times {}
    create_program $schedule
    add_pipeline -schedule $schedule -stages [dict get $row stages] -chunks $n\
        -micro_batches [dict get $row microbatches] -forward [expr {$T_F_ms / $n}]ms\
        -backward [expr {$T_B_ms / $n}]ms -weights [expr {$T_W_ms / $n}]ms -transfer ${T_comm_ms}ms
    run
    set cost 0
    set report [report_pipeline -format json -return_string]
    foreach {- start end} [regexp -all -inline {"start_ps": (\d+), "end_ps": (\d+)} $report] {
        set cost [expr {max($cost, ($end - $start) / 1e9)}]
    }
    set busy [expr {[dict get $row microbatches] * ($T_F_ms + $T_B_ms + $T_W_ms)}]
    return [list [expr {($cost - $busy) / $cost}] $cost]
}

proc run_all {directory} {
    global chunks
    foreach row [csv_rows [file join $directory times.csv]] {
        set times([dict get $row model],[dict get $row stages],[dict get $row microbatches]) $row
    }
    set differ 0
    set cases 0
    puts [format "%-9s %6s %6s %-12s %8s %8s %10s" model stages micro schedule expected got\
        deviation]
    foreach row [csv_rows [file join $directory bubble_rates.csv]] {
        set key [dict get $row model],[dict get $row stages],[dict get $row microbatches]
        create_system -name stages -topology ring -dims [dict get $row stages] -accel npu_v1\
            -link_bandwidth 100Gbps -link_latency 1us
        foreach schedule {1f1b zb_h1 zb_h2 interleaved} {
            if {![dict exists $row bubble_$schedule]} continue
            set n [expr {$schedule eq "interleaved" ? $chunks([dict get $row model]) : 1}]
            lassign [run_schedule $schedule $row $times($key) $n] rate cost
            set expected [dict get $row bubble_$schedule]
            set note ""
            if {$schedule eq "interleaved"} {
                set t [dict get $times($key) T_comm_ms]
                set busy [expr {$cost * (1 - $rate)}]
                set less [expr {$cost - $t * [dict get $row stages]}]
                set note [format "%.4f with %d T_comm less" [expr {($less - $busy) / $less}]\
                    [dict get $row stages]]
            } else {
                incr cases
                incr differ [expr {[format %.4f $rate] ne [format %.4f $expected]}]
            }
            puts [format "%-9s %6d %6d %-12s %8.4f %8.4f %10.4f %s" [dict get $row model]\
                [dict get $row stages] [dict get $row microbatches] $schedule $expected $rate\
                [expr {$rate - $expected}] $note]
        }
    }
    if {$cases == 0} {error "bubble_rates.csv: no row is in scope"}
    puts "pipeline: $differ rates differ ($cases cases)"
    return [expr {$differ == 0}]
}

if {[llength $argv] != 1} {
    puts stderr "usage: tharsis -exit tests/accept/pipeline.tcl DIRECTORY"
    exit 2
}
if {[catch {run_all [lindex $argv 0]} holds]} {
    puts stderr "pipeline.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
