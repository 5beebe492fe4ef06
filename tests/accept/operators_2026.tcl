# SPDX-License-Identifier: GPL-3.0-or-later
# operators_2026.tcl - operators.tcl on the tables of many devices, for make check.
#
#   tharsis -exit tests/accept/operators_2026.tcl FOLDER
lappend argv -layout 2026
source [file join [file dirname [file normalize [info script]]] operators.tcl]
