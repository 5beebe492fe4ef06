# SPDX-License-Identifier: GPL-3.0-or-later
# plot.tcl - write_plot: which figures are drawn.
#   options -> the source's own picture, or its table -> columns -> a description of a plot
#   (tcl/core/core_plot.c): series of points -> core::draw_plot
# A column of texts gives categories, in the order of the rows; one of numbers an axis in the unit
# of reports.

namespace eval ::tharsis::lib {
    # By source: the type of its own picture, the type of a plot of its table (empty: it has none),
    # and the columns along x and y (empty: the first two after the name).
    variable plot_sources {
        runs {{} bar run latency}  layers {{} bar layer active}
        utilization {stacked bar accel utilization}  links {heat bar link load}
        link_time {heat {} {} {}}  traffic {heat {} {} {}}
        convergence {line line evaluation {}}  pareto {{} scatter {} {}}  study {{} bar {} {}}
    }
    # Headings of reports are short, since a line below explains them; a plot has no such line.
    variable plot_titles {
        active {active time}  busy {busy time}  idle {idle time}  moved {bytes moved}
        load {load of the link}  utilization {share of the time busy}
        link_utilization {links busy}  accel_utilization {accelerators busy}
        stall_in {stalled on input}  stall_out {stalled on output}
        stall_input {stalled on inputs}  stall_weight {stalled on weights}
        stall_partial {stalled on partial sums}  stall_output {stalled on outputs}
        throughput {throughput in samples}  batch_throughput {throughput in batches}
    }
    # Figures of which less is better (-1), or more (1).
    variable plot_better {
        latency -1  makespan -1  energy -1  moved -1  interval -1  edp_js -1
        throughput 1  batch_throughput 1  accel_utilization 1
    }
}

proc ::tharsis::lib::write_plot {o} {
    variable plot_sources
    set words [dict get $o words]
    set file [lindex $words end]
    set has_first [expr {[llength $words] == 2}]
    set of [get $o of [expr {$has_first ? "runs" : ""}]]
    check_source $o $of $has_first
    if {$of eq "graph"} {return [core::draw_graph $file]}
    set subject [list $of [lindex $words 0]]
    lassign [dict get $plot_sources $of] own usual
    set description {}
    if {$own eq "" || [get $o type $own] ne $own ||
        [lsearch -regexp [dict keys $o] {^(x|y|by)$}] >= 0} {
        fail_if {$usual eq ""} TCL-0383 "-of $of: is a heat map: no other -type, -x, -y or -by"
        set description [describe_plot $o $of $subject]
    }
    if {$description eq "" && $of ne "convergence"} {
        core::check_picture $file
        core::need run
        core::need every_rank
        set description [picture_of_$of]
    }
    set looks [list [get $o log ""]]
    if {[dict exists $o title]} {lappend looks [dict get $o title]}
    return [core::draw_plot {*}$subject $file $description {*}$looks]
}

proc ::tharsis::lib::check_source {o of has_first} {
    if {$of eq ""} {fail TCL-0381 "needs RUNS, or -of, to draw"}
    fail_if {$of eq "study" && !$has_first} STUDY-0088 \
        "-of study: must have the name of a study before FILE"
    fail_if {$of ne "study" && [lsearch -regexp [dict keys $o] ^(z|where|maximize)$] >= 0} \
        STUDY-0089 "-z, -where and -maximize: are for -of study"
    if {($of in {runs study}) != $has_first} {
        set why [expr {$has_first ? "is of the present run or search: " : ""}]
        set runs [expr {$has_first ? "no RUNS" : "RUNS, as save_run returns them"}]
        fail TCL-0382 "-of $of: ${why}must have $runs"
    }
    foreach name {type x y by log title} {
        fail_if {$of eq "graph" && [dict exists $o $name]} TCL-0621 "-$name: is not for -of graph"
    }
}

# ---- pictures of their own ----

proc ::tharsis::lib::picture_of_utilization {} {
    set elapsed [row {SELECT makespan_ps FROM run}]
    set rows [core::rows {SELECT name, busy_ps, stall_in_ps, stall_out_ps, idle_ps FROM accels}]
    set part 0
    set series [lmap name {busy {stalled on input} {stalled on output} idle} {
        incr part
        set i -1
        list $name none [expr {$name eq "idle"}] [concat {*}[lmap row $rows {
            list [incr i] [expr {$elapsed > 0 ? 100.0 * [lindex $row $part] / $elapsed : 0}] ""
        }]]
    }]
    return [list stacked "work of the accelerators" accelerator "share of the elapsed time \[%\]" \
        "" [lmap row $rows {lindex $row 0}] $series {1 0 {}}]
}

# Whole numbers take three letters.
proc ::tharsis::lib::cell {value} {
    return [expr {$value eq "" ? "" : [format [expr {$value >= 10 ? "%.0f" : "%.2g"}] $value]}]
}

# A heat map of rows {NAME VALUE ...}.
proc ::tharsis::lib::heat {label x y names rows} {
    if {$rows eq ""} {fail TCL-0373 "there is nothing to draw: nothing went over the network"}
    return [list heat $label $x $y $label $names [lmap row $rows {
        set i -1
        list [lindex $row 0] none 0 [concat {*}[lmap value [lrange $row 1 end] {
            list [incr i] $value [cell $value]}]]
    }] {1 0 {}}]
}

# A row for each sender, and a column for each receiver, without nodes that have no traffic; cells
# are {FROM TO VALUE}, of several the largest.
proc ::tharsis::lib::heat_of_nodes {label unit cells} {
    set names [core::rows {SELECT name FROM nodes}]
    fail_if {[llength $names] > 256} TCL-0368 \
        "a heat map of [llength $names] nodes: must be 256 at most"
    foreach cell $cells {
        lassign $cell from to value
        if {$value > 0} {set used($from) [set used($to) 1]}
        if {![info exists at($from,$to)] || $value > $at($from,$to)} {set at($from,$to) $value}
    }
    set nodes [lsort -integer [array names used]]
    return [heat $label to from [lmap node $nodes {lindex $names $node 0}] [lmap from $nodes {
        list [lindex $names $from 0] {*}[lmap to $nodes {
            expr {[info exists at($from,$to)] ? $at($from,$to) / $unit : ""}
        }]
    }]]
}

proc ::tharsis::lib::picture_of_links {} {
    return [heat_of_nodes "load of the link \[%\]" 0.01 [core::rows {
        SELECT source_id, target_id, load FROM links WHERE source_id IS NOT NULL}]]
}

proc ::tharsis::lib::picture_of_traffic {} {
    set cells [core::traffic]
    set largest [tcl::mathfunc::max 0 {*}[lmap cell $cells {lindex $cell 2}]]
    lassign [core::plot_unit bytes $largest] unit divisor
    return [heat_of_nodes "bytes sent \[$unit\]" $divisor $cells]
}

# The most loaded links, a row for each, a column for each window, named by its start.
proc ::tharsis::lib::picture_of_link_time {} {
    set links [lsort -integer -index 0 [core::rows {SELECT id, name FROM links
        WHERE bytes > 0 OR busy_ps > 0 ORDER BY load DESC, id LIMIT 24}]]
    set windows [core::link_windows [lmap link $links {lindex $link 0}] 24]
    lassign [core::plot_unit time [row {SELECT makespan_ps FROM run}]] unit divisor
    return [heat "flows on the link (mean)" "time from \[$unit\]" link \
        [lmap window [lindex $windows 0] {cell [expr {[lindex $window 0] / $divisor}]}] \
        [lmap link $links all $windows {
            list [lindex $link 1] {*}[lmap window $all {
                expr {[lindex $window 2] > 0 ? [lindex $window 2] : ""}
            }]
        }]]
}

# ---- columns ----

# The number of a column. "name" is the first column, whatever it is called.
proc ::tharsis::lib::find_column {columns option name} {
    set names [lmap column $columns {lindex $column 0}]
    set at [lsearch -exact $names $name]
    if {$at >= 0 || $name eq "name"} {return [expr {$at > 0 ? $at : 0}]}
    fail_unknown TCL-0384 "$option: column" $name [list name {*}$names]
}

proc ::tharsis::lib::describe_plot {o of subject} {
    variable plot_sources
    lassign [dict get $plot_sources $of] - type x y
    set type [get $o type $type]
    if {$of eq "study"} {
        lassign [study_plot_table [lindex $subject 1] $o] columns rows y own
    } else {
        lassign [core::plot_table {*}$subject] columns rows
        if {$of in {layers links utilization}} {
            lassign [with_others [get {utilization accels} $of $of] $columns $rows] columns rows
        }
    }
    set x [expr {[dict exists $o x] || $x ne "" ? [find_column $columns -x [get $o x $x]] : 1}]
    set by ""
    if {[dict exists $o by]} {
        set by [find_column $columns -by [get [expr {$of eq "study" ? "" : $o}] by by]]
    }
    fail_if {$type eq "heat" && $of ne "study"} TCL-0377 \
        "-type heat: is for links and traffic, without -x, -y and -by"
    if {$by ne "" && [kind_of $columns $by] ne "text"} {
        fail TCL-0378 "-by [name_of $columns $by]: must be a column of texts"
    }
    set y [get $o y $y]
    set y [expr {[llength $y] < 1 ? 2 : [lmap name $y {find_column $columns -y $name}]}]
    set better {}
    if {$of eq "study"} {
        fail_if {($type eq "heat") != [dict exists $o z]} STUDY-0087 \
            "-z: is for -type heat of a study, which needs it"
        set better [better_in_study $o $columns $own]
    }
    if {$type eq "heat"} {
        return [describe_heat $columns $rows $x [lindex $y 0] \
            [find_column $columns -z [dict get $o z]] $better]
    }
    return [describe_table $type $columns $rows $x $y $by $better [get $o log ""] \
        [string map {_ { }} [join [get $o by ""] ", "]]]
}

# Beside the figures of the report of a class, those of the run that other reports have.
proc ::tharsis::lib::with_others {class columns rows} {
    set others [dict filter [core::kept $class] script {name -} {
        expr {[lsearch -exact -index 0 $columns $name] < 0}
    }]
    set more [figures_by_name $class [dict keys $others] $class]
    return [list [concat $columns [lmap {name figure} $others {
        list $name [lindex $figure 1] [lindex $figure 0]}]] \
        [lmap row $rows {concat $row [dict get $more [lindex $row 0]]}]]
}

proc ::tharsis::lib::kind_of {columns i} {lindex $columns $i 2}
proc ::tharsis::lib::name_of {columns i} {lindex $columns $i 0}

# Which columns of a study are better where they are less (-1), or more (1).
proc ::tharsis::lib::better_in_study {o columns own} {
    set better {}
    foreach name $own {dict set better $name -1}
    foreach name [get $o maximize {}] {
        dict set better [name_of $columns [find_column $columns -maximize $name]] 1
    }
    return $better
}

# -1: less is better, 1: more is, 0: nobody knows.
proc ::tharsis::lib::better_of {columns i better} {
    variable plot_better
    return [get [dict merge $plot_better $better] [name_of $columns $i] 0]
}

proc ::tharsis::lib::title_of {columns i} {
    variable plot_titles
    return [get $plot_titles [name_of $columns $i] [lindex $columns $i 1]]
}

# The label "latency [ms]" of the axis of these columns, and the divisor of their values.
proc ::tharsis::lib::axis_of {columns rows numbers title} {
    set kind [kind_of $columns [lindex $numbers 0]]
    set values {}
    if {$kind ne "text"} {
        set values [concat {*}[lmap i $numbers {lmap row $rows {lindex $row $i}}]]
    }
    lassign [lsort -real -decreasing [list 0 {*}[lmap value $values {
        expr {$value eq "" ? 0 : abs($value)}
    }]]] largest
    lassign [core::plot_unit $kind $largest] unit divisor
    set title [string map {_ { }} $title]
    if {$unit ne ""} {set title [string trimleft "$title \[$unit\]"]}
    return [list $title $divisor]
}

# ---- heat maps ----

# A cell for each value of x and of y; of several rows in a cell the best z counts, or the least.
proc ::tharsis::lib::describe_heat {columns rows x y z better} {
    fail_if {[kind_of $columns $z] eq "text"} STUDY-0084 \
        "-z [name_of $columns $z]: must be a column of numbers"
    if {$rows eq ""} {fail STUDY-0085 "there is nothing to draw: no point is left"}
    foreach i [list $x $y] {
        set values {}
        foreach row $rows {dict set values [lindex $row $i] 1}
        fail_if {[dict size $values] > 256} STUDY-0083 \
            "[name_of $columns $i]: a heat map has at most 256 places along an axis"
        lappend axes [dict keys $values] [string map {_ { }} [name_of $columns $i]]
    }
    lassign $axes across across_label down down_label
    set points [lmap row $rows {
        set value [lindex $row $z]
        if {$value eq ""} continue
        list [list [lindex $row $x] [lindex $row $y]] $value
    }]
    lassign [best_of $points [better_of $columns $z $better]] cells several
    foreach cell $cells {set best([lindex $cell 0]) [lindex $cell 1]}
    lassign [axis_of [list - [lindex $columns $z]] $cells 1 [name_of $columns $z]] label divisor
    set series [lmap at $down {
        set i -1
        list [core::quantity [kind_of $columns $y] $at] none 0 [concat {*}[lmap value $across {
            set place [list $value $at]
            list [incr i] [expr {[info exists best($place)] ? $best($place) / $divisor : ""}] ""
        }]]
    }]
    set names [lmap value $across {core::quantity [kind_of $columns $x] $value}]
    return [list heat "$label by $across_label and $down_label$several" $across_label \
        $down_label $label $names $series {1 0 {}}]
}

# An absent value stays absent.
proc ::tharsis::lib::scaled {value divisor} {expr {$value eq "" ? "" : $value / $divisor}}

# ---- bars, lines, stacks and scatters ----

proc ::tharsis::lib::check_table {type columns rows x y} {
    set first [kind_of $columns [lindex $y 0]]
    foreach i $y {
        set name [name_of $columns $i]
        fail_if {[kind_of $columns $i] eq "text"} TCL-0369 "-y $name: must be a column of numbers"
        fail_if {[kind_of $columns $i] ne $first} TCL-0370 \
            "-y $name: must be of one kind with [name_of $columns [lindex $y 0]]"
    }
    fail_if {$type eq "scatter" && [kind_of $columns $x] eq "text"} TCL-0371 \
        "-x [name_of $columns $x]: must be a column of numbers in a scatter"
    if {$rows eq ""} {fail TCL-0372 "there is nothing to draw: the table has no rows"}
    foreach row $rows {
        if {[lindex $row $x] eq "" && $type ni {bar stacked}} continue
        foreach i $y {if {[lindex $row $i] ne ""} return}
    }
    fail TCL-0387 "there is nothing to draw: no row has a value of [name_of $columns [lindex $y 0]]"
}

proc ::tharsis::lib::describe_table {type columns rows x y by better log key} {
    check_table $type $columns $rows $x $y
    set is_text [expr {[kind_of $columns $x] eq "text"}]
    set is_bars [expr {$type in {bar stacked}}]
    lassign [axis_of $columns $rows $x [title_of $columns $x]] x_label x_divisor
    set titles [join [lmap i $y {title_of $columns $i}] ", "]
    if {[llength $y] > 1 && [kind_of $columns [lindex $y 0]] eq "time"} {set titles time}
    lassign [axis_of $columns $rows $y $titles] y_label y_divisor
    set places {}
    set rows [lmap row $rows {
        set at [lindex $row $x]
        if {$is_text || $is_bars} {
            if {!$is_text && $at ne ""} {set at [format %.6g [expr {$at / $x_divisor}]]}
            set name [or_dash $at]
            if {![dict exists $places $name]} {dict set places $name [dict size $places]}
            set at [dict get $places $name]
        } else {
            set at [scaled $at $x_divisor]
        }
        list $at {*}[lmap i $y {scaled [lindex $row $i] $y_divisor}] \
            [or_dash [lindex $row [expr {$by eq "" ? "end+1" : $by}]]] \
            [point_name $type [lindex $columns 0] [lindex $row 0]]
    }]
    set series {}
    set several ""
    set i 0
    foreach column $y {
        incr i
        set figure [title_of $columns $column]
        set parts {}
        foreach row $rows {
            set point [list [lindex $row 0] [lindex $row $i] [lindex $row end]]
            if {$is_bars || "" ni [lrange $point 0 1]} {
                dict lappend parts [lindex $row end-1] $point
            }
        }
        dict for {part points} $parts {
            if {$by eq ""} {set part $figure} elseif {[llength $y] > 1} {append part ", $figure"}
            if {$type ne "scatter"} {
                lassign [best_of $points [better_of $columns $column $better]] points words
                if {[string first $words $several] < 0} {append several $words}
            }
            switch $type {
                line {set points [concat {*}[lsort -real -index 0 $points]]}
                scatter {set points [cloud $points]}
                default {set points [bars $points [dict size $places]]}
            }
            lappend series [list $part $type [expr {[name_of $columns $column] eq "idle"}] $points]
        }
    }
    set front {1 0 {}}
    if {$type eq "scatter"} {
        lassign [find_front $series [better_of $columns $x $better] \
            [expr {[llength $y] == 1 ? [better_of $columns $y $better] : 0}]] series front
        set is_named [expr {[llength $rows] <= 40 && [kind_of $columns 0] eq "text"}]
        lassign [thin_labels $series $front $is_named $log] series front
    }
    # Names of runs say themselves what they are.
    return [list $type "$y_label [expr {$is_bars ? "by" : "over"}] $x_label$several" \
        [expr {[name_of $columns $x] eq "run" ? "" : $x_label}] $y_label $key \
        [dict keys $places] $series $front]
}

proc ::tharsis::lib::or_dash {text} {if {$text eq ""} {return -} else {return $text}}

# What a point is called: the text of its first column, "#5" in a study, else "mapping 5".
proc ::tharsis::lib::point_name {type column value} {
    lassign $column name - kind
    if {$type ne "scatter"} return
    switch $kind {
        text {return [or_dash $value]}
        count {return [expr {$name eq "point" ? "#$value" : "$name $value"}]}
    }
}

# {POINTS WORDS}: of points {X Y NAME} at one X that with the least Y, or the largest; words say so.
proc ::tharsis::lib::best_of {points better} {
    set best {}
    foreach point $points {
        lassign $point x y
        set other [lindex [get $best $x ""] 1]
        if {$other eq "" || ($y ne "" && ($better > 0 ? $y > $other : $y < $other))} {
            dict set best $x $point
        }
    }
    return [list [dict values $best] [expr {[dict size $best] < [llength $points] ?
        ", the [lindex {least largest} [expr {$better > 0}]] of several" : ""}]]
}

# Points {X Y NAME} as {X Y LABEL ...}: a bar at every place ...
proc ::tharsis::lib::bars {points n} {
    for {set i 0} {$i < $n} {incr i} {set bar($i) ""}
    foreach point $points {set bar([lindex $point 0]) [lindex $point 1]}
    for {set i 0} {$i < $n} {incr i} {lappend bars $i $bar($i) ""}
    return $bars
}

# ... and points of a scatter: those at one place share a label, "ring, mesh".
proc ::tharsis::lib::cloud {points} {
    set names {}
    foreach point $points {
        lassign $point x y name
        if {$name ne "" && [info exists at($x,$y)]} {
            lset names $at($x,$y) "[lindex $names $at($x,$y)], $name"
        } else {
            lappend names $x $y $name
            set at($x,$y) [expr {[llength $names] - 1}]
        }
    }
    return $names
}

# ---- the Pareto front ----

# {SERIES FRONT}: the points that none is better than, from the best x on, have the labels.
proc ::tharsis::lib::find_front {series x_better y_better} {
    if {$x_better == 0 || $y_better == 0} {return [list $series {1 0 {}}]}
    foreach one $series {foreach {x y name} [lindex $one 3] {lappend all [list $x $y $name]}}
    set all [lsort -real -index 1 {*}[expr {$y_better > 0 ? "-decreasing" : ""}] $all]
    set all [lsort -real -index 0 {*}[expr {$x_better > 0 ? "-decreasing" : ""}] $all]
    foreach point $all {
        lassign $point x y
        if {![info exists best] || ($y - $best) * $y_better > 0 || [info exists is_in($x,$y)]} {
            lappend front $point
            set best $y
            set is_in($x,$y) 1
        }
    }
    set series [lmap one $series {
        lreplace $one 3 3 [concat {*}[lmap {x y name} [lindex $one 3] {
            if {[info exists is_in($x,$y)]} {set name ""}
            list $x $y $name
        }]]
    }]
    return [list $series [list $x_better $y_better [cloud $front]]]
}

# {SERIES FRONT} without the labels that would lie on one before them or, where points are named, on
# a point. Those of the front come first.
proc ::tharsis::lib::thin_labels {series front is_named log} {
    lassign $front x_side y_side points
    set all [concat $points {*}[lmap one $series {lindex $one 3}]]
    set xs [pixels [lmap {x y name} $all {set x}] [string match *x* $log] 600]
    set ys [pixels [lmap {x y name} $all {set y}] [string match *y* $log] 340]
    set taken [expr {$is_named ? [lmap x $xs y $ys {list $x $x $y}] : ""}]
    set n [llength $points]
    set thin {}
    foreach {x y name} $all px $xs py $ys {
        set is_front [expr {[llength $thin] < $n}]
        lassign [expr {$is_front ? [list $x_side $y_side] : {1 0}}] right up
        set length [expr {8 * [string length $name]}]
        set left [expr {$px + 7 * $right - ($right < 0 ? $length : 0)}]
        set box [list $left [expr {$left + $length}] [expr {$py + 11 * $up}]]
        if {$name ne "" && ($is_front || $is_named) && ![is_taken {*}$box $taken]} {
            lappend taken $box
        } else {
            set name ""
        }
        lappend thin $x $y $name
    }
    set at [expr {$n - 1}]
    set series [lmap one $series {
        lreplace $one 3 3 [lrange $thin $at+1 [incr at [llength [lindex $one 3]]]]
    }]
    return [list $series [lreplace $front 2 2 [lrange $thin 0 $n-1]]]
}

# Where the values are in a picture, more or less.
proc ::tharsis::lib::pixels {values is_log size} {
    if {$is_log} {set values [lmap value $values {expr {$value > 0 ? log10($value) : 0}}]}
    set least [tcl::mathfunc::min Inf {*}$values]
    set span [expr {[tcl::mathfunc::max -Inf {*}$values] - $least}]
    return [lmap value $values {expr {$span > 0 ? ($value - $least) * $size / $span : 0}}]
}

# Is one of these boxes {LEFT RIGHT MIDDLE} on the way?
proc ::tharsis::lib::is_taken {left right middle taken} {
    foreach other $taken {
        lassign $other from to at
        if {$left <= $to && $from <= $right && abs($middle - $at) < 15} {return 1}
    }
    return 0
}
