#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# headers.sh - every header compiles alone: X.h whose X.c includes it before all others was compiled so by the build;
# the others are compiled here.
cd "${srcdir:-.}" || exit 1
headers=$(find base topology workloads predictor sim mapper training session render tcl -name '*.h' 2>/dev/null | LC_ALL=C sort)
echo "1..$(echo "$headers" | wc -l)"
n=0
# Does the source of the header begin with it, behind config.h?
is_built() {
    [ "$(grep -m 2 '^#include' "${1%.h}.c" 2>/dev/null)" = "#include <config.h>
#include \"$1\"" ]
}

for header in $headers; do
    n=$((n + 1))
    is_built "$header" && { echo "ok $n - $header"; continue; }
    # shellcheck disable=SC2086  # CC and the flags are lists of words
    if said=$(printf '#include <config.h>\n#include "%s"\n' "$header" |
        ${CC:-cc} $COMPILE_FLAGS -I"${builddir:-.}" -I. -Werror -fsyntax-only -x c - 2>&1); then
        echo "ok $n - $header"
    else
        echo "not ok $n - $header"
        echo "$said" | sed 's/^/# /'
    fi
done
