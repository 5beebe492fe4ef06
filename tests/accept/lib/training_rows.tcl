# SPDX-License-Identifier: GPL-3.0-or-later
# training_rows.tcl - reads measured runs of training and their machines, and makes the machines as
# systems of Tharsis. Read by tests/accept/training.tcl, whose head describes the files.
#
# A row is a dictionary. Columns that a file lacks, or leaves empty, have the values below; words
# are in lower case, but for names and notes.

# ---- files ----

# Fields in quotes may hold commas.
proc split_line {line} {
    set fields {}
    set rest $line
    while {1} {
        if {[regexp {^"((?:[^"]|"")*)"(,?)(.*)$} $rest - field comma tail]} {
            set field [string map {{""} {"}} $field]
        } else {
            regexp {^([^,]*)(,?)(.*)$} $rest - field comma tail
        }
        lappend fields [string trim $field]
        set rest $tail
        if {$comma eq ""} {return $fields}
    }
}

proc csv_rows {file} {
    set f [open $file]
    fconfigure $f -encoding utf-8
    set text [string trimleft [read $f] \ufeff]
    close $f
    set lines [lassign [split [string map {\r {}} [string trim $text]] \n] header]
    set names [lmap name [split_line $header] {string tolower $name}]
    set rows {}
    foreach line $lines {
        if {[string trim $line] eq ""} continue
        set row {}
        foreach name $names field [split_line $line] {
            if {$name ne ""} {dict set row $name $field}
        }
        lappend rows $row
    }
    return $rows
}

# ---- rows ----

# Where nothing is said; 0 is refused. Those in braces follow from other columns.
set row_defaults {
    id "" note "" overlap "" system "" memory_gib "" precision bf16 precision_as_printed ""
    task pretrain attention full recompute none schedule 1f1b pipeline_layout none gated_ffn 0
    experts 0 top_k 1 moe_ffn 0 shared_expert_ffn 0 dense_layers 0 tensor_parallel 1
    pipeline_parallel 1 virtual_stages 1 context_parallel 1 expert_parallel 1
    expert_tensor_parallel 1 zero_stage 0 sequence_parallel "" micro_batch 1 source unknown
    accelerator "" model model n_accelerators 0 layers 0 hidden 0 heads 0 vocab 0 sequence 0
    kv_heads {$heads} head_dim {$hidden / $heads} ffn {$experts > 0 ? 0 : 4 * $hidden}
    data_parallel {$n_accelerators / ($tensor_parallel * $pipeline_parallel * $context_parallel)}
    global_batch {$micro_batch * $data_parallel * $microbatches}
    zero_group {$data_parallel * $context_parallel}
    step_s {$global_batch * double($sequence) / ($tokens_per_s_per_accelerator * $n_accelerators)}
}
set columns_of_words {precision precision_as_printed task attention recompute schedule
    pipeline_layout}
set columns_of_truths {gated_ffn sequence_parallel}

# 1,024 and 1024.0 are 1024.
proc plain_number {text} {
    if {[regexp {^\d{1,3}(,\d{3})+$} $text]} {set text [string map {, {}} $text]}
    regexp {^(\d+)\.0+$} $text - text
    return $text
}

proc truth {text} {
    if {[string is boolean -strict $text]} {return [expr {bool($text)}]}
    return $text
}

proc complete_row {row} {
    global row_defaults columns_of_words columns_of_truths
    foreach {name field} $row {dict set row $name [plain_number $field]}
    foreach {name value} $row_defaults {
        if {[dict exists $row $name] && [dict get $row $name] ne ""} continue
        if {[string match {*$*} $value]} {
            if {[catch {dict with row {expr $value}} value]} {set value ""}
        }
        dict set row $name $value
    }
    foreach name $columns_of_words {dict set row $name [string tolower [dict get $row $name]]}
    foreach name $columns_of_truths {dict set row $name [truth [dict get $row $name]]}
    return $row
}

# ---- accelerators ----

# System files of accelerators by their names, the first that matches; names in lower case.
set accels {
    a100*40* a100_40  a100*pcie* ""  a100* a100_80  h100*96*500* h100_96  h100*pcie* ""
    h100*sxm*80* h100_sxm  h100 h100_sxm  h100?80gb h100_sxm  h200* h200_sxm  b200* b200_sxm
    b300* b300_sxm  gb200* gb200  gb300* gb300  tpu?v5e* tpu_v5e  tpu?v5?lite* tpu_v5e
    tpu?v5p* tpu_v5p  mi300x* mi300x  mi355x* mi355x
}

proc accelerator_name {machine} {
    set name [string tolower [dict get $machine accelerator]]
    regsub {^(nvidia|amd|google|cloud|instinct|tesla)[ _-]+} $name "" name
    regsub {^(nvidia|amd|google|cloud|instinct|tesla)[ _-]+} $name "" name
    return $name
}

# A file with one accelerator that has no file of its own, from its row of systems.csv.
proc write_accelerator {machine} {
    dict with machine {}
    regsub -all {[^a-z0-9]+} [accelerator_name $machine] _ name
    set f [file tempfile path .cfg]
    puts $f "name = \"$name\";
designs = ( { name = \"$name\"; type = \"roofline\"; clock = \"1GHz\";
    macs_per_cycle = [expr {int($peak_bf16_tflops * 500)}]; } );
accelerators = ( { dram = { capacity = \"${memory_gb}GB\"; bandwidth = \"${memory_gbps}GB/s\";
    latency = \"400ns\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 10000; };
    designs = \[\"$name\"\]; } );"
    close $f
    return $path
}

set accelerator_files {}

proc accelerator_file {machine} {
    global accels accelerator_files
    set name [accelerator_name $machine]
    foreach {pattern file} $accels {
        if {[string match $pattern $name]} {
            if {$file ne ""} {return $file}
            break
        }
    }
    if {![dict exists $accelerator_files $name]} {
        dict set accelerator_files $name [write_accelerator $machine]
    }
    return [dict get $accelerator_files $name]
}

proc delete_accelerator_files {} {
    file delete {*}[dict values $::accelerator_files]
    set ::accelerator_files {}
}

# ---- machines ----

proc machine_value {machine name otherwise} {
    if {![dict exists $machine $name] || [dict get $machine $name] eq ""} {return $otherwise}
    return [plain_number [dict get $machine $name]]
}

# Bytes/s of the network card of one accelerator: those of a node over its accelerators. Of hosts
# whose cards are not stated, one of 200 Gbit/s for 8 accelerators.
proc nic_rate {machine} {
    set cards [machine_value $machine nics_per_node ""]
    if {$cards eq ""} {return [expr {200e9 / 8 / 8}]}
    return [expr {$cards * [machine_value $machine nic_gbit_s 200] * 1e9 / 8
            / [machine_value $machine accelerators_per_node 8]}]
}

# Accelerators of an island: those of a node. A rack holds several nodes, of which a run has as many
# in each rack as in every other, where it has any choice.
proc island_size {machine n} {
    set domain [machine_value $machine scale_up_domain 8]
    set node [machine_value $machine accelerators_per_node 8]
    if {$domain <= $node} {return $domain}
    for {set size [expr {$domain / $node * $node}]} {$size >= $node} {incr size -$node} {
        if {$n % $size == 0} {return $size}
    }
    return $domain
}

# Sides of a torus of n: as near to each other as they go.
proc sides {n dimensions} {
    set out {}
    for {set d $dimensions} {$d > 1} {incr d -1} {
        set side [expr {int(pow($n, 1.0 / $d) + 1e-9)}]
        while {$n % $side} {incr side -1}
        lappend out $side
        set n [expr {$n / $side}]
    }
    return [lappend out $n]
}

# Of a slice of a TPU: as the note of a run has it ("4x4x8"), the whole slice of 16 x 16 of two
# dimensions, or as near to a cube as it goes.
proc slice_sides {note n dimensions} {
    set shape [expr {$dimensions == 3 ? {\d+x\d+x\d+} : {\d+x\d+}}]
    if {[regexp "\\m$shape\\M" $note text]} {
        set given [split $text x]
        if {[tcl::mathop::* {*}$given] == $n} {return $given}
    }
    if {$dimensions == 2 && $n <= 256} {return {16 16}}
    return [sides $n $dimensions]
}

proc make_torus {machine row share} {
    set note [dict get $row note]
    set n [dict get $row n_accelerators]
    set text [machine_value $machine scale_up_topology ""]
    set dimensions [expr {[regexp {(\d)-?d} [string tolower $text] - d] ? $d : 2}]
    set slices 1
    regexp {(\d+) slices} $note - slices
    set domain [machine_value $machine scale_up_domain 256]
    set slices [expr {max($slices, int(ceil(double($n) / $domain)))}]
    set up [expr {int([machine_value $machine scale_up_gbps_per_direction 200] * 1e9 * $share)}]
    set dims {}
    set rates {}
    foreach side [slice_sides $note [expr {($n + $slices - 1) / $slices}] $dimensions] {
        if {$side == 1} continue
        lappend dims [list ring $side]
        lappend rates [expr {$up / (2 * $dimensions)}]B/s
    }
    if {$slices > 1 || $dims eq ""} {
        lappend dims [list switch $slices]
        lappend rates [expr {int([nic_rate $machine] * $share)}]B/s
    }
    create_system -name [dict get $machine system] -topology composition -dims $dims\
        -accel [accelerator_file $machine] -link_bandwidth $rates -link_latency 1us
}

# The machine of a run: slices of a torus behind a switch, one node, or islands on a fabric. Every
# pair of a node has a link, or a switch is between them. share: of the links' rates that messages
# reach, that of pods' fabrics where it is not said.
proc make_system {machine row {share 0.7345}} {
    set n [dict get $row n_accelerators]
    set name [dict get $machine system]
    set accel [accelerator_file $machine]
    set topology [string tolower [machine_value $machine scale_up_topology ""]]
    if {[string match -nocase tpu* $accel] || [string match *torus* $topology]} {
        make_torus $machine $row $share
        return
    }
    set up [expr {int([machine_value $machine scale_up_gbps_per_direction 300] * 1e9 * $share)}]
    set island [island_size $machine $n]
    set pairs [expr {[string match "*every pair*" $topology] && $island > 1}]
    if {$pairs} {set up [expr {$up / ($island - 1)}]}
    if {$n <= [machine_value $machine scale_up_domain 8]} {
        if {$pairs} {set n $island}
        create_system -name $name -topology [expr {$pairs ? "fully_connected" : "star"}] -dims $n\
            -accel $accel -link_bandwidth ${up}B/s -link_latency 1us
        return
    }
    create_system -name $name -topology islands -dims [list [expr {($n + $island - 1) / $island}]\
        $island] -accel $accel -island [expr {$pairs ? "fully_connected" : "switch"}]\
        -link_bandwidth [list ${up}B/s [expr {int([nic_rate $machine] * $share)}]B/s]\
        -link_latency {1us 3us}
}
