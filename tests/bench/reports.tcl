# SPDX-License-Identifier: GPL-3.0-or-later
# reports.tcl - what it takes to look at a long run, in seconds by the clock: reports, a page, a
# file of results, a checkpoint, and the answer of the shell to Tab.
#   build/tharsis -no_init -exit tests/bench/reports.tcl ?INPUTS?
set inputs [expr {[llength $argv] > 0 ? [lindex $argv 0] : 4300}]
set folder \
    [file join [expr {[info exists env(TMPDIR)] ? $env(TMPDIR) : "/tmp"}] tharsis_reports_[pid]]

proc measure {what script} {
    set begin [clock microseconds]
    uplevel 1 $script
    puts [format "%-44s %8.2f" $what [expr {([clock microseconds] - $begin) / 1e6}]]
}

# As the shell asks when Tab is pressed behind the last word of a line.
proc complete {line} {
    set word [lindex [split $line] end]
    tharsis::Complete $word [expr {[string length $line] - [string length $word]}] \
        [string length $line] $line
}

read_system f1_16xlarge
read_workload resnet34
map_workload -algorithm uniform
file mkdir $folder
try {
    measure "run" {run -inputs $inputs}
    puts "[llength [get_tasks *]] tasks"
    measure "report_critical_path -limit 10" {report_critical_path -limit 10 -return_string}
    measure "report_critical_path -slack -limit 10" \
        {report_critical_path -slack -limit 10 -return_string}
    measure "report_utilization" {report_utilization -return_string}
    measure "report_utilization -windows 50" {report_utilization -windows 50 -return_string}
    measure "report_links" {report_links -return_string}
    measure "report_memory" {report_memory -return_string}
    measure "get_tasks" {get_tasks}
    measure "get_tasks -filter {duration > 100us}" {get_tasks -filter {duration > 100us}}
    measure "Tab behind examine task/9999" {complete "examine task/9999"}
    measure "write_report" {write_report [file join $folder page.html]}
    measure "write_results" {write_results [file join $folder results.json]}
    measure "save_checkpoint" {save_checkpoint [file join $folder half.ckpt]}
    measure "load_checkpoint" {load_checkpoint [file join $folder half.ckpt]}
    puts "page of [file size [file join $folder page.html]] bytes"
} finally {
    file delete -force $folder
}
