# SPDX-License-Identifier: GPL-3.0-or-later
# results.tcl - what random systems, workloads and programs give (random_case.tcl), in full, as
# text, for builds.sh, which compares builds.
#   tharsis -no_init -batch -exit tests/soak/results.tcl FIRST LAST
#
# Of each seed from FIRST to LAST: the summary, the critical path with its slack, links and
# utilization of its run, as CSV (times in whole picoseconds), and the mapping of its search.
source [file join [file dirname [file normalize [info script]]] random_case.tcl]
set reports {
    report_summary {report_critical_path -slack} report_links report_utilization
    report_mapping
}

proc show_case {seed} {
    set case [random_case $seed]
    set child [interp create]
    load {} Tharsis $child
    $child eval {namespace import ::tharsis::*; set_threads 1}
    puts "== seed $seed"
    set script [concat [script_of $case] [list [run_line $case]]]
    if {[catch {$child eval [join $script \n]} said]} {
        puts "refused: $said"
    }
    foreach report $::reports {
        catch {$child eval "$report -format csv -return_string"} said
        puts "-- $report\n$said"
    }
    interp delete $child
}

lassign $argv first last
for {set seed $first} {$seed <= $last} {incr seed} {show_case $seed}
