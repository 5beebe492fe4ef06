# SPDX-License-Identifier: GPL-3.0-or-later
# speedup.tcl - how much faster a search of ResNet-101 on f1_16xlarge is on two threads, beside what
# two cores give at all: in turns one process of one thread, one of two, and two side by side of one
# each, which share nothing but the machine. Cores that share caches, memory and heat are not worth
# two of one that has them to itself, and other programs come and go: so the sums are compared.
#   tharsis -no_init -exit tests/bench/speedup.tcl ?ALGORITHM ?EVALUATIONS ?ROUNDS???
lassign $argv algorithm evaluations rounds threads
if {$threads ne ""} {
    read_system f1_16xlarge
    read_workload resnet101
    map_workload -algorithm $algorithm -evaluations $evaluations -threads $threads
    return
}
if {$algorithm eq ""} {set algorithm two_level}
if {$evaluations eq ""} {set evaluations 3000}
if {$rounds eq ""} {set rounds 5}

# Seconds by the clock of processes side by side, of these threads each.
proc seconds {processes threads} {
    upvar 1 algorithm algorithm evaluations evaluations
    set start [clock microseconds]
    for {set i 0} {$i < $processes} {incr i} {
        lappend pipes [open |[list [info nameofexecutable] -no_init -exit [info script] $algorithm \
            $evaluations 1 $threads]]
    }
    foreach pipe $pipes {
        read $pipe
        close $pipe
    }
    return [expr {([clock microseconds] - $start) / 1e6}]
}
set row {%8s %10.2f %11.2f %13.2f  x %5.2f    x %5.2f}
puts [format "%8s %10s %11s %13s %8s %10s" round "one thread" "two threads" "two processes" \
    threads processes]
set sums {0 0 0}
for {set round 1} {$round <= $rounds} {incr round} {
    lassign [list [seconds 1 1] [seconds 1 2] [seconds 2 1]] one two both
    puts [format $row $round $one $two $both [expr {$one / $two}] [expr {2 * $one / $both}]]
    set sums [lmap sum $sums s [list $one $two $both] {expr {$sum + $s}}]
}
lassign $sums one two both
puts [format "$row   threads reach %.0f %% of what processes do" sum $one $two $both \
    [expr {$one / $two}] [expr {2 * $one / $both}] [expr {50 * $both / $two}]]
