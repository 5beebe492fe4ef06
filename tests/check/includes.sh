#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# includes.sh - arrows point downwards: base < topology, workloads < predictor < sim < mapper < tcl.
# One TAP line per room; a breach is named by file and line.
cd "${srcdir:-.}" || exit 1

# What each room may include, itself apart.
allowed() {
    case $1 in
    base) echo "" ;;
    topology | workloads) echo "base" ;;
    predictor) echo "base workloads" ;;
    sim) echo "base topology workloads" ;;
    mapper) echo "base topology workloads predictor sim" ;;
    study) echo "base" ;;
    tcl) echo "base topology workloads predictor sim mapper study" ;;
    esac
}

breaches() {
    find "$1" -name '*.[ch]' ! -name '*.pb-c.[ch]' | LC_ALL=C sort | while read -r file; do
        "${AWK:-awk}" -v room="$1" -v allowed=" $1 $(allowed "$1") " -v file="$file" '
        function breach(why) { printf "# %s:%d: %s: %s\n", file, FNR, $0, why }
        /^[ \t]*#[ \t]*include/ {
            name = $0; sub(/^[^<"]*[<"]/, "", name); sub(/[>"].*$/, "", name)
            if (name == "tcl.h" && room != "tcl")
                breach("only tcl/ knows Tcl")
            if (name == "libconfig.h" && file !~ /_read\.c$/)
                breach("only *_read.c knows libconfig")
            if (name ~ /^(yaml|jansson)\.h$/ && file !~ /_read\.c$/)
                breach("only *_read.c knows libyaml and jansson")
            if (name ~ /\.pb-c\.h$/ && file != "workloads/onnx_graph.h")
                breach("only onnx_graph.h knows what protoc-c writes")
            if (name == "sqlite3.h" && room != "study")
                breach("only study/ knows SQLite")
            if ($0 !~ /"/)
                next
            other = name; sub(/\/.*$/, "", other)
            if (other == name)
                breach("project headers are included from the root")
            else if (other == "predictor" && file == "sim/design/learned.c")
                next
            else if (!index(allowed, " " other " "))
                breach(room "/ must not know " other "/")
        }' "$file"
    done
}

rooms="base topology workloads predictor sim mapper study tcl"
echo 1..8
n=0
for room in $rooms; do
    n=$((n + 1))
    found=
    [ -d "$room" ] && found=$(breaches "$room")
    [ -z "$found" ] && echo "ok $n - $room" || printf 'not ok %d - %s\n%s\n' $n "$room" "$found"
done
