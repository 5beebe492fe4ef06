# SPDX-License-Identifier: GPL-3.0-or-later
# studies.tcl - for tests of studies: where their databases are, and what they hold.

proc database {name} {file join [temporaryDirectory] studies $name.db}

# The points as lists of these columns.
proc points {name columns args} {
    set lines [split [string trim \
                [report_study $name -format csv -return_string -columns $columns {*}$args]] \n]
    set lines [lsearch -all -inline -not $lines "#*"]
    return [lmap line [lrange $lines 1 end] {split $line ,}]
}
