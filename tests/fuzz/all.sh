#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# all.sh - fuzzes every reader, each for some seconds of processor time, and tells what was found.
#   tests/fuzz/all.sh ?SECONDS? ?FOLDER? ?TARGET ...?
# SECONDS (300) for each TARGET (all), JOBS (2) at a time, at the lowest priority. One line for each target: processor
# seconds, inputs, edges covered, inputs kept, findings. FOLDER (build-fuzz) is that of run.sh, which builds; a target that
# was fuzzed there before goes on with what was kept. The last line is a sum, "N passed, N failed"; a target with a
# finding fails.
set -u
seconds=${1:-300} folder=${2:-build-fuzz}
[ $# -gt 2 ] && shift 2 || set --
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- $(ls "$here/corpus")
mkdir -p "$folder"

# fuzz TARGET: rounds of wall time, until the processor has worked long enough. Leaves a line in FOLDER/TARGET.sum.
fuzz() {
    local target=$1 used=0 inputs=0 edges=0 took found
    TIMEFORMAT='cpu: %U %S'
    while [ "${used%.*}" -lt "$seconds" ]; do
        { time nice -n 19 "$here/run.sh" "$target" "${ROUND:-60}" "$folder"; } >"$folder/$target.log" 2>&1
        used=$(awk -v used="$used" '/^cpu: / { used += $2 + $3 } END { printf "%.1f", used }' "$folder/$target.log")
        inputs=$((inputs + $(awk '/^stat::number_of_executed_units/ { n = $2 } END { print n + 0 }' "$folder/$target.log")))
        edges=$(awk '{ for (i = 1; i < NF; i++) if ($i == "cov:") n = $(i + 1) } END { print n + 0 }' "$folder/$target.log")
        found=$(find "$folder" -maxdepth 1 -name "$target-*" ! -name '*.sum' ! -name '*.log' | wc -l)
        echo "$target: $used s, $inputs inputs, $edges edges, $(find "$folder/$target" -type f | wc -l) kept, $found findings" \
            >"$folder/$target.sum"
        # A round that ended at once found something, or could not begin.
        [ "$found" -eq 0 ] && grep -q '^Done ' "$folder/$target.log" || break
    done
    cat "$folder/$target.sum"
}

"$here/run.sh" "$1" 1 "$folder" >"$folder/first.log" 2>&1 || {
    tail -n 5 "$folder/first.log"
    echo "0 passed, 1 failed"
    exit 1
}
export FUZZ_BUILT=1
running=0
for target; do
    rm -f "$folder/$target.sum"
    [ "$running" -lt "${JOBS:-2}" ] || { wait -n; running=$((running - 1)); }
    fuzz "$target" &
    running=$((running + 1))
done
wait
passed=0 failed=0
for target; do
    if grep -q ' 0 findings$' "$folder/$target.sum" && grep -q '^Done ' "$folder/$target.log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
