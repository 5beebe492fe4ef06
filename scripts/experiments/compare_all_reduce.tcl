# SPDX-License-Identifier: GPL-3.0-or-later
# compare_all_reduce.tcl - the fastest all-reduce of sixteen accelerators on several topologies.
#
#   tharsis -exit scripts/experiments/compare_all_reduce.tcl ?SIZE?
#
# Every topology uses the algorithm that is fastest on it. Equal links do not mean equal cost: the
# table lists the number of links. The last report shows the busiest links of the slowest topology.

set size [expr {[llength $argv] > 0 ? [lindex $argv 0] : "64MB"}]
foreach {name type dims} {
    ring ring 16    mesh mesh {4 4}    torus torus {4 4}    cube hypercube 4
    full fully_connected 16    star star 16
} {
    create_system -name $name -topology $type -dims $dims -accel npu_v1 -link_bandwidth 100Gbps \
        -link_latency 500ns
    create_program "all_reduce $size"
    add_collective all_reduce -bytes $size -algorithm auto
    run
    lappend runs [save_run $name]
    lappend rows [list [get_property task/0 end -exact] $name [llength [get_links]] \
        [get_property task/0 algorithm] [report_links -used -limit 3 -return_string]]
}

report_compare $runs -metrics {latency link_utilization} -relative_to ring
puts [format {%-6s %6s  %s} system links algorithm]
foreach row $rows {
    puts [format {%-6s %6d  %s} {*}[lrange $row 1 3]]
}
puts ""
puts -nonewline [lindex [lsort -integer -decreasing -index 0 $rows] 0 4]
