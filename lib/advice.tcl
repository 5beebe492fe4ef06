# SPDX-License-Identifier: GPL-3.0-or-later
# advice.tcl - report_advice: what to buy.
#   options -> all changes that the system allows, each {KIND WHAT COST CHANGE} -> each is mapped
#   anew and runs -> so do pairs of the best -> ranked by gain per cost -> a table
# A cost that is not known is empty. A change whose system cannot be made (a torus of a prime
# number, a design that lacks a key) is left out.

proc ::tharsis::lib::report_advice {o} {
    core::need mapping
    set kinds {accelerator bandwidth dram_bandwidth clock memory design topology}
    set wanted [get $o changes $kinds]
    set items [list_changes [keep kind $kinds {$kind in $wanted}] [get $o costs {}]]
    fail_if {[llength $items] == 0} TCL-0737 "-changes: none of them can be made in this system"
    set budget [get $o budget ""]
    set items [within_budget $items $budget]
    fail_if {[llength $items] == 0} TCL-0738 "-budget $budget: no change is known to\
        cost so little: the file's cost, -link_cost and -costs say what things cost"
    lassign [core::goal] objective column has_throughput needs_energy
    core::check_columns [advice_table $items {} {}]
    set evaluations [get $o evaluations 500]
    set search [list $evaluations [get $o seed ""]]
    set results [core::try purchases [lmap item $items {lindex $item 3}] {*}$search]
    set baseline [lindex $results 0]
    set pairs [within_budget [list_pairs $items $results [get $o pairs 0]] $budget]
    if {$pairs ne ""} {
        lappend results {*}[lrange [core::try purchases [lmap pair $pairs {lindex $pair 3}] \
            {*}$search] 1 end]
        lappend items {*}$pairs
    }
    set head [list [list line objective $objective] \
        [list line mapped "anew for each of [expr {[llength $items] + 1}] systems, by $evaluations\
            evaluations"] \
        [list field objective text $objective] [list field evaluations count $evaluations] \
        [list field baseline [lindex $column 2] [lindex $baseline 4]] \
        [list field baseline_lateness time [lindex $baseline 7]]]
    if {$budget ne ""} {lappend head [list line budget [format %.10g $budget]]}
    if {[dict exists $o seed]} {lappend head [list field search_seed count [dict get $o seed]]}
    set table [advice_table $items $baseline [lrange $results 1 end]]
    set said [concat [advice_sentences [dict get $table rows] $pairs] \
        [late_sentence $baseline $results]]
    return [report advice Advice [list $table] is_kept 1 arranged 1 \
        head [concat [sentences $said] $head]]
}

# ---- which changes a system allows ----

proc ::tharsis::lib::list_changes {wanted costs} {
    set x [dict create costs $costs links [core::links] accels [core::accels] \
        designs [core::designs]]
    dict set x kinds [groups [dict get $x accels] {} {} {1 7}]
    return [concat {*}[lmap kind $wanted {list_$kind $x}]]
}

proc ::tharsis::lib::within_budget {items budget} {
    return [keep item $items {
        $budget eq "" || ([lindex $item 2] ne "" && [lindex $item 2] <= $budget)
    }]
}

# One more of each kind, or as many as its topology needs.
proc ::tharsis::lib::list_accelerator {x} {
    lassign [core::changed {}] n cost
    set items {}
    foreach kind [dict get $x kinds] {
        set last [lindex $kind end]
        set made [core::changed [list more $last]]
        if {$made eq ""} continue
        lassign $made n_made cost_made name_made
        lassign [lindex [dict get $x accels] $last] name - - - - - - price
        set more [expr {$n_made - $n}]
        set what [expr {$more == 1 ? "accel/$name_made like accel/$name" :
            "$more more like accel/$name"}]
        lappend items [list accelerator $what [expr {$price > 0 ? $cost_made - $cost : ""}] \
            [list more $last]]
    }
    return $items
}

# The item of twice as much of a property; nothing where no such system can be made.
proc ::tharsis::lib::doubled {kind what cost members} {
    set change [list property $kind 1 $members]
    if {[core::changed $change] eq ""} return
    return [list [list $kind $what $cost $change]]
}

# Of links with equal properties; those with the host are others.
proc ::tharsis::lib::list_bandwidth {x} {
    set links [dict get $x links]
    set items {}
    foreach group [groups $links 2 {} {2 5} 1] {
        set cost 0.0
        set is_priced 1
        unset -nocomplain is_counted
        foreach i $group {
            lassign [lindex $links $i] - medium - - price
            if {![info exists is_counted($medium)]} {set cost [expr {$cost + $price}]}
            set is_counted($medium) 1
            set is_priced [expr {$is_priced && $price > 0}]
        }
        set rate [core::quantity bandwidth [expr {2 * [lindex $links [lindex $group 0] 2]}]]
        lappend items {*}[doubled bandwidth "[name_group link $links $group]: $rate" \
            [expr {$is_priced && $cost > 0 ? $cost : ""}] $group]
    }
    return $items
}

# Of a property of these accelerators.
proc ::tharsis::lib::double_accels {x property group} {
    set accels [dict get $x accels]
    lassign [place_of $property] place kind
    set text x2
    if {$place ne ""} {
        set value [lindex $accels [lindex $group 0] $place]
        if {$value eq ""} return
        set text [core::quantity $kind [expr {2 * $value}]]
    } elseif {![core::own_clock $group]} {
        return
    }
    return [doubled $property "[name_group accel $accels $group]: $text" \
        [price_of $x $property $group] $group]
}

proc ::tharsis::lib::price_of {x kind group} {
    set each [get [dict get $x costs] $kind ""]
    return [expr {$each eq "" ? "" : $each * [llength $group]}]
}

proc ::tharsis::lib::list_by_kind {property x} {
    return [concat {*}[lmap kind [dict get $x kinds] {double_accels $x $property $kind}]]
}

proc ::tharsis::lib::list_dram_bandwidth {x} {list_by_kind dram_bandwidth $x}
proc ::tharsis::lib::list_memory {x} {list_by_kind memory $x}

# The clock of a design that several kinds share can only change for all of them.
proc ::tharsis::lib::list_clock {x} {
    set items [list_by_kind clock $x]
    if {[llength $items] > 0} {return $items}
    return [double_accels $x clock [lsort -integer [concat {*}[dict get $x kinds]]]]
}

# Another design for each kind, but none that stands for a product (a GPU, measurements), nor in the
# place of one.
proc ::tharsis::lib::list_design {x} {
    set designs [dict get $x designs]
    set products {learned roofline table}
    set items {}
    foreach kind [dict get $x kinds] {
        set has [lindex [dict get $x accels] [lindex $kind 0] 5]
        if {[lsearch -exact [lmap d $has {expr {[lindex $designs $d 1] in $products}}] 1] >= 0} {
            continue
        }
        set d -1
        foreach design $designs {
            lassign $design name type
            incr d
            set change [list design $d $kind]
            if {$d in $has || $type in $products || [core::changed $change] eq ""} continue
            lappend items [list design "[name_group accel [dict get $x accels] $kind]\
                [expr {[llength $has] > 1 ? "also" : "as"}] $name" [price_of $x design $kind] \
                $change]
        }
    }
    return $items
}

# ---- other topologies ----

# With the same cables, and with the same sum of bandwidths: the same cost, where a cable costs what
# it carries.
proc ::tharsis::lib::list_topology {x} {
    set fabric [core::fabric]
    if {$fabric eq ""} return
    lassign $fabric n_cables bits_per_s cable - present present_dims
    set items {}
    foreach type {ring mesh torus hypercube fully_connected star} {
        set dims [dims_of $type [llength [dict get $x accels]]]
        if {$dims eq "" || ($type eq $present && $dims eq $present_dims)} continue
        set made [core::changed [list topology $type $dims $cable]]
        set n [lindex $made 3]
        if {$made eq "" || $n == 0} continue
        set rate [expr {$bits_per_s / (2.0 * $n)}]
        # From 1 Gbit/s on in whole Mbit/s, which reads better and is less than 0.1 % off.
        set rate [expr {$rate < 1e9 ? int($rate) : round($rate / 1e6) * 1000000}]
        lappend items [topology_item $fabric $type $dims $n $cable]
        if {$rate != $cable && [core::changed [list topology $type $dims $rate]] ne ""} {
            lappend items [topology_item $fabric $type $dims $n $rate]
        }
    }
    return $items
}

proc ::tharsis::lib::topology_item {fabric type dims n rate} {
    lassign $fabric n_cables - cable cable_cost
    set is_known [expr {$n == $n_cables || $cable_cost > 0}]
    set cost [expr {$rate != $cable ? 0 : $is_known ? ($n - $n_cables) * $cable_cost : ""}]
    return [list topology "$type [join $dims x]: $n x [core::quantity bandwidth $rate]" $cost \
        [list topology $type $dims $rate]]
}

# The dims of a topology of n accelerators: of a grid the squarest; nothing where there is none.
proc ::tharsis::lib::dims_of {type n} {
    if {$type in {mesh torus}} {
        set side 0
        for {set i 2} {$i * $i <= $n} {incr i} {if {$n % $i == 0} {set side $i}}
        if {$side == 0 || ($type eq "torus" && $n / $side <= 2)} return
        return [list $side [expr {$n / $side}]]
    }
    if {$type ne "hypercube"} {return $n}
    set dims 0
    while {1 << $dims < $n} {incr dims}
    return [expr {1 << $dims == $n && $n > 4 ? $dims : ""}]
}

# ---- two at once ----

# Pairs of the n changes that gain most alone, each {pair WHAT COST CHANGE ADVISED ALONE}. What is
# added to is made first; not both: two that replace the same links or designs, or one that changes
# more than it is said to cost once the other has happened (the clock of a design that more will
# have).
proc ::tharsis::lib::list_pairs {items results n} {
    set best {}
    foreach item $items result [lrange $results 1 end] {
        set gain [gain_of [lindex $results 0] $result]
        if {$gain > 0} {lappend best [list $gain $item]}
    }
    set best [lsort -real -decreasing -index 0 $best]
    foreach place [lreverse [lrange [lsearch -all -index {1 0} -exact $best topology] 1 end]] {
        set best [lreplace $best $place $place] ;# there is one at a time
    }
    set best [lrange $best 0 $n-1]
    set order {topology accelerator design clock bandwidth dram_bandwidth memory}
    set best [lsort -command [list apply {{order a b} {
        expr {[lsearch $order [lindex $a 1 0]] - [lsearch $order [lindex $b 1 0]]}
    }} $order] $best]
    set never {{topology topology} {topology accelerator} {topology bandwidth} {design design}
        {accelerator accelerator} {accelerator clock} {design clock}}
    set pairs {}
    foreach a $best {
        foreach b [lrange $best [incr i] end] {
            lassign [lindex $a 1] kind what cost change
            lassign [lindex $b 1] kind_b what_b cost_b change_b
            set both [list pair $change $change_b]
            if {[list $kind $kind_b] in $never || [core::changed $both] eq ""} continue
            set sum [expr {$cost eq "" || $cost_b eq "" ? "" : $cost + $cost_b}]
            lappend pairs [list pair "$what and $what_b" $sum $both \
                "[advised $kind $what] and [advised $kind_b $what_b]" \
                "([percent [lindex $a 0]] and [percent [lindex $b 0]] alone)"]
        }
    }
    return $pairs
}

# ---- the order ----

# Of lateness where the baseline is late, else of what the search minimises.
proc ::tharsis::lib::gain_of {baseline result} {
    lassign $baseline - - - - - value_before latency_before lateness_before
    lassign $result problem - - - - value - lateness
    if {$problem ne ""} {return 0.0}
    if {$lateness_before > 0} {return [expr {1 - double($lateness) / $lateness_before}]}
    if {$lateness > 0} {return [expr {-double($lateness) / $latency_before}]} ;# now it is late
    return [expr {$value_before > 0 ? 1 - $value / $value_before : 0.0}]
}

# First what costs nothing and gains, or saves and loses nothing, then by gain per cost, then those
# of unknown cost by gain; what gains nothing, and what cannot be mapped, last. Equal ones keep
# their order.
proc ::tharsis::lib::class_of {problem cost gain} {
    if {$problem ne ""} {return 4}
    if {$gain < 0 || ($gain == 0 && ($cost eq "" || $cost >= 0))} {return 3}
    return [expr {$cost eq "" ? 2 : $cost > 0 ? 1 : 0}]
}

# ---- the table ----

# The baseline and the results are empty where the columns alone matter.
proc ::tharsis::lib::advice_table {items baseline results} {
    lassign [core::goal] - column has_throughput needs_energy
    set has_costs [expr {[keep item $items {
        [lindex $item 2] ne "" && [lindex $item 2] != 0
    }] ne ""}]
    set ranked {}
    set any_noise 0
    set any_late [expr {$baseline ne "" && [lindex $baseline 7] > 0}]
    foreach item $items result $results {
        if {$result eq ""} continue
        lassign $item kind what cost
        set gain [gain_of $baseline $result]
        set problem [lindex $result 0]
        set class [class_of $problem $cost $gain]
        # What only adds is no slower under the best mapping: the search found a worse one. Another
        # topology or design may really be slower, and energy may really rise.
        set noise [expr {$kind in {bandwidth dram_bandwidth clock memory} && !$needs_energy &&
            $problem eq "" && $gain < 0}]
        set any_noise [expr {$any_noise || $noise}]
        set any_late [expr {$any_late || [lindex $result 7] > 0}]
        set per_cost [expr {$problem eq "" && $cost ne "" && $cost > 0 ? 100 * $gain / $cost : ""}]
        set row [advice_row $kind $what $cost $result $gain $per_cost \
            [expr {$noise ? "of the search" : ""}]]
        lappend ranked [list $class [expr {$class == 1 ? $gain / $cost : $gain}] $row]
    }
    set ranked [lsort -integer -index 0 [lsort -real -decreasing -index 1 $ranked]]
    set table [dict create name advice wraps_at what rows [lmap row $ranked {lindex $row 2}] \
        notes [advice_notes $has_costs] columns [list {change change text} {what what text} \
            [list cost [expr {$has_costs ? "cost" : ""}] number] $column \
            [list throughput [expr {$has_throughput ? "throughput, samples" : ""}] rate] \
            [list late [expr {$any_late ? "late" : ""}] time] {gain gain change} \
            [list gain_per_cost [expr {$has_costs ? "gain per cost" : ""}] number] \
            {limit "limited by" text} {share share share} \
            [list noise [expr {$any_noise ? "noise" : ""}] text] {error {} text}]]
    if {$baseline ne ""} {dict set table total [advice_row baseline "" "" $baseline "" "" ""]}
    return $table
}

proc ::tharsis::lib::advice_row {kind what cost result gain per_cost noise} {
    lassign $result problem - throughput - objective - - lateness limit share
    if {$problem ne ""} {
        return [list $kind $what $cost {} {} {} {} {} "no mapping" {} $noise $problem]
    }
    return [list $kind $what $cost $objective [expr {$throughput > 0 ? $throughput : ""}] \
        $lateness $gain $per_cost $limit $share $noise {}]
}

# What to do, from the rows of the table, which are in order: the first three that gain more than
# the search's noise, which is its largest loss by a change that makes no mapping worse; and the
# pair that gains most, where it gains by more than the noise what no change does alone.
proc ::tharsis::lib::advice_sentences {rows pairs} {
    lassign {0.0 0.0} noise largest
    foreach row $rows {
        set gain [lindex $row 6]
        if {[lindex $row 10] ne "" && -$gain > $noise} {set noise [expr {-$gain}]}
    }
    lassign {} said best_pair
    foreach row $rows {
        lassign $row kind what - - - - gain
        if {$gain eq "" || $gain <= $noise || $gain <= 0} continue
        if {$kind eq "pair"} {
            if {$best_pair eq "" || $gain > [lindex $best_pair 6]} {set best_pair $row}
            continue
        }
        if {$gain > $largest} {set largest $gain}
        if {[llength $said] == 3} continue
        lappend said [advice_sentence [advised $kind $what] $row]
    }
    if {$best_pair ne "" && [lindex $best_pair 6] > $largest + $noise} {
        lassign [lsearch -inline -exact -index 1 $pairs [lindex $best_pair 1]] - - - - text alone
        lappend said [advice_sentence $text $best_pair " $alone"]
    }
    if {$said ne ""} {return $said}
    return [list [expr {$noise > 0 ?
        "no change gains more than the noise of the search, [percent $noise]" :
        "no change gains anything"}]]
}

# Where the baseline is late and stays so under each change that can be mapped.
proc ::tharsis::lib::late_sentence {baseline results} {
    set meet [keep result [linsert $results 0 $baseline] {
        [lindex $result 0] eq "" && [lindex $result 7] == 0
    }]
    return [expr {$meet eq "" ? {{none of these changes meets all deadlines}} : ""}]
}

proc ::tharsis::lib::advice_sentence {text row {alone ""}} {
    lassign $row - - cost - - - gain - limit share
    return "$text, [advised_cost $cost]: gains [percent $gain]$alone; then $limit limits\
        ([percent $share] of the path)"
}

proc ::tharsis::lib::advised {kind what} {
    set verb [get {accelerator add design build topology {wire as}} $kind ""]
    if {$verb ne ""} {return "$verb $what"}
    set colon [string last ": " $what]
    set value [string range $what $colon+2 end]
    return "double the [string map {_ { }} $kind] of [string range $what 0 $colon-1][expr {
        $value eq "x2" ? "" : " to $value"}]"
}

proc ::tharsis::lib::advised_cost {cost} {
    if {$cost eq ""} {return "cost unknown"}
    if {$cost == 0} {return "at no cost"}
    return [expr {$cost > 0 ? "for [format %.10g $cost]" : "saving [format %.10g [expr {-$cost}]]"}]
}

proc ::tharsis::lib::advice_notes {has_costs} {
    set order "order: what gains and costs nothing (as much bandwidth in all, other links), by\
        gain; the rest, by gain"
    if {$has_costs} {
        set order "order: what costs nothing, by gain; by gain per cost; without a cost, by gain;\
            without a gain"
    }
    return [list {gain {gain: of the baseline's objective (of its lateness, where it is late),\
        every system mapped anew}} {gain_per_cost {gain per cost: percent of it for a cost of 1}} \
        {{limit share} {limited by: the largest part of the critical path then, and its share}} \
        {what {link/A +3: link/A and 3 links like it}} [list {} $order] \
        {noise {noise: more bandwidth, clock or memory makes no mapping worse; with so few\
            -evaluations the search found a worse one}}]
}
