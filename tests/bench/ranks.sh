#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ranks.sh - the same search on threads and on ranks of MPI: wall and CPU seconds, and the same best.
#   tests/bench/ranks.sh BUILD_FOLDER ?EVALUATIONS?
build=$(cd "${1:?the build folder}" && pwd) || exit 2
evaluations=${2:-4000}
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
script=$(mktemp) || exit 1
trap 'rm -f "$script"' EXIT
cat >"$script" <<'TCL'
read_system f1_16xlarge
read_workload resnet101
set start [clock microseconds]
set best [map_workload -algorithm two_level -seed 1 {*}$argv]
puts [format "    best %s, %.2f s in map_workload" $best [expr {([clock microseconds] - $start) / 1e6}]]
TCL

# measure NAME COMMAND...: CPU of all its processes, start and end included.
measure() {
    echo "$1"
    shift
    { time -p "$@" -no_init -batch "$script" -evaluations "$evaluations" ; } 2>&1 | sed 's/^\(real\|user\|sys\)/    \1/'
}

for n in 1 2; do
    measure "$n thread(s)" "$build/tharsis" -threads $n
done
for n in 1 2 4; do
    measure "$n rank(s)" mpirun --oversubscribe --bind-to none -n $n "$build/tharsis-mpi"
done
