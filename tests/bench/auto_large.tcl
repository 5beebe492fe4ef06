# SPDX-License-Identifier: GPL-3.0-or-later
# auto_large.tcl - CPU seconds that the algorithm auto takes for ten sizes of a collective.
#   tharsis -no_init -exit tests/bench/auto_large.tcl ?SYSTEM ...? ?KIND ...?
# all_reduce on 1,024 accelerators: torus, fat_tree, servers, ring (two minutes); on 1,440 of racks
# every KIND, with a bar, of which TAP lines tell (two minutes). Without SYSTEM: the first three.

set kinds {all_reduce all_gather reduce_scatter broadcast reduce gather scatter all_to_all}
set bar_s 10
set near {-accel npu_v1 -link_bandwidth 50GB/s -link_latency 500ns}
set systems {
    torus {create_system -name torus -topology torus -dims {32 32} {*}$near}
    fat_tree {create_system -name fat_tree -topology fattree -dims {32 2} {*}$near}
    servers {create_system dgx_h100 -size 128}
    ring {create_system -name ring -topology ring -dims 1024 {*}$near}
    racks {create_system gb200_nvl72 -size 20}
}

proc cpu_s {} {
    set f [open /proc/self/stat]
    lassign [lrange [split [read $f]] 13 14] user system
    close $f
    return [expr {($user + $system) / 100.0}]
}

# CPU seconds of ten sizes; creates the system, as what is known of others would help.
proc measure {name kind} {
    global near systems
    eval [dict get $systems $name]
    set before [cpu_s]
    foreach size {1KiB 8KiB 64KiB 512KiB 1MiB 4MiB 16MiB 64MiB 256MiB 1GiB} {
        create_program all
        add_collective $kind -bytes $size -algorithm auto
        run
    }
    return [expr {[cpu_s] - $before}]
}

set names [lmap arg $argv {expr {[dict exists $systems $arg] ? $arg : [continue]}}]
set asked [lmap arg $argv {expr {$arg in $kinds ? $arg : [continue]}}]
set n 0
foreach name [expr {$names eq "" ? {torus fat_tree servers} : $names}] {
    if {$name ne "racks"} {
        puts [format "# %s: %.1f CPU s" $name [measure $name all_reduce]]
        continue
    }
    foreach kind [expr {$asked eq "" ? $kinds : $asked}] {
        set got [measure $name $kind]
        puts [format "%s %d - %s %s%s" [expr {$got > $bar_s ? "not ok" : "ok"}] [incr n] $name \
            $kind [format " # %sgot %.1f CPU s, bar %s" \
                [expr {$got > $bar_s ? "TODO " : ""}] $got $bar_s]]
    }
}
if {$n > 0} {puts "1..$n"}
