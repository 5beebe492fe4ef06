# SPDX-License-Identifier: GPL-3.0-or-later
# growth.tcl - the processor time of the cases of tests/soak/growth.tcl, at sizes that double from
# eight times those of the test, and the exponent between two of them.
#   tharsis -no_init -exit tests/bench/growth.tcl ?CASE ...?      in the folder of the build
set here [file dirname [file normalize [info script]]]
set probe [file join [pwd] tests soak probe]
set script [file join $here .. soak growth.tcl]
set sizes {layers 16000 accelerators 1600 ranks 4096 transfers 32000 faults 4000 points 800}
if {[llength $argv] > 0} {set sizes [dict filter $sizes script {case n} {expr {$case in $argv}}]}

# s of user and system time of one case, the start of the process apart.
proc seconds {case n} {
    set said [exec sh -c {"$@" >/dev/null 2>&1; times} sh $::probe $::script $case $n]
    set sum 0
    set times [lindex [split $said \n] 1]
    foreach {all minutes s} [regexp -all -inline {([0-9]+)m([0-9.]+)s} $times] {
        set sum [expr {$sum + 60 * $minutes + $s}]
    }
    return $sum
}

puts [format "%-14s%10s%10s%10s" case size {CPU [s]} exponent]
set folder [file join [pwd] growth.tmp]
file mkdir $folder
cd $folder
foreach {case n} $sizes {
    set before {}
    foreach size [list $n [expr {2 * $n}] [expr {4 * $n}]] {
        set s [seconds $case $size]
        set exponent [expr {$before eq {} ? {} : [format %.2f [expr {log($s / $before) / log(2)}]]}]
        puts [format "%-14s%10d%10.2f%10s" $case $size $s $exponent]
        set before $s
    }
}
cd ..
file delete -force $folder
