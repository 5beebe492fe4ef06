# SPDX-License-Identifier: GPL-3.0-or-later
# faults.tcl - a training run of 54 days, interrupted as often as published for each cause.
#
#   tharsis -exit tests/accept/faults.tcl DIRECTORY
#
# DIRECTORY holds llama3_54_days.csv (component, category, count): the unexpected interruptions of
# the pre-training of Llama 3 405B on 16,384 GPUs, arXiv 2407.21783, Table 5. The figure is the
# effective training time, which the paper gives as above 90 %. Every component is a kind of failure
# of 16,384 units whose mean time between failures is 54 days x 16,384 / count; 47 planned
# interruptions are one more kind. From the paper: 54 days, 47 planned interruptions, storage that
# sustains 2 TB/s. Derived: a checkpoint of 14 bytes per parameter (weights of 2, and a master copy
# and two moments of Adam of 4 each): 346 MB from every GPU, over a network that is simulated.
# Assumed, as the paper does not give them: 60 s until a failure is noticed, 8 minutes for a
# restart, training stops while a checkpoint is written, steps of 4 s, no lack of spares.
# Exit status: 0 where the figure is 90 or more, 1 where not, 2 where the data cannot be read.

set gpus 16384
set days 54
set bar 90
set planned 47
set assumed {-detection_time 60s -restart_time 8min -step_time 4s -checkpoint_bytes 346MB}

proc csv_rows {file columns} {
    set f [open $file]
    set text [read $f]
    close $f
    set lines [lassign [split [string map {\r {}} [string trim $text]] \n] header]
    set names [split $header ,]
    foreach column $columns {
        if {$column ni $names} {error "$file: there is no column $column"}
    }
    return [lmap line $lines {
        set fields [split $line ,]
        if {[llength $fields] != [llength $names]} {error "$file: \"$line\": a field is missing"}
        set row {}
        foreach name $names field $fields {dict set row $name $field}
        set row
    }]
}

proc kind_of {name count software} {
    if {![string is integer -strict $count] || $count < 1} {error "count \"$count\" of $name"}
    set mtbf [expr {$::days * 24.0 * $::gpus / $count}]
    return [list $name $::gpus ${mtbf}h spare [expr {!$software}]]
}

# All GPUs at one switch, 400 Gb/s each, and storage of 2 TB/s.
proc make_cluster {} {
    set names {}
    for {set i 0} {$i < $::gpus} {incr i} {lappend names "\"g$i\""}
    set names "\[ [join $names ", "] \]"
    set f [file tempfile file .cfg]
    puts $f [string map [list NAMES $names] {
        name = "cluster";
        designs = ( { name = "d"; type = "roofline"; clock = "1GHz"; macs_per_cycle = 1000; } );
        accelerators = ( { names = NAMES; dram = { capacity = "80GiB"; bandwidth = "3TB/s"; };
            vector = { clock = "1GHz"; elements_per_cycle = 1; }; designs = ["d"]; } );
        hosts = ( "storage" );
        switches = ( "fabric" );
        links = ( { center = "fabric"; leaves = NAMES; bandwidth = "400Gbps"; latency = "5us";
                duplex = "full"; },
            { between = ["fabric", "storage"]; bandwidth = "2TB/s"; latency = "5us";
                duplex = "full"; } );
    }]
    close $f
    read_system $file
    file delete $file
}

proc run_all {directory} {
    set kinds {}
    set unexpected 0
    set file [file join $directory llama3_54_days.csv]
    foreach row [csv_rows $file {component category count}] {
        dict with row {}
        lappend kinds [kind_of $component $count [expr {$category in {Dependency Unknown}}]]
        incr unexpected $count
    }
    if {$unexpected == 0} {error "$file: has no row"}
    lappend kinds [kind_of planned $::planned 1]
    make_cluster
    set report [report_reliability -duration ${::days}d -failures $kinds {*}$::assumed\
        -format json -return_string]
    puts [format "%-30s %8s %8s %10s" component expected got deviation]
    foreach kind $kinds {
        set name [lindex $kind 0]
        set expected [expr {$::days * 24.0 * $::gpus / [string trimright [lindex $kind 2] h]}]
        if {![regexp "\"kind\": \"[regsub -all {[+*()]} $name {\\&}]\"\[^\}\]*\"interruptions\":\
                (\[0-9.e+-\]+)" $report -> got]} {error "$name: is not in the report"}
        puts [format "%-30s %8.0f %8.2f %10.4f" $name $expected $got [expr {$got / $expected - 1}]]
    }
    foreach field {training_percent expected_percent interruptions interval_s write_s} {
        regexp "\"$field\": (\[0-9.e+-\]+)" $report -> value($field)
    }
    puts [format "%d unexpected and %d planned interruptions: got %.1f; checkpoint of %.2f s every\
        %.0f s; closed form %.2f percent" $unexpected $::planned $value(interruptions)\
        $value(write_s) $value(interval_s) $value(expected_percent)]
    set figure $value(training_percent)
    puts [format "bar: effective training time: got %.2f %%, at least %d %%: %s" $figure $::bar\
        [expr {$figure >= $::bar ? "holds" : "MISSED"}]]
    puts [format "faults: %.2f percent (%d cases)" $figure [llength $kinds]]
    return [expr {$figure >= $::bar}]
}

if {[llength $argv] != 1} {
    puts stderr "usage: tharsis -exit tests/accept/faults.tcl DIRECTORY"
    exit 2
}
if {[catch {run_all [lindex $argv 0]} holds]} {
    puts stderr "faults.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
