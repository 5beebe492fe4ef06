# SPDX-License-Identifier: GPL-3.0-or-later
# networks.tcl - how far predicted networks are from measured ones.
#   tharsis -no_init -exit tests/bench/networks.tcl FOLDER perfnet|justus|neusight ?MODEL?
# FOLDER holds the measurements, one folder per set; MODEL is a predictor that was trained on the
# set (without it, one is trained, which takes minutes). What is trained on are layers alone;
# networks are never among them.
#   perfnet   LeNet, AlexNet, VGG16 on a GTX 1080 Ti, the sum of layers called alone
#   justus    VGG16 as TensorFlow's slim has it, on a V100: forward, and a step of gradient descent
#   neusight  whole transformers on four GPUs: inference, and forward and backward

source [file join [file dirname [file normalize [info script]]] .. accept lib measured_networks.tcl]
lassign $argv folder set model

proc milliseconds {time} {
    regexp {^([0-9.]+)(us|ms|s)$} $time -> number unit
    expr {$number * [dict get {us 1e-3 ms 1 s 1e3} $unit]}
}

proc rows {file} {
    set f [expr {[file extension $file] eq ".xz" ? [open "|xzcat $file"] : [open $file]}]
    set lines [split [string trim [read $f]] \n]
    close $f
    set names [lmap name [split [lindex $lines 0] ,] {string trim $name}]
    return [lmap line [lrange $lines 1 end] {
        set row {}
        foreach name $names value [split $line ,] { dict set row $name [string trim $value] }
        set row
    }]
}

# Prints a case, and keeps its error under a group.
proc compare {group case measured predicted} {
    set error [expr {$predicted / $measured - 1}]
    puts [format "%-28s %-28s measured %10.3f ms, predicted %10.3f, %+6.1f %%" $group $case \
            $measured $predicted \
        [expr {100 * $error}]]
    dict lappend ::errors $group [expr {abs($error)}]
}

proc perfnet {folder} {
    set sums {}
    foreach row [rows $folder/perfnet/networks_per_layer_1080ti.csv.xz] {
        dict with row {
            if {![dict exists $sums $network,$batchsize]} { dict set sums $network,$batchsize 0 }
            dict set sums $network,$batchsize \
                [expr {[dict get $sums $network,$batchsize] + $time_median}]
        }
    }
    foreach {network workload} {lenet lenet alexnet alexnet_one vgg16 vgg16} {
        measured::read $workload
        foreach batch {1 2 4 8 16 32 64} {
            if {![dict exists $sums $network,$batch]} continue
            compare $network "batch $batch" [dict get $sums $network,$batch] \
                [milliseconds [predict_network -gpu 1080ti -batch $batch -host calls]]
        }
    }
}

proc justus {folder} {
    read_workload vgg16_conv
    foreach {file what options} {FW forward {} sgd step {-phase training -optimizer sgd}} {
        foreach row [rows $folder/justus2018/benchmark_VGG16_V100_${file}_20181022.csv] {
            set batch [dict get $row batchsize]
            compare "vgg16 $what" "batch $batch" [dict get $row "time per batch (ms)"] \
                [milliseconds \
                    [predict_network -gpu v100 -batch $batch -activation relu {*}$options]]
        }
    }
}

proc neusight {folder} {
    foreach row [rows $folder/neusight/whole_models.csv.xz] {
        dict with row {}
        set workload \
            [expr {$mode eq "train" && $model eq "bert_large" ? "bert_large_pretraining" : $model}]
        if {$option ne "" || [catch {measured::read $workload}]} continue
        set gpu [string map {NVIDIA_ "" Tesla_ "" _ " "} $device]
        compare "$gpu $mode" "$model, batch $batch" $e2e_latency [milliseconds [predict_network \
            -gpu [string map {_ " "} $device] \
            -batch $batch {*}[expr {$mode eq "train" ? {-phase training} : {}}]]]
    }
}

if {$model ne ""} {
    read_predictor $model
} else {
    set files [dict get {perfnet {*_5gpu *_1080ti_extra30k} justus *_V100 neusight train_*} $set]
    set sub [dict get {perfnet perfnet justus justus2018 neusight neusight} $set]
    foreach pattern $files {
        foreach file [lsort [glob $folder/$sub/$pattern.csv.xz]] { read_measurements $file }
    }
    train_predictor
}
set errors {}
$set $folder
dict for {group list} $errors {
    puts [format "%-28s mean error %5.1f %% (%d cases)" $group \
        [expr {100 * [tcl::mathop::+ {*}$list] / [llength $list]}] [llength $list]]
}
