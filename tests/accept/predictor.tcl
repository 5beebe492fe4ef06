# SPDX-License-Identifier: GPL-3.0-or-later
# predictor.tcl - predicted layer times of GPUs against measured ones that were not in training.
#
#   tharsis -exit tests/accept/predictor.tcl ?-quick? ?-seconds N? TRAIN ?TEST?
#
# TRAIN and TEST hold perfnet/LAYER_*.csv.xz, justus2018/LAYER_*.csv.xz and neusight/*_LAYER.csv.xz;
# what is not there is left out. Never trained on: networks, whole models, further rows of one GPU
# alone (*_extra*). A predictor is trained for each collection and kind of layer on the rows of
# TRAIN and asked for those of TEST; a GPU that TRAIN has no rows of is unseen. Without TEST, or
# where it is TRAIN, a fifth of the operations is held out by a digest of their row_id, on all GPUs;
# and GPUs are left out in turn, where the others are learned from with a fifth of the operations.
# -quick: everything from a fifth of the operations, for perfnet by boosting over the law, one GPU
# of each collection left out, no networks but those of perfnet, on bars that are a fifth higher.
# Unseen GPUs of perfnet are asked for once more when twenty of their layers have calibrated the
# predictor. Networks, of TEST, from what was learned of layers alone:
#   perfnet/networks_per_layer_*.csv.xz   the predicted sum of their layers against the measured
#   sum, up to a batch of 64
#   justus2018/benchmark_VGG16_V100_*     VGG16 as TensorFlow's slim has it, forward and a step of
#   SGD
#   neusight/whole_models.csv.xz          whole transformers, inference, and forward with backward
# A line per case: the mean absolute percentage error asked for ("-": printed only) and what was
# got; and the CPU seconds of each section. What would begin after N CPU seconds (3600) is left out,
# and then the bars do not hold. Exit status: 0 where all bars hold, 1 where not, 2 where the data
# cannot be read.

source [file join [file dirname [file normalize [info script]]] lib measured_networks.tcl]

# Of seen GPUs: the mean over them.
set seen_bars {perfnet,conv 5.0 perfnet,pooling 3.7 perfnet,dense 6.0}
# Of unseen ones: by device, where a bar is of one; the mean over those left out in turn; and of one
# held back for good.
set device_bars {
    neusight,dense,h100 12.0 neusight,dense,l4 15.0 neusight,dense,a100_80 13.0
    neusight,matmul,h100 20.0 neusight,matmul,l4 27.0 neusight,matmul,a100_80 19.0
}
set turn_bars {perfnet,conv 8.0 perfnet,pooling 10.0 perfnet,dense 17.0}
set calibrated_bars {perfnet,conv 8.0 perfnet,pooling 9.0 perfnet,dense 7.0}
set held_back_bars {perfnet,conv 11.0 perfnet,pooling 9.0 perfnet,dense 18.0}

# Mean over networks and batches.
set network_bar 5.0
set batch_max 64
# Mean over batches; and over the transformers of a GPU.
set vgg_bar 15.0
set transformer_bars {inference,a100_40 10.0 inference,p100 10.0 inference,t4 18.0 inference,v100\
        10.0 training,v100 10.0}

# {collection patterns-of-files devices-left-out-in-turn devices-left-out-by-quick}
set cases {
    {perfnet convolution_* {1080ti 2080ti p1000 p2000 p4000} p2000}
    {perfnet pooling_* {1080ti 2080ti p1000 p2000 p4000} p2000}
    {perfnet dense_* {1080ti 2080ti p1000 p2000 p4000} p2000}
    {neusight *_linear a100_40 a100_40}
    {neusight *_bmm a100_40 {}}
    {neusight *_conv {} {}}
    {neusight *_elem {} {}}
    {neusight *_ln {} {}}
    {neusight *_softmax {} {}}
    {justus2018 convolution_* {} {}}
    {justus2018 dense_* {} {}}
}
# What -quick looks at: the figures of the last line, and linear layers on a newer GPU.
set n_quick 4
set quick_factor 1.2
# The default; -quick trains boosting over the law alone for perfnet.
# third of the time.
set learner auto
set quick_learners {perfnet law_boosting neusight auto}
set few_percent 80
set split_percent 20

# ---- rows ----

proc files_of {folder collection pattern} {
    set files [glob -nocomplain -directory [file join $folder $collection] ${pattern}.csv \
            ${pattern}.csv.xz ${pattern}.csv.gz]
    return [lsort [lsearch -all -inline -not $files *_extra*]]
}

# Reads them as measurements of this name; whether there are any.
proc read_files {files name} {
    foreach file $files {read_measurements $file -name $name}
    return [expr {$files ne ""}]
}

# The lines of devices of an evaluation, as dicts of kind, phase, device, in_training, rows and
# percent.
proc evaluation {args} {
    set lines [split [string trim [evaluate_predictor {*}$args -format csv -return_string]] \n]
    set names [split [lindex $lines 0] ,]
    set all {}
    foreach line [lrange $lines 1 end] {
        foreach name $names value [split $line ,] {set field($name) $value}
        if {$field(seen) eq ""} continue
        lappend all [dict create kind $field(kind) phase $field(phase) device $field(device) \
            in_training [expr {$field(seen) eq "yes"}] rows $field(rows) percent \
            $field(mean_error_percent)]
    }
    return $all
}

# ---- time ----

# CPU seconds of this process, by all of its threads; 0 where the system does not tell.
proc cpu_seconds {} {
    if {[catch {read_all /proc/self/stat} text]} {return 0.0}
    lassign [lrange [string range $text [string last ) $text]+1 end] 11 12] user system
    return [expr {($user + $system) / 100.0}]
}

# Runs a section, unless the time is used up, and tells what it took.
proc section {name script} {
    set begun [cpu_seconds]
    if {$begun > $::seconds_max} {
        puts "$name: left out, $::seconds_max CPU seconds are used up"
        incr ::n_missed
        return
    }
    set before $::n_cases
    uplevel 1 $script
    if {$::n_cases > $before} {
        puts [format "%-42s %8.0f CPU seconds" "= $name" [expr {[cpu_seconds] - $begun}]]
    }
}

# ---- cases ----

proc show {case bar percent rows} {
    set deviation \
        [expr {$bar eq "-" ? "" : [format "%+.1f %%" [expr {100 * ($percent / $bar - 1)}]]}]
    puts [format "%-42s %8s %8.2f %10s %8d" $case $bar $percent $deviation $rows]
    flush stdout
    incr ::n_cases
    if {$bar ne "-" && $percent > $bar} {incr ::n_missed}
}

proc bar_of {bars key} {
    if {![dict exists $bars $key]} {return -}
    return [format %.2f [expr {[dict get $bars $key] * ($::quick ? $::quick_factor : 1)}]]
}

proc mean {lines} {
    set sum 0.0
    foreach line $lines {set sum [expr {$sum + [dict get $line percent]}]}
    return [expr {$sum / [llength $lines]}]
}

proc rows_of {lines} {
    set sum 0
    foreach line $lines {incr sum [dict get $line rows]}
    return $sum
}

# Lines of one collection by kind and phase: each device, then their mean against the bar. The mean
# is remembered for the last line, as that of $what.
proc show_all {what collection lines bars} {
    set groups {}
    foreach line $lines {dict lappend groups [dict get $line kind],[dict get $line phase] $line}
    dict for {group members} $groups {
        lassign [split $group ,] kind phase
        foreach line $members {
            set device [dict get $line device]
            set bar \
                [expr {$what eq "unseen" ? [bar_of $::device_bars $collection,$kind,$device] : "-"}]
            show "$collection $kind $phase, $what $device" $bar [dict get $line percent] \
                [dict get $line rows]
        }
        set key [expr {$phase eq "step" ? "-" : "$collection,$kind"}]
        show "$collection $kind $phase, $what, mean" [bar_of $bars $key] [mean $members] \
            [rows_of $members]
        set ::figure($what,$key) [format %.2f [mean $members]]
    }
}

proc of_training {lines is} {
    return [lmap line $lines {expr {[dict get $line in_training] == $is ? $line : [continue]}}]
}

# ---- a few rows of a new GPU ----

set n_few 20

# Twenty layers out of the files, evenly spread, with their times on this device alone.
proc few_rows {files device} {
    set file [lindex $files 0]
    set text [expr {[string match *.xz $file] ? [exec xz -dc $file] : [string match *.gz $file] ?\
                [exec gzip -dc $file] : [read_all $file]}]
    set lines [split [string trim [string map {\r {}} $text]] \n]
    set names [split [lindex $lines 0] ,]
    set time [lsearch -nocase $names time_median_$device]
    set kept [lmap name $names \
            {expr {[string match time_* $name] ? [continue] : [lsearch -exact $names $name]}}]
    set rows [lmap line [lrange $lines 1 end] {
        set fields [split $line ,]
        if {[lindex $fields $time] eq ""} continue
        lmap place [concat $kept $time] {lindex $fields $place}
    }]
    set few [list [lmap place [concat $kept $time] {lindex $names $place}]]
    for {set i 0} {$i < $::n_few} {incr i} {
        lappend few [lindex $rows [expr {$i * [llength $rows] / $::n_few}]]
    }
    return [join [lmap row $few {join $row ,}] \n]\n
}

proc read_all {file} {
    set f [open $file]
    set text [read $f]
    close $f
    return $text
}

# The line of the device, which the predictor at hand did not meet, after calibration. The twenty
# are among the rows.
proc calibrated {files device measurements} {
    close [file tempfile model .model]
    regsub {_.*} [file tail [lindex $files 0]] {} kind
    close [file tempfile few .csv]
    set f [open $few w]
    puts -nonewline $f [few_rows $files $device]
    close $f
    write_predictor $model
    read_measurements $few -name "few of $files, $device" \
        -kind [dict get {convolution conv pooling pooling dense dense} $kind]
    read_predictor $model -calibrate "few of $files, $device"
    file delete $model $few
    return [lsearch -all -inline -index 5 [evaluation -on $measurements] $device]
}

# ---- networks ----

# Adds the sums of the layers that the predictor at hand knows, by network and device, to those of
# the others.
proc sum_networks {} {
    if {!$::has_networks} return
    set lines [split \
            [string trim [evaluate_predictor -on networks -groups -format csv -return_string]] \n]
    foreach line [lrange $lines 1 end] {
        if {![regexp {^"?(.*), batch (\d+)"?,([^,]*),(\d+),(\d+),(\d+),} $line -> network batch\
                    device rows measured predicted]} {
            error "a line of -groups: $line"
        }
        if {$batch > $::batch_max} continue
        set key [format "%s %s, batch %d" $device $network $batch]
        if {![dict exists $::networks $key]} {dict set ::networks $key {0 0 0}}
        lassign [dict get $::networks $key] n m p
        dict set ::networks $key \
            [list [expr {$n + $rows}] [expr {$m + $measured}] [expr {$p + $predicted}]]
    }
}

proc show_networks {} {
    set errors {}
    dict for {key sums} $::networks {
        lassign $sums rows measured predicted
        lappend errors \
            [dict create percent [expr {abs(100.0 * $predicted / $measured - 100)}] rows $rows]
        show $key - [dict get [lindex $errors end] percent] $rows
    }
    if {$errors eq ""} return
    show "networks, mean" [bar_of [list - $::network_bar] -] [mean $errors] [rows_of $errors]
    set ::figure(networks) [format %.2f [mean $errors]]
}

# ---- whole networks ----

proc milliseconds {time} {
    regexp {^([0-9.]+)(ns|us|ms|s)$} $time -> number unit
    return [expr {$number * [dict get {ns 1e-6 us 1e-3 ms 1 s 1e3} $unit]}]
}

# Rows of a file as dicts, by the names of the first line. No field is quoted.
proc csv_rows {file} {
    set text [expr {[string match *.xz $file] ? [exec xz -dc $file] : [read_all $file]}]
    set lines [split [string trim [string map {\r {}} $text]] \n]
    set names [lmap name [split [lindex $lines 0] ,] {string trim $name}]
    return [lmap line [lrange $lines 1 end] {
        set row {}
        foreach name $names value [split $line ,] {dict set row $name [string trim $value]}
        set row
    }]
}

# Trains one predictor on all files of a collection that match; whether there are any.
proc train_collection {train collection patterns} {
    set files {}
    foreach pattern $patterns {lappend files {*}[files_of $train $collection $pattern]}
    if {![read_files $files $patterns]} {return 0}
    train_predictor -on $patterns -learner $::learner
    return 1
}

# Shows a case of a network, and keeps it for the mean of its group.
proc show_network {group case measured options} {
    set percent [expr {abs(100.0 * [milliseconds [predict_network {*}$options]] / $measured - 100)}]
    show $case - $percent 1
    dict lappend ::groups $group [dict create percent $percent rows 1]
}

proc show_groups {bars} {
    dict for {group cases} $::groups \
        {show "$group, mean" [bar_of $bars $group] [mean $cases] [llength $cases]}
}

proc vgg16_on_v100 {train test} {
    set ::groups {}
    set all {}
    foreach {file what options} {FW forward {} sgd step {-phase training -optimizer sgd}} {
        foreach path [glob -nocomplain \
                -directory [file join $test justus2018] benchmark_VGG16_V100_${file}_*.csv] {
            lappend all $what $options [csv_rows $path]
        }
    }
    if {$all eq "" || ![train_collection $train justus2018 {convolution_V100 dense_V100}]} return
    read_workload vgg16_conv
    foreach {what options rows} $all {
        foreach row $rows {
            set batch [dict get $row batchsize]
            show_network "vgg16 v100 $what" "vgg16 v100 $what, batch $batch" \
                [dict get $row "time per batch (ms)"] \
                [list -gpu v100 -batch $batch -activation relu {*}$options]
        }
    }
    show_groups [list "vgg16 v100 forward" $::vgg_bar "vgg16 v100 step" $::vgg_bar]
}

set gpu_names \
    {NVIDIA_A100-PCIE-40GB a100_40 Tesla_P100-PCIE-16GB p100 Tesla_T4 t4 Tesla_V100-PCIE-32GB v100}
# Of the mixture of experts there is no workload: which experts a word takes depends on data.
set transformers_left_out switchxl4

# As eager PyTorch runs them on one GPU.
proc transformers {train test} {
    set file [file join $test neusight whole_models.csv.xz]
    set ::groups {}
    if {![file exists $file] || ![train_collection $train neusight {train_*}]} return
    foreach row [csv_rows $file] {
        dict with row {}
        if {$option ne "" || $model in $::transformers_left_out} continue
        measured::read [expr {$mode eq "train" && $model eq "bert_large" ?\
                    "bert_large_pretraining" : $model}]
        set phase [dict get {inf inference train training} $mode]
        set gpu [string map $::gpu_names $device]
        show_network $phase,$gpu "$gpu $phase, $model, batch $batch" $e2e_latency \
            [list -gpu $gpu -batch $batch -phase $phase]
    }
    show_groups $::transformer_bars
}

# ---- our own split ----

proc split_case {collection files devices quick_devices} {
    if {![read_files $files $files]} return
    if {$::quick} {
        train_predictor -on $files -held_out $::few_percent -without $quick_devices \
            -learner [dict get $::quick_learners $collection]
        if {$collection eq "perfnet"} sum_networks
        set lines [evaluation -on $files -held_out]
        show_all seen $collection [of_training $lines 1] $::seen_bars
        show_all unseen $collection [of_training $lines 0] $::turn_bars
        if {$collection eq "perfnet"} {
            show_all calibrated $collection [calibrated $files $quick_devices $files] \
                $::calibrated_bars
        }
        return
    }
    train_predictor -on $files -held_out $::split_percent -learner $::learner
    if {$collection eq "perfnet"} sum_networks
    show_all seen $collection [evaluation -on $files -held_out] $::seen_bars
    set unseen {}
    set calibrated {}
    foreach device $devices {
        train_predictor -on $files -held_out $::few_percent -without $device -learner $::learner
        lappend unseen {*}[of_training [evaluation -on $files -held_out] 0]
        if {$collection eq "perfnet"} {lappend calibrated {*}[calibrated $files $device $files]}
    }
    show_all unseen $collection $unseen $::turn_bars
    show_all calibrated $collection $calibrated $::calibrated_bars
}

# ---- rows of another folder ----

proc test_case {collection files test_files} {
    if {![read_files $files $files] || ![read_files $test_files "test $files"]} return
    train_predictor -on $files -learner $::learner
    if {$collection eq "perfnet"} sum_networks
    set lines [evaluation -on "test $files"]
    show_all seen $collection [of_training $lines 1] $::seen_bars
    show_all unseen $collection [of_training $lines 0] $::held_back_bars
    if {$collection ne "perfnet"} return
    close [file tempfile model .model]
    write_predictor $model
    foreach line [of_training $lines 0] {
        read_predictor $model
        lappend calibrated {*}[calibrated $test_files [dict get $line device] "test $files"]
    }
    file delete $model
    if {[info exists calibrated]} {show_all calibrated $collection $calibrated $::calibrated_bars}
}

# ---- the whole ----

proc figures {what} {
    return [join [lmap kind {conv pooling dense} {
        if {[info exists ::figure($what,perfnet,$kind)]} {
            set ::figure($what,perfnet,$kind)
        } {
            string cat -
        }
    }] " "]
}

proc run_all {train test} {
    puts [format "%-42s %8s %8s %10s %8s" case {asked [%]} {got [%]} deviation rows]
    set ::has_networks [read_files [files_of $test perfnet networks_per_layer_*] networks]
    foreach case [lrange $::cases 0 [expr {$::quick ? $::n_quick - 1 : "end"}]] {
        lassign $case collection pattern devices quick_devices
        set files [files_of $train $collection $pattern]
        section "$collection $pattern" {
            if {$test eq $train} {
                split_case $collection $files $devices $quick_devices
            } else {
                test_case $collection $files [files_of $test $collection $pattern]
            }
        }
    }
    show_networks
    if {!$::quick} {
        section "VGG16 on the V100" {vgg16_on_v100 $train $test}
        section transformers {transformers $train $test}
    }
    if {$::n_cases == 0} {error "no measurements in $train and $test"}
    puts "predictor: seen conv, pooling, dense [figures seen]; unseen [figures unseen];\
            calibrated [figures calibrated]; networks $::figure(networks) % ($::n_cases cases)"
    return [expr {$::n_missed == 0}]
}

set n_cases 0
set networks {}
set figure(networks) -
set n_missed 0
set quick [expr {[lindex $argv 0] eq "-quick"}]
set argv [lrange $argv $quick end]
set seconds_max 3600
if {[lindex $argv 0] eq "-seconds"} {
    set seconds_max [lindex $argv 1]
    set argv [lrange $argv 2 end]
}
set folders [lmap folder $argv {file normalize $folder}]
if {[llength $folders] ni {1 2} || ![string is double -strict $seconds_max]} {
    puts stderr "usage: tharsis -exit tests/accept/predictor.tcl ?-quick? ?-seconds N? TRAIN ?TEST?"
    exit 2
}
if {[catch {run_all [lindex $folders 0] [lindex $folders end]} holds]} {
    puts stderr "predictor.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
