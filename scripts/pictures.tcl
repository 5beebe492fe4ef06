# SPDX-License-Identifier: GPL-3.0-or-later
# pictures.tcl - the pictures of the manual, from runs: the same run gives the same picture.
#   tharsis -no_init -exit scripts/pictures.tcl ?FOLDER?       default: docs/pictures

set folder [expr {$argc > 0 ? [lindex $argv 0] : "docs/pictures"}]
file mkdir $folder
set_threads 1

# Okabe and Ito's colours, which colour-blind readers tell apart.
set colors {#0072b2 #e69f00 #009e73 #cc79a7 #56b4e9 #d55e00 #f0e442}

# ---- a timeline: a row per accelerator, computation above what it sends ----

proc escaped {text} {
    return [string map {& &amp; < &lt; > &gt;} $text]
}

# The tasks of the present run that have ended: {accel layer start end} of those that compute, and
# {node start end} of transfers, by their sender; times in ps.
proc finished_tasks {} {
    set file [file join [pwd] pictures_tmp.csv]
    restart
    open_trace $file -format csv
    add_trace [get_accels] -signals busy
    run
    close_trace
    set channel [open $file]
    set lines [lrange [split [read $channel] \n] 1 end]
    close $channel
    file delete $file
    set computed {}
    set sent {}
    foreach line $lines {
        lassign [split $line ,] time event task kind from to layer
        if {$event eq "start"} {
            set began($task) $time
        } elseif {$event eq "end" && $kind eq "compute"} {
            lappend computed [list $from $layer $began($task) $time]
        } elseif {$event eq "end" && $kind eq "transfer"} {
            lappend sent [list $from $began($task) $time]
        }
    }
    return [list $computed $sent]
}

# The first word of a layer's name: "l3.0.c1" is of block l3.
proc block_of {layer} {
    return [lindex [split $layer .] 0]
}

proc write_timeline {file title} {
    lassign [finished_tasks] computed sent
    set accels [lmap accel [get_accels] {string range $accel 6 end}]
    set last [tcl::mathfunc::max {*}[lmap c $computed {lindex $c 3}]]
    set left 70
    set width 820
    set row 34
    set top 34
    set height [expr {$top + $row * [llength $accels] + 60}]
    set svg "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"[expr {$left + $width + 40}]\"\
        height=\"$height\" font-family=\"sans-serif\" font-size=\"12\">\n"
    append svg "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    append svg "<text x=\"$left\" y=\"20\" font-size=\"14\">[escaped $title]</text>\n"
    set blocks {}
    set y $top
    foreach accel $accels {
        append svg "<text x=\"[expr {$left - 8}]\" y=\"[expr {$y + 16}]\"\
            text-anchor=\"end\">accel/$accel</text>\n"
        foreach {list place size} [list $computed 0 20 $sent 22 6] {
            set bars ""
            foreach bar $list {
                if {[lindex $bar 0] ne $accel} continue
                lassign [lrange $bar end-1 end] start end
                set x [expr {$left + double($start) * $width / $last}]
                set w [expr {double($end - $start) * $width / $last}]
                if {$size == 20} {
                    set block [block_of [lindex $bar 1]]
                    if {$block ni $blocks} {lappend blocks $block}
                    set color [lindex $::colors \
                            [expr {[lsearch $blocks $block] % [llength $::colors]}]]
                } else {
                    set color #888888
                }
                append bars [format {<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s"/>} \
                        $x [expr {$y + $place}] [expr {max($w, 0.3)}] $size $color] \n
            }
            append svg $bars
        }
        incr y $row
    }
    append svg [time_axis $left $y $width $last]
    set x $left
    foreach block $blocks {
        set color [lindex $::colors [expr {[lsearch $blocks $block] % [llength $::colors]}]]
        append svg "<rect x=\"$x\" y=\"[expr {$y + 34}]\" width=\"12\" height=\"12\"\
            fill=\"$color\"/><text x=\"[expr {$x + 16}]\" y=\"[expr {$y + 45}]\">[escaped\
            $block]</text>\n"
        incr x [expr {40 + 8 * [string length $block]}]
    }
    append svg "<rect x=\"$x\" y=\"[expr {$y + 38}]\" width=\"12\" height=\"5\"\
        fill=\"#888888\"/><text x=\"[expr {$x + 16}]\" y=\"[expr {$y + 45}]\">sends</text>\n"
    append svg "</svg>\n"
    set channel [open $file w]
    puts -nonewline $channel $svg
    close $channel
}

# Marks in us, 1, 2 or 5 times a power of ten apart.
proc time_axis {left y width last} {
    set svg ""
    set step 1e6
    while {$last / $step > 6} {
        set step [expr {$step * ([string match 2* [format %.0f $step]] ? 2.5 : 2)}]
    }
    for {set time 0} {$time <= $last} {set time [expr {$time + $step}]} {
        set x [format %.1f [expr {$left + $time * $width / $last}]]
        append svg "<line x1=\"$x\" x2=\"$x\" y1=\"$y\" y2=\"[expr {$y + 5}]\" stroke=\"black\"/>\
            <text x=\"$x\" y=\"[expr {$y + 18}]\" text-anchor=\"middle\">[format %.0f\
            [expr {$time / 1e6}]] µs</text>\n"
    }
    return $svg
}

# ---- ResNet-34 on eight FPGAs ----

read_system f1_16xlarge
read_workload resnet34 -batch 1
map_workload -evaluations 1000
run -all
write_timeline [file join $folder timeline.svg] \
    "ResNet-34 on eight FPGAs: what each computes, and below it what it sends"
write_plot [file join $folder utilization.svg] -of utilization \
    -title "ResNet-34 on f1_16xlarge: the time of each accelerator"
write_plot [file join $folder links.svg] -of links -title "ResNet-34 on f1_16xlarge: load of links"
write_plot [file join $folder layers.svg] -of layers -title "ResNet-34 on f1_16xlarge: layers"
write_plot [file join $folder convergence.svg] -of convergence \
    -title "Search for a mapping of ResNet-34 onto f1_16xlarge"

# ---- five topologies under an all-to-all, as in the cookbook ----

set runs {}
foreach {name type dims} {ring ring 16  mesh mesh {4 4}  torus torus {4 4}  cube hypercube 4\
            clos fattree {4 2}} {
    create_system -name $name -topology $type -dims $dims -accel npu_v1 \
        -link_bandwidth 25Gbps -link_latency 500ns
    create_program exchange
    add_collective all_to_all -bytes 16MB
    run
    lappend runs [save_run $name]
}
write_plot $runs -x name -y latency -type bar [file join $folder topologies.svg] \
    -title "16 MB all-to-all between sixteen accelerators"
