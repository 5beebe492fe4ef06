# SPDX-License-Identifier: GPL-3.0-or-later
# query.tcl - what it takes to ask a long run by SQL, in seconds by the clock and of the processor:
# sums and groups over its tasks, and joins of 100,000 tasks and messages.
#   build/tharsis -no_init -exit tests/bench/query.tcl ?INPUTS?
set inputs [expr {[llength $argv] > 0 ? [lindex $argv 0] : 42000}]

proc cpu {} {
    set fields [split [lindex [split [read [set f [open /proc/self/stat]]] )] end]]
    close $f
    return [expr {[lindex $fields 12] / 100.0}]
}

proc measure {what script} {
    set begin [clock microseconds]
    set cpu [cpu]
    uplevel 1 $script
    puts [format "%-56s %8.2f %8.2f" $what [expr {([clock microseconds] - $begin) / 1e6}]\
            [expr {[cpu] - $cpu}]]
}

proc ask {sql} {
    measure $sql [list query $sql -as list]
}

proc simulate {inputs} {
    read_system f1_16xlarge
    read_workload alexnet
    read_mapping [file join [file dirname [info script]] .. tcl hand.map]
    run -inputs $inputs -network ideal
    puts "[lindex [query {SELECT count(*) FROM tasks} -as list] 0] tasks"
}

simulate $inputs
ask {SELECT count(*), sum(duration_ps), sum(bytes) FROM tasks}
ask {SELECT layer_id, sum(end_ps - start_ps) FROM tasks GROUP BY 1}
ask {SELECT layer, sum(end_ps - start_ps) FROM tasks GROUP BY 1}
ask {SELECT count(*) FROM tasks WHERE layer_id = 3}
simulate [expr {max(1, $inputs / 60)}]
ask {SELECT sum(m.bytes) FROM tasks t JOIN messages m ON m.task_id = t.id}
ask {SELECT sum(m.bytes) FROM messages m JOIN tasks t ON t.id = m.task_id}
ask {SELECT sum(a.id) FROM dependencies d JOIN tasks a ON a.id = task_id}
ask {SELECT count(*) FROM layers l JOIN tasks t ON t.layer = l.name}
