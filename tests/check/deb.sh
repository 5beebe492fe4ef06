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
dpkg -i "$folder"/tharsis_*.deb >/dev/null

cd "$folder/empty"
cat >run.tcl <<'END'
read_system f1_16xlarge
read_workload alexnet
map_workload -algorithm computation_prioritized
run -all
report_summary
END
tharsis -no_init -exit run.tcl
echo 'package require tharsis; puts [tharsis::version]' | tclsh8.6
man -l "$(dpkg -L tharsis | grep '/tharsis.1.gz$')" >/dev/null
command -v lintian >/dev/null && lintian --no-tag-display-limit "$folder"/tharsis_*.deb || true
echo "the package builds, installs and runs"
