#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# generated.sh - the Makefile knows which objects need a header that is generated, so that any target can be
# made in a fresh tree: dependencies that the compiler finds come too late for that, and BUILT_SOURCES is for
# all, check and install alone. One TAP line per source.
top=${srcdir:-.}
makefile=${builddir:-.}/Makefile
header=workloads/onnx/onnx.pb-c.h

# Sources and headers that include one of these headers, by any way.
including() {
    known=$1
    while :; do
        pattern=$(printf '%s\n' $known | sed 's/.*/-e "&"/' | tr '\n' ' ')
        more=$(cd "$top" && eval "grep -l -F $pattern */*.h tests/unit/*.h" | sort -u)
        all=$(printf '%s\n' $known $more | sort -u)
        [ "$all" = "$known" ] && break
        known=$all
    done
    (cd "$top" && eval "grep -l -F $pattern */*.c tests/unit/*.c tests/unit/*/*.c tests/bench/*.c") | sort -u
}

# All objects that a rule of the Makefile's own makes depend on the header.
dependent=$(sed -e ':a' -e '/\\$/N; s/\\\n//; ta' "$makefile" | grep ":.*[ 	]$header" | sed 's/:.*//')
sources=$(including "$header")
echo "1..$(echo "$sources" | wc -l)"
n=0
for source in $sources; do
    n=$((n + 1))
    case " $(echo $dependent) " in
    *" ${source%.c}.lo "* | *" ${source%.c}.o "* | *" ${source%.c}.\$(OBJEXT) "*) echo "ok $n - $source" ;;
    *) echo "not ok $n - $source: no object of it depends on $header" ;;
    esac
done
