#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# html.sh - the pages of write_report in a browser: html.js says what must hold. Skipped, with what is missing, where
# there is no Node, no Chromium or no playwright-core ("./bootstrap check" installs them), and under sanitizers, for
# which the pages are written by tests/tcl/report/html.test.
: "${srcdir:=.}" "${builddir:=build}"
srcdir=$(cd "$srcdir" && pwd) builddir=$(cd "$builddir" && pwd)

skip() {
    echo "1..0 # SKIP $1"
    exit 0
}

find_command() {
    for name in "$@"; do
        command -v "$name" && return
    done
}

[ "${THARSIS_SANITIZERS:-no}" = yes ] && skip "sanitizers: the plain build is looked at"
node=$(find_command node nodejs)
[ -n "$node" ] || skip "there is no node"
CHROMIUM=$(find_command chromium chromium-browser google-chrome)
[ -n "$CHROMIUM" ] || skip "there is no chromium"
NODE_PATH=$builddir/node_modules${NODE_PATH:+:$NODE_PATH}
export CHROMIUM NODE_PATH
"$node" -e 'require("playwright-core")' 2>/dev/null || skip "there is no playwright-core in $builddir/node_modules"

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
if ! said=$("$builddir/tharsis" -no_init -exit "$srcdir/tests/check/html.tcl" "$folder" 2>&1); then
    echo "1..1"
    echo "not ok 1 - the pages are written"
    echo "$said" | sed 's/^/# /'
    exit 0
fi
timeout 300 "$node" "$srcdir/tests/check/html.js" "$folder" 2>&1
