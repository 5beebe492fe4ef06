/* SPDX-License-Identifier: GPL-3.0-or-later */
/* examples.c - examples of commands, for help and the manual. A test runs each of them in a session
 * that has read a system, a workload and a mapping and has run; an example that needs something
 * else begins with it. At most 76 columns. */
#include <config.h>
#include <string.h>
#include "tcl/command.h"

typedef struct th_example {
    const char *command, *lines;
} th_example;

/* A file of measurements, made up, and read. */
#define MEASUREMENTS                                                                               \
    "set csv [open out/mine.csv w]\n"                                                              \
    "puts $csv \"kind,device,phase,batch,channels_in,channels_out,time_ms\"\n"                     \
    "foreach batch {1 2 4 8 16 32 64 128} {\n"                                                     \
    "    foreach size {128 256 512 768 1024 1536 2048 4096} {\n"                                   \
    "        set ms [expr {0.05 + 2e-9 * $batch * $size ** 2}]\n"                                  \
    "        puts $csv \"dense,V100,call,$batch,$size,$size,$ms\"\n"                               \
    "    }\n"                                                                                      \
    "}\n"                                                                                          \
    "close $csv\n"                                                                                 \
    "read_measurements out/mine.csv\n"

/* A small study, not run yet. */
#define STUDY                                                                                      \
    "create_study links -file out/links.db -metrics {latency moved} \\\n"                          \
    "    -parameters {bandwidth {2Gbps 8Gbps}} -script {\n"                                        \
    "        create_system -name ring -topology ring -dims 8 -accel npu_v1 \\\n"                   \
    "            -link_bandwidth $bandwidth -link_latency 500ns\n"                                 \
    "        create_program exchange\n"                                                            \
    "        add_collective all_reduce -bytes 1MB\n"                                               \
    "        run\n"                                                                                \
    "    }\n"

/* Two jobs on one network, and their run. */
#define TWO_JOBS                                                                                   \
    "create_program reduce\n"                                                                      \
    "add_collective all_reduce -bytes 16MB -accels {0 1 2 3}\n"                                    \
    "save_program reduce\n"                                                                        \
    "create_program both\n"                                                                        \
    "add_job reduce -name first\n"                                                                 \
    "add_job reduce -name second -start 2ms -ranks {2-5}\n"                                        \
    "run\n"

/* A program, written as execution traces. */
#define TRACES                                                                                     \
    "create_program step\n"                                                                        \
    "add_compute -on 2 -duration 1ms\n"                                                            \
    "add_collective all_reduce -bytes 64MiB\n"                                                     \
    "write_program out/step\n"

/* A step of training, not run yet. */
#define TRAINING                                                                                   \
    "create_system -name pod -topology islands -dims {2 8} -accel h100_sxm \\\n"                   \
    "    -link_bandwidth {450GB/s 50GB/s} -link_latency {1us 3us}\n"                               \
    "create_transformer -model llama3_8b -sequence 4096\n"                                         \
    "parallel_plan -tensor 2 -pipeline 2 -zero 1 -global_batch 64 \\\n"                            \
    "    -sequence_parallel -overlap {data tensor}\n"

static const th_example examples[] = {
    {"help", "help map_workload\nhelp collective\n"},
    {"set_threads", "set_threads 2\n"},
    {"set_units", "set_units -time us -size kB\n"
                  "report_utilization -limit 3\n"
                  "set_units -time auto -size auto\n"},
    {"log_begin", "log_begin out/session.log\nreport_summary\nlog_end\n"},
    {"log_end", "log_begin out/session.log -append\nreport_summary\nlog_end\n"},
    {"suppress_message", "suppress_message TCL-0300\nsuppress_message -off\n"},
    {"read_system", "read_system f1_16xlarge\n"
                    "read_system ws128 -design {name ws128 rows 256}\n"},
    {"create_system", "create_system -name torus -topology torus -dims {4 4} -accel npu_v1 \\\n"
                      "    -link_bandwidth 100Gbps -link_latency 500ns\n"
                      "create_system -name pod -topology islands -dims {4 8} -accel npu_v1 \\\n"
                      "    -link_bandwidth {300GB/s 25GB/s} -link_latency {500ns 2us}\n"
                      "create_system dgx_h100 -size 64 -oversubscription 2\n"},
    {"read_workload", "read_workload resnet18 -batch 4\n"
                      "read_workload alexnet -name cam -deadline 40ms\n"
                      "read_workload lenet -add -name small -arrival 1ms\n"},
    {"create_workload", "create_workload -name tiny -input {3 32 32} -batch 4 -layers {\n"
                        "    {stem conv outputs 16 kernel 3 padding 1 norm true}\n"
                        "    {c1   conv outputs 16 kernel 3 padding 1}\n"
                        "    {sum  add  inputs {c1 stem}}\n"
                        "    {pool mean_pool}\n"
                        "    {fc   fc   outputs 10}\n"
                        "}\n"},
    {"write_system", "create_system -name pair -topology ring -dims 2 -accel npu_v1 \\\n"
                     "    -link_bandwidth 100Gbps -link_latency 500ns\n"
                     "write_system out/pair.cfg\n"
                     "read_system out/pair.cfg\n"},
    {"write_workload", "write_workload out/alexnet.cfg\nread_workload out/alexnet.cfg -batch 8\n"},
    {"read_mapping", "read_system ring8\n"
                     "read_workload gpt2_block\n"
                     "read_mapping gpt2_tp8\n"},
    {"check_setup", "if {![check_setup]} { exit 1 }\n"},
    {"get_accels", "get_accels\nget_accels -filter {utilization < 0.5} -quiet\n"},
    {"get_links", "get_links -of accel/3\nget_links 0_* -filter {bandwidth >= 8Gbps}\n"},
    {"get_nodes", "get_nodes -filter {kind == host}\n"},
    {"get_layers", "get_layers c*\nget_layers -filter {kind == conv && macs > "
                   "140000000}\nget_layers -of accel/0 -quiet\n"},
    {"get_tasks", "get_tasks c1\nget_tasks -of accel/0 -filter {kind == compute}\n"},
    {"get_property", "get_property accel/3\n"
                     "get_property link/0_1 bandwidth\n"
                     "get_property link/0_1 bandwidth -exact\n"},
    {"report_property",
     "report_property accel/3\nreport_property [get_links 0_*] -sort_by attribute\n"},
    {"set_property", "restart\n"
                     "set_property [get_links host_*] bandwidth 1Gbps\n"
                     "set_property accel/3 clock x0.5\n"
                     "run\n"},
    {"examine", "restart\nrun -until 1ms\nexamine accel/3.state\nexamine link/0_*.queue_depth\n"},
    {"map_workload",
     "map_workload -evaluations 100\n"
     "map_workload -algorithm two_level -seed 7 -evaluations 50 -objective latency\n"
     "map_workload -algorithm greedy -inputs 4 -objective throughput\n"},
    {"select_mapping", "read_system f1_16xlarge_energy\n"
                       "map_workload -objective {pareto latency energy} -evaluations 60\n"
                       "report_search -pareto\n"
                       "select_mapping 0\n"},
    {"write_mapping", "write_mapping out/alexnet.map\n"},
    {"create_program", "create_program exchange\n"
                       "add_collective all_reduce -bytes 64MB\n"
                       "run\n"},
    {"add_transfer", "create_program relay\n"
                     "set first [add_transfer -from 0 -to 1 -bytes 20MB]\n"
                     "add_transfer -from 1 -to 2 -bytes 20MB -after $first\n"},
    {"add_compute", "create_program relay\n"
                    "set work [add_compute -on 2 -duration 1ms]\n"
                    "add_transfer -from 2 -to 3 -bytes 20MB -after $work\n"
                    "run\n"},
    {"add_collective", "create_program exchange\n"
                       "add_collective all_reduce -bytes 64MB -algorithm ring\n"
                       "add_collective broadcast -bytes 1MB -accels {0 1 2 3} -root 2\n"},
    {"add_traffic", "create_program load\n"
                    "add_traffic -pattern uniform -rate 1Gbps -message_bytes 4KiB -duration 1ms\n"
                    "run\n"
                    "report_latency -since 200us\n"},
    {"write_program", TRACES},
    {"read_program", TRACES "read_program out/step\n"
                            "run\n"
                            "report_ranks\n"},
    {"calibrate_network", "set log [open nccl.log w]\n"
                          "puts $log {# Collective test starting: all_reduce_perf}\n"
                          "puts $log {#  Rank  0 Pid 1 on node device 0}\n"
                          "puts $log {#  Rank  1 Pid 2 on node device 1}\n"
                          "puts $log {1048576 262144 float sum -1 20 52 52 0 20 52 52 0}\n"
                          "puts $log {67108864 16777216 float sum -1 310 216 216 0 309 217 217 0}\n"
                          "close $log\n"
                          "calibrate_network nccl.log -link_bandwidth 300GB/s\n"},
    {"save_program", TWO_JOBS "report_jobs\n"},
    {"add_job", TWO_JOBS "report_links -by job -limit 5\n"},
    {"add_pipeline", "create_program step\n"
                     "add_pipeline -schedule 1f1b -micro_batches 16 -forward 7ms \\\n"
                     "    -backward 14ms -bytes 8MiB\n"
                     "run\n"
                     "report_pipeline\n"},
    {"create_transformer", "create_transformer -model llama3_8b -sequence 8192\n"
                           "create_transformer -name tiny -layers 12 -hidden 768 -heads 12 \\\n"
                           "    -vocab 50257 -sequence 1024 -recompute full\n"
                           "create_transformer -model llama3_8b -sequence 512 -forward\n"},
    {"report_transformer", "create_transformer -layers 24 -hidden 1024 -heads 16 -vocab 50257 \\\n"
                           "    -layer_kinds {{near window 512} {far}} \\\n"
                           "    -layer_pattern {near near near far}\n"
                           "report_transformer\n"},
    {"parallel_plan", TRAINING "report_memory\nrun\nreport_training\n"},
    {"search_plan", "create_system dgx_a100 -size 2\n"
                    "create_transformer -model llama3_8b -sequence 4096\n"
                    "puts [search_plan -global_batch 64 -software 2024 -top 3]\n"
                    "report_search\n"
                    "run\n"
                    "report_training\n"
                    "report_bounds\n"},
    {"report_training", TRAINING "run\nreport_training\n"},
    {"report_reliability",
     "report_reliability -duration 54d -failures {{gpu 16384 50000h}} \\\n"
     "    -checkpoint_time 20s -detection_time 1min -restart_time 8min \\\n"
     "    -spares 64 -repair_time 2d\n"
     "report_reliability -duration 30d -failures {{board 8 2000h shape 0.7}} \\\n"
     "    -checkpoint_bytes 100GB -storage host -runs 20\n"},
    {"report_survival", "map_workload -evaluations 50 -survive 1 -survive_loss 150%\n"
                        "report_survival -sort_by loss -limit 5\n"},
    {"report_pipeline", "create_program step\n"
                        "add_pipeline -schedule zb_h1 -micro_batches 16 -forward 7ms \\\n"
                        "    -backward 7ms -weights 7ms -stages 4\n"
                        "run\n"
                        "report_pipeline\n"},
    {"run", "restart\n"
            "run -until 1ms\n"
            "run -for 500us\n"
            "run\n"
            "restart\n"
            "run -network packet -inputs 2\n"},
    {"step", "restart\nstep 100\nstep -layer\nstep 5 -tile -of accel/0\n"},
    {"where", "restart\nrun -until 1ms\nwhere\nputs [where -brief]\n"},
    {"now", "puts \"stopped at [now]\"\n"
            "puts \"[format %.3f [expr {[now -exact] / 1e12}]] s\"\n"},
    {"restart", "restart\nrun -until 1ms\n"},
    {"stop", "restart\n"
             "add_breakpoint -on task_end -of layer/c1 -continue -do {\n"
             "    if {[examine accel/0.idle -exact] > 0} { stop }\n"
             "}\n"
             "run\n"},
    {"save_run", "save_run as_is\n"
                 "restart\n"
                 "run -network ideal\n"
                 "save_run ideal\n"
                 "report_compare {as_is ideal} -relative_to as_is\n"},
    {"inject_fault", "restart\n"
                     "inject_fault link/host_0 -at 200us -for 1ms\n"
                     "inject_fault accel/3 -at 1ms -clock x0.5\n"
                     "inject_fault link/0_1 -period 1ms -duty 0.1 -until 20ms\n"
                     "inject_fault [get_links] -mtbf 1s -for 2ms -until 1s -seed 7\n"
                     "inject_fault [get_accels] -pick 2 -seed 3 -clock x0.8\n"
                     "run\n"},
    {"save_checkpoint", "restart\n"
                        "run -until 1ms\n"
                        "save_checkpoint out/half.ckpt\n"},
    {"load_checkpoint", "restart\n"
                        "run -until 1ms\n"
                        "save_checkpoint out/half.ckpt\n"
                        "run\n"
                        "load_checkpoint out/half.ckpt\n"},
    {"add_breakpoint", "restart\n"
                       "add_breakpoint -when {link/host_0.flows > 2 && accel/0.tasks < 1}\n"
                       "add_breakpoint -on task_start -of layer/c2 -once\n"
                       "add_breakpoint -at 1ms -continue -do { puts \"$bp(name) at $bp(time)\" }\n"
                       "run\n"},
    {"delete_breakpoint", "add_breakpoint -name late -at 5ms\ndelete_breakpoint late\n"},
    {"set_network", "set_network -packet_bytes 1kB -router_delay 20ns\nset_network -reset\n"},
    {"enable_breakpoint", "add_breakpoint -name late -at 5ms -disable\nenable_breakpoint late\n"},
    {"when", "restart\n"
             "when {accel/0.state == computing} { puts \"begins at [now]\" } -once\n"
             "run\n"},
    {"report_mapping", "report_mapping\nreport_mapping -alternatives -limit 3\n"},
    {"report_search", "map_workload -algorithm two_level -evaluations 50\n"
                      "report_search -convergence\n"},
    {"report_bounds", "report_bounds\n"},
    {"query", "query {SELECT layer, sum(duration_ps) FROM tasks GROUP BY layer\n"
              "       ORDER BY 2 DESC LIMIT 5}\n"
              "query tasks -tables\n"},
    {"report_summary", "report_summary\nreport_summary -format json > out/summary.json\n"},
    {"report_utilization", "report_utilization -sort_by busy -limit 3\n"},
    {"report_layers",
     "report_layers -sort_by active -limit 5\nreport_layers -format csv > out/layers.csv\n"},
    {"report_energy", "read_system f1_16xlarge_energy\n"
                      "map_workload -algorithm greedy\n"
                      "run\n"
                      "report_energy -by accel\n"},
    {"report_links", "report_links -used -limit 5\nreport_links -over_time host_0 -limit 10\n"
                     "report_links -why -limit 1\n"},
    {"report_jobs", TWO_JOBS "report_jobs\n"},
    {"report_latency", "report_latency\n"},
    {"report_collectives", "create_program exchange\n"
                           "add_collective all_gather -bytes 8MB\n"
                           "run\n"
                           "report_collectives\n"},
    {"report_memory", "report_memory -limit 3\n"},
    {"report_critical_path", "report_critical_path -limit 10\n"},
    {"report_compare", "save_run as_is\n"
                       "restart\n"
                       "set_property link/host_0 bandwidth 1Gbps\n"
                       "run\n"
                       "save_run slower\n"
                       "report_compare {as_is slower} -metrics latency -relative_to as_is\n"},
    {"report_breakpoints", "add_breakpoint -at 5ms\nreport_breakpoints\n"},
    {"write_report", "write_report out/alexnet.html\n"},
    {"write_results", "write_results out/alexnet.json\n"},
    {"write_plot", "write_plot out/utilization.txt -of utilization\n"
                   "write_plot out/links.txt -of links\n"
                   "write_plot out/link_time.txt -of link_time\n"},
    {"open_trace", "restart\n"
                   "open_trace out/alexnet.vcd -format vcd -resolution 1ns\n"
                   "add_trace [get_accels] -signals {state queue_depth}\n"
                   "add_trace [get_links -of accel/3]\n"
                   "run\n"
                   "close_trace\n"},
    {"add_trace", "restart\n"
                  "open_trace out/inside.json -format chrome -until 1ms\n"
                  "add_trace accel/0 -signals {array load_input load_weight store}\n"
                  "run\n"
                  "close_trace\n"},
    {"close_trace", "restart\nopen_trace out/alexnet.csv\nrun\nclose_trace\n"},
    {"read_measurements", MEASUREMENTS},
    {"train_predictor",
     MEASUREMENTS "train_predictor -held_out 10 -learner law\n"
                  "predict_layer dense batch 8 channels_in 600 channels_out 600 -device V100\n"},
    {"evaluate_predictor", MEASUREMENTS "train_predictor -held_out 10 -learner law\n"
                                        "evaluate_predictor -held_out\n"
                                        "evaluate_predictor -learners\n"},
    {"read_predictor",
     "read_predictor default\n"
     "predict_layer dense batch 8 channels_in 600 channels_out 600 -device V100\n"},
    {"write_predictor", "read_predictor default\nwrite_predictor out/mine.model\n"},
    {"predict_layer", "read_predictor default\n"
                      "predict_layer conv batch 8 in_size 56 channels_in 64 channels_out 64 \\\n"
                      "    kernel 3 padding 1 -device V100 -interval\n"},
    {"predict_network", "read_predictor default\n"
                        "read_workload vgg16\n"
                        "predict_network -gpu V100 -batch 16\n"
                        "predict_network -gpu P100 -batch 16 -per_layer -limit 5\n"},
    {"create_study", STUDY "run_study links\n"
                           "report_study links\n"},
    {"run_study", STUDY "run_study links -limit 1\n"
                        "run_study links\n"},
    {"report_study", STUDY "run_study links\n"
                           "report_study links -sort_by latency -increasing -limit 1\n"
                           "report_study links -format csv > out/links.csv\n"},
    {"read_study", STUDY "read_study out/links.db\n"
                         "run_study links\n"},
    {"parallel_foreach", "parallel_foreach batch {1 4 16} {\n"
                         "    read_system f1_16xlarge\n"
                         "    read_workload lenet -batch $batch\n"
                         "    map_workload -algorithm greedy\n"
                         "    run\n"
                         "    query {SELECT latency_ps FROM run} -as list\n"
                         "} -threads 2\n"},
    {"report_advice", "report_advice -evaluations 50 -changes {accelerator bandwidth} \\\n"
                      "    -fields {change what gain limit}\n"},
    {"report_sensitivity",
     "report_sensitivity -limit 5\nreport_sensitivity -by 100% -group class\n"},
    {"report_diff", "save_run as_is\n"
                    "restart\n"
                    "set_property link/host_0 bandwidth 1Gbps\n"
                    "run\n"
                    "save_run slower\n"
                    "report_diff as_is slower -limit 3\n"},
};

const char *th_example_of(const char *command)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (strcmp(examples[i].command, command) == 0)
            return examples[i].lines;
    return NULL;
}
