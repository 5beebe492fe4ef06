#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# studies.sh - the same study with one point at a time, with two on threads, and on two ranks of MPI: wall and CPU
# seconds, the best of several rounds, each of which does all three in turn; and the same results.
#   tests/bench/studies.sh BUILD_FOLDER ?POINTS? ?ROUNDS?
build=$(cd "${1:?the build folder}" && pwd) || exit 2
points=${2:-48} rounds=${3:-3}
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cat >"$folder/study.tcl" <<'TCL'
# Points of several sizes: what comes last must not keep one of two waiting for long.
lassign $argv file points
set study {
    create_system -name s -topology $topology -dims {4 4} -accel npu_v1 -link_bandwidth 100Gbps -link_latency 500ns
    read_workload resnet34 -batch [expr {1 + $n % 4}]
    map_workload -algorithm two_level -seed 1 -evaluations 100 -threads 1
    run -all
}
for {set n 0} {$n < $points / 2} {incr n} {lappend numbers $n}
create_study speed -file $file -parameters [list topology {mesh torus} n $numbers] -metrics {latency throughput} -script $study
run_study speed
puts [report_study speed -format csv -return_string]
TCL

# once NAME COMMAND...: appends wall and CPU seconds of all its processes to NAME.s; results are in NAME.csv.
once() {
    local name=$1
    shift
    rm -f "$folder/study.db"
    TIMEFORMAT='%R %U %S'
    { time "$@" -no_init -batch "$folder/study.tcl" "$folder/study.db" "$points" >"$folder/$name.csv" 2>"$folder/said"; } 2>>"$folder/$name.s"
}

for ((round = 0; round < rounds; round++)); do
    once threads_1 "$build/tharsis" -threads 1
    once threads_2 "$build/tharsis" -threads 2
    TH_RANKS_APART=1 once ranks_2 mpirun --oversubscribe --bind-to none -n 2 "$build/tharsis-mpi"
done
one=$(sort -n "$folder/threads_1.s" | head -1 | cut -d ' ' -f 1)
for name in threads_1 threads_2 ranks_2; do
    cmp -s "$folder/threads_1.csv" "$folder/$name.csv" && same="same results" || same="OTHER RESULTS"
    sort -n "$folder/$name.s" | head -1 |
        awk -v name="$name" -v one="$one" -v same="$same" \
            '{ printf "%-10s %7.2f s wall, %7.2f s CPU, %.2f times as quick, %s\n", name, $1, $2 + $3, one / $1, same }'
done
