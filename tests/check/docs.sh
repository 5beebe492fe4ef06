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

# The files, then all pages: the verdict of each page, and what it names that is not there.
printf '%s\n' "$files" | "${AWK:-awk}" '
    # Files by name, and by every end of the path that begins with a folder.
    NR == FNR {
        all = all "\n" $0
        for (name = $0; ; name = substr(name, RSTART + 1)) {
            there[name]
            if (!match(name, /\//))
                next
        }
    }
    function is_there(name,    pattern, known) {
        if (name ~ /[\/_]NAME[.]/ || name in there)
            return 1
        if (name !~ /[*]/)
            return 0
        pattern = name
        gsub(/\./, "[.]", pattern)
        gsub(/\*/, "[^/]*", pattern)
        for (known in there)
            if (known ~ ("^" pattern "$"))
                return 1
        return 0
    }
    function breach(name) { found = found sprintf("# %s:%d: %s: no such file\n", page, FNR, name) }
    # A link counts from the folder of its page.
    function target(link,    path) {
        path = page
        sub(/[^\/]*$/, "", path)
        path = path link
        while (sub(/[^\/]+\/\.\.\//, "", path))
            ;
        return path
    }
    function tell() {
        if (page == "")
            print "1.." ARGC - 2
        else
            printf "%sok %d - %s\n%s", found == "" ? "" : "not ", ++n_told, page, found
        found = ""
    }
    FNR == 1 { tell(); page = FILENAME }
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
    }
    END { tell() }' - $pages
