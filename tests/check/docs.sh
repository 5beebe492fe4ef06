#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# docs.sh - what the documentation names is there: sources in back quotes (`sim/kernel/event.c`, `emit.c`, `level1*.c`: folders
# may be left out) and what it links to. NAME stands for any name.
# One TAP line per page.
cd "${srcdir:-.}" || exit 1

folders="base topology workloads predictor sim mapper training session render tcl lib docs scripts tests"
pages=$(find README.md docs sim/design -name '*.md' | LC_ALL=C sort)
# shellcheck disable=SC2086  # lists of words
files="$(find $folders README.md NEWS COPYING -type f)
docs/messages.md" # which make writes

breaches() {
    printf '%s\n' "$files" | "${AWK:-awk}" -v page="$1" '
    function is_there(name,    pattern) {
        if (name ~ /[\/_]NAME[.]/)
            return 1
        pattern = name
        gsub(/\./, "[.]", pattern)
        gsub(/\*/, "[^/]*", pattern)
        return match(all, "[\n/]" pattern "\n")
    }
    function breach(name) { printf "# %s:%d: %s: no such file\n", page, FNR, name }
    # A link counts from the folder of its page.
    function target(link,    path) {
        path = page
        sub(/[^\/]*$/, "", path)
        path = path link
        while (sub(/[^\/]+\/\.\.\//, "", path))
            ;
        return path
    }
    NR == FNR { all = all "\n" $0 "\n"; next }
    {
        n = split($0, part, "`")
        for (i = 2; i <= n; i += 2)
            if ((part[i] ~ /^[a-z][A-Za-z0-9_*\/-]+[.][ch]$/ ||
                 part[i] ~ /^[a-z]+\/[A-Za-z0-9_*\/-]+[.](tcl|test|sh|cfg|md)$/) && !is_there(part[i]))
                breach(part[i])
        n = split($0, part, /\]\(/)
        for (i = 2; i <= n; i++)
            if (match(part[i], /^[^)#: ]+[)#]/)) {
                link = target(substr(part[i], 1, RLENGTH - 1))
                if (!index(all, "\n" link))
                    breach(link)
            }
    }' - "$1"
}

echo "1..$(echo "$pages" | wc -l)"
n=0
for page in $pages; do
    n=$((n + 1))
    found=$(breaches "$page")
    [ -z "$found" ] && echo "ok $n - $page" || printf 'not ok %d - %s\n%s\n' $n "$page" "$found"
done
