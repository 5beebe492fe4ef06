# SPDX-License-Identifier: GPL-3.0-or-later
# cost.tcl - what this process has used so far.

# User time, in s.
proc cpu {} {
    set f [open /proc/self/stat]
    set fields [lrange [lindex [split [read $f] )] end] 11 11]
    close $f
    return [expr {$fields / 100.0}]
}
proc peak_mb {} {
    set f [open /proc/self/status]
    regexp {VmHWM:\s+(\d+)} [read $f] - kb
    close $f
    return [expr {$kb / 1000}]
}
