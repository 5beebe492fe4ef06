# SPDX-License-Identifier: GPL-3.0-or-later
# set_annealing.tcl - another search, written here alone, to hold the default search against:
# simulated annealing over resource allocation trees, with the moves, rates and temperatures of
# SET (Cai, Wei, Wu, Peng, Ma: "Inter-layer Scheduling Space Definition and Exploration for Tiled
# Accelerators", ISCA 2023). quality.tcl opponent runs it.
#
# A tree is a layer's number, or {{T CHUNKS} CHILD ...} or {{S CHUNKS} CHILD ...}. Children of T
# have all accelerators of their parent, one after the other; those of S have neighbouring parts
# of them, in proportion to their MACs. So each layer has a set. Its strategy is that of dynamic
# programming for the whole network on this set, which is more than SET's choice of the best
# partition of each layer alone. CHUNKS, 1, 2 or 4, are those of the layers right below a cut
# where they can have them: in a pass of one image they are what the sub-batches of a cut are to
# SET. Cuts alternate, but that T may stand under the root, which is T. All accelerators have one
# design: the best one for the tree at the beginning, in which every layer has all of them; so has
# their order, by number or by halves in turn.

namespace eval set_annealing {
    variable rates {swap_before 10 swap_behind 10 flatten 20 group 20 split 20 join 20 move 40}
    variable state
}

# ---- trees ----

proc set_annealing::is_leaf {node} {expr {[llength $node] == 1}}

# The paths to the leaves of a node, as lindex takes them, by order.
proc set_annealing::leaves {node {path {}}} {
    if {[is_leaf $node]} {return [list $path]}
    set all {}
    for {set i 1} {$i < [llength $node]} {incr i} {
        lappend all {*}[leaves [lindex $node $i] [list {*}$path $i]]
    }
    return $all
}

proc set_annealing::macs {node} {
    variable state
    set sum 0
    foreach path [leaves $node] {
        incr sum [lindex [dict get $state macs] [lindex $node $path]]
    }
    return $sum
}

# Removes cuts of one child, and gives each cut below another the other type; T under the root
# stays.
proc set_annealing::normal {node {above ""}} {
    while {[llength $node] == 2} {set node [lindex $node 1]}
    if {[is_leaf $node]} {return $node}
    lassign [lindex $node 0] type chunks
    set type [expr {$above in {"" root} && $type eq "T" ? "T"
            : $above in {T root} ? "S" : "T"}]
    set of [expr {$above eq "" ? "root" : $type}]
    return [list [list $type $chunks] {*}[lmap child [lrange $node 1 end] {normal $child $of}]]
}

# The new tree, or "" where the move cannot be made at this leaf.
proc set_annealing::change {kind tree path} {
    set at [lindex $path end]
    set above [lrange $path 0 end-1]
    set parent [lindex $tree $above]
    set n [expr {[llength $parent] - 1}]
    switch $kind {
        swap_before - swap_behind {return [swap $tree $path [expr {$kind eq "swap_behind"}]]}
        flatten {
            if {$above eq {}} {return ""}
            set over [lrange $above 0 end-1]
            set i [lindex $above end]
            set wide [lreplace [lindex $tree $over] $i $i {*}[lrange $parent 1 end]]
            return [put $tree $over $wide]
        }
        split - join {
            while {rand() < 0.5 && $above ne {}} {set above [lrange $above 0 end-1]}
            set chunks [lindex $tree {*}$above 0 1]
            if {$chunks == ($kind eq "split" ? 4 : 1)} {return ""}
            lset tree {*}$above 0 1 [expr {$kind eq "split" ? 2 * $chunks : $chunks / 2}]
            return $tree
        }
        group {
            if {$n <= 2} {return ""}
            set other $at
            while {$other == $at || abs($other - $at) == $n - 1} {
                set other [expr {1 + int($n * rand())}]
            }
            lassign [lsort -integer [list $at $other]] first last
            set type [expr {$above eq {} && rand() < 0.5 ? "T" : "S"}]
            set group [list [list $type [lindex $parent 0 1]] {*}[lrange $parent $first $last]]
            return [put $tree $above [lreplace $parent $first $last $group]]
        }
        move {
            if {$n <= 2} {return ""}
            set behind [expr {rand() < 0.5}]
            set beside [expr {$behind ? $at + 1 : $at - 1}]
            set leaf [lindex $tree $path]
            set rest [lreplace $parent $at $at]
            if {$beside >= 1 && $beside <= $n} {
                if {[is_leaf [lindex $parent $beside]]} {return ""}
                set beside [expr {$behind ? $at : $at - 1}]
                set cut [lindex $rest $beside]
                lset rest $beside [expr {$behind ? [linsert $cut 1 $leaf] : [list {*}$cut $leaf]}]
                return [put $tree $above $rest]
            }
            if {$above eq {}} {return ""}
            set over [lrange $above 0 end-1]
            set tree [put $tree $above $rest]
            set i [expr {[lindex $above end] + $behind}]
            return [put $tree $over [linsert [lindex $tree $over] $i $leaf]]
        }
    }
}

proc set_annealing::put {tree path node} {
    if {$path eq {}} {return $node}
    lset tree $path $node
    return $tree
}

# With the leaf before or behind it, unless one reads the other.
proc set_annealing::swap {tree path behind} {
    variable state
    set all [leaves $tree]
    set i [lsearch -exact $all $path]
    set other [lindex $all [expr {$behind ? $i + 1 : $i - 1}]]
    if {$other eq ""} {return ""}
    lassign [list [lindex $tree $path] [lindex $tree $other]] a b
    if {[dict exists $state reads [expr {max($a, $b)}],[expr {min($a, $b)}]]} {return ""}
    lset tree $path $b
    lset tree $other $a
    return $tree
}

# ---- mappings ----

# By layer of a node {ACCELERATORS CHUNKS}. An error where S has more children than
# accelerators.
proc set_annealing::place {node accels {chunks 1}} {
    if {[is_leaf $node]} {return [dict create $node [list $accels $chunks]]}
    set children [lrange $node 1 end]
    set parts [expr {[lindex $node 0 0] eq "T" ? [lmap c $children {set accels}]
            : [divide $accels [lmap c $children {macs $c}]]}]
    set chunks [lindex $node 0 1]
    set placed {}
    foreach child $children part $parts {
        set placed [dict merge $placed [place $child $part $chunks]]
    }
    return $placed
}

# Neighbouring parts in proportion to the weights, none of them empty.
proc set_annealing::divide {accels weights} {
    set n [llength $accels]
    set left [llength $weights]
    if {$left > $n} {error "more parts than accelerators"}
    set rest [expr {max(1, [tcl::mathop::+ {*}$weights])}]
    set parts {}
    set from 0
    foreach w $weights {
        incr left -1
        set wanted [expr {round(double($w) / max(1, $rest) * ($n - $from))}]
        set size [expr {min(max(1, $wanted), $n - $from - $left)}]
        if {$left == 0} {set size [expr {$n - $from}]}
        lappend parts [lrange $accels $from [expr {$from + $size - 1}]]
        incr from $size
        incr rest -$w
    }
    return $parts
}

proc set_annealing::text {sets layers} {
    set sets [join $sets ",\n"]
    set layers [join $layers ",\n"]
    return "sets = (\n$sets\n);\nlayers = (\n$layers\n);\n"
}

proc set_annealing::set_text {accels} {
    variable state
    set names [join [lmap a $accels {format {"%s"} $a}] ", "]
    return "  { design = \"[dict get $state design]\"; accelerators = \[ $names \]; }"
}

proc set_annealing::write {text} {
    variable state
    set f [open [dict get $state file] w]
    puts -nonewline $f $text
    close $f
    return [dict get $state file]
}

# By layer, what a mapping says of its strategy on these accelerators.
proc set_annealing::strategies {accels} {
    variable state
    set key [list strategies [dict get $state design] $accels]
    if {![dict exists $state {*}$key]} {
        set layers [lmap name [dict get $state names] {
            format {  { name = "%s"; set = 0; }} $name
        }]
        set file [write [text [list [set_text $accels]] $layers]]
        map_workload -algorithm dp -evaluations 1 -complete $file {*}[dict get $state options]
        write_mapping $file
        set f [open $file]
        set lines [regexp -all -inline -line {\{ name = ".*"; set = 0;(.*) \},?$} [read $f]]
        close $f
        dict set state {*}$key [lmap {- tail} $lines {set tail}]
    }
    return [dict get $state {*}$key]
}

# What a mapping says of chunks of a layer: along H, else K, where its shards are so long.
proc set_annealing::chunks {l strategy n} {
    variable state
    if {$n == 1 || [string match *rotate* $strategy]} {return ""}
    foreach d {H K} {
        set pieces 1
        regexp "$d = (\\d+)" $strategy - pieces
        if {[dict get [lindex [dict get $state dims] $l] $d] / $pieces >= $n} {
            return " chunks = { $d = $n; };"
        }
    }
}

# The value of a tree, and an evaluation; Inf where it cannot run.
proc set_annealing::value {tree} {
    variable state
    dict incr state evaluations
    if {[catch {
        set placed [place $tree [dict get $state accels]]
        set sets [lsort -unique [lmap {- at} $placed {lindex $at 0}]]
        set layers {}
        set l -1
        foreach name [dict get $state names] {
            lassign [dict get $placed [incr l]] accels chunks
            set strategy [lindex [strategies $accels] $l]
            lappend layers [format {  { name = "%s"; set = %d;%s%s }} $name \
                    [lsearch -exact $sets $accels] $strategy [chunks $l $strategy $chunks]]
        }
        read_mapping [write [text [lmap s $sets {set_text $s}] $layers]]
        run {*}[dict get $state run]
        set value [lindex [report_summary -format csv -return_string \
                -fields [dict get $state field]] end]
    }]} {return Inf}
    return [expr {[dict get $state field] eq "makespan" ? double($value) : 1e12 / $value}]
}

# ---- annealing ----

proc set_annealing::draw {} {
    variable rates
    set at [expr {rand() * [tcl::mathop::+ {*}[dict values $rates]]}]
    foreach {kind rate} $rates {
        set at [expr {$at - $rate}]
        if {$at < 0} {return $kind}
    }
}

# {KIND TREE} one move away.
proc set_annealing::neighbour {tree} {
    set all [leaves $tree]
    while 1 {
        set kind [draw]
        set path [lindex $all [expr {int(rand() * [llength $all])}]]
        set new [change $kind $tree $path]
        if {$new eq ""} continue
        set new [normal $new]
        if {$new ne $tree} {return [list $kind $new]}
    }
}

# The tree at the beginning for the loaded problem and options of map_workload, and its value.
proc set_annealing::begin {options} {
    variable state
    set layers [get_layers]
    set state [dict create names {} macs {} dims {} evaluations 0 options $options run {} \
            field makespan]
    close [file tempfile name]
    dict set state file $name
    foreach layer $layers {
        dict lappend state names [get_property $layer name]
        dict lappend state macs [get_property $layer macs]
        dict lappend state dims [regexp -all -inline {[A-Z]|\d+} [get_property $layer dims]]
    }
    set l -1
    foreach layer $layers {
        incr l
        foreach input [get_property $layer inputs] {
            dict set state reads $l,[lsearch -exact [dict get $state names] $input] 1
        }
    }
    foreach {name value} $options {
        if {$name eq "-inputs"} {dict lappend state run $name $value}
        if {$name eq "-objective" && $value eq "throughput"} {
            dict set state field batch_throughput
        }
    }
    set tree [list {T 1}]
    for {set l 0} {$l < [llength $layers]} {incr l} {lappend tree $l}
    set numbers [lmap a [get_accels] {get_property $a name}]
    set half [expr {[llength $numbers] / 2}]
    set turns {}
    foreach a [lrange $numbers 0 [expr {$half - 1}]] b [lrange $numbers $half end] {
        lappend turns $a $b
    }
    set best Inf
    foreach design [get_property [lindex [get_accels] 0] designs] {
        foreach order [list $numbers $turns] {
            dict set state design $design
            dict set state accels $order
            set v [value $tree]
            if {$v < $best} {
                set best $v
                set choice [list $design $order]
            }
        }
    }
    lassign $choice design order
    dict set state design $design
    dict set state accels $order
    return [list $tree $best]
}

# The best value of so many evaluations: a dict of value, first value, and for each kind of move how
# many percent it took off the best.
proc set_annealing::search {options evaluations seed} {
    variable state
    expr {srand($seed)}
    lassign [begin $options] tree value
    set first $value
    set best $value
    set best_tree $tree
    foreach kind [dict keys $set_annealing::rates] {set gained($kind) 0.0}
    set from [dict get $state evaluations]
    while {[dict get $state evaluations] < $evaluations} {
        set x [expr {([dict get $state evaluations] - $from) / double($evaluations - $from)}]
        if {$x >= 0.9 && $value > $best && ![info exists is_late]} {
            lassign [list $best_tree $best 1] tree value is_late
        }
        lassign [neighbour $tree] kind new
        set v [value $new]
        if {$v < $best} {
            set gained($kind) [expr {$gained($kind) + 100 * (1 - $v / $best)}]
            set best $v
            set best_tree $new
        }
        set temperature [expr {0.07 * (1 - $x) / (1 + 8 * $x)}]
        if {$v <= $value || ($v < Inf && rand() < exp(-($v / $value - 1) / $temperature))} {
            lassign [list $new $v] tree value
        }
    }
    file delete [dict get $state file]
    return [dict create value $best first $first gained [array get gained] tree $best_tree]
}
