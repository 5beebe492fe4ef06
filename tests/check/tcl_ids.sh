#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tcl_ids.sh - no two tests of tests/tcl have the same id, so that a failure names one test.
cd "${srcdir:-.}" || exit 1
echo 1..1
id='[A-Za-z_]+-[0-9]+\.[0-9]+[a-z]*'
twice=$(sed -nE "s/^ *test(_failure|_refused)? ($id) .*/\2/p" tests/tcl/*.test tests/tcl/report/*.test |
    LC_ALL=C sort | uniq -d)
if [ -z "$twice" ]; then
    echo "ok 1 - every test id occurs once"
else
    echo "not ok 1 - every test id occurs once: these occur in several tests"
    printf '# %s\n' $twice
fi
