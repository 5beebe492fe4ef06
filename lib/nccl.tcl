# SPDX-License-Identifier: GPL-3.0-or-later
# nccl.tcl - calibrate_network: what nccl-tests and rccl-tests print or write as JSON, or CSV, and
# the law of links fitted to it.
#   calibrate_network: measured (read_log, read_json, read_csv) -> core::link_law -> the dictionary
#
# A line of times begins with two whole numbers: size, count, type, what the version and the
# collective have of redop and root, then time, algbw, busbw, errors out of place, and mostly the
# same in place. The head of the table ("#  size ... time") tells which field is which; without it,
# the time is the eighth from the end. What is told twice must agree: algbw is size by time, busbw
# follows from algbw and the ranks, to the digits printed. Lines "#  Rank" tell the ranks, in order,
# and behind "on" the host. A file may hold several logs: ranks and the collective begin anew with
# rank 0, the collective also at "starting:". Lines of times without all fields, as where a run was
# stopped, of 0 bytes, of collectives without a kind and with wrong results are left out, counted.
# Tags that launchers put in front of lines are skipped; lines of one tag are a log of their own.
namespace eval ::tharsis::lib::nccl {namespace path {::tharsis::lib ::tharsis}}
namespace eval ::tharsis::lib::nccl::known {
    variable kinds {all_reduce all_gather reduce_scatter all_to_all broadcast reduce}
    variable log_max 4194304 json_max 67108864
    variable sizes {half 2 bfloat16 2 int8 1 float 4} ;# bytes of a number
    # In front of a line: a time; "[1,0]<stdout>:"; "[0] ", "[pod/x]"; " 0: ", "host: "; "host | ".
    variable front [string cat {^\s*(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*\s+|} \
        {([^#<]*<std(?:out|err|diag)>:|\[[^][\s]+\]:?|[\w.@/-]+(?::(?=\s)|\s*\|)))}]
    # A line of a log that has lost its "#".
    variable bare {^(Rank +[0-9]+ .* on |Collective test starting:|size +count .* algbw )}
    # Of a head: those from size to root, then those of times and those that are not read.
    variable names {
        size count type redop root (cpu)?time algbw busbw #?wrong error #?bitdiff
        i_(min|max|p99|cv%) timestamp algo proto(col)? #?(n?chan|n?channels|chnls)
    }
}

# The collective of a name, which may be that of its program ("all_reduce_perf"); empty: none.
proc ::tharsis::lib::nccl::kind_of {name} {
    set name [regsub {^alltoall$} [regsub {_perf$} $name {}] all_to_all]
    return [expr {$name in $known::kinds ? $name : ""}]
}

# A decimal number above 0 and nothing else; 0: it is none.
proc ::tharsis::lib::nccl::positive {text} {
    if {![regexp {^[+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$} $text]} {return 0}
    scan $text %f value
    return [expr {$value < 1e18 ? $value : 0}]
}

# ---- nccl-tests ----

# What is in front of a line, without times, and the line without it.
proc ::tharsis::lib::nccl::tag_and_rest {line} {
    set tag ""
    if {[regexp {^\s*(#|\d+\s+\d)} $line]} {return [list "" $line]}
    while {[regexp -- $known::front $line found name]} {
        set line [string range $line [string length $found] end]
        append tag [regsub {^[^[]*(?=\[|<)} $name {}]
    }
    return [list $tag $line]
}

# r, what is known so far: where (file and line), kind (empty: unknown) and given (by the caller),
# other (a collective without a kind), started ("starting:" was the last to tell the collective),
# times (of these ranks were there); of the head of the table: at (field of the time, 0: there is no
# head), fields, is_cpu_time, has_wrong, redop (its field); of the ranks: ranks, hosts, group.
proc ::tharsis::lib::nccl::begin {r_name given} {
    upvar 1 $r_name r
    array set r [list kind $given given $given other 0 started 0 times 0 at 0 fields 0 \
        is_cpu_time 0 has_wrong 0 redop -1 ranks 0 hosts {} group {}]
}

# #  Rank  0 Group  0 Pid  7 on HOST device ...
proc ::tharsis::lib::nccl::rank_line {r_name words} {
    upvar 1 $r_name r
    set rank [lindex $words 2]
    if {$rank eq "0"} {
        if {$r(times) && !$r(started)} {array set r [list kind $r(given) other 0]}
        array set r {ranks 0 hosts {} group {} times 0 fields 0 at 0 redop -1}
    }
    if {$rank ne $r(ranks) || $r(times)} {
        set next [expr {$r(times) ? 0 : $r(ranks)}]
        fail PRED-0466 "$r(where): rank \"[clip $rank 20]\": must be rank $next: are lines of\
            ranks missing?"
    }
    incr r(ranks)
    foreach word [lrange $words 3 end-1] next [lrange $words 4 end] {
        if {$word eq "on"} {return [dict set r(hosts) $next 1]}
        if {$word ne "Group"} continue
        fail_if {$r(group) ni [list "" $next]} PRED-0183 "$r(where): ranks in several groups, whose\
            collectives run at once: must be in one group"
        set r(group) $next
    }
}

# #  size count type redop root time algbw busbw #wrong time algbw busbw #wrong
proc ::tharsis::lib::nccl::head_line {r_name names} {
    upvar 1 $r_name r
    set odd [lsearch -inline -not -nocase -regexp $names "^([join $known::names |])\$"]
    if {$odd eq "" && [lindex $names 0] ne "size"} {set odd [lindex $names 0]}
    set at [expr {[lsearch -exact $names algbw] - 1}]
    lassign [lrange $names $at end] time - busbw wrong
    if {$odd ne "" || $at < 1 || [string first time $time] < 0 || $busbw ne "busbw"} {
        if {$odd ne ""} {set odd ": [clip $odd 20]"}
        fail PRED-0467 "$r(where): the table's head$odd: must be size, count, type, redop, root,\
            time, algbw, busbw, #wrong"
    }
    array set r [list at $at fields [llength $names] is_cpu_time [string equal $time cputime] \
        has_wrong [expr {$wrong in {wrong #wrong error}}] redop [lsearch -exact $names redop]]
}

proc ::tharsis::lib::nccl::comment {r_name words} {
    upvar 1 $r_name r
    if {[lindex $words 1] eq "Rank" && [llength $words] > 2} {return [rank_line r $words]}
    if {[lsearch -nocase -regexp [lrange $words 1 end] {^(algbw|busbw)$}] >= 0} {
        return [head_line r [lrange $words 1 end]]
    }
    set at [lsearch -exact [lrange $words 0 end-1] starting:]
    if {$at < 0} return
    set kind [kind_of [lindex $words $at+1]]
    array set r [list other [expr {$kind eq ""}] started 1]
    if {$kind eq ""} return
    fail_if {$r(given) ni [list "" $kind]} PRED-0182 "$r(where): the log measures $kind, and\
        -collective says $r(given)"
    set r(kind) $kind
}

# How much a number may have been rounded by; 0: it is none.
proc ::tharsis::lib::nccl::half_digit {text} {
    if {![regexp {^[+]?[0-9]*(\.[0-9]*)?(?:[eE]([-+]?[0-9]{1,3}))?$} $text - fraction power]} {
        return 0
    }
    set last [expr {$fraction eq "" ? 0 : 1 - [string length $fraction]}]
    if {[scan $power %d more] == 1} {incr last $more}
    return [expr {0.51 * pow(10, $last)}]
}

# Do time (three digits at least), algbw and busbw fit the size and the ranks?
proc ::tharsis::lib::nccl::check_bandwidths {r_name bytes us algbw busbw} {
    upvar 1 $r_name r
    set real [expr {$bytes / $us / 1e3}]
    set others [expr {($r(ranks) - 1.0) / $r(ranks)}]
    set factor [switch $r(kind) all_reduce {expr {2 * $others}} broadcast - reduce {expr 1} \
        default {set others}] ;# as nccl-tests has it
    set told [positive $algbw]
    if {abs($told - $real) > [half_digit $algbw] + 5e-3 * $real ||
        abs([positive $busbw] - $factor * $told) >
        [half_digit $busbw] + $factor * [half_digit $algbw]} {
        fail PRED-0469 "$r(where): algbw \"[clip $algbw 20]\", busbw \"[clip $busbw 20]\": [format \
            {%s of %g bytes over %d ranks in %g us has %.2f and %.2f} $r(kind) $bytes $r(ranks) \
            $us $real [expr {$factor * $real}]]: are lines of ranks missing?"
    }
}

# A row {KIND NODES RANKS BYTES US} of what was measured; or "wrong".
proc ::tharsis::lib::nccl::row {r_name bytes time algbw busbw wrong} {
    upvar 1 $r_name r
    fail_if {$r(is_cpu_time)} PRED-0184 \
        "$r(where): times of the host (-C): must be times of collectives"
    if {$r(kind) eq ""} {fail PRED-0170 "$r(where): which collective is not said: give -collective"}
    fail_if {$r(ranks) < 2 || ![dict size $r(hosts)]} PRED-0171 "$r(where): a line of times before\
        two lines \"#  Rank ... on HOST\""
    if {[positive $wrong] > 0} {return wrong} ;# N/A: not checked
    set us [positive $time]
    fail_if {$us == 0} PRED-0172 \
        "$r(where): time \"[clip $time 40]\": must be a number of us above 0"
    check_bandwidths r $bytes $us $algbw $busbw
    return [list $r(kind) [dict size $r(hosts)] $r(ranks) $bytes $us]
}

# A row; or a word, under which the line is counted. Without a head the first line of times tells
# how many fields all have, at least eleven; behind those of a head may be other output. Some
# versions leave the field of redop empty.
proc ::tharsis::lib::nccl::times_line {r_name words} {
    upvar 1 $r_name r
    array set r {times 1 started 0}
    if {$r(redop) > 0 && [string is double -strict [lindex $words $r(redop)]]} {
        set words [linsert $words $r(redop) none]
    }
    set n [llength $words]
    set bytes [positive [lindex $words 0]]
    if {$r(fields) == 0 && $n >= 11} {set r(fields) $n}
    if {$r(at) ? $n < $r(fields) : $n != $r(fields)} {return cut}
    if {$r(other) || $bytes == 0} {return other}
    lassign [lrange $words [expr {$r(at) ? $r(at) : $n - 8}] end] time algbw busbw wrong
    if {$r(at) && !$r(has_wrong)} {set wrong 0}
    return [row r $bytes $time $algbw $busbw $wrong]
}

# Rows, the number of those left out, notes. out: by word, the places of what was left out.
proc ::tharsis::lib::nccl::rows_and_notes {rows out what notes} {
    dict with out {
        lappend notes {*}[lines_note $cut "without all fields" $what] \
            {*}[lines_note $other "of 0 bytes or of other collectives" $what] \
            {*}[lines_note $wrong "with wrong results" $what]
        return [list $rows [llength [concat $cut $other $wrong]] [join $notes "; "]]
    }
}

proc ::tharsis::lib::nccl::read_log {path text given} {
    set out {cut {} other {} wrong {}}
    lassign {} rows states
    set lines [split $text \n]
    foreach line $lines {
        incr number
        lassign [tag_and_rest $line] tag line
        if {![dict exists $states $tag]} {
            dict set states $tag r[dict size $states]
            begin [dict get $states $tag] $given
        }
        upvar 0 [dict get $states $tag] r
        set r(where) $path:$number
        set words [regexp -all -inline {[^ \t\r]+} $line]
        if {[string match #* [lindex $words 0]]} {
            comment r $words
        } elseif {[regexp -- $known::bare $words]} {
            comment r [list # {*}$words]
        } elseif {[regexp {^[0-9]+( [0-9]+)?$} [lrange $words 0 1]] &&
            ([llength $words] > 1 || $number == [llength $lines])} { ;# else other output
            set row [times_line r $words]
            if {[llength $row] == 1} {dict lappend out $row $number} else {lappend rows $row}
        }
    }
    return [rows_and_notes $rows $out line {}]
}

# ---- JSON ----

# The value behind these keys; null where it is not.
proc ::tharsis::lib::nccl::inside {value args} {
    foreach key $args {
        lassign $value kind members
        if {$kind ne "object" || ![dict exists $members $key]} {return {null {}}}
        set value [dict get $members $key]
    }
    return $value
}

# The ranks of the list of devices. Versions that list the first device of each process alone tell
# how many a process has.
proc ::tharsis::lib::nccl::devices {r_name config} {
    upvar 1 $r_name r
    set each 1
    foreach key {nthreads ngpus} {
        set n [positive [lindex [inside $config $key] 1]]
        if {$n >= 1 && $n <= 65536} {set each [expr {$each * int($n)}]}
    }
    lassign [lindex [inside $config devices] 1] - second
    if {$second ne "" && [lindex [inside $second rank] 1] eq "1"} {set each 1}
    foreach device [lindex [inside $config devices] 1] {
        set rank [lindex [inside $device rank] 1]
        if {[string is entier -strict $rank] && $rank % $each == 0} {
            set rank [expr {$rank / $each}]
        }
        rank_line r [list # Rank $rank Group [lindex [inside $device group] 1] on \
            [lindex [inside $device hostname] 1] .]
    }
    set r(ranks) [expr {$r(ranks) * $each}]
}

# How many ranks the bandwidths of a result tell; 0: they do not.
proc ::tharsis::lib::nccl::ranks_of {kind algbw busbw} {
    set share [expr {[positive $algbw] > 0 ? [positive $busbw] / [positive $algbw] : 0}]
    if {$kind eq "all_reduce"} {set share [expr {$share / 2}]}
    return [expr {$kind in {broadcast reduce} || $share >= 0.9999 ? 0 : round(1 / (1 - $share))}]
}

proc ::tharsis::lib::nccl::read_json {path given} {
    lassign [core::table $path $known::json_max json] - root
    begin r $given
    set r(where) $path
    lassign [lindex [inside $root args] 1] program
    if {$program ne ""} {comment r [list # starting: [file tail [lindex $program 1]] .]}
    devices r [inside $root config]
    set out {cut {} other {} wrong {}}
    lassign {} rows notes
    foreach result [lindex [inside $root results] 1] {
        set r(where) "$path: result [incr number]"
        set times [inside $result out_of_place]
        set bytes [positive [lindex [inside $result size] 1]]
        lassign [lmap key {time alg_bw bus_bw nwrong} {lindex [inside $times $key] 1}] \
            time algbw busbw wrong
        set r(is_cpu_time) [expr {[lindex [inside $times cpu_time] 1] ne ""}]
        if {$r(other) || $bytes == 0} {
            dict lappend out other $number
        } elseif {$algbw eq ""} {
            dict lappend out cut $number
        } else {
            if {$r(ranks) == 0 && [set n [ranks_of $r(kind) $algbw $busbw]] > 1} {
                set notes [list "no devices are told: $n ranks, as bus_bw tells, are taken to be on\
                    one node"]
                array set r [list ranks $n hosts [list $path 1]]
            }
            set row [row r $bytes $time $algbw $busbw $wrong]
            if {[llength $row] == 1} {dict lappend out $row $number} else {lappend rows $row}
        }
    }
    return [rows_and_notes $rows $out result $notes]
}

# ---- CSV ----

proc ::tharsis::lib::nccl::read_csv {path text system} {
    lassign [core::columns $path $text {collective nodes gpus bytes time_us system} \
        [expr {5 + [llength $system]}]] lines notes
    set rows {}
    foreach fields $lines {
        if {[llength $system] && [lindex $fields end] ne [lindex $system 0]} continue
        lassign $fields line name nodes gpus bytes time_us
        foreach column {nodes gpus bytes time_us} {
            if {[set $column [positive [set $column]]] == 0} {
                fail PRED-0174 "$path:$line: $column: must be a number above 0"
            }
        }
        set kind [kind_of $name]
        if {$kind eq ""} {fail_unknown PRED-0175 "$path:$line: collective" $name $known::kinds}
        fail_if {$gpus < 2 || $nodes > $gpus || $gpus > 1e6 || fmod($nodes, 1) || fmod($gpus, 1)} \
            PRED-0176 "$path:$line: gpus: must be whole, at least 2, and at least as many as nodes"
        lappend rows [list $kind $nodes $gpus $bytes $time_us]
    }
    return [list $rows [expr {[llength $lines] - [llength $rows]}] $notes]
}

# The same of a table of aiconfigurator, of one node; backends other than NCCL are left out.
proc ::tharsis::lib::nccl::read_engines {path text} {
    set columns {backend operation dtype gpus elements time_ms}
    lassign [core::columns $path $text $columns 6] lines notes
    set own collective,nodes,gpus,bytes,time_us
    foreach fields $lines {
        lassign $fields line backend operation dtype gpus elements time_ms
        if {$backend ne "nccl"} {lappend others $line; continue}
        if {![dict exists $known::sizes $dtype] || ![positive $elements] || ![positive $time_ms]} {
            fail PRED-0733 "$path:$line: dtype \"[clip $dtype 20]\", elements, time_ms: must be one\
                of [join [dict keys $known::sizes] {, }], and numbers above 0"
        }
        set bytes [expr {[dict get $known::sizes $dtype] * $elements}]
        append own \n$operation,1,$gpus,$bytes,[expr {1e3 * $time_ms}]
    }
    if {[info exists others]} {lappend notes {*}[lines_note $others "not of nccl"]}
    lassign [read_csv $path $own\n {}] rows n
    return [list $rows [expr {[llength $lines] - [llength $rows]}] [join $notes "; "]]
}

# What a file measures: rows, the number of lines left out, notes. kind: of a log that does not tell
# it. args: the system whose rows of CSV are read alone. The first line of CSV names columns.
proc ::tharsis::lib::nccl::measured {path kind args} {
    set text [core::text $path $known::json_max]
    regexp {^[^\r\n]*} $text first
    set is_csv [expr {[string match *,* $first] && [regexp {collective|time_us} $first]}]
    if {[regexp {^\s*\{} $text]} {
        set read [read_json $path $kind]
    } elseif {[string match backend,operation,* $first]} {
        set read [read_engines $path $text]
    } elseif {$is_csv} {
        set read [read_csv $path $text $args]
    } else {
        set read [read_log $path [core::text $path $known::log_max] $kind]
    }
    if {[llength [lindex $read 0]]} {return $read}
    set why [list "no line begins with a size and a count, nor is there a list of results in JSON" \
        {*}[lrange $read 2 2]]
    fail PRED-0177 "$path: no times: [string trimright [join $why {; }] {; }]"
}

# ---- the law ----

# The bandwidth of a kind of link in GB/s, and its share of the nominal one (bits per second), which
# the option tells. It is not told by messages that take little longer than the smallest would: k,
# the term of its bytes; parts, of the time of each row.
proc ::tharsis::lib::nccl::bandwidth {where us_per_byte k parts option nominal} {
    if {$us_per_byte <= 0} return
    set share [::tcl::mathfunc::max {*}[lmap part $parts {
        set us [::tcl::mathop::+ {*}$part]
        expr {$us > 0 ? 1 - [::tcl::mathop::+ {*}[lreplace $part $k $k]] / $us : 0}
    }]]
    if {$share < 0.2} {
        set percent [format %.0f [expr {100 * $share}]]
        core::warn TCL-1461 "$where bandwidth: bytes take $percent % of the time of the largest\
            message, too little to tell it: measure larger ones"
    }
    set gbps [expr {1e-3 / $us_per_byte}]
    set found [list ${where}_bandwidth_gbytes_per_s [format %.4g $gbps]]
    if {$nominal eq ""} {return $found}
    set efficiency [format %.4g [expr {$gbps * 8e9 / $nominal}]]
    if {$gbps * 8e9 > $nominal} {
        core::warn TCL-1460 "${where}_efficiency $efficiency: more than 1, which cannot be: is\
            $option that of these links?"
    }
    return [list {*}$found ${where}_efficiency $efficiency]
}

proc ::tharsis::lib::nccl::percent {format values} {
    return [format $format [expr {100 * [::tcl::mathop::+ {*}$values] / [llength $values]}]]
}

# What remains unexplained: the errors of all rows and of those from 1 MiB, the mean deviation by
# the power of two of the size.
proc ::tharsis::lib::nccl::errors {rows parts} {
    foreach row $rows part $parts {
        lassign $row - - - bytes us
        set deviation [expr {[::tcl::mathop::+ {*}$part] / $us - 1}]
        lappend all [expr {abs($deviation)}]
        if {$bytes >= 1 << 20} {lappend large [expr {abs($deviation)}]}
        for {set size 1} {2 * $size <= $bytes} {incr size $size} {}
        lappend by_size($size) $deviation
    }
    set found [list error_percent [percent %.4g $all]]
    if {[info exists large]} {lappend found error_from_1mib_percent [percent %.4g $large]}
    set sizes [lmap size [lsort -integer [array names by_size]] {
        list $size [percent %+.1f $by_size($size)]
    }]
    return [list {*}$found unexplained_percent_by_bytes [concat {*}$sizes]]
}

proc ::tharsis::lib::calibrate_network {o} {
    set path [lindex [dict get $o words] 0]
    set system [if {[dict exists $o system]} {list [dict get $o system]}]
    lassign [nccl::measured $path [get $o collective ""] {*}$system] rows n notes
    lassign [core::link_law $rows] terms parts
    core::note $path $notes
    lassign $terms launch inside outside inside_byte outside_byte
    return [list rows [llength $rows] left_out $n launch_us [format %.4g $launch] \
        inside_message_us [format %.4g $inside] {*}[nccl::bandwidth inside $inside_byte 3 $parts \
            -link_bandwidth [get $o link_bandwidth ""]] \
        outside_message_us [format %.4g $outside] {*}[nccl::bandwidth outside $outside_byte 4 \
            $parts -card_bandwidth [get $o card_bandwidth ""]] {*}[nccl::errors $rows $parts]]
}
