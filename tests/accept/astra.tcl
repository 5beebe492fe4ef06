# SPDX-License-Identifier: GPL-3.0-or-later
# astra.tcl - times of collectives, held against ASTRA-sim's analytical networks to the nanosecond.
#
#   tharsis -exit tests/accept/astra.tcl DIRECTORY
#
# DIRECTORY holds results.csv, one run of ASTRA-sim per row: mode (aware, unaware), topology,
# npus_per_dim, bandwidth_GBps, latency_ns and impl (one value per dimension, joined by + or x),
# collective, size_bytes, splits, active_chunks, queues_per_dim, local_mem_bw_GBps, collective_opt,
# endpoint_delay_ns, sched, result_ns_min and result_ns_max. A row becomes network.yml and
# system.json, and a program of one collective over all accelerators. The figure is the share of
# rows reproduced among those with one active chunk, one queue, localBWAware, rings, no all-to-all,
# and one split where there are several dimensions; the others are shown and counted apart. Exit
# status: 0 where the figure is 100, 1 where not, 2 where the data cannot be read.

set columns {mode topology npus_per_dim bandwidth_GBps latency_ns collective size_bytes impl\
        splits active_chunks
    queues_per_dim local_mem_bw_GBps collective_opt endpoint_delay_ns sched result_ns_min\
        result_ns_max}

# ---- rows ----

# Rows as dicts, by the names of the first line. No field is quoted.
proc csv_read {file} {
    set f [open $file]
    set lines [lassign [split [string map {\r {}} [string trim [read $f]]] \n] header]
    close $f
    set names [split $header ,]
    foreach column $::columns {
        if {$column ni $names} {error "$file: there is no column $column"}
    }
    return [lmap line $lines {
        set fields [split $line ,]
        if {[llength $fields] != [llength $names]} {
            error "$file: \"$line\": not [llength $names] fields"
        }
        set row {}
        foreach name $names field $fields {dict set row $name $field}
        set row
    }]
}

# What a row has for each dimension.
proc per_dim {row column} {
    return [split [dict get $row $column] +x]
}

proc is_in_scope {row} {
    dict with row {
        set n_dims [llength [per_dim $row topology]]
        return [expr {$active_chunks == 1 && $queues_per_dim == 1 &&\
                    $collective_opt eq "localBWAware" &&
            $collective ne "all_to_all" && [lsort -unique [per_dim $row impl]] eq "ring" &&
            ($n_dims == 1 || $splits == 1)}]
    }
}

# ---- a row as a system and a program ----

proc write_file {file text} {
    set f [open $file w]
    puts $f $text
    close $f
}

proc write_network {file row} {
    write_file $file "topology: \[ [join [per_dim $row topology] {, }] \]
npus_count: \[ [join [per_dim $row npus_per_dim] {, }] \]
bandwidth: \[ [join [per_dim $row bandwidth_GBps] {, }] \]
latency: \[ [join [per_dim $row latency_ns] {, }] \]"
}

proc write_parameters {file row} {
    set implementations "\[[join [lmap name [per_dim $row impl] {format {"%s"} $name}] {, }]\]"
    dict with row {
        write_file $file "{
    \"scheduling-policy\": \"$sched\",
    \"endpoint-delay\": $endpoint_delay_ns,
    \"active-chunks-per-dimension\": $active_chunks,
    \"preferred-dataset-splits\": $splits,
    \"all-reduce-implementation\": $implementations,
    \"all-gather-implementation\": $implementations,
    \"reduce-scatter-implementation\": $implementations,
    \"all-to-all-implementation\": $implementations,
    \"collective-optimization\": \"$collective_opt\",
    \"local-mem-bw\": $local_mem_bw_GBps
}"
    }
}

# Runs a row; returns {ns events}. ASTRA-sim's all-gather counts the shard of one rank, ours the
# result.
proc run_row {row folder} {
    set network [file join $folder network.yml]
    set parameters [file join $folder system.json]
    write_network $network $row
    write_parameters $parameters $row
    read_system -format astra $network $parameters
    set bytes [dict get $row size_bytes]
    if {[dict get $row collective] eq "all_gather"} {
        set bytes [expr {$bytes * [llength [get_accels]]}]
    }
    create_program row
    set task [add_collective [dict get $row collective] -bytes ${bytes}B]
    run -network astra_[dict get $row mode]
    regexp {"events": (\d+)} [report_summary -format json -return_string] -> events
    return [list [expr {[get_property $task end -exact] / 1000.0}] $events]
}

# One line; returns whether the row is reproduced. A run that is refused is not.
proc show_row {row folder} {
    set name \
        [join [lmap column {mode topology npus_per_dim collective size_bytes splits active_chunks} {
        dict get $row $column
    }]]
    set min [dict get $row result_ns_min]
    set max [dict get $row result_ns_max]
    set expected [expr {$min eq $max ? $min : "$min..$max"}]
    if {[catch {run_row $row $folder} got]} {
        puts [format "%-58s %12s %12s %10s %6s  %s" $name $expected - - - $got]
        return 0
    }
    lassign $got ns events
    set deviation [expr {abs($ns - $min) > abs($ns - $max) ? $ns - $min : $ns - $max}]
    puts [format "%-58s %12s %12.10g %10g %6d" $name $expected $ns $deviation $events]
    return [expr {$deviation == 0}]
}

proc run_all {directory folder} {
    array set n {1 0 0 0}
    array set same {1 0 0 0}
    set rows [csv_read [file join $directory results.csv]]
    puts [format "%-58s %12s %12s %10s %6s" case {expected [ns]} {got [ns]} deviation events]
    foreach is_counted {1 0} {
        foreach row $rows {
            if {[is_in_scope $row] != $is_counted} continue
            if {!$is_counted && $n(0) == 0} {puts "not counted:"}
            incr n($is_counted)
            incr same($is_counted) [show_row $row $folder]
        }
    }
    if {$n(1) == 0} {error "results.csv: no row is in scope"}
    if {$n(0) > 0} {puts "not counted: $same(0) of $n(0) reproduced"}
    puts [format "astra: %.6g percent (%d cases)" [expr {100.0 * $same(1) / $n(1)}] $n(1)]
    return [expr {$same(1) == $n(1)}]
}

if {[llength $argv] != 1} {
    puts stderr "usage: tharsis -exit tests/accept/astra.tcl DIRECTORY"
    exit 2
}
close [file tempfile folder]
file delete $folder
file mkdir $folder
if {[catch {run_all [lindex $argv 0] $folder} holds]} {
    puts stderr "astra.tcl: $holds"
    set status 2
} else {
    set status [expr {!$holds}]
}
file delete -force $folder
exit $status
