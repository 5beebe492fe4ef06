#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh - fuzzes a reader with libFuzzer (clang), with the address and undefined sanitizers, in a build of its own.
#   tests/fuzz/run.sh TARGET ?SECONDS? ?FOLDER?
# TARGET is onnx, workload, trace ... (tests/fuzz/target.c), which starts from tests/fuzz/corpus/TARGET. New inputs go
# into FOLDER/TARGET (default: build-fuzz), findings beside it as TARGET-crash-*, TARGET-timeout-* and TARGET-oom-*; what is worth keeping is
# copied into the corpus by hand.
set -e
target=${1:?TARGET was expected} seconds=${2:-60} folder=${3:-build-fuzz}
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$folder/$target"
cd "$folder"
flags="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fsanitize=fuzzer-no-link"
build() {
    test -f Makefile || "$top/configure" CC=clang CFLAGS="$flags" LDFLAGS="-fsanitize=address,undefined" >/dev/null
    make -s libface.a libtharsis.a libdatafile.a libmessages.a
    # words NAME: the value of a variable of the Makefile.
    words() { sed -n "s/^$1 = //p" Makefile; }
    libs="$(words TCL_STUB_LIBS) $(words TCL_LIBS_SPEC)
        $(sed -n 's/^\(GSL\|LIBCONFIG\|YAML\|JANSSON\|LZMA\|ZLIB\|XGBOOST\|SQLITE\|PROTOBUF_C\)_LIBS = //p; s/^LIBS = //p' Makefile |
        tr '\n' ' ')"
    # shellcheck disable=SC2046,SC2086  # lists of words
    { test fuzz -nt libtharsis.a && test fuzz -nt libface.a; } || clang $flags -fsanitize=fuzzer -I. -I"$top" $(words TCL_CFLAGS) $(words GSL_CFLAGS) \
        -DTH_SOURCE_DIR="\"$top\"" -DTH_DATA_DIR="\"$top\"" "$top"/tests/fuzz/fuzz_*.c "$top/tests/fuzz/fuzzer.c" \
        "$top/tests/fuzz/target.c" libface.a libtharsis.a libdatafile.a libtharsis.a libmessages.a $libs -o fuzz
}
# FUZZ_BUILT: what is there is run, whatever has changed since.
test -n "${FUZZ_BUILT-}" || build
# Budgets: 2 s for each input below 1 MB, a factor of 5 for the sanitizers; 200 MB, of 10.
export srcdir="$top" FUZZ_TARGET="$target"
exec ./fuzz -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$target-" \
    -print_final_stats=1 "$target" "$top/tests/fuzz/corpus/$target"
