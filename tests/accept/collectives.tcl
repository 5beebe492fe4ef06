# SPDX-License-Identifier: GPL-3.0-or-later
# collectives.tcl - predicted all-reduce times against measured ones.
#   tharsis -exit tests/accept/collectives.tcl DIRECTORY
# DIRECTORY holds machines.csv and, per machine, FILE_all_reduce.csv.xz and FILE_send_recv.csv.xz. A
# machine is its GPUs round a switch. Two figures are fitted per machine, on its two-rank rows
# alone: what a collective costs before its first byte (launch), and the share of the links'
# bandwidth that arrives (efficiency); the simulated time of the same collective at full bandwidth
# is what they are fitted to. Then every all-reduce of more than two ranks inside one machine is
# simulated. Exit status: 0 the error is at most 15 %, 1 it is not, 2 the data cannot be read. The
# bar that is aimed at is 12 %.

set most_percent 15.0
set bar_percent 12.0
set least_bytes 65536

proc unreadable {message} {
    puts stderr "collectives: $message"
    exit 2
}

# Rows of a CSV text as dictionaries by column.
proc csv_rows {text} {
    set lines [split [string trim [string map {\r {}} $text]] \n]
    set names [split [lindex $lines 0] ,]
    set rows {}
    foreach line [lrange $lines 1 end] {
        set row {}
        foreach name $names value [split $line ,] {dict set row $name $value}
        lappend rows $row
    }
    return $rows
}

proc read_xz {path} {
    if {![file readable $path]} {unreadable "$path: cannot be read"}
    if {[catch {exec xz -dc $path} text]} {unreadable "$path: xz -dc: $text"}
    return [csv_rows $text]
}

# {ranks bytes measured_us} of every measurement of this collective inside one machine.
proc measured {path collective} {
    set out {}
    foreach row [read_xz $path] {
        if {[catch {
            set ranks [dict get $row num_workers]
            if {$ranks == [dict get $row devices_per_node]} {
                lappend out [list $ranks [dict get $row size] \
                    [expr {1e3 * [dict get $row time_stats.$collective.median]}]]
            }
        } message]} {unreadable "$path: $message"}
    }
    return $out
}

# The machine, with this share of its bandwidth.
proc build {machine efficiency} {
    if {[dict get $machine fabric] ne "nvswitch"} {
        unreadable "machines.csv: fabric \"[dict get $machine fabric]\": only nvswitch is known"
    }
    set bandwidth \
        [expr {[dict get $machine link_bandwidth_bytes_per_s_each_way_per_gpu] * $efficiency}]
    create_system -name [dict get $machine file] -topology star -dims [dict get $machine gpus] \
        -accel npu_v1 -link_bandwidth [format "%.0fB/s" $bandwidth] -link_latency 0ns
}

# Simulated time in us of one collective among the first ranks, and the events it took.
proc simulate {kind ranks bytes launch_us} {
    set group {}
    for {set i 0} {$i < $ranks} {incr i} {lappend group accel/$i}
    create_program $kind
    set algorithm [dict get {all_reduce ring send_recv direct} $kind]
    set task [add_collective $kind -bytes ${bytes}B -accels $group -algorithm $algorithm \
        -at [format "%.6fus" $launch_us]]
    run
    regexp {"events": (\d+)} [report_summary -format json -return_string] -> events
    return [list [expr {1e-6 * [get_property $task end -exact]}] $events]
}

# Least sum of |a + b x - y| / y over {x y} pairs, by reweighted least squares; {a b} with a >= 0.
proc fit {points} {
    set a 0.0
    set b 1.0
    for {set round 0} {$round < 60} {incr round} {
        lassign {0.0 0.0 0.0 0.0 0.0} s sx sxx sy sxy
        foreach point $points {
            lassign $point x y
            set miss [expr {abs($a + $b * $x - $y) / $y}]
            set w [expr {1.0 / ($y * $y * ($miss > 1e-4 ? $miss : 1e-4))}]
            if {$round == 0} {set w [expr {1.0 / ($y * $y)}]}
            set s [expr {$s + $w}]
            set sx [expr {$sx + $w * $x}]
            set sxx [expr {$sxx + $w * $x * $x}]
            set sy [expr {$sy + $w * $y}]
            set sxy [expr {$sxy + $w * $x * $y}]
        }
        set b [expr {($s * $sxy - $sx * $sy) / ($s * $sxx - $sx * $sx)}]
        set a [expr {($sy - $b * $sx) / $s}]
        if {$a < 0} {
            set a 0.0
            set b [expr {$sxy / $sxx}]
        }
    }
    return [list $a $b]
}

# {launch_us efficiency} from the two-rank rows of a collective.
proc calibrate {machine kind rows} {
    build $machine 1.0
    set points {}
    foreach row $rows {
        lassign $row ranks bytes us
        if {$ranks == 2 && $bytes >= $::least_bytes} {
            lappend points [list [lindex [simulate $kind 2 $bytes 0] 0] $us]
        }
    }
    if {[llength $points] < 2} {unreadable "[dict get $machine file]: no two-rank rows of $kind"}
    lassign [fit $points] launch slope
    return [list $launch [expr {1 / $slope}]]
}

if {[llength $argv] != 1} {unreadable "usage: collectives.tcl DIRECTORY"}
set folder [lindex $argv 0]
if {[catch {open [file join $folder machines.csv]} channel]} {unreadable $channel}
set machines [csv_rows [read $channel]]
close $channel

set sum 0.0
set cases 0
foreach machine $machines {
    set name [dict get $machine file]
    set messages [measured [file join $folder ${name}_send_recv.csv.xz] send_recv]
    set rows [measured [file join $folder ${name}_all_reduce.csv.xz] all_reduce]
    lassign [calibrate $machine send_recv $messages] launch efficiency
    puts [format "%s send_recv: launch %.1f us, efficiency %.3f" $name $launch $efficiency]
    lassign [calibrate $machine all_reduce $rows] launch efficiency
    puts [format "%s all_reduce of two: launch %.1f us, efficiency %.3f" $name $launch $efficiency]
    build $machine $efficiency
    foreach row $rows {
        lassign $row ranks bytes expected
        if {$ranks <= 2} continue
        lassign [simulate all_reduce $ranks $bytes $launch] got events
        set deviation [expr {100.0 * ($got - $expected) / $expected}]
        set remark [expr {$bytes < $least_bytes ? "  (small: not counted)" : ""}]
        puts [format "%s %d ranks %9d bytes: expected %8.1f us, got %8.1f us, deviation %+6.1f %%,\
                    %d events%s" \
            $name $ranks $bytes $expected $got $deviation $events $remark]
        if {$bytes >= $least_bytes} {
            set sum [expr {$sum + abs($deviation)}]
            incr cases
        }
    }
}
if {$cases == 0} {unreadable "no all-reduce of more than two ranks inside one machine"}
set figure [expr {$sum / $cases}]
puts [format "bar: mean error: got %.2f %%, at most %g %%: %s" $figure $bar_percent \
        [expr {$figure <= $bar_percent ? "holds" : "MISSED"}]]
puts [format "collectives: %.2f %% mean absolute error (%d cases)" $figure $cases]
exit [expr {$figure <= $most_percent ? 0 : 1}]
