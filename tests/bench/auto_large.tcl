# SPDX-License-Identifier: GPL-3.0-or-later
# auto_large.tcl - CPU seconds that the algorithm auto takes for an all_reduce of ten sizes.
#   tharsis -no_init -exit tests/bench/auto_large.tcl ?SYSTEM ...?
# On 1,024 accelerators of each system: torus, fat_tree, servers, ring (two minutes). Without
# SYSTEM: the first three.

set near {-accel npu_v1 -link_bandwidth 50GB/s -link_latency 500ns}
set systems {
    torus {create_system -name torus -topology torus -dims {32 32} {*}$near}
    fat_tree {create_system -name fat_tree -topology fattree -dims {32 2} {*}$near}
    servers {create_system dgx_h100 -size 128}
    ring {create_system -name ring -topology ring -dims 1024 {*}$near}
}

proc cpu_s {} {
    set f [open /proc/self/stat]
    set ticks [lindex [split [read $f]] 13]
    close $f
    return [expr {$ticks / 100.0}]
}

foreach name [expr {[llength $argv] > 0 ? $argv : {torus fat_tree servers}}] {
    eval [dict get $systems $name]
    set before [cpu_s]
    foreach size {1KiB 8KiB 64KiB 512KiB 1MiB 4MiB 16MiB 64MiB 256MiB 1GiB} {
        create_program all
        add_collective all_reduce -bytes $size -algorithm auto
        run
    }
    puts [format "%s: %.1f CPU s" $name [expr {[cpu_s] - $before}]]
}
