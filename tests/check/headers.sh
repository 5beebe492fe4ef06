#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# headers.sh - every header compiles alone.
cd "${srcdir:-.}" || exit 1
headers=$(find base topology workloads predictor sim mapper training session render tcl -name '*.h' 2>/dev/null | LC_ALL=C sort)
echo "1..$(echo "$headers" | wc -l)"
n=0
for header in $headers; do
    n=$((n + 1))
    # shellcheck disable=SC2086  # CC and the flags are lists of words
    if said=$(printf '#include <config.h>\n#include "%s"\n' "$header" |
        ${CC:-cc} $COMPILE_FLAGS -I"${builddir:-.}" -I. -Werror -fsyntax-only -x c - 2>&1); then
        echo "ok $n - $header"
    else
        echo "not ok $n - $header"
        echo "$said" | sed 's/^/# /'
    fi
done
