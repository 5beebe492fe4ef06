# SPDX-License-Identifier: GPL-3.0-or-later
# from_astra.tcl - what ASTRA-sim says of an execution trace, and what Tharsis says.
#
#   tharsis -exit from_astra.tcl ?FOLDER ?ASTRA-SIM'S OUTPUT??
#
# FOLDER holds rank.0.et, rank.1.et ..., network.yml and system.json, and may hold groups.json and
# memory.json. The lines "sys[N] finished, X cycles, exposed communication Y cycles" of ASTRA-sim's
# output stand beside ours, on both of its networks and on ours, where links are shared. Without a
# folder, a small trace is made: four ranks compute for 5 us, all-reduce 1 MiB beside a second
# computation, and compute once more.

# ---- a small trace: protobuf by hand ----

proc varint {n} {
    for {set out {}} {$n > 127} {set n [expr {$n >> 7}]} {
        append out [format %c [expr {$n & 127 | 128}]]
    }
    return $out[format %c $n]
}
proc number {field n} {return [varint [expr {$field << 3}]][varint $n]}
proc bytes {field b} {
    return [varint [expr {$field << 3 | 2}]][varint [string length $b]]$b
}

# us: the duration; attributes: name and value of each, as unsigned integers.
proc node {id name type us after attributes} {
    set out [number 1 $id][bytes 2 $name][number 3 $type][number 7 $us]
    foreach before $after {append out [number 5 $before]}
    dict for {key value} $attributes {append out [bytes 10 [bytes 1 $key][number 13 $value]]}
    return $out
}

proc write {file text} {
    set f [open $file wb]
    puts -nonewline $f $text
    close $f
}

proc make_trace {folder} {
    file mkdir $folder
    set records [list [bytes 1 1.0] \
        [node 1 forward 4 5 {} {}] \
        [node 2 gradients 7 0 1 {comm_type 0 comm_size 1048576}] \
        [node 3 backward 4 20 1 {}] \
        [node 4 update 4 2 {2 3} {}]]
    set text {}
    foreach record $records {append text [varint [string length $record]]$record}
    foreach rank {0 1 2 3} {write [file join $folder rank.$rank.et] $text}
    write [file join $folder network.yml] "topology: \[ Ring \]\nnpus_count: \[ 4 \]
bandwidth: \[ 50.0 \]\nlatency: \[ 500.0 \]\n"
    write [file join $folder system.json] {{"all-reduce-implementation": ["ring"],
 "all-gather-implementation": ["ring"], "reduce-scatter-implementation": ["ring"],
 "all-to-all-implementation": ["ring"], "preferred-dataset-splits": 4, "endpoint-delay": 10,
 "collective-optimization": "localBWAware", "local-mem-bw": 1600, "peak-perf": 900}}
}

# ---- the comparison ----

# The ns at which each rank finished, by rank; "-": it did not.
proc finishes {network} {
    run -lenient -network $network
    set found {}
    foreach {- rank finish} [regexp -all -inline {"rank": (\d+),[^\}]*"finish_ps": (\w+)} \
            [report_ranks -format json -return_string]] {
        dict set found $rank [expr {$finish eq "null" ? "-" : $finish / 1000}]
    }
    return $found
}

# The cycles of the lines "sys[N] finished, X cycles".
proc read_output {file} {
    set f [open $file]
    set found {}
    foreach {- rank cycles} [regexp -all -inline {sys\[(\d+)\] finished, (\d+) cycles} [read $f]] {
        dict set found $rank $cycles
    }
    close $f
    return $found
}

proc cell {found rank} {
    return [expr {[dict exists $found $rank] ? [dict get $found $rank] : "-"}]
}

lassign $argv folder output
if {$folder eq ""} {
    set folder out/trace
    make_trace $folder
}
read_system -format astra [file join $folder network.yml] [file join $folder system.json]
set options {}
foreach name {groups memory} {
    set file [file join $folder $name.json]
    if {[file exists $file]} {lappend options -$name $file}
}
read_program -format chakra $folder {*}$options
set recorded [expr {$output eq "" ? {} : [read_output $output]}]
set ours {}
foreach network {astra_aware astra_unaware fluid} {
    if {[catch {finishes $network} found]} {
        puts "$network: $found"
        set found {}
    }
    dict set ours $network $found
}
puts [format "%4s %16s %16s %16s %16s" rank "ASTRA-sim \[ns\]" astra_aware astra_unaware fluid]
foreach rank [lsort -integer [dict keys [dict get $ours fluid]]] {
    puts [format "%4d %16s %16s %16s %16s" $rank [cell $recorded $rank] \
        {*}[lmap network {astra_aware astra_unaware fluid} {cell [dict get $ours $network] $rank}]]
}
