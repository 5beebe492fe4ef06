#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# size.sh - no folder outside tests/ has more lines of C and Tcl than tests/check/sizes allows: complexity must
# earn its place. A number there may be lowered by anyone; who raises one says in the commit what a user gets.
cd "${srcdir:-.}" || exit 1
allowed=tests/check/sizes
folders=$(find . -mindepth 2 -type f '(' -name '*.[ch]' -o -name '*.tcl' ')' |
    sed -n 's/^\.\/\([a-z]*\)\/.*/\1/p' | grep -vE '^(tests|build)$' | LC_ALL=C sort -u)
echo "1..$(echo "$folders" | wc -l)"
n=0
for folder in $folders; do
    n=$((n + 1))
    lines=$(find "$folder" -type f '(' -name '*.[ch]' -o -name '*.tcl' ')' ! -name '*.pb-c.[ch]' \
        -exec cat {} + | wc -l)
    most=$("${AWK:-awk}" -v folder="$folder" '$1 == folder { print $2 }' "$allowed")
    if [ -z "$most" ]; then
        echo "not ok $n - $folder has $lines lines; $allowed does not name it"
    elif [ "$lines" -gt "$most" ]; then
        echo "not ok $n - $folder has $lines lines of C and Tcl, $((lines - most)) more than the $most in $allowed"
    else
        echo "ok $n - $folder has at most $most lines of C and Tcl"
    fi
done
