#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# deb.sh - builds the Debian package from the committed tree, installs it, runs what is installed from an empty
# folder, and takes it away again. Needs root, debhelper and the packages of debian/control; minutes long, so
# it stands beside make check: sh tests/check/deb.sh
set -eu
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
folder=$(mktemp -d)
trap 'dpkg -r tharsis >/dev/null 2>&1 || true; rm -rf "$folder"' EXIT

mkdir "$folder/tharsis" "$folder/empty"
git -C "$root" archive HEAD | tar -x -C "$folder/tharsis"
cd "$folder/tharsis"
DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage -b -us -uc >"$folder/log" 2>&1 ||
    { tail -40 "$folder/log"; exit 1; }

# Unpacked into an empty folder: every library is found, and nothing else is needed to run.
dpkg-deb -x "$folder"/tharsis_*.deb "$folder/moved"
lacking=$(find "$folder/moved" -type f \( -path '*bin/tharsis' -o -name '*.so' \) -exec ldd {} + | grep 'not found' || true)
[ -z "$lacking" ] || { echo "libraries are missing: $lacking"; exit 1; }
echo 'read_system f1_16xlarge; read_workload lenet; map_workload -algorithm greedy; read_predictor default' |
    env -i "$folder/moved/usr/bin/tharsis" -no_init -exit
dpkg -i "$folder"/tharsis_*.deb >/dev/null

rm -rf "$folder/tharsis" # what is installed must do without the sources

cd "$folder/empty"
cat >run.tcl <<'END'
read_system f1_16xlarge
read_workload alexnet
map_workload -algorithm computation_prioritized
run -all
report_summary
END
tharsis -no_init -exit run.tcl
for script in step_and_watch design_in_five_lines systolic_array; do
    tharsis -no_init -exit "/usr/share/tharsis/scripts/experiments/$script.tcl" >"$script.txt" 2>&1 ||
        { cat "$script.txt"; exit 1; }
done
echo 'package require tharsis; puts [tharsis::version]' >package.tcl
tclsh8.6 package.tcl
for page in tharsis.1 tharsis-commands.7; do
    man -l "$(dpkg -L tharsis | grep "/man/.*/$page.gz\$")" >/dev/null
done
bash -c 'source /usr/share/bash-completion/completions/tharsis && complete -p tharsis' >/dev/null
command -v lintian >/dev/null && lintian --no-tag-display-limit "$folder"/tharsis_*.deb || true
dpkg -r tharsis >/dev/null
[ ! -e /usr/bin/tharsis ] || { echo "tharsis is still there after its removal"; exit 1; }
echo "the package builds, installs, runs, and goes away again"
