# SPDX-License-Identifier: GPL-3.0-or-later
# scalesim.tcl - SCALE-Sim's two files as the texts of ours (docs/formats.md). topology and
# configuration return the text, and notes of what they left out. What a line of a file says stands
# on the line of the same number of the text, so that errors of both name it.
namespace eval ::tharsis::lib::scalesim {namespace path {::tharsis::lib ::tharsis}}
namespace eval ::tharsis::lib::scalesim::known {
    variable topology_max 4194304 configuration_max 262144 extent_max 268435456
    variable convolution {
        {{Layer name} Layer Name L} {{IFMAP Height}} {{IFMAP Width}} {{Filter Height}}
        {{Filter Width}} Channels {{Num Filter}} {Strides {Stride Height}} {{Stride Width}} Sparsity
    }
    variable product {{Layer {Layer name} Name L} M N K Sparsity}
    variable array_keys {
        ArrayHeight ArrayWidth IfmapSramSzkB FilterSramSzkB OfmapSramSzkB Dataflow Bandwidth
    }
    # Keys whose values are words: the key (empty: as it is given), the words, what they are.
    variable words {
        run_presets/interfacebandwidth {InterfaceBandwidth {user calc} {CALC or USER}}
        sparsity/optimizedmapping
        {{} false {false (ratios drawn for every row are not modelled)}}
        architecture_presets/dataflow {Dataflow {os ws is} {os, ws or is}}
    }
    variable passed_over {
        ifmapoffset filteroffset ofmapoffset memorybanks readrequestbuffer writerequestbuffer
    }
}

# A text in quotes, as files have it.
proc ::tharsis::lib::scalesim::quoted {text} {
    return "\"[string map {\\ \\\\ \" \\\" \t \\x09} $text]\""
}

# The file's name without folder and extension.
proc ::tharsis::lib::scalesim::stem {path} {
    return [string range [file rootname [file tail $path]] 0 199]
}

# What was not read, as far as one wants to see it.
proc ::tharsis::lib::scalesim::names_note {what names} {
    set list ""
    foreach name $names {if {[string length $list] < 300} {append list " \"[clip $name 40]\""}}
    return [expr {$list eq "" ? {} : [list "$what are not read:$list"]}]
}

proc ::tharsis::lib::scalesim::cut_note {is_cut} {
    return [expr {$is_cut ? {{its last line has no end: the file may be cut short}} : {}}]
}

proc ::tharsis::lib::scalesim::is_whole {text max} {
    return [expr {[regexp {^[+]?\d{1,18}$} $text] && [scan $text %lld] >= 1 &&
        [scan $text %lld] <= $max}]
}

# ---- a topology: convolutions or products, a line each ----

# Case, what is no letter or digit, and a plural do not matter.
proc ::tharsis::lib::scalesim::plain {heading} {
    return [string trimright [regsub -all {[^a-z0-9]} [string tolower $heading] {}] s]
}

proc ::tharsis::lib::scalesim::fail_heading {where name problem} {
    uplevel 1 [list fail WORK-0066 "$where: column \"[clip $name 40]\"$problem: must be a\
        line of headings: \"Layer name, IFMAP Height, IFMAP Width, Filter Height,\
        Filter Width, Channels, Num Filter, Strides\" or \"Layer, M, N, K\""]
}

# The place of each column in the line of headings, -1: it is not there.
proc ::tharsis::lib::scalesim::place {where headings columns n_required} {
    set all [lmap heading $headings {plain $heading}]
    for {set f 0} {$f < [llength $all]} {incr f} {
        if {[lindex $all $f] ne "" && [lsearch -exact $all [lindex $all $f]] < $f} {
            fail_heading $where [lindex $headings $f] " comes twice"
        }
    }
    set places {}
    foreach names $columns {
        set found [keep name $names {[plain $name] in $all}]
        set at [expr {$found eq "" ? -1 : [lsearch -exact $all [plain [lindex $found 0]]]}]
        if {$at < 0 && [llength $places] < $n_required} {
            fail_heading $where [lindex $names 0] ": must be there"
        }
        lappend places $at
    }
    return $places
}

proc ::tharsis::lib::scalesim::extent {where names text} {
    fail_if {![is_whole $text $known::extent_max]} WORK-0060 "$where: [lindex $names 0]: must be a\
        whole number from 1 to $known::extent_max, not \"[clip $text 40]\""
    return [scan $text %lld]
}

# "2:4": two of four are kept. As many as there are, and 1: dense.
proc ::tharsis::lib::scalesim::sparsity {where text} {
    lassign {0 0} n m
    if {[string trim $text] eq "1"} {return ""}
    if {[regexp {^\s*(\d{1,9}):\s*(\d{1,9})$} $text -> kept all]} {scan "$kept $all" "%d %d" n m}
    fail_if {$n < 1 || $n > $m || $m > 64} WORK-0061 "$where: sparsity: must be N:M with\
        1 <= N <= M <= 64, not \"[clip $text 40]\""
    return [expr {$n < $m ? " sparsity = \[$n, $m\];" : ""}]
}

# Fields without a heading: a second stride, a ratio, or a text behind the last comma. Returns the
# stride, a key, and whether there was such a text.
proc ::tharsis::lib::scalesim::unnamed {where fields headings behind is_product} {
    lassign {"" "" 0} stride key is_comment
    for {set f 0} {$f < [llength $fields]} {incr f} {
        set text [lindex $fields $f]
        if {$text eq "" || [lindex $headings $f] ne ""} continue
        if {$f == $behind && !$is_product && [string is digit $text]} {
            set stride [extent $where [lindex $known::convolution 8] $text]
        } elseif {[string first : $text] >= 0} {
            set key [sparsity $where $text]
        } else {
            set is_comment 1
        }
    }
    return [list $stride $key $is_comment]
}

# Along one axis: a last window that extends beyond the edge counts; so the padding there.
proc ::tharsis::lib::scalesim::padding {in filter stride} {
    return [expr {($in - $filter + $stride - 1) / $stride * $stride + $filter - $in}]
}

# The keys of a layer, and its input: channels, height, width.
proc ::tharsis::lib::scalesim::convolution_keys {where name values stride_w} {
    lassign $values h w filter_h filter_w channels filters stride
    if {$stride_w eq ""} {set stride_w $stride}
    fail_if {$filter_h > $h || $filter_w > $w} WORK-0063 "$where: a filter of $filter_h x $filter_w\
        is larger than its input of $h x $w"
    set groups [expr {[string first DP $name] >= 0 ? $channels : 1}]
    set outputs [expr {$groups * $filters < 2147483647 ? $groups * $filters : 2147483647}]
    set bottom [padding $h $filter_h $stride]
    set right [padding $w $filter_w $stride_w]
    return [list "type = \"conv\"; outputs = $outputs; kernel = \[$filter_h, $filter_w\];\
        stride = \[$stride, $stride_w\]; padding = \[0, 0, $bottom, $right\]; groups = $groups;\
        bias = false;" $channels $h $w]
}

# What one layer is called: in no way like those before.
proc ::tharsis::lib::scalesim::layer_name {given line taken_name} {
    upvar 1 $taken_name taken
    if {$given eq ""} {set given layer}
    set name [regsub -all {[^!-~]|["\\\[\]{}*?$;]} [string range $given 0 199] _]
    if {$name eq "input" || [dict exists $taken $name]} {append name .$line}
    dict set taken $name 1
    return $name
}

# The line of headings of a topology, as a dict: is_product, columns, n_values (that a layer must
# have), places of the columns, behind (the field behind them), others (headings that are not read),
# notes. SCALE-Sim goes by places: so do we where known headings are there, but one of them twice.
proc ::tharsis::lib::scalesim::heading_line {where headings} {
    fail_if {[lsearch -glob -nocase $headings "*intraline*"] >= 0} WORK-1129 "$where: is a layout\
        of data in banks of memory, which is not modelled: must be a topology"
    set is_product [expr {"m" in [lmap heading $headings {plain $heading}]}]
    set columns [expr {$is_product ? $known::product : $known::convolution}]
    set n_values [expr {$is_product ? 4 : 8}]
    set notes {}
    set all [lmap heading [lrange $headings 0 $n_values-1] {plain $heading}]
    set names [lmap name [concat {*}[lrange $columns 0 $n_values-1]] {plain $name}]
    if {[llength [lsort -unique $all]] < $n_values && [lsearch -exact $all ""] < 0 &&
        [lsearch -exact -not [lmap name $all {expr {$name in $names}}] 1] < 0} {
        set notes [list "a column is named twice: columns are read by their places"]
        set headings [concat [lmap names [lrange $columns 0 $n_values-1] {lindex $names 0}] \
            [lrange $headings $n_values end]]
    }
    set places [place $where $headings $columns $n_values]
    set others [lsearch -all -inline -not -exact [lmap heading $headings {
        if {[incr f] - 1 ni $places} {set heading}
    }] ""]
    return [dict create headings $headings is_product $is_product columns $columns places $places \
        n_values $n_values behind [expr {[lindex $places $n_values-1] + 1}] others $others \
        notes $notes]
}

# The layer of a line: its name in the file, its keys, channels, height and width of its input, and
# whether a text stands behind its values.
proc ::tharsis::lib::scalesim::layer_line {where fields h} {
    dict with h {
        set given [lindex $fields [lindex $places 0]]
        set values {}
        for {set i 1} {$i < $n_values} {incr i} {
            set text [lindex $fields [lindex $places $i]]
            lappend values [extent $where [lindex $columns $i] $text]
        }
        set stride [if {!$is_product} {lindex $fields [lindex $places 8]}]
        if {$stride ne ""} {set stride [extent $where [lindex $columns 8] $stride]}
        lassign [unnamed $where $fields $headings $behind $is_product] own sparsity is_comment
        if {$own ne ""} {set stride $own}
        set ratio [lindex $fields [lindex $places end]]
        if {$ratio ne ""} {set sparsity [sparsity $where $ratio]}
    }
    if {$is_product} {
        lassign $values rows products inner
        set made [list "type = \"matmul\"; columns = $products;" $inner $rows 1]
    } else {
        set made [convolution_keys $where $given $values $stride]
    }
    lassign $made keys c height width
    return [list $given $keys$sparsity $c $height $width $is_comment]
}

# The text of a workload whose layers stand on the lines of their numbers.
proc ::tharsis::lib::scalesim::workload_text {head layers} {
    set at 1
    set comma ""
    foreach {line layer} $layers {
        append head $comma [string repeat \n [expr {$line - $at}]] $layer
        set at $line
        set comma ,
    }
    return "$head );"
}

# Text and notes of a topology; the precision of all tensors.
proc ::tharsis::lib::scalesim::topology {path batch precision} {
    lassign [core::table $path $known::topology_max csv] is_cut rows
    set rows [lsearch -all -inline -not -index 1 -glob $rows {#*}]
    if {[string first \t [lindex $rows 0 1]] > 0 && [llength [lindex $rows 0]] == 2} {
        set rows [lmap row $rows {concat [lindex $row 0] [lmap field [split [lindex $row 1] \t] {
            string trim $field
        }]}]
    }
    if {![llength $rows]} {fail WORK-0823 "$path: must have a line of headings"}
    set rows [lassign $rows first]
    set h [heading_line $path:[lindex $first 0] [lrange $first 1 end]]
    lassign {} layers taken titles comments
    set is_ended 1
    foreach row $rows {
        set fields [lassign $row line]
        set n [llength [lsearch -all -not -exact $fields ""]]
        set is_ended [expr {[lindex $fields end] eq ""}]
        if {$n == 1} {lappend titles $line}
        if {$n <= 1} continue
        lassign [layer_line $path:$line $fields $h] given keys c height width is_comment
        if {$is_comment} {lappend comments $line}
        if {![llength $layers]} {set input "channels = $c; height = $height; width = $width;"}
        set name [quoted [layer_name $given $line taken]]
        lappend layers $line "{ name = $name; inputs = \"input\"; in_channels = $c;\
            in_height = $height; in_width = $width; $keys }"
    }
    if {![llength $layers]} {fail WORK-0067 "$path: no layers: must have at least one"}
    set head "name = [quoted [stem $path]]; batch = $batch; precision = \"$precision\";\
        shapes = \"own\"; input = { $input }; layers = ("
    set notes [list {*}[dict get $h notes] {*}[names_note columns [dict get $h others]] \
        {*}[lines_note $titles "no layer but one value"] \
        {*}[lines_note $comments "values behind the columns"] \
        {*}[cut_note [expr {$is_cut && !$is_ended}]]]
    return [list [workload_text $head $layers] [join $notes "; "]]
}

# ---- a configuration: sections of keys ----

proc ::tharsis::lib::scalesim::fail_value {where key expected value} {
    set value [clip $value 60]
    uplevel 1 [list fail TOPO-0170 "$where: key \"$key\": must be $expected, not \"$value\""]
}

proc ::tharsis::lib::scalesim::fail_twice {where key} {
    uplevel 1 [list fail TOPO-0172 "$where: key \"$key\" is there twice"]
}

# The value of a key of [architecture_presets] that is numbers, as the design has it.
proc ::tharsis::lib::scalesim::array_value {where key value} {
    if {$key eq "Bandwidth"} {
        set words [lmap word [split $value ,] {string trim $word}]
        if {[llength $words] ni {1 3} || 0 in [lmap word $words {is_whole $word 1000000}]} {
            fail_value $where $key "words per cycle, one number or three" $value
        }
        return [lrange [concat $words $words $words] 0 2]
    }
    set max [expr {$key in {ArrayHeight ArrayWidth} ? 65536 : 1 << 30}]
    if {![is_whole $value $max]} {fail_value $where $key "a whole number from 1 to $max" $value}
    return [scan $value %lld]
}

# Reads a key of a section into the dict; returns the key if it is not read.
proc ::tharsis::lib::scalesim::config_key {where section key value dict_name} {
    upvar 1 $dict_name d
    set at $section/[string tolower $key]
    if {$at eq "general/run_name"} {
        dict set d name [string trim $value {"' }]
    } elseif {[dict exists $known::words $at]} {
        lassign [dict get $known::words $at] name words expected
        if {$name ne "" && [dict exists $d $name]} {fail_twice $where $name}
        set word [string tolower $value]
        if {$word ni $words} {
            fail_value $where [expr {$name eq "" ? $key : $name}] $expected $value
        }
        dict set d $name $word
    } elseif {$section ne "architecture_presets"} {
        return [list $key]
    } elseif {[string tolower $key] ni $known::passed_over} {
        set full [regsub -nocase {sramsz$} $key SramSzkB] ;# as version 1 has it
        set name [lindex $known::array_keys [lsearch -exact -nocase $known::array_keys $full]]
        if {$name eq ""} {return [list $key]}
        if {[dict exists $d $name]} {fail_twice $where $name}
        dict set d $name [array_value $where $name $value]
    }
    return {}
}

# The lines of a configuration: a dict of what was read, and the keys that were not.
proc ::tharsis::lib::scalesim::config_lines {path rows} {
    lassign {} d unread section
    foreach row $rows {
        set text [string trim [join [lassign $row line] ,]]
        if {[string index $text 0] in {# ;}} continue
        if {[regexp {^\[(.*)\]$} $text -> name]} {
            set section [string tolower [string trim $name]]
            continue
        }
        fail_if {![regexp {^([^=:]+)[=:](.*)$} $text -> key value]} TOPO-0173 "$path:$line: must be\
            \[section\], or KEY = VALUE, not \"[clip $text 60]\""
        set key [string trim $key]
        lappend unread {*}[config_key $path:$line $section $key [string trim $value] d]
    }
    return [list $d $unread]
}

# The design of an array.
proc ::tharsis::lib::scalesim::array_text {d is_user} {
    set text "name = \"systolic\"; type = \"systolic\"; clock = \"1GHz\";\
        rows = [dict get $d ArrayHeight]; cols = [dict get $d ArrayWidth];\
        dataflow = \"[dict get $d Dataflow]\"; slots = 2; sum_bits = 8;"
    foreach operand {input weight output} key {IfmapSramSzkB FilterSramSzkB OfmapSramSzkB} \
        words [get $d Bandwidth {}] {
        append text " ${operand}_buffer = \"[expr {[dict get $d $key] * 1024}]B\";"
        if {$is_user} {append text " ${operand}_port = $words;"}
    }
    return $text
}

# Text and notes of a configuration. SCALE-Sim counts words and cycles: here a word is a byte and a
# cycle 1 ns. With InterfaceBandwidth USER each operand has a port of Bandwidth words per cycle;
# with CALC memory never limits.
proc ::tharsis::lib::scalesim::configuration {path} {
    lassign [core::table $path $known::configuration_max csv] is_cut rows
    lassign [config_lines $path $rows] d unread
    set is_user [expr {[get $d InterfaceBandwidth calc] eq "user"}]
    set left_out [names_note keys $unread]
    foreach key $known::array_keys {
        if {![dict exists $d $key] && ($key ne "Bandwidth" || $is_user)} {
            set also [regsub {^keys are not read:} [lindex $left_out 0] {; not read are}]
            fail TOPO-0174 "$path: key \"$key\" of \[architecture_presets\] is missing$also"
        }
    }
    set name [get $d name ""]
    if {$name eq ""} {set name [stem $path]}
    set text "name = [quoted $name]; designs = ( { [array_text $d $is_user] } ); accelerators = (\
        { name = \"0\"; dram = { capacity = \"64GiB\"; bandwidth = \"unlimited\"; };\
        vector = { clock = \"1GHz\"; elements_per_cycle = 1024; };\
        designs = \[\"systolic\"\]; } );"
    return [list $text [join [list {*}$left_out {*}[cut_note $is_cut]] "; "]]
}
