#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# manual.sh - the manual in HTML: every link leads to a file and a heading that are there, every page has a title.
srcdir=${srcdir:-$(dirname "$0")/../..}
builddir=${builddir:-build}
if ! command -v cmark-gfm >/dev/null; then
    echo "1..0 # SKIP there is no cmark-gfm"
    exit 0
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
sh "$srcdir/scripts/manual.sh" "$srcdir" "$builddir/docs" "$folder/html" || exit 1
"$builddir/tharsis" -no_init -exit "$srcdir/tests/check/manual.tcl" "$folder/html"
