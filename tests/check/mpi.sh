#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# mpi.sh - tharsis-mpi: the same bytes from any number of ranks; a rank that is killed costs nothing that
# a checkpoint has. Skipped where the program was not built.
top=${builddir:-.}
top=$(cd "$top" && pwd)
program=$top/tharsis-mpi

if [ ! -x "$program" ] || ! command -v mpirun >/dev/null 2>&1; then
    echo "1..0 # SKIP tharsis-mpi was not built (no Open MPI, --without-mpi, or sanitizers), or mpirun is missing"
    exit 0
fi
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
count=0

# verdict STATUS NAME: 0 is ok.
verdict() {
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

ranks() {
    n=$1
    shift
    timeout 120 mpirun --oversubscribe --bind-to none -n "$n" "$program" -no_init -batch "$@"
}

# What a search says, and the mapping that it finds.
cat >"$folder/search.tcl" <<'SCRIPT'
read_system f1_16xlarge
read_workload alexnet
puts [map_workload -seed 3 {*}[lrange $argv 1 end]]
puts [report_search -return_string]
write_mapping [lindex $argv 0]
SCRIPT

"$top/tharsis" -no_init -batch "$folder/search.tcl" "$folder/expected.map" -evaluations 300 >"$folder/expected.txt" 2>&1
verdict $? "tharsis"

# same N HOW: N ranks find the same.
same() {
    ranks "$1" "$folder/search.tcl" "$folder/$1.map" -evaluations 300 >"$folder/$1.txt" 2>"$folder/err.txt"
    verdict $? "$1 ranks$2 end well"
    cmp "$folder/$1.txt" "$folder/expected.txt" && cmp "$folder/$1.map" "$folder/expected.map"
    verdict $? "$1 ranks$2 find the same, byte for byte"
}

same 4 " of one machine, as threads,"

# From here on as on several machines.
TH_RANKS_APART=1
export TH_RANKS_APART
for n in 1 2 4; do
    same "$n" ""
done

# A failing script ends all ranks, with its status.
echo 'read_system nowhere' >"$folder/fails.tcl"
ranks 3 "$folder/fails.tcl" >"$folder/fails.txt" 2>&1
[ $? -ne 0 ] && grep -q '^Error TCL-' "$folder/fails.txt"
verdict $? "an error on rank 0 ends all ranks"

ranks 2 -safe "$folder/fails.tcl" >"$folder/safe.txt" 2>&1
[ $? -ne 0 ] && grep -q '^tharsis: is not for tharsis-mpi: "-safe"' "$folder/safe.txt"
verdict $? "no ranks for a stranger's script"

# An error of an evaluation is the same as on threads.
cat >"$folder/too_small.tcl" <<'SCRIPT'
read_system f1_16xlarge_small
read_workload vgg16 -batch 64
catch {map_workload -evaluations 40} said
puts $said
SCRIPT
"$top/tharsis" -no_init -batch "$folder/too_small.tcl" >"$folder/a.txt" 2>&1
ranks 2 "$folder/too_small.tcl" >"$folder/b.txt" 2>/dev/null
cmp "$folder/a.txt" "$folder/b.txt"
verdict $? "what does not fit is told in the same words"

# Procedures of a script design are called on every rank.
script=${srcdir:-.}/scripts/experiments/design_in_five_lines.tcl
"$top/tharsis" -no_init -batch "$script" -evaluations 60 >"$folder/a.txt" 2>&1
ranks 3 "$script" -evaluations 60 >"$folder/b.txt" 2>"$folder/err.txt"
cmp "$folder/a.txt" "$folder/b.txt"
verdict $? "a design that asks a procedure gives the same on ranks"
cat >"$folder/state.tcl" <<'SCRIPT'
proc tharsis::design::array_npu {shard parameters} {
    if {[dict get $shard c] > 64} {incr ::calls}
    dict create cycles [dict get $shard macs]
}
read_system script_4
read_workload resnet34
catch {map_workload -evaluations 60} said
puts $said
SCRIPT
"$top/tharsis" -no_init -batch "$folder/state.tcl" >"$folder/a.txt" 2>&1
ranks 3 "$folder/state.tcl" >"$folder/b.txt" 2>"$folder/err.txt"
cmp "$folder/a.txt" "$folder/b.txt" && grep -q 'sets ::calls: must depend on its arguments alone$' "$folder/a.txt"
verdict $? "what a procedure may not do is told in the same words"

# Ranks are killed in the middle of a search.
kept=$folder/search.checkpoint
long="-algorithm two_level -evaluations 6000"

# signal_rank N SIGNAL first|last: on N ranks, once there is a checkpoint. Ranks are known by the folder in their
# command lines, and started in their order.
signal_rank() {
    rm -f "$kept"
    # shellcheck disable=SC2086
    ranks "$1" "$folder/search.tcl" "$folder/killed.map" $long -checkpoint "$kept" >"$folder/killed.txt" 2>&1 &
    running=$!
    tries=0
    while [ ! -f "$kept" ] && [ $tries -lt 300 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill "$2" "$(ps -eo pid=,args= | awk -v script="$folder/search.tcl" -v program="$program" -v which="$3" \
        '$2 == program && index($0, script) { if (first == "") first = $1; last = $1 }
         END { print which == "first" ? first : last }')"
    wait $running
}

signal_rank 4 -KILL last
[ $? -ne 0 ] && [ ! -f "$folder/killed.map" ] && grep -q 'exited on signal 9' "$folder/killed.txt"
verdict $? "a rank that is killed ends the run"
signal_rank 2 -TERM first
[ $? -ne 0 ] && [ ! -f "$folder/killed.map" ] &&
    grep -q '^Error TCL-0241: tharsis-mpi: received SIGTERM' "$folder/killed.txt"
verdict $? "rank 0, told to end, says how to go on"
grep -v '^#' "$kept" >"$folder/left.map"
ranks 2 "$folder/search.tcl" "$folder/again.map" -evaluations 1 -checkpoint "$kept" >"$folder/again.txt" 2>"$folder/err.txt"
grep -v '^#' "$folder/again.map" | cmp - "$folder/left.map"
verdict $? "other ranks go on from the mapping that is left"
"$top/tharsis" -no_init -batch "$folder/search.tcl" "$folder/threads.map" -evaluations 1 -checkpoint "$kept" -threads 2 >"$folder/threads.txt" 2>&1
cmp "$folder/threads.map" "$folder/again.map"
verdict $? "and threads do"

# Points of a study, handed out to ranks.
cat >"$folder/study.tcl" <<'SCRIPT'
create_study s -file [lindex $argv 0].db -parameters {
    topology {ring torus} dims {{4} {2 2}} batch {1 4 9} algorithm {uniform computation_prioritized two_level nosuch}
} -zip {topology dims} -metrics {latency energy {note text} {part share}} -script {
    create_system -name s -topology $topology -dims $dims -accel npu_v1 -link_bandwidth 50Gbps -link_latency 500ns
    read_workload lenet -batch $batch
    puts "not heard: $batch"
    if {$algorithm eq "two_level"} {
        map_workload -algorithm two_level -seed $seed -evaluations 10
    } else {
        map_workload -algorithm $algorithm
    }
    run -all
    dict create note "it's \"$seed\"" part 0.[expr {$point + 100}]
}
puts [run_study s {*}[lrange $argv 1 end]]
report_study s -format csv
SCRIPT
"$top/tharsis" -no_init -batch "$folder/study.tcl" "$folder/study" >"$folder/study.txt" 2>"$folder/err.txt"
[ "$(grep -c ',done,' "$folder/study.txt")" -eq 18 ] && [ "$(grep -c ',failed,' "$folder/study.txt")" -eq 6 ]
verdict $? "a study in tharsis"
for n in 1 2 4; do
    ranks "$n" "$folder/study.tcl" "$folder/study$n" -threads 1 >"$folder/a.txt" 2>"$folder/err.txt"
    cmp "$folder/a.txt" "$folder/study.txt"
    verdict $? "$n ranks do the same study"
done

# Elements of a list, handed out to ranks; the last is the process.
cat >"$folder/each.tcl" <<'SCRIPT'
set all [parallel_foreach n {0 1 2 3 4 5 6 7 8 9 10 11} {
    read_system ring8
    after [expr {20 - $n}]
    list $n "it's \u007b\u20ac" [pid]
} -threads 1]
foreach one $all {
    puts [lrange $one 0 1]
    set seen([lindex $one 2]) 1
}
puts [catch {parallel_foreach n {1 2 3} {if {$n > 1} {error "no $n"}}} said]
puts $said
puts stderr "processes [array size seen]"
SCRIPT
"$top/tharsis" -no_init -batch "$folder/each.tcl" >"$folder/each.txt" 2>"$folder/err.txt"
for n in 1 3; do
    ranks "$n" "$folder/each.tcl" >"$folder/a.txt" 2>"$folder/err.txt"
    cmp "$folder/a.txt" "$folder/each.txt" && grep -qx "processes $n" "$folder/err.txt"
    verdict $? "$n ranks do the elements of a list"
done

# Points that would never end, on ranks too: of 6 points 3.
cat >"$folder/endless.tcl" <<'SCRIPT'
create_study e -file [lindex $argv 0].db -parameters {x {1 2 3 4 5 6}} -metrics {{n count}} -script {
    while {$x % 2} {}
    dict create n $x
}
puts [run_study e -seconds 1 -threads 1]
report_study e -format csv
SCRIPT
ranks 3 "$folder/endless.tcl" "$folder/endless" >"$folder/a.txt" 2>"$folder/err.txt"
[ "$(grep -c ',failed,.*STUDY-0091: ' "$folder/a.txt")" -eq 3 ] && [ "$(grep -c ',done,' "$folder/a.txt")" -eq 3 ]
verdict $? "ranks stop points that take too long"

# A rank is killed in the middle of a study; what is recorded by then is done.
cat >"$folder/slow_study.tcl" <<'SCRIPT'
for {set x 1} {$x <= 60} {incr x} {lappend values $x}
create_study slow -file [lindex $argv 0].db -parameters [list x $values] -metrics {{square count}} -script {
    after 30
    dict create square [expr {$x * $x}]
}
if {[llength $argv] == 1} {
    puts [run_study slow]
}
report_study slow -format csv
SCRIPT
"$top/tharsis" -no_init -batch "$folder/slow_study.tcl" "$folder/slow" >"$folder/slow.txt" 2>&1
ranks 4 "$folder/slow_study.tcl" "$folder/slow4" >"$folder/killed.txt" 2>&1 &
running=$!
tries=0
while [ $tries -lt 300 ]; do
    done=$("$top/tharsis" -no_init -batch "$folder/slow_study.tcl" "$folder/slow4" look 2>/dev/null | grep -c ',done,')
    [ "$done" -ge 8 ] && break
    tries=$((tries + 1))
done
kill -KILL "$(ps -eo pid=,args= | awk -v script="$folder/slow_study.tcl" -v program="$program" \
    '$2 == program && index($0, script) { last = $1 } END { print last }')"
wait $running
[ $? -ne 0 ] && [ "$done" -lt 60 ]
verdict $? "a rank that is killed ends the run of a study"
ranks 3 "$folder/slow_study.tcl" "$folder/slow4" >"$folder/a.txt" 2>"$folder/err.txt"
cmp "$folder/a.txt" "$folder/slow.txt"
verdict $? "other ranks do the points that wait, to the same bytes"
echo "1..$count"
