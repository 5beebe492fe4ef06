# SPDX-License-Identifier: GPL-3.0-or-later
# profiler.tcl - what reading a trace of PyTorch's profiler costs: user time and the peak of memory,
# each in a process of its own, least of three.
#   tharsis -no_init -exit tests/bench/profiler.tcl ?MB? ?FILE?
# The trace, FILE or else made, has steps of 100 linear layers as Kineto writes them: of each layer
# the operator that was called and the one inside it, the launch, the kernel and the two ends of the
# arrow between them; the sizes of its products are those of twenty layers.
set cost [file join [file dirname [file normalize [info script]]] cost.tcl]
lassign $argv mb file

proc event {category name ts dur id more} {
    return "\{\"ph\": \"X\", \"cat\": \"$category\", \"name\": \"$name\", \"pid\": 4711,\
        \"tid\": 4711, \"ts\": $ts, \"dur\": $dur, \"args\": \{\"External id\": $id, $more\}\}"
}
proc op {name ts dur id dims} {
    set n [llength $dims]
    set inputs [join [lmap d $dims {string cat \[ [join $d {, }] \]}] {, }]
    return [event cpu_op aten::$name $ts $dur $id "\"Record function id\": 0,\
        \"Concrete Inputs\": \[[join [lrepeat $n {""}] {, }]\], \"Input type\": \[[join \
        [lrepeat $n {"c10::BFloat16"}] {, }]\], \"Input Dims\": \[$inputs\], \"Ev Idx\": $id"]
}
proc layer {id ts} {
    set rows [expr {128 * (1 + $id % 4)}]
    set in [expr {512 * (1 + $id % 5)}]
    lassign [list [expr {2 * $id + 1}] [expr {2 * $id + 2}]] outer inner
    set arrow "\"id\": $inner, \"pid\": 0, \"tid\": 7, \"ts\": $ts, \"cat\": \"ac2g\",\
        \"name\": \"ac2g\""
    return [list [op linear $ts 31.5 $outer [list "$rows $in" "1024 $in" 1024]] \
        [op addmm [expr {$ts + 4}] 22.25 $inner [list 1024 "$rows $in" "$in 1024" {} {}]] \
        [event cuda_runtime cudaLaunchKernel [expr {$ts + 11}] 6.125 $inner \
            "\"cbid\": 211, \"correlation\": $inner"] \
        [event kernel sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1 \
            [expr {$ts + 20}] [expr {$rows * $in / 32768.0}] $inner "\"queued\": 0, \"device\": 0,\
            \"context\": 1, \"stream\": 7, \"correlation\": $inner, \"registers per thread\": 168,\
            \"shared memory\": 213248, \"blocks per SM\": 0.727273, \"grid\": \[8, 12, 1\],\
            \"block\": \[384, 1, 1\], \"est. achieved occupancy %\": 19"] \
        "\{\"ph\": \"s\", $arrow\}" "\{\"ph\": \"f\", $arrow, \"bp\": \"e\"\}"]
}
proc write_trace {file bytes} {
    set out [open $file w]
    puts $out "\{\"schemaVersion\": 1, \"deviceProperties\": \[\{\"id\": 0, \"name\":\
        \"NVIDIA H100 80GB HBM3\", \"numSms\": 132\}\], \"traceEvents\": \["
    for {set id 0} {[tell $out] < $bytes} {incr id} {
        puts $out [join [layer $id [expr {50 * $id}]] ,\n],
    }
    puts $out "\{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"args\": \{\"name\":\
        \"python\"\}\}\]\}"
    close $out
}

set made [expr {$file eq ""}]
if {$made} {
    set file profiler.tmp.json
    write_trace $file [expr {1000000 * ($mb eq "" ? 48 : $mb)}]
}
puts [format "%.1f MB" [expr {[file size $file] / 1e6}]]
foreach {what command} {
    read_measurements {read_measurements $file}
    read_table {llength [dict get [read_table $file -format json] traceEvents]}
} {
    set all [lmap round {1 2 3} {
        exec [info nameofexecutable] -no_init -exit << "
            source [list $cost]
            suppress_message TCL-0362
            set file [list $file]
            set n \[$command\]
            puts \[format {%.2f s %d MB, %d read} \[cpu\] \[peak_mb\] \$n\]"
    }]
    puts "$what [lindex [lsort -real -index 0 $all] 0]"
}
if {$made} {file delete $file}
