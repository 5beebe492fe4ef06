# SPDX-License-Identifier: GPL-3.0-or-later
# astra.tcl - ASTRA-sim's network.yml and system.json as the text of a system file of ours
# (docs/formats.md). GB/s of its links are 2^30 bytes/s. It describes computation in traces only, so
# all accelerators are equal: 64 GiB of memory of local-mem-bw, a vector unit, and a roofline of
# peak-perf (100 TFLOPS), at 1 GHz.
namespace eval ::tharsis::lib::astra {namespace path {::tharsis::lib ::tharsis}}
namespace eval ::tharsis::lib::astra::known {
    # By key, what a value must be: a whole number, a number whose fraction is cut, any number, a
    # flag, a word (and ours for it), how a collective runs, the prefix of a trace that is its
    # algorithm, only these (for others are not modelled), anything. Those in front must be there.
    variable network_rules {
        topology {word Ring ring FullyConnected fully_connected Switch switch}
        npus_count {whole 2 65536} bandwidth {number 1e-6 116415} latency {number 0 1e9}
    }
    variable rules {
        preferred-dataset-splits {cut 1 65536} local-mem-bw {number 1e-6 1e9}
        collective-optimization {word localBWAware localBWAware baseline baseline}
        endpoint-delay {cut 0 1e9} active-chunks-per-dimension {cut 1 65536}
        peak-perf {number 0 1e9} roofline-enabled flag replay-only flag
        all-reduce-implementation way reduce-scatter-implementation way
        all-gather-implementation way all-to-all-implementation way
        all-reduce-implementation-custom custom all-reduce-implementation-chakra custom
        reduce-scatter-implementation-custom custom reduce-scatter-implementation-chakra custom
        all-gather-implementation-custom custom all-gather-implementation-chakra custom
        all-to-all-implementation-custom custom all-to-all-implementation-chakra custom
        per-node-custom-implementation only num-queues-per-dim {only 1}
        scheduling-policy {only LIFO FIFO EXPLICIT} intra-dimension-scheduling {only FIFO}
        inter-dimension-scheduling {only baseline} model-shared-bus {only 0 false}
        boost-mode any local-reduction-delay any trace-enabled any track-local-mem any
        local-mem-trace-filename any L any o any g any G any
    }
    variable ways \
        {ring direct halvingDoubling doubleBinaryTree oneRing oneDirect oneHalvingDoubling}
}

# PATH:LINE of a key; a file is its path and its text.
proc ::tharsis::lib::astra::place {file key} {
    lassign $file path text
    foreach form [list "\"$key\"" "\n$key:" $key] {
        set at [string first $form \n$text]
        if {$at >= 0} break
    }
    return "$path:[regexp -all \n [string range \n$text 0 [expr {$at < 0 ? 0 : $at}]]]"
}

# Ends with an error about a key.
proc ::tharsis::lib::astra::bad {id problem file key} {
    fail $id "[place $file $key]: key \"$key\": $problem"
}

# A file of at most 256 KiB and the dict of its keys, of which the first rules must be there.
proc ::tharsis::lib::astra::contents {path format rules n_required} {
    lassign [core::table $path 262144 $format] text root
    set file [list $path $text]
    lassign $root kind d
    if {$kind ne "object"} {fail TOPO-0139 "$path:1: must be keys and their values"}
    foreach key [dict keys $d] {
        fail_if_unknown TOPO-0131 "[place $file $key]: key" [clip $key 60] [dict keys $rules]
    }
    if {[lsearch -regexp [dict keys $d] -(custom|chakra)$] >= 0} {
        set d [dict merge {collective-optimization {text baseline}} $d] ;# as ASTRA-sim has it
    }
    foreach key [lrange [dict keys $rules] 0 $n_required-1] {
        if {![dict exists $d $key]} {fail TOPO-0132 "$path: key \"$key\" is missing"}
    }
    return [list $file $d]
}

# The elements of a list of n; 0: of any number that a system may have.
proc ::tharsis::lib::astra::each_dim {file key value n} {
    lassign $value kind all
    set m [llength $all]
    if {$kind eq "list" && ($n ? $m == $n : $m > 0 && $m <= 16)} {return $all}
    set n [expr {$n ? $n : "1 to 16"}]
    bad TOPO-0137 "must be a list of $n, one for each dimension" $file $key
}

# The value that a rule allows, as system files have it; of what is ignored, nothing.
proc ::tharsis::lib::astra::allowed {file key rule value} {
    lassign $value kind x
    lassign $rule what least most
    set words [lrange $rule 1 end]
    set not ", not \"[clip $x 40]\""
    switch $what {
        whole - cut - number {
            if {$kind in {number scalar} && [scan $x %lf%c number rest] == 1 &&
                $number >= $least && $number <= $most && ($what ne "whole" || ![regexp {\D} $x])} {
                return [expr {$what eq "number" ? $number : int($number)}]
            }
            set noun [expr {$what eq "whole" ? "an integer" : "a number"}]
            bad TOPO-0133 "must be $noun from [format %g $least] to [format %g $most]$not" \
                $file $key
        }
        flag {
            if {$kind in {number truth}} {return [expr {$x != 0 ? "true" : "false"}]}
            bad TOPO-0142 "must be 0 or 1$not" $file $key
        }
        word {
            if {[dict exists $words $x]} {return \"[dict get $words $x]\"}
            bad TOPO-0136 "must be one of: [join [dict keys $words] {, }]$not" $file $key
        }
        way {
            if {[regexp {^([a-zA-Z]*)(\d{0,9})$} $x -> way window] && $way in $known::ways &&
                ($window eq "" || $way in {direct oneDirect})} {
                set name [string map {-implementation {} - _} $key]
                return "$name = \"$way\"; ${name}_window = [scan 0$window %d]"
            }
            bad TOPO-0138 "must be [join $known::ways {, }]$not" $file $key
        }
        custom {
            if {$kind eq "text" && $x ne ""} {return [list $x]}
            bad TOPO-0422 "must be a list of one prefix of a trace's files$not" $file $key
        }
        only {
            if {$x in $words} return
            bad TOPO-0134 "must be [join [list {*}$words {left out}] { or }]$not" $file $key
        }
    }
}

# The prefix of a trace as the file has it, from the folder where we are, or from the file's own.
proc ::tharsis::lib::astra::prefix {path prefix} {
    set beside [file join [file dirname $path] $prefix]
    catch { ;# a safe interpreter does not look
        if {![file exists $prefix.0.et] && [file exists $beside.0.et]} {set prefix $beside}
    }
    return "\"[string map {\\ \\\\ \" \\\"} $prefix]\""
}

# A bandwidth of a system file, which knows none above 1 Pbit/s.
proc ::tharsis::lib::astra::bps {rate bits} {
    return [expr {$rate * $bits > 1e15 ? "unlimited" : "[expr {round($rate * $bits)}]bps"}]
}

# The text, and notes.
proc ::tharsis::lib::astra::system {network_path system_path} {
    set n 0
    lassign [contents $network_path yaml $known::network_rules 4] file given
    dict for {key rule} $known::network_rules {
        set all [each_dim $file $key [dict get $given $key] $n]
        set $key [lmap x $all {allowed $file $key $rule $x}]
        set n [llength $topology]
    }
    lassign [contents $system_path json $known::rules 3] file given
    lassign {} parameters custom
    set ways [lrepeat $n ""]
    dict for {key value} $given {
        set rule [dict get $known::rules $key]
        if {$rule eq "way"} {
            set ways [lmap own $ways way [each_dim $file $key $value $n] {
                set own "$own [allowed $file $key $rule $way];"
            }]
        } elseif {$rule eq "custom"} {
            lassign [allowed $file $key custom [lindex [each_dim $file $key $value 1] 0]] prefix
            set name [string map {- _} [regsub -- {-implementation.*} $key {}]]
            append custom " $name = [prefix $system_path $prefix];"
        } elseif {[set made [allowed $file $key $rule $value]] ne ""} {
            append parameters " [string map {- _} $key] = $made;"
        }
    }
    set name astra
    foreach kind $topology size $npus_count rate $bandwidth ns $latency own $ways {
        append name _[string map {fully_connected full \" {}} $kind]$size
        append shapes ",{ type = $kind; size = $size; bandwidth = \"[bps $rate 8589934592.0]\";\
            latency = \"[expr {round($ns * 1000)}]ps\"; }"
        append dims ",{ bandwidth = $rate; latency = $ns;$own }"
    }
    set notes ""
    if {$custom ne ""} {
        append parameters " custom = {$custom };"
        set notes "custom collectives are those of execution traces alone (read_program)"
    }
    set peak [lindex [get $given peak-perf {number 100}] 1]
    return [list "name = \"$name\"; designs = ( { name = \"astra\"; type = \"roofline\";\
        clock = \"1GHz\"; macs_per_cycle = [expr {$peak < 0.002 ? 1 : $peak * 1e12 / 2e9}]; } );\
        accelerators = ( { dram = { capacity = \"64GiB\"; burst = \"64B\";\
        bandwidth = \"[bps [lindex [dict get $given local-mem-bw] 1] 8e9]\"; };\
        vector = { clock = \"1GHz\"; elements_per_cycle = 1024; }; designs = \[\"astra\"\]; } );\
        topology = { type = \"composition\"; dims = ([string range $shapes 1 end]); };\
        astra = {$parameters dims = ([string range $dims 1 end]); };" $notes]
}
