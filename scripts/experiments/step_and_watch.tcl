# SPDX-License-Identifier: GPL-3.0-or-later
# step_and_watch.tcl - stop a run at breakpoints, step, and watch signals in GTKWave.
#   tharsis -exit step_and_watch.tcl          then: gtkwave out/ring8.gtkw
read_system   ring8
read_workload gpt2_block
read_mapping  gpt2_tp8.map
open_trace out/ring8.vcd -format vcd -resolution 1ns
add_trace  [get_accels *] -signals {state buffer_fill}
add_trace  [get_links -of accel/3] -signals {busy queue_depth}
add_breakpoint -name hot -when {link/3_4.queue_depth > 16}
add_breakpoint -on task_start -of [get_tasks attn*] -continue \
    -do { puts "[now]: [examine $bp(object)]" }
puts "stopped: [run -until 20us]"
step 5
run -all
close_trace
