#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# accept.sh - every tests/accept/*.tcl on the reference data: one TAP line each, with the script's last line.
# $THARSIS_REFERENCE names the folder of the data (configure --with-reference=DIR does so too); where it names none, or
# the data of a script are not in it, the script is reported as skipped. Status of a script: 0 its bars hold, 1 one does
# not, 2 the data cannot be read.
#
# A script that reports its bars, whatever its status, in lines "bar: BAR: got 2.5 %, at least 3 %: MISSED" (or "at most", or "holds") has a TAP
# line for each that it misses. A miss that tests/accept/known_misses lists, in lines "SCRIPT | BAR | FIGURE", is reported as
# TODO, and the tests pass all the same, unless it is worse than the listed figure by more than a tenth of that.
: "${srcdir:=.}" "${builddir:=build}" "${AWK:=awk}"
reference=${THARSIS_REFERENCE:-}
known_misses=$srcdir/tests/accept/known_misses
newline='
'

# The folders of a script, below $reference; most are called like it.
folders() {
    case $1 in
    mars) ;;
    predictor) echo gpu ;;
    onnx) echo onnx onnx_exports ;;
    operators) echo llm_ops ;;
    operators_2026 | collectives_2026) echo gpu_operators_2026 ;;
    plans) echo plan_vtrain ;;
    sailor) echo plan_sailor ;;
    *) echo "$1" ;;
    esac
}

# Training on everything, and mapping every network, takes minutes: make check takes a part, unless $THARSIS_ACCEPT is
# "full".
words() {
    case $1,${THARSIS_ACCEPT:-} in
    *,full) ;;
    h2h,* | mars,* | operators,* | predictor,*) echo -quick ;;
    esac
}

# The first folder of a script that is not there.
missing() {
    for folder in $(folders "$1"); do
        [ -d "$reference/$folder" ] || { echo "$folder"; return; }
    done
}

run() {
    name=$1
    # shellcheck disable=SC2046  # a list of words
    set -- "$srcdir/tests/accept/$name.tcl" $(words "$name")
    for folder in $(folders "$name"); do
        set -- "$@" "$reference/$folder"
    done
    "$builddir/tharsis" -no_init -batch -exit "$@" 2>&1
}

# ---- bars ----

# The bars that a script missed, of what it said: "BAR|GOT|least or most|FIGURE OF THE BAR" in each line.
missed_bars() {
    sed -nE 's/^bar: (.*): got ([^ ,]+)[^,]*, at (least|most) ([^ ]+).*: MISSED$/\1|\2|\3|\4/p'
}

# known SCRIPT: "BAR|FIGURE" of its known misses. known SCRIPT BAR: the figure of one.
known() {
    # shellcheck disable=SC2016  # fields of awk
    "$AWK" -F ' *[|] *' -v script="$1" -v bar="${2-}" '
        $1 == script && bar == "" { print $2 "|" $3 }
        $1 == script && bar == $2 { print $3 }' "$known_misses"
}

# is_worse GOT least|most KNOWN: by more than a tenth of the known figure.
is_worse() {
    "$AWK" -v got="$1" -v side="$2" -v known="$3" 'BEGIN {
        worse = side == "least" ? known - got : got - known
        exit !(worse > 0.1 * (known < 0 ? -known : known))
    }'
}

# tell_mended SCRIPT MISSED SAID: the known misses that are none any more. Of a script that runs in part, a bar that was not
# tried may be missed yet.
tell_mended() {
    known "$1" | while IFS='|' read -r bar figure; do
        case "$newline$2" in
        *"$newline$bar|"*) continue ;;
        esac
        case "$newline$3" in
        *"${newline}bar: $bar: got"*) ;;
        *) [ -z "$(words "$1")" ] || continue ;;
        esac
        echo "# $1: $bar: holds now: take it out of tests/accept/known_misses"
    done
}

# tell_missed SCRIPT MISSED: a line for each. Status 1 where one is not known, or worse.
tell_missed() {
    all_known=0
    while IFS='|' read -r bar got side asked; do
        figure=$(known "$1" "$bar")
        if [ -z "$figure" ]; then
            print_verdict "not ok" "$1: $bar: got $got, bar $asked"
            all_known=1
        elif is_worse "$got" "$side" "$figure"; then
            print_verdict "not ok" "$1: $bar: got $got, bar $asked; known was $figure: it got worse by more than a tenth"
            all_known=1
        else
            print_verdict "not ok" "$1: $bar # TODO got $got, bar $asked"
        fi
    done <<EOF
$2
EOF
    return $all_known
}

# ---- the scripts ----

print_verdict() {
    n=$((n + 1))
    echo "$1 $n - $2"
}

# Runs a script and prints its verdicts.
report() {
    said=$(run "$1")
    status=$?
    missed=$(echo "$said" | missed_bars)
    lines=40
    if [ $status -eq 0 ]; then
        print_verdict ok "$1"
        lines=1
        [ -z "$missed" ] || tell_missed "$1" "$missed"
    elif [ $status -ne 1 ] || [ -z "$missed" ]; then
        print_verdict "not ok" "$1: status $status"
    elif tell_missed "$1" "$missed"; then
        lines=1
    fi
    [ $status -lt 2 ] && tell_mended "$1" "$missed" "$said"
    echo "$said" | tail -n $lines | sed 's/^/# /'
}

# Why a script does not run; nothing where it does.
reason_to_skip() {
    if [ "${THARSIS_SANITIZERS:-no}" = yes ] && [ -z "$(folders "$1")" ]; then
        echo "sanitizers make its searches slow; their code is run by other tests"
    elif [ -z "$reference" ] && [ -n "$(folders "$1")" ]; then
        echo "THARSIS_REFERENCE names no reference data"
    else
        absent=$(missing "$1")
        [ -z "$absent" ] || echo "there is no $absent in $reference"
    fi
}

n=0
for script in "$srcdir"/tests/accept/*.tcl; do
    name=${script##*/}
    name=${name%.tcl}
    reason=$(reason_to_skip "$name")
    if [ -n "$reason" ]; then
        print_verdict ok "$name # SKIP $reason"
    else
        report "$name"
    fi
done
echo "1..$n"
