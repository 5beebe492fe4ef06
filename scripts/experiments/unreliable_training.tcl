# SPDX-License-Identifier: GPL-3.0-or-later
# unreliable_training.tcl - what jitter, a slow GPU, a bad cable and failures cost training.
#
#   tharsis -exit scripts/experiments/unreliable_training.tcl ?DAYS?
#
# First one step on a pipeline of 16 GPUs, as planned and with a fault. GPU 15 has the last stage,
# and with it the product with the vocabulary, so a slow one elsewhere hides in its shadow. Then the
# whole run of many days, with 64 such pipelines: how often to write checkpoints, and what a quicker
# restart is worth.

set days [expr {[llength $argv] > 0 ? [lindex $argv 0] : 54}]

proc make_step {} {
    create_system dgx_h100 -size 2
    create_transformer -model llama3_8b -sequence 8192
    parallel_plan -tensor 1 -pipeline 16 -data 1 -global_batch 32 -micro_batch 1 \
        -schedule 1f1b -merge 0
}

# Times of the parts of the critical path that faults lengthen, in ms.
proc lost {} {
    regexp {"path_parts": \[(.*?)\]} [report_critical_path -format json -return_string] -> table
    set lost [dict create slowdown 0 faults 0 contention 0]
    foreach {-> part ps} [regexp -all -inline {"part": "(\w+)", "time_ps": (\d+)} $table] {
        if {[dict exists $lost $part]} {dict set lost $part [expr {$ps * 1e-9}]}
    }
    return [dict values $lost]
}

puts "A step of training, and what slower GPUs, links and contention add to its path \[ms\]"
puts [format {%-29s %8s %8s %8s %10s} {} step slowdown faults contention]
foreach {name objects options} {
    {as planned}                 {}                  {}
    {jitter of 3 % on all GPUs}  {[get_accels]}      {-jitter 3%}
    {GPU 5 at 0.8 of its clock}  accel/5             {-clock x0.8}
    {GPU 15 at 0.8 of its clock} accel/15            {-clock x0.8}
    {the cable of GPU 5 at x0.01} {[get_links -of accel/5]} {-bandwidth x0.01}
} {
    make_step
    if {$objects ne ""} {inject_fault [subst $objects] {*}$options}
    run
    set end [tcl::mathfunc::max {*}[lmap t [get_tasks] {get_property $t end -exact}]]
    puts [format {%-29s %8.2f %8.2f %8.2f %10.2f} $name [expr {$end * 1e-9}] {*}[lost]]
}

# 1,024 GPUs that fail every 50,000 hours, and software that fails once in two weeks; a checkpoint
# takes 30 s, of which training stops for 3 s.
set failures {{GPU 1024 50000h} {software 1 14d spare 0}}
puts "\nEffective training time over $days days \[%\]"
puts [format {%-24s %10s %10s %10s} {checkpoints every} {restart:} 10min 2min]
foreach interval {2min daly 30min 2h} {
    set row {}
    foreach restart {10min 2min} {
        set report [report_reliability -duration ${days}d -failures $failures -step_time 10s \
            -checkpoint_interval $interval -checkpoint_time 30s -checkpoint_stall 3s \
            -detection_time 1min -restart_time $restart -runs 50 -format json -return_string]
        regexp {"training_percent": ([0-9.]+)} $report -> percent
        lappend row $percent
    }
    puts [format {%-24s %10s %10.2f %10.2f} $interval {} {*}$row]
}
