#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# conversion.sh - base/ and sim/ hold times and sizes in integers: there no conversion happens unasked.
cd "${srcdir:-.}" || exit 1
sources=$(find base sim -name '*.c' | LC_ALL=C sort)
echo "1..$(echo "$sources" | wc -l)"
n=0
for source in $sources; do
    n=$((n + 1))
    # shellcheck disable=SC2086  # CC and the flags are lists of words
    if said=$(${CC:-cc} $COMPILE_FLAGS -I"${builddir:-.}" -I. -DTH_SOURCE_DIR='""' -DTH_DATA_DIR='""' -Wconversion -Werror -fsyntax-only "$source" 2>&1); then
        echo "ok $n - $source"
    else
        echo "not ok $n - $source"
        echo "$said" | sed 's/^/# /'
    fi
done
