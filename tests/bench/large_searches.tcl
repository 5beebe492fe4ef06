# large_searches.tcl - what the first evaluations of the default search take on large systems:
# ResNet-101, 64 images, 20 evaluations, one thread. CPU time and peak memory are those of the
# process, so each system takes a run of its own:
#   /usr/bin/time -f "%U CPU s, %M KB" tharsis tests/bench/large_searches.tcl fattree "16 2"
# From 64 to 1,024 accelerators: fattree "8 2", "16 2", "32 2"; torus "8 8", "8 16", "16 16",
# "16 32", "32 32".

lassign $argv topology dims
create_system -name large -topology $topology -dims $dims -accel npu_v1 \
    -link_bandwidth 200Gbps -link_latency 500ns
read_workload resnet101 -batch 64
map_workload -evaluations 20 -seed 1 -threads 1
report_search
