# SPDX-License-Identifier: GPL-3.0-or-later
# repeats.tcl - how many of n like cases this build runs: where each takes ten times as long, with
# sanitizers and invariant walks, every fourth, as TAP_REPEATS of tests/unit/tap.h. These look at
# how a result is made, and the plain build at all of the results.
proc repeats {n} {
    set is_slow [expr {[info exists ::env(THARSIS_SANITIZERS)] &&
        $::env(THARSIS_SANITIZERS) eq "yes"}]
    return [expr {$is_slow ? ($n + 3) / 4 : $n}]
}
