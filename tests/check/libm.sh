#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# libm.sh - what simulates and what searches asks no C library for functions that libraries round differently:
# it takes those of base/elementary.h. (The predictor does, and tcl/ for pictures: docs/architecture.md says what
# follows.)
# One TAP line per folder.
cd "${srcdir:-.}" || exit 1
folders="base topology workloads sim mapper training"
inexact='(exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|cbrt|hypot|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh'
inexact="$inexact|asinh|acosh|atanh|erf|erfc|lgamma|tgamma)[fl]?"

echo "1..$(echo "$folders" | wc -w)"
n=0
for folder in $folders; do
    n=$((n + 1))
    # Names of other things that end so are not calls of it; comments speak of it freely.
    found=$(find "$folder" -name '*.[ch]' ! -name '*.pb-c.[ch]' | LC_ALL=C sort |
        xargs "${AWK:-awk}" -v call="(^|[^A-Za-z0-9_>.])$inexact\\\\(" '
        FNR == 1 { is_comment = 0 }
        {
            line = $0
            gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
            if (is_comment) { if (!sub(/^.*\*\//, "", line)) next; is_comment = 0 }
            if (sub(/\/\*.*$/, "", line)) is_comment = 1
            if (line ~ call) printf "# %s:%d: %s\n", FILENAME, FNR, $0
        }')
    [ -z "$found" ] && echo "ok $n - $folder" || printf 'not ok %d - %s\n%s\n' $n "$folder" "$found"
done
