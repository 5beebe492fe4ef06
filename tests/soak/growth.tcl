# SPDX-License-Identifier: GPL-3.0-or-later
# growth.tcl - what twice the size costs, in TAP: of layers, accelerators, groups, transfers, links
# that fail, commands in turn and points of a study, less than 2.6 times the allocations, the bytes
# and the events.
#   tharsis -no_init -exit tests/soak/growth.tcl      starts the probe, which runs the cases
#   probe growth.tcl CASE SIZE                        prints what one case of one size takes
# Counts, so that a busy machine changes nothing; tests/bench/growth.tcl has the processor time.

set most 2.6

# Each builds something of size n, runs it and reports on it, in an interpreter of its own.
set cases {
    layers 2000 {
        set layers [lmap i [count $n] {
            subst -nocommands {{ name = "c$i"; type = "conv"; outputs = 4; kernel = 1; }}
        }]
        set f [open net.cfg w]
        puts $f "name = \"net\"; batch = 4; element_bytes = 2;
            input = { channels = 4; height = 8; width = 8; }; layers = ([join $layers ,]);"
        close $f
        read_workload net.cfg
        create_system -name four -topology ring -dims 4 -accel npu_v1 -link_bandwidth 8Gbps \
            -link_latency 1us
        map_workload -algorithm data_parallel
        run
        report_layers -return_string
        report_critical_path -return_string
        write_program out.trace
    }
    accelerators 200 {
        create_system -name all -topology ring -dims $n -accel npu_v1 -link_bandwidth 8Gbps \
            -link_latency 1us
        create_program exchange
        for {set a 0} {$a < $n} {incr a} {
            add_compute -on accel/$a -duration 1us
        }
        add_transfer -from accel/0 -to accel/1 -bytes 1MB
        run
        report_utilization -return_string
        report_links -return_string
    }
    ranks 2048 {
        create_system -name star -topology star -dims $n -accel npu_v1 -link_bandwidth 8Gbps \
            -link_latency 1us
        create_program exchange
        add_collective all_reduce -bytes 1kB
        run
        report_collectives -return_string
    }
    groups 1024 {
        create_system -name star -topology star -dims $n -accel npu_v1 -link_bandwidth 8Gbps \
            -link_latency 1us
        create_program exchange
        for {set i 0} {$i < $n} {incr i 4} {
            add_collective all_reduce -bytes 10kB \
                -accels [list $i [expr {$i + 1}] [expr {$i + 2}] [expr {$i + 3}]]
        }
        run
        report_summary -return_string
    }
    transfers 4000 {
        create_system -name star -topology star -dims 16 -accel npu_v1 -link_bandwidth 8Gbps \
            -link_latency 1us
        create_program exchange
        for {set i 0} {$i < $n} {incr i} {
            set to [expr {($i + 1 + $i / 16 % 15) % 16}]
            add_transfer -from accel/[expr {$i % 16}] -to accel/$to -bytes [expr {1000 + $i % 977}]B
        }
        run
        report_collectives -return_string
        report_summary -return_string
    }
    faults 1000 {
        create_system -name ring -topology ring -dims [expr {$n / 2}] -accel npu_v1 \
            -link_bandwidth 8Gbps -link_latency 1us
        create_program exchange
        add_transfer -from accel/0 -to accel/1 -bytes 1MB
        open_trace out.csv
        inject_fault [get_links] -bandwidth x0.5 -at 1us -for 1us
        run
        close_trace
    }
    points 100 {
        file delete s.db
        create_study s -file s.db -metrics {latency} -parameters [list x [count $n]] -script {
            create_system -name two -topology ring -dims 2 -accel npu_v1 -link_bandwidth 8Gbps \
                -link_latency 1us
            create_program exchange
            add_transfer -from accel/0 -to accel/1 -bytes ${x}kB
            run
        }
        run_study s
        report_study s -return_string
    }
}

# Two commands in turn: what adds to a program, and what changes its run.
foreach {adds how} {
    compute {add_compute -on accel/[expr {$i % 8}] -duration 1us}
    transfer {add_transfer -from accel/[expr {$i % 8}] -to accel/[expr {($i + 1) % 8}] -bytes 1kB}
    ring {add_collective all_reduce -bytes 1kB -algorithm ring}
    auto {add_collective all_reduce -bytes 1kB -accels {0 1}}
    job {add_job small -name j$i}
} {
    foreach {changes size what} {
        fault 2000 {inject_fault accel/[expr {$i % 8}] -clock x0.5 -at ${i}us -for 1us}
        degraded 2000 {inject_fault link/0_1 -bandwidth x0.5 -at ${i}us -for 1us}
        property 4000 {set_property accel/1 clock x0.5}
        breakpoint 500 {add_breakpoint -at ${i}us -continue}
        attribute 500 {get_property task/0 kind}
    } {
        lappend cases $adds+$changes $size [string map [list ADD $how CHANGE $what] {
            create_system -name ring -topology ring -dims 8 -accel npu_v1 -link_bandwidth 8Gbps \
                -link_latency 1us
            create_program small
            add_compute -on accel/0 -duration 1us
            save_program small
            create_program p
            for {set i 0} {$i < $n} {incr i} {
                ADD
                CHANGE
            }
        }]
    }
}

proc count {n} {
    for {set i 1} {$i <= $n} {incr i} {lappend all $i}
    return $all
}

if {[llength [info commands alloc]]} {
    namespace import tharsis::*
    lassign $argv case n
    set at [lsearch $cases $case]
    set script [lindex $cases $at+2]
    set before [list [alloc calls] [alloc bytes]]
    eval $script
    set counts [list allocations [expr {[alloc calls] - [lindex $before 0]}] \
                    bytes [expr {[alloc bytes] - [lindex $before 1]}]]
    if {![catch {report_summary -return_string}]} {
        lappend counts events [lindex [query {SELECT events FROM run} -as list] 0]
    }
    puts $counts
    return
}

set here [file dirname [file normalize [info script]]]
set root [file normalize [expr {[info exists env(srcdir)] ? $env(srcdir) : "$here/../.."}]]
set builddir [file normalize [expr {[info exists env(builddir)] ? $env(builddir) : [pwd]}]]
set folder [file join $builddir tests soak growth.tmp]
file delete -force $folder
file mkdir $folder
cd $folder

proc counts_of {case n} {
    global root builddir
    exec [file join $builddir tests soak probe] [file join $root tests soak growth.tcl] $case $n
}

puts "1..[expr {[llength $cases] / 3}]"
foreach {case size script} $cases {
    set wrong {}
    if {[catch {list [counts_of $case $size] [counts_of $case [expr {2 * $size}]]} both]} {
        lappend wrong $both
        set both {{} {}}
    }
    lassign $both once twice
    foreach {what n} $once {
        if {$n == 0} continue
        set more [expr {double([dict get $twice $what]) / $n}]
        puts "# $case, $size and twice as many: $what $n, [format %.2f $more] times"
        if {$more >= $most} {lappend wrong "$what: [format %.2f $more] times"}
    }
    puts "[expr {$wrong eq {} ? {} : {not }}]ok [incr number] - $case: below $most times[expr {
        $wrong eq {} ? {} : ": [join $wrong]"}]"
}
cd $builddir
file delete -force $folder
