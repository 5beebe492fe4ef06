#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# accept.sh - every tests/accept/*.tcl on the reference data: one TAP line each, with the script's last line.
# $THARSIS_REFERENCE names the folder of the data (configure --with-reference=DIR does so too); where it names none, or
# the data of a script are not in it, the script is reported as skipped. Status of a script: 0 its bar holds, 1 it
# does not, 2 the data cannot be read.
: "${srcdir:=.}" "${builddir:=build}"
reference=${THARSIS_REFERENCE:-}

# The folders of a script, below $reference; most are called like it.
folders() {
    case $1 in
    mars) ;;
    predictor) echo gpu ;;
    *) echo "$1" ;;
    esac
}

# Training on everything takes minutes: make check looks at a part of it.
words() {
    [ "$1" = predictor ] && echo -quick
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

# report NUMBER NAME: runs a script and tells.
report() {
    if [ "${THARSIS_SANITIZERS:-no}" = yes ] && [ -z "$(folders "$2")" ]; then
        echo "ok $1 - $2 # SKIP sanitizers make its searches slow; their code is run by other tests"
    elif [ -z "$reference" ] && [ -n "$(folders "$2")" ]; then
        echo "ok $1 - $2 # SKIP THARSIS_REFERENCE names no reference data"
    elif absent=$(missing "$2") && [ -n "$absent" ]; then
        echo "ok $1 - $2 # SKIP there is no $absent in $reference"
    elif said=$(run "$2"); then
        echo "ok $1 - $2"
        echo "$said" | tail -n 1 | sed 's/^/# /'
    else
        echo "not ok $1 - $2: status $?"
        echo "$said" | tail -n 40 | sed 's/^/# /'
    fi
}

n=0
for script in "$srcdir"/tests/accept/*.tcl; do
    name=${script##*/}
    n=$((n + 1))
    report $n "${name%.tcl}"
done
echo "1..$n"
