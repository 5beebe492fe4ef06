# SPDX-License-Identifier: GPL-3.0-or-later
# h2h.tcl - heterogeneous systems: the steps of the H2H mapper, and how much less our mapping takes.
#
#   tharsis -exit tests/accept/h2h.tcl DIRECTORY ?REDUCTION_PERCENT?
#
# DIRECTORY holds accelerators.json (a list of accelerators with their throughput, clock, bus,
# memory and tiles), MODEL_layers.csv (chains of layers by modality) and h2h_mapper_results.csv
# (seconds after each of the four steps of the public mapper, by model and network bandwidth). An
# accelerator becomes a serial_tiled design of its own on a system with serial transfers, a model a
# workload with free shapes (docs/models/h2h.md). Every step is found by map_workload -algorithm h2h
# -steps N, ours by the default search, and all are run. Exit status: 0 where, over the rows without
# edges between modalities, steps 1 and 2 deviate by at most 1 %, 3 and 4 by at most 10 %, and our
# mapping takes at least REDUCTION_PERCENT (64) less than step 4 in the mean; 1 where not; 2 where
# the data cannot be read. Rows with such edges are printed, no more.

set bars {1 0.01 2 0.01 3 0.10 4 0.10}
set reduction_bar 64.0

# Edges between modalities, which the files of layers do not hold: by model, to a layer, from
# layers.
set cross_edges {
    casia_surf {M1L13 {M2L12 M3L12}}
    facebag {M1L14 {M2L13 M3L13}}
    vfs {M3L14 {M4L8}}
}

# ---- reading ----

proc read_all {file} {
    set f [open $file]
    set text [read $f]
    close $f
    return $text
}

# A list of flat objects, as dicts.
proc accelerators_read {text} {
    set list {}
    foreach object [regexp -all -inline {\{[^{}]*\}} $text] {
        set one {}
        foreach {- key text number} \
            [regexp -all -inline {"(\w+)"\s*:\s*(?:"([^"]*)"|([-+.\w]+))} $object] {
            dict set one $key [expr {$number eq "" ? $text : $number}]
        }
        foreach key {accName accType throughput Freq Bandwidth DDR} {
            if {![dict exists $one $key]} {error "accelerators.json: an accelerator without $key"}
        }
        lappend list $one
    }
    if {$list eq ""} {error "accelerators.json: no accelerators"}
    return $list
}

# Rows as dicts, by the names of the first line. No field is quoted.
proc csv_read {file} {
    set lines [lassign [split [string map {\r {}} [string trim [read_all $file]]] \n] header]
    set names [split $header ,]
    return [lmap line $lines {
        set fields [split $line ,]
        if {[llength $fields] != [llength $names]} {
            error "[file tail $file]: \"$line\": not [llength $names] fields"
        }
        set row {}
        foreach name $names field $fields {dict set row $name $field}
        set row
    }]
}

# ---- the system ----

# What an accelerator runs, by its type.
set only {CNN conv FC dense LSTM recurrent}

proc design_text {a} {
    set text "name = \"[dict get $a accName]\"; type = \"serial_tiled\";
            only = \"[dict get $::only [dict get $a accType]]\";\n\
        \    clock = \"[dict get $a Freq]MHz\"; bus_bits = [dict get $a Bandwidth];\
        \ throughput = [format %.1f [expr {[dict get $a throughput] * 1e9}]];"
    foreach {key name} {Tm tile_k Tn tile_c Tr tile_h Tc tile_w Tr_ input_tile_h Tc_ input_tile_w} {
        if {[dict exists $a $key]} {append text " $name = [dict get $a $key];"}
    }
    return "    { $text }"
}

# The local memory is behind the bus of the design, and never slower than it. The vector unit adds
# up partial sums, which the published mapper does not have: a word of the bus in every cycle.
proc accelerator_text {a} {
    set words [expr {[dict get $a Bandwidth] / [dict get $a Dtype]}]
    return "    { name = \"[dict get $a accName]\"; designs = \[\"[dict get $a accName]\"\];
      dram = { capacity = \"[format %.0f [expr {[dict get $a DDR] * 1e9}]]B\";
              bandwidth = \"1TB/s\"; latency = \"0ns\"; burst = \"1B\"; };
      vector = { clock = \"[dict get $a Freq]MHz\"; elements_per_cycle = $words; }; }"
}

proc write_system {file accelerators gigabytes_per_s} {
    set f [open $file w]
    puts $f "name = \"h2h\";
transfers = \"serial\";
weight_memory = 0.5;
designs = (\n[join [lmap a $accelerators {design_text $a}] ",\n"]\n);
accelerators = (\n[join [lmap a $accelerators {accelerator_text $a}] ",\n"]\n);
hosts = ( \"host\" );
links = ( { center = \"host\";
        leaves = \[[join [lmap a $accelerators {format {"%s"} [dict get $a accName]}] {, }]\];
    bandwidth = \"${gigabytes_per_s}GB/s\"; latency = \"0ns\"; duplex = \"full\"; } );"
    close $f
}

# ---- the workload ----

# A convolution of stride 2 reads as many rows and columns as the cost model counts: twice its
# outputs.
proc shape_text {row} {
    dict with row {}
    switch $LayerType {
        CNN {
            return "type = \"conv\"; outputs = $M; in_channels = $N; in_height = [expr {2 * $R}];\
                    in_width = [expr {2 * $C}];\
                kernel = $K; stride = 2; padding = [expr {($K - 1) / 2}]; bias = false;"
        }
        FC {
            return "type = \"matmul\"; columns = $M; in_channels = $N; in_height = $K;\
                    in_width = 1;"
        }
        LSTM {
            return "type = \"lstm\"; outputs = $Hidden; in_channels = $Dimen; in_height = $Iter;\
                    in_width = 1; bias = false;"
        }
    }
    error "layer $key: unknown type $LayerType"
}

proc write_workload {file model rows edges} {
    set entries {}
    set modality {}
    foreach row $rows {
        set key [dict get $row key]
        set from [expr {[dict get $row modality] eq $modality ? $last : "input"}]
        set inputs [list $from]
        if {[dict exists $edges $key]} {lappend inputs {*}[dict get $edges $key]}
        lappend entries "    { name = \"$key\";
                inputs = \[[join [lmap i $inputs {format {"%s"} $i}] {, }]\];
                [shape_text $row] }"
        set modality [dict get $row modality]
        set last $key
    }
    set f [open $file w]
    puts $f "name = \"$model\"; shapes = \"free\"; precision = \"fp32\";
input = { channels = 1; height = 1; width = 1; };
layers = (\n[join $entries ",\n"]\n);"
    close $f
}

# ---- rows ----

# {seconds events} of the mapping at hand.
proc run_mapping {} {
    run -all
    set summary [report_summary -format json -return_string]
    regexp {"makespan_ps": (\d+)} $summary -> makespan
    regexp {"events": (\d+)} $summary -> events
    return [list [expr {$makespan / 1e12}] $events]
}

proc check_row {row folder} {
    set worst {1 0 2 0 3 0 4 0}
    set label "[dict get $row model] [dict get $row net_bandwidth_GB_per_s]"
    if {[dict get $row cross_modality_edges_added]} {append label " +edges"}
    foreach step {1 2 3 4} {
        set expected [dict get $row s_step$step]
        map_workload -algorithm h2h -steps $step
        lassign [run_mapping] got events
        set deviation [expr {abs($got / $expected - 1)}]
        dict set worst $step $deviation
        puts [format "%-26s %-6s %12.6f %12.6f %9.4f %8d" $label "step $step" $expected $got \
                [expr {100 * $deviation}] $events]
    }
    set bound [dict get $row s_step4]
    map_workload
    lassign [run_mapping] got events
    set reduction [expr {100 * (1 - $got / $bound)}]
    puts [format "%-26s %-6s %12.6f %12.6f %8.2f%% %8d" $label ours $bound $got $reduction $events]
    return [list $worst $reduction]
}

# The default search may find more than step 4 of ours; the figure is against the published step 4.
proc run_all {directory folder} {
    set accelerators [accelerators_read [read_all [file join $directory accelerators.json]]]
    set reductions {}
    set holds 1
    puts [format "%-26s %-6s %12s %12s %9s %8s" row mapping {expected [s]} {got [s]} \
            {dev. [%]} events]
    foreach row [csv_read [file join $directory h2h_mapper_results.csv]] {
        set model [string map {- _} [string tolower [dict get $row model]]]
        set has_edges [dict get $row cross_modality_edges_added]
        set edges [expr {$has_edges && [dict exists $::cross_edges $model] ?\
                    [dict get $::cross_edges $model] : {}}]
        write_workload [file join $folder model.cfg] $model \
            [csv_read [file join $directory ${model}_layers.csv]] $edges
        write_system [file join $folder system.cfg] $accelerators \
            [dict get $row net_bandwidth_GB_per_s]
        read_system [file join $folder system.cfg]
        read_workload [file join $folder model.cfg]
        lassign [check_row $row $folder] deviations reduction
        if {$has_edges} continue
        lappend reductions $reduction
        dict for {step bar} $::bars {
            if {[dict get $deviations $step] > $bar} {set holds 0}
        }
    }
    if {$reductions eq ""} {error "h2h_mapper_results.csv: no rows without edges"}
    set mean [expr {[::tcl::mathop::+ {*}$reductions] / [llength $reductions]}]
    puts [format "h2h: %.1f %% (%d cases)" $mean [llength $reductions]]
    return [expr {$holds && $mean >= $::reduction_bar}]
}

if {[llength $argv] ni {1 2}} {
    puts stderr "usage: tharsis -exit tests/accept/h2h.tcl DIRECTORY ?REDUCTION_PERCENT?"
    exit 2
}
if {[llength $argv] == 2} {set reduction_bar [lindex $argv 1]}
close [file tempfile folder]
file delete $folder
file mkdir $folder
if {[catch {run_all [lindex $argv 0] $folder} holds]} {
    puts stderr "h2h.tcl: $holds"
    set status 2
} else {
    set status [expr {!$holds}]
}
file delete -force $folder
exit $status
