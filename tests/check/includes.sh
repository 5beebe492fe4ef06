#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# includes.sh - arrows point downwards: base < topology, workloads < predictor < sim < mapper, training < session < render
# < tcl;
# by includes, and by the calls of the objects of the build.
# Inside a folder no modules include each other in a circle. A module is a stem: X.h and X.c. Where X_state.h
# declares the inside of X for the other modules that implement it, X.c lies above all of them, and X.h below.
# One TAP line per folder and rule; a breach is named by file and line.
cd "${srcdir:-.}" || exit 1
builddir=${builddir:-$PWD/build}

# What each folder may include, itself apart.
allowed() {
    case $1 in
    base) echo "" ;;
    topology | workloads) echo "base" ;;
    predictor) echo "base workloads" ;;
    sim) echo "base topology workloads" ;;
    mapper) echo "base topology workloads predictor sim" ;;
    training) echo "base topology workloads predictor sim" ;;
    session) echo "base topology workloads predictor sim mapper training" ;;
    render) echo "base topology workloads predictor sim mapper training session" ;;
    tcl) echo "base topology workloads predictor sim mapper training session render" ;;
    esac
}

breaches() {
    find "$1" -name '*.[ch]' ! -name '*.pb-c.[ch]' | LC_ALL=C sort |
        xargs "${AWK:-awk}" -v folder="$1" -v allowed=" $1 $(allowed "$1") " '
        function breach(why) { printf "# %s:%d: %s: %s\n", FILENAME, FNR, $0, why }
        /^[ \t]*#[ \t]*include/ {
            name = $0; sub(/^[^<"]*[<"]/, "", name); sub(/[>"].*$/, "", name)
            if (name == "tcl.h" && folder != "tcl")
                breach("only tcl/ knows Tcl")
            if (name == "libconfig.h" && FILENAME !~ /_read\.c$/)
                breach("only *_read.c knows libconfig")
            if (name ~ /^(yaml|jansson)\.h$/ && FILENAME !~ /_read\.c$/)
                breach("only *_read.c knows libyaml and jansson")
            if (name ~ /\.pb-c\.h$/ && FILENAME != "workloads/onnx/graph.h" && FILENAME !~ /^workloads\/trace\/node_/)
                breach("only onnx/graph.h and trace/node_*.h know what protoc-c writes")
            if (name == "sqlite3.h" && folder != "session")
                breach("only session/ knows SQLite")
            if ($0 !~ /"/)
                next
            other = name; sub(/\/.*$/, "", other)
            if (other == name)
                breach("project headers are included from the root")
            else if (other == "predictor" && FILENAME == "sim/design/learned.c")
                next
            else if (!index(allowed, " " other " "))
                breach(folder "/ must not know " other "/")
        }'
}

# Sub-folders of a folder, lowest first; "." stands for its own files. Each includes from those before it and from
# itself.
order() {
    case $1 in
    mapper) echo ". lower evaluate serialize pool search" ;;
    mapper/search) echo "initial partition . baselines variation algorithms" ;;
    workloads) echo ". fuse onnx transformer" ;;
    topology) echo ". routing generate files" ;;
    session) echo "table . objects query sections what_if" ;;
    render) echo "text html plot" ;;
    tcl) echo ". objects reliability core commands shell" ;;
    predictor) echo "op data law regress learners model" ;;
    sim)
        echo "kernel reliability pipeline design collective program network execution_trace replay machine analysis trace observe"
        ;;
    sim/network) echo ". fluid packet astra" ;;
    esac
}

order_breaches() {
    find "$1" -name '*.[ch]' | LC_ALL=C sort |
        xargs "${AWK:-awk}" -v folder="$1/" -v order="$(order "$1")" '
        BEGIN { n = split(order, name, " "); for (i = 1; i <= n; i++) level[name[i]] = i }
        # The sub-folder of a file below the folder.
        function sub_folder(path) {
            path = substr(path, length(folder) + 1)
            return sub(/\/.*$/, "", path) ? path : "."
        }
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            path = $0; sub(/^[^"]*"/, "", path); sub(/".*$/, "", path)
            if (index(path, folder) == 1 && !(level[sub_folder(path)] <= level[sub_folder(FILENAME)]))
                printf "# %s:%d: %s: %s must not know %s\n", FILENAME, FNR, $0, sub_folder(FILENAME), sub_folder(path)
        }'
}

circles() {
    find "$1" -name '*.[ch]' ! -name '*.pb-c.[ch]' | LC_ALL=C sort | xargs "${AWK:-awk}" '
    function stem(path) { sub(/\.[ch]$/, "", path); return path }
    function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
    BEGIN {
        for (i = 1; i < ARGC; i++) exists[ARGV[i]]
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        path = $0; sub(/^[^"]*"/, "", path); sub(/".*$/, "", path)
        from = stem(FILENAME); to = stem(path); pair = from " " to
        if (from == to || folder(from) != folder(to))
            next
        if (FILENAME ~ /\.c$/ && (from "_state.h") in exists)
            next
        if (!(pair in place))
            place[pair] = FILENAME ":" FNR
    }
    # Drops the includes from modules that nothing includes and of modules that include nothing, until only
    # circles are left (and the paths from one circle to another).
    END {
        do {
            dropped = 0
            split("", includes); split("", included)
            for (pair in place) { split(pair, end, " "); includes[end[1]]; included[end[2]] }
            for (pair in place) {
                split(pair, end, " ")
                if (!(end[1] in included) || !(end[2] in includes)) { drop[pair]; dropped++ }
            }
            for (pair in drop) delete place[pair]
            split("", drop)
        } while (dropped)
        for (pair in place) {
            split(pair, end, " ")
            printf "# %s: includes %s.h, which leads back to it\n", place[pair], end[2]
        }
    }' | LC_ALL=C sort
}

# Every call of a function of another file, as "CALLER CALLEE FUNCTION", from the objects of the build. (Tables of variants use
# what lies above them, but as objects.) An object whose source has gone does not count.
calls() {
    {
        find $folders -name '*.c' | sed 's/$/ source/'
        (cd "$builddir" && find $folders -name '*.o' | xargs "${NM:-nm}" -gA)
    } | "${AWK:-awk}" '
        $2 == "source" { sources[$1]; next }
        { path = $1; sub(/:.*/, "", path); sub(/\/[a-z_]*-/, "/", path); sub(/o$/, "c", path) }
        !(path in sources) { next }
        $(NF - 1) == "U" { uses[path " " $NF]; next }
        $(NF - 1) == "T" { defined[$NF] = path }
        END {
            for (pair in uses) {
                split(pair, use, " ")
                if (use[2] in defined && defined[use[2]] != use[1])
                    print use[1], defined[use[2]], use[2]
            }
        }' | LC_ALL=C sort
}

# The calls upwards from a folder: to another folder, or from one of its own to a later one.
call_breaches() {
    echo "$all_calls" | "${AWK:-awk}" -v folder="$1" -v allowed=" $1 $(allowed "$1") " -v order="$(order "$1")" '
    BEGIN { n = split(order, name, " "); for (i = 1; i <= n; i++) level[name[i]] = i }
    function sub_folder(path) {
        path = substr(path, length(folder) + 2)
        return sub(/\/.*$/, "", path) ? path : "."
    }
    $2 == "tcl/core/tcl_session_parts.c" { next } # a session begins and ends with all parts of it
    index($1, folder "/") == 1 {
        other = $2; sub(/\/.*$/, "", other)
        if (index($2, folder "/") == 1) {
            if (order != "" && !(level[sub_folder($2)] <= level[sub_folder($1)]))
                printf "# %s: calls %s of %s: %s must not know %s\n", $1, $3, $2, sub_folder($1), sub_folder($2)
        } else if (!index(folder, "/") && !index(allowed, " " other " ") && !(other == "predictor" && $1 == "sim/design/learned.c"))
            printf "# %s: calls %s of %s\n", $1, $3, $2
    }'
}

report() {
    n=$((n + 1))
    [ -z "$2" ] && echo "ok $n - $1" || printf 'not ok %d - %s\n%s\n' $n "$1" "$2"
}

folders="base topology workloads predictor sim mapper training session render tcl"
ordered="topology workloads sim sim/network mapper mapper/search predictor session render tcl"
all_calls=$(calls)
called="$folders sim/network mapper/search"
echo 1..$((2 * $(echo "$folders" | wc -w) + $(echo "$ordered" | wc -w) + $(echo "$called" | wc -w)))
n=0
for folder in $folders; do
    report "$folder" "$(breaches "$folder")"
done
for folder in $ordered; do
    report "$folder: order of its folders" "$(order_breaches "$folder")"
done
for folder in $folders; do
    report "$folder: no circles" "$(circles "$folder")"
done
for folder in $called; do
    breaches=$(call_breaches "$folder")
    [ "$folder" = base ] || [ "$(echo "$all_calls" | grep -c "^$folder/")" -gt 0 ] || breaches="# no object of it calls anything: is it built?"
    report "$folder: calls" "$breaches"
done
