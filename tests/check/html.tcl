# SPDX-License-Identifier: GPL-3.0-or-later
# html.tcl - the pages that html.js looks at, and what they must show: html.tcl FOLDER
#   run.html     AlexNet on eight FPGAs, searched for, so that there is a convergence
#   large.html   the same by a mapping from a file, a stream of enough inputs that there are almost
#   100,000 spans
#   program.html a hand-built program, with a name that is markup, ends a script, and has quotes, a
#   control character and a separator of lines; a link that goes down and a slow accelerator
#   many.html    a fat tree with more links than have names in its picture
#   picture_*.html systems of every kind
#   compare.html two runs of it side by side
#   unlike.html  AlexNet on FPGAs of two designs and a GPU
#   study.html   a study of 12 points, of which the front has three by construction
#   wide.html    a study with long numbers, long words and long names, whose front has 20 points;
#   odd.html     the same with more of one and less of the other as the better
#   pages.html   a study with the pages of its runs beside it; its last point has no run
#   facts.json   figures of run.html as the reports print them
set folder [lindex $argv 0]

read_system f1_16xlarge
read_workload alexnet
map_workload -algorithm two_level -seed 1 -evaluations 60
run
report_sensitivity -group class -return_string
write_report [file join $folder run.html]
save_run searched

set f [open [file join $folder facts.json] w]
puts $f "{\"summary\": [report_summary -return_string -format json],"
puts $f "\"layers\": [report_layers -return_string -format json],"
puts $f "\"bounds\": [report_bounds -return_string -format json],"
puts $f "\"path\": [report_critical_path -return_string -format json],"
puts $f "\"links\": \[[join [lmap link [get_links *] {
    string cat "{\"link\": \"[string range $link 5 end]\"," \
        "\"busy_ps\": [get_property -exact $link busy]}"
}] ,]\],"
set tasks [lmap task [lrange [get_tasks -filter {kind == transfer}] 0 20] {
    string cat "\[[string range $task 5 end], [get_property -exact $task start],\
            [get_property -exact $task end]," \
        " [get_property -exact $task bytes]\]"
}]
puts $f "\"transfers\": \[[join $tasks ,]\]}"
close $f

# As many inputs as 100,000 spans allow.
proc spans {file} {
    set f [open $file]
    regexp {"spans":(\d+)} [read $f] -> n
    close $f
    return $n
}
read_mapping [file join [file dirname [file dirname [file normalize [info script]]]] tcl hand.map]
run -inputs 10
set ten [spans [write_report [file join $folder large.html]]]
restart
run -inputs [expr {990000 / $ten}]
write_report [file join $folder large.html]
save_run streamed

write_report [file join $folder compare.html] -compare {searched streamed}

read_system [file join [file dirname [file dirname [file dirname [file normalize \
    [info script]]]]] scripts experiments fpgas_and_gpu.cfg]
read_workload alexnet
map_workload -algorithm greedy
run
write_report [file join $folder unlike.html]

# Latencies a + b of cost (4 - a) (10 + b): those with b = 0 are better in both.
create_study corners -file [file join $folder corners.db] \
    -parameters {a {1 2 3} b {0 1} link {25Gbps 100Gbps}} \
    -metrics {{late time} {cost number}} \
    -script {dict create late [expr {$a + $b}]us cost [expr {(4 - $a) * (10 + $b)}]}
run_study corners
write_report [file join $folder study.html] -study corners

create_study pages -file [file join $folder pages.db] \
    -parameters {bytes {1kB 4kB} link {25Gbps 100Gbps}} -metrics {{late time}} -script {
        create_system -name s -topology ring -dims 4 -accel npu_v1 -link_bandwidth $link \
            -link_latency 500ns
        create_program p
        add_transfer -from 0 -to 1 -bytes $bytes
        if {$point < 4} run
        set point 7
        dict create late ${point}us
    }
run_study pages -pages [file join $folder pages]
write_report [file join $folder pages.html] -study pages

foreach {page metric sign} {wide lateness -1 odd rate 1} {
    set name "$page [string repeat long_ 30]\" & <b>"
    create_study $name -file [file join $folder $page.db] \
        -parameters [list a {1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20} \
            kind_of_network_with_a_long_name [list ring [string repeat x 400]]] \
        -metrics [list "$metric number" {what text} {cost number}] \
        -script [string map [list METRIC $metric SIGN $sign] {
            dict create METRIC [expr {1e9 + SIGN * $a * 1000}] what "remark $a" \
                cost [expr {1e12 + $a * 1e6 + ($kind_of_network_with_a_long_name ne "ring")}]
        }]
    run_study $name
    write_report [file join $folder $page.html] -study $name
}

read_system ring8
create_program "<script>document.title=1</script>\"'\\&amp;\u2028\x07"
add_traffic -pattern uniform -rate 20Gbps -message_bytes 16kB -duration 50us
add_collective all_reduce -bytes 1MB -at 10us
inject_fault link/0_1 -at 20us -for 40us
inject_fault accel/3 -at 30us -for 20us -clock x0.5
run
write_report [file join $folder program.html]

proc write_picture {name} {
    create_program p
    add_transfer -from 0 -to 1 -bytes 1kB
    run
    write_report [file join $::folder $name.html]
}
foreach {type dims} {
    line 5 ring 12 mesh {4 3} torus {4 4 2} hypercube 5 fully_connected 6 star 6 tree {3 2}
    fattree {4 2} dragonfly {2 4 2} pcie_tree {2 2 4} islands {4 4} rails {4 4 1}
    composition {{ring 4} {switch 3}}
} {
    create_system -name x -topology $type -dims $dims -accel npu_v1 -link_bandwidth 100Gbps \
        -link_latency 500ns {*}[expr {$type in {ring mesh} ? {-host} : {}}]
    write_picture picture_$type
}
foreach size {2 4 7} {
    create_system dgx_h100 -size $size
    write_picture picture_pod_$size
}
create_system -name x -topology fattree -dims {4 4} -accel npu_v1 -link_bandwidth 100Gbps \
    -link_latency 500ns
write_picture many
