# SPDX-License-Identifier: GPL-3.0-or-later
# h2h_models.tcl - the accelerators and models of H2H's data, as a system and workloads of Tharsis.
# Read by tests/accept/h2h.tcl, whose head describes the files, and tests/bench/quality/quality.tcl.

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

# The workload of a model, with its edges between modalities or without, read from the data into
# folder/model.cfg, and the system with this network bandwidth in folder/system.cfg.
proc write_h2h_case {directory folder model gigabytes_per_s has_edges} {
    set edges [expr {$has_edges && [dict exists $::cross_edges $model] ?\
                [dict get $::cross_edges $model] : {}}]
    write_workload [file join $folder model.cfg] $model \
        [csv_read [file join $directory ${model}_layers.csv]] $edges
    write_system [file join $folder system.cfg] \
        [accelerators_read [read_all [file join $directory accelerators.json]]] $gigabytes_per_s
}
