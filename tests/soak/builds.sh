#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# builds.sh - other builds of the same sources, and other eyes on them, in TAP; a part of make check-long.
#   tests/soak/builds.sh ?threads|memory|BUILD ...?       (default: all)
#
#   BUILD    gcc-O0 ... clang-O3: that build gives what the build in $builddir gives, byte for byte: the examples
#            (tests/golden), and random cases (results.tcl)
#   threads  a build with the sanitizer of threads: unit tests that use threads, Tcl tests of searches and studies on
#            several, and MPI's glue (tests/check/mpi.sh)
#   memory   valgrind over the unit tests in $builddir, of which none may take longer than $VALGRIND_S (60) seconds
#            of processor time; those that do are skipped
# Builds are kept in $builddir/tests/soak/builds, and made anew where sources have changed.
: "${srcdir:=.}" "${builddir:=build}"
srcdir=$(cd "$srcdir" && pwd) builddir=$(cd "$builddir" && pwd)
folder=$builddir/tests/soak/builds
cases=400
mkdir -p "$folder"
[ $# -gt 0 ] || set -- gcc-O0 gcc-O1 gcc-O2 gcc-O3 clang-O0 clang-O1 clang-O2 clang-O3 threads memory
n=0
# What make check was called with is not for the makes in here.
unset MAKEFLAGS MFLAGS

# verdict STATUS NAME ?FILE?: 0 is ok; where not, the end of the file.
verdict() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        [ -z "${3-}" ] || tail -n 40 "$3" | sed 's/^/# /'
    fi
}

skip() {
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

# make_in NAME CONFIGURE_ARGUMENTS... -- GOALS...: status 2 where it cannot be configured.
make_in() {
    build=$folder/$1
    shift
    mkdir -p "$build"
    arguments=
    while [ "$1" != -- ]; do
        arguments="$arguments '$1'"
        shift
    done
    shift
    if [ ! -f "$build/Makefile" ]; then
        # shellcheck disable=SC2086  # quoted above
        (cd "$build" && eval "CONFIG_SHELL=/bin/sh /bin/sh '$srcdir/configure' --without-onnx $arguments" >configure.log 2>&1) ||
            return 2
    fi
    make -C "$build" -s -k -j "${JOBS:-2}" "$@" >"$build/make.log" 2>&1
}

# ---- the same results ----

# results_of BUILD FILE: what random cases give.
results_of() {
    (cd "$folder" && "$1/tharsis" -no_init -batch -exit "$srcdir/tests/soak/results.tcl" 1 "$cases") >"$2" 2>&1
}

compare_build() {
    name=$1
    build=$folder/$name
    make_in "$name" --without-mpi "CC=${CCACHE-} ${name%-*}" "CFLAGS=-${name#*-}" -- tharsis
    status=$?
    if [ $status -eq 2 ]; then
        skip "$name" "cannot be configured: $(grep -m 1 error "$build/configure.log")"
        return
    fi
    verdict $status "$name: builds" "$build/make.log"
    [ $status -eq 0 ] || return
    results_of "$build" "$build/results.txt"
    cmp "$folder/results.txt" "$build/results.txt" >"$build/cmp.txt" 2>&1
    verdict $? "$name: $cases random cases" "$build/cmp.txt"
    (cd "$build" && builddir=$build THARSIS_SANITIZERS=no ./tharsis -no_init -exit "$srcdir/tests/golden/golden.tcl") \
        >"$build/golden.txt" 2>&1
    [ $? -eq 0 ] && ! grep -q '^not ok' "$build/golden.txt"
    verdict $? "$name: the output of the examples" "$build/golden.txt"
}

# ---- threads ----

# The unit tests whose sources start threads.
threaded_tests() {
    (cd "$srcdir" && grep -lE 'th_pool|pthread_create|n_threads|pool_help' tests/unit/*/test_*.c) | sed 's/\.c$//'
}

# watched NAME COMMAND...: no test fails, and the sanitizer says nothing.
watched() {
    name=$1
    log=$folder/threads/$(basename "$1").log
    shift
    (cd "$folder/threads" && srcdir=$srcdir builddir=$folder/threads "$@") >"$log" 2>&1
    [ $? -eq 0 ] && ! grep -Eq '^not ok|FAILED$|ThreadSanitizer' "$log"
    verdict $? "threads: $name" "$log"
}

check_threads() {
    tests=$(threaded_tests)
    # shellcheck disable=SC2046,SC2086  # words
    make_in threads "CC=${CCACHE-} gcc" "CFLAGS=-O1 -g -fsanitize=thread" LDFLAGS=-fsanitize=thread -- \
        tharsis $(test -x "$builddir/tharsis-mpi" && echo tharsis-mpi) $tests
    status=$?
    verdict $status "threads: builds" "$folder/threads/make.log"
    [ $status -eq 0 ] || return
    # Open MPI and Tcl are not built so: what they do among themselves is theirs.
    export TSAN_OPTIONS="ignore_noninstrumented_modules=1 ${TSAN_OPTIONS-}"
    for test in $tests; do
        watched "$test" sh -c "cd '$srcdir' && '$folder/threads/$test'"
    done
    for test in map study study/interrupted interrupt checkpoint; do
        watched "$test.test" ./tharsis -no_init -exit "$srcdir/tests/tcl/$test.test"
    done
    [ ! -x "$folder/threads/tharsis-mpi" ] || watched mpi.sh sh "$srcdir/tests/check/mpi.sh"
}

# ---- memory ----

check_memory() {
    command -v valgrind >/dev/null 2>&1 || { skip memory "there is no valgrind"; return; }
    cd "$srcdir" || return
    before=$n
    for source in tests/unit/*/test_*.c; do
        test=${source%.c}
        [ -x "$builddir/$test" ] || continue
        log=$folder/$(basename "$test").valgrind
        (ulimit -t "${VALGRIND_S:-60}" && exec valgrind -q --error-exitcode=99 --leak-check=full \
            --errors-for-leak-kinds=definite --suppressions=tests/soak/valgrind.supp \
            --child-silent-after-fork=yes "$builddir/$test") >"$log" 2>&1
        status=$?
        if [ $status -ge 128 ]; then
            skip "memory: $test" "takes too long"
        else
            verdict $status "memory: $test" "$log"
        fi
    done
    [ "$n" -gt "$before" ] || skip memory "there are no unit tests in $builddir"
}

for part; do
    case $part in
    threads) check_threads ;;
    memory) check_memory ;;
    gcc-* | clang-*)
        [ -f "$folder/results.txt" ] || results_of "$builddir" "$folder/results.txt"
        command -v "${part%-*}" >/dev/null 2>&1 || { skip "$part" "there is no ${part%-*}"; continue; }
        compare_build "$part" ;;
    *) echo "Bail out! $part: must be threads, memory, or one of gcc-O0 ... clang-O3"; exit 2 ;;
    esac
done
echo "1..$n"
