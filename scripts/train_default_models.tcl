# SPDX-License-Identifier: GPL-3.0-or-later
# train_default_models.tcl - the predictor that comes with Tharsis, from the measurements it was
# trained on.
#
#   tharsis -exit scripts/train_default_models.tcl FOLDER LLM_OPS OPERATORS ?OUT?
#
# FOLDER holds
#   justus2018/   convolutions and dense layers, forward and training steps, on 1080 Ti, K40, K80,
#   M60, P100, V100
#                 (CDECatapult/ml-performance-prediction, Apache-2.0)
#   neusight/     kernels of PyTorch on A100 40 GB, P100, P4, T4, V100 (sitar-lab/NeuSight, MIT)
# LLM_OPS holds vidur_* (microsoft/vidur, MIT), attention_* (casys-kaist/LLMServingSim, MIT):
# operators of language models, kernels alone, on A100 80 GB and H100.
# OPERATORS holds DEVICE_gemm, DEVICE_attention, DEVICE_latent_attention, DEVICE_moe
# (ai-dynamo/aiconfigurator, Apache-2.0): A100 SXM, H100, L40S, B200, kernels alone.
# OUT is the file, predictor/models/default.model beside this script unless said. The same
# measurements give the same file, byte for byte, on any number of threads. Whole networks
# (benchmark_*, whole_models*) are never trained on.

if {[llength $argv] < 3 || [llength $argv] > 4} {
    puts stderr "usage: tharsis -exit train_default_models.tcl FOLDER LLM_OPS OPERATORS ?OUT?"
    exit 2
}
lassign $argv folder llm_ops operators out
source [file join [file dirname [file normalize [info script]]] llm_ops.tcl]
if {$out eq ""} {
    set out \
        [file join [file dirname [file normalize [info script]]] .. predictor models default.model]
}
foreach pattern {justus2018/convolution_* justus2018/dense_* neusight/train_*} {
    set files [lsort [glob -nocomplain -directory $folder $pattern]]
    if {$files eq ""} {error "$folder has no $pattern"}
    foreach file $files {read_measurements $file -name default}
}
foreach pattern {vidur_*100 attention_*} {
    set files [lsort [glob -nocomplain -directory $llm_ops $pattern.csv*]]
    if {$files eq ""} {error "$llm_ops has no $pattern"}
    foreach file $files {llm_ops::read $file -name default}
}
foreach table {gemm attention latent_attention moe} {
    set files [lsort [glob -nocomplain -directory $operators *_$table.csv*]]
    if {$table eq "attention"} {set files [lsearch -all -inline -not $files *_latent_attention.*]}
    if {$files eq ""} {error "$operators has no *_$table"}
    foreach file $files {read_measurements $file -name default}
}
train_predictor -on default -seed 1
write_predictor $out
evaluate_predictor -learners
evaluate_predictor -on default
puts "[file size $out] bytes in $out"
