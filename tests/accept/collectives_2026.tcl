# SPDX-License-Identifier: GPL-3.0-or-later
# collectives_2026.tcl - collectives and exchanges of experts inside a node against measured ones.
#
#   tharsis -exit tests/accept/collectives_2026.tcl ?-all? DIRECTORY
#
# DIRECTORY holds DEVICE_collectives and DEVICE_expert_exchange (.csv.xz). Asked are
#   pod    a node as create_system makes it (dgx_a100 ...), add_collective choosing the algorithm
#   nccl   what NCCL would do on links of the data sheet (lib/nccl_ways.tcl)
# Efficiencies and starts are those of topology/generate/pods.c and lib/nccl_ways.tcl; three numbers
# of exchanges are fitted, to the other machines' rows (copied_by). L40S has no such node (its GPUs
# have PCIe alone): its rows are counted and not judged. Rows are of NCCL, in 16 bits (others have
# the same bytes); one of $share of them by their digest, and one of $share_of_exchanges of the
# exchanges, or all (-all). A line for each machine, operation and class of sizes: rows, and of each
# that is asked mean and median error and mean deviation.
# Exchanges of experts are all_to_all of the pod: a token goes once to each rank that has one of its
# top_k experts, which are drawn evenly; dispatch has a byte for a number and a scale of 4 bytes for
# 128 of them, combine 2 bytes. A kernel that copies with few multiprocessors reaches what they do,
# not what the links do: such exchanges have links of that rate.
# Exit status: 0 the bars hold, 1 one does not, 2 the data cannot be read.
source [file join [file dirname [file normalize [info script]]] lib nccl_ways.tcl]
set bar_percent 15.0
set least_bytes [expr {1 << 20}]
set share 4
set share_of_exchanges 64
# The node; GB/s of a GPU's links; do its switches reduce?
set nodes {a100_sxm {dgx_a100 300 no} h100_sxm {dgx_h100 450 yes} b200_sxm {dgx_b200 900 yes}}
set kinds {all_reduce all_reduce all_gather all_gather reduce_scatter reduce_scatter
    alltoall all_to_all}

# Rows of a packed table as dictionaries by column; none where there is no such file.
proc rows_of {path} {
    if {![file exists $path]} {return {}}
    if {[catch {exec xz -dc $path} text]} {stop "$path: xz -dc: $text"}
    set lines [split [string trim $text] \n]
    set names [split [lindex $lines 0] ,]
    return [lmap line [lrange $lines 1 end] {
        set row {}
        foreach name $names value [split $line ,] {dict set row $name $value}
        set row
    }]
}

proc stop {message} {
    puts stderr "collectives_2026: $message"
    exit 2
}

# Is the row of the share that is taken? Of every machine the same ones.
proc is_taken {of args} {return [expr {[zlib crc32 [join $args ,]] % $of == 0}]}

proc median {values} {
    return [lindex [lsort -real $values] [expr {[llength $values] / 2}]]
}

# What the other machines' exchanges tell: {B/s that a multiprocessor copies, us of a dispatch that
# has next to nothing to carry, of a combine}. Where there is no other machine: no limit, no time.
set least_sms 4
set nothing_bytes 65536
proc copied_by {device} {
    foreach other [array names ::exchanged] {
        if {$other eq $device} continue
        foreach row $::exchanged($other) {
            lassign $row what one us
            lassign $one - ranks bytes sms
            if {$sms > 0 && $bytes < $::nothing_bytes} {
                lappend starts([lindex $what 0]) $us
            } elseif {$sms == $::least_sms && $bytes >= 1 << 24} {
                lappend rates [expr {1e6 * $bytes * ($ranks - 1) / $ranks / $us / $sms}]
            }
        }
    }
    if {![info exists rates] || [array size starts] < 2} {return {Inf 0 0}}
    return [list [median $rates] [median $starts(dispatch)] [median $starts(combine)]]
}

# Links carry at most these B/s.
proc lower_links {rate} {
    foreach link [get_links] {
        if {[get_property $link bandwidth -exact] / 8.0 <= $rate} continue
        set_property $link bandwidth [format %.0fB/s $rate]
    }
}

# us of collectives among the first ranks of a pod, {kind ranks bytes sms}, where sms of 0 limit
# nothing. A size is asked for once.
proc by_pod {machine asked rate} {
    create_system $machine -size 1
    foreach one [lsort -unique $asked] {
        lassign $one kind ranks bytes sms
        create_program $kind
        set task [add_collective $kind -bytes ${bytes}B -accels [list 0-[expr {$ranks - 1}]]]
        if {$sms > 0} {lower_links [expr {$sms * $rate}]}
        run
        set ::us($machine,$one) [expr {1e-6 * [get_property $task end -exact]}]
    }
}

proc by_nccl {machine gbps nvls one} {
    lassign $one kind ranks bytes
    set shape [shape_of [dict create system $machine scale_up NVLink scale_out none sharp no \
        scale_up_gbps_per_direction $gbps scale_up_domain_gpus 8 nvls $nvls] 1 $ranks]
    return [lindex [fastest [ways $shape $kind $bytes]] 1]
}

proc size_class {bytes} {
    return [expr {$bytes < $::least_bytes ? "a below 1 MiB" : $bytes < 1 << 24 ? "b to 16 MiB"
        : "c from 16 MiB"}]
}

proc count {asked machine what bytes measured got} {
    set error [expr {100.0 * ($got / $measured - 1)}]
    lappend ::errors([list $machine $what [size_class $bytes]],$asked) $error
    set group [expr {[dict exists $::kinds $what] ? "collectives" : "exchanges of experts"}]
    if {$bytes >= $::least_bytes} {lappend ::judged($asked,$group,$machine) [expr {abs($error)}]}
}

# {what one us} of the rows that are taken.
proc collectives {rows} {
    return [lmap row $rows {
        dict with row {}
        if {$backend ne "nccl" || $dtype ne "half"} continue
        if {![is_taken $::share $operation $gpus $elements]} continue
        list $operation [list [dict get $::kinds $operation] $gpus [expr {2 * $elements}] 0] \
            [expr {1e3 * $time_ms}]
    }]
}

# Ranks that a token goes to, of 8.
proc ranks_of {top_k} {return [expr {8 * (1 - (7 / 8.0) ** $top_k)}]}

proc exchanges {rows} {
    return [concat {*}[lmap row $rows {
        dict with row {}
        if {![is_taken $::share_of_exchanges $mode $hidden $tokens $top_k $experts \
            $dispatch_sms $combine_sms]} continue
        set two {}
        set numbers [expr {$tokens * $hidden * [ranks_of $top_k]}]
        foreach {what bytes sms us} [list \
            dispatch [expr {1 + 4 / 128.}] $dispatch_sms $dispatch_us \
            combine 2 $combine_sms $combine_us] {
            set sms [expr {$sms eq "" ? 0 : $sms}]
            lappend two [list "$what $mode" \
                [list all_to_all 8 [expr {round($numbers * $bytes)}] $sms] $us]
        }
        set two
    }]]
}

proc mean {values} {return [expr {[tcl::mathop::+ {*}$values] / [llength $values]}]}

proc figures {key} {
    if {![info exists ::errors($key)]} {return ""}
    set sizes [lmap e $::errors($key) {expr {abs($e)}}]
    return [format "%8.1f %8.1f %+9.1f" [mean $sizes] [median $sizes] [mean $::errors($key)]]
}

proc show {} {
    foreach key [lsort [array names ::errors *,pod]] {
        lassign [set of [string range $key 0 end-4]] machine what class
        puts [format "%-9s %-22s %-12s %5d  %s  %s" $machine $what [string range $class 2 end] \
            [llength $::errors($key)] [figures $key] [figures $of,nccl]]
    }
}

set all [expr {[lindex $argv 0] eq "-all"}]
if {$all} {lassign {1 1} share share_of_exchanges}
set argv [lrange $argv $all end]
if {[llength $argv] != 1} {stop "usage: collectives_2026.tcl ?-all? DIRECTORY"}
set folder [lindex $argv 0]
puts [format "%-9s %-22s %-12s %5s  %8s %8s %9s  %8s %8s %9s" machine operation sizes rows \
    {*}[concat \
    {*}[lmap asked {pod nccl} {list "$asked: %" "median" "deviation"}]]]
foreach device [dict keys $nodes] {
    set file [file join $folder ${device}_expert_exchange.csv.xz]
    set exchanged($device) [exchanges [rows_of $file]]
}
dict for {device node} $nodes {
    lassign $node machine gbps nvls
    set rows [collectives [rows_of [file join $folder ${device}_collectives.csv.xz]]]
    set experts $exchanged($device)
    lassign [copied_by $device] rate start(dispatch) start(combine)
    by_pod $machine [lmap row [concat $rows $experts] {lindex $row 1}] $rate
    foreach row [concat $rows $experts] {
        lassign $row what one measured
        set got $us($machine,$one)
        if {[lindex $one 3] > 0} {set got [expr {$got + $start([lindex $what 0])}]}
        count pod $device $what [lindex $one 2] $measured $got
    }
    foreach row $rows {
        lassign $row what one measured
        count nccl $device $what [lindex $one 2] $measured [by_nccl $device $gbps $nvls $one]
    }
}
if {![array exists judged]} {stop "$folder: has no DEVICE_collectives.csv.xz"}
show
set holds 1
foreach key [lsort [array names judged]] {
    lassign [split $key ,] asked group machine
    set got [mean $judged($key)]
    set held [expr {$got <= $bar_percent}]
    set holds [expr {$holds && $held}]
    puts [format "bar: %s %s, %s: got %.2f %%, at most %g %%: %s" $asked $group $machine $got \
        $bar_percent [expr {$held ? "holds" : "MISSED"}]]
}
set left [llength [rows_of [file join $folder l40s_collectives.csv.xz]]]
puts "collectives_2026: mean error from 1 MiB: [join [lmap asked {pod nccl} {
    set all [concat {*}[lmap key [array names judged $asked,collectives,*] {set judged($key)}]]
    format "%s %.1f %% (%d cases)" $asked [mean $all] [llength $all]
}] {, }]; L40S has no node: $left rows left out"
exit [expr {!$holds}]
