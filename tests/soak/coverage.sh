#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# coverage.sh - how many lines and branches there are, and which part the tests have run, by folder; a * where that is less
# than 92 % of the lines or 80 % of the branches.
#   ./configure --enable-coverage CFLAGS=-O0 && make check && tests/soak/coverage.sh       in the build folder
# Counts add up over everything that has run in the build folder, until `find . -name '*.gcda' -delete`.
top=${srcdir:-$(sed -n 's/^top_srcdir = //p' Makefile)}
find . -path ./tests -prune -o -name '*.gcno' -print | LC_ALL=C sort | xargs gcov -n -b 2>/dev/null | "${AWK:-awk}" -v top="$top/" '
    /^File / {
        path = substr($0, 7, length($0) - 7)
        folder = index(path, top) == 1 ? substr(path, length(top) + 1) : path
        sub(/\/[^\/]*$/, "", folder)
        # Headers belong to many objects; system headers and generated code are not ours.
        is_ours = path ~ /\.c$/ && path !~ /\.pb-c\.c$/ && path !~ /^\/usr/ && path !~ /tests\//
    }
    /^Calls executed:|^No calls/ { is_ours = 0 } # the sum of all files follows
    function add(name, share, of) {
        sub(/.*:/, "", share)
        done[folder, name] += share / 100 * of
        all[folder, name] += of
        sum[name] += share / 100 * of
        total[name] += of
    }
    is_ours && /^Lines executed:/ { add("lines", $2, $4); folders[folder] }
    is_ours && /^Taken at least once:/ { add("branches", $4, $6) }
    function row(name, lines, of_lines, branches, of_branches, to) {
        lines *= 100 / of_lines
        branches = of_branches ? branches * 100 / of_branches : 100
        printf "%-28s %6d %6.1f %%  %6d %6.1f %%%s\n", name, of_lines, lines, of_branches, branches,
            lines < 92 || branches < 80 ? " *" : "" | to
    }
    END {
        sorted = "LC_ALL=C sort"
        for (folder in folders)
            row(folder, done[folder, "lines"], all[folder, "lines"], done[folder, "branches"],
                all[folder, "branches"], sorted)
        close(sorted)
        row("all", sum["lines"], total["lines"], sum["branches"], total["branches"], "cat")
    }'
