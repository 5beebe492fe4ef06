# SPDX-License-Identifier: GPL-3.0-or-later
# predictor.tcl - what training takes, and a prediction; how far predictions are from rows and from
# a GPU that were held out, and how many rows lie between the 10th and the 90th percentile.
#   tharsis -no_init -exit tests/bench/predictor.tcl FOLDER ?LEFT_OUT?      FOLDER: of perfnet/
source [file join [file dirname [file normalize [info script]]] cost.tcl]
lassign $argv folder left_out
foreach file [lsort [glob $folder/*_5gpu.csv.xz]] {read_measurements $file}
set wall [clock milliseconds]
train_predictor -held_out 20 {*}[expr {$left_out ne "" ? [list -without $left_out] : ""}]
puts [format "training: %.1f CPU s, %.1f s" [cpu] [expr {([clock milliseconds] - $wall) / 1000.0}]]
evaluate_predictor -held_out
evaluate_predictor -learners
set n 20000
set asked {predict_layer pooling batch 8 in_size 56 channels_in 64 kernel 3 stride 2 \
    -device P2000}
set empty {now}
puts [format "a prediction, with its command: %.2f us; a command: %.2f us" \
    [lindex [time $asked $n] 0] [lindex [time $empty $n] 0]]
