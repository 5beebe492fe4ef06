# SPDX-License-Identifier: GPL-3.0-or-later
# operators_2026.tcl - operators.tcl -layout 2026: tables DEVICE_TABLE.csv of many devices.
#
#   tharsis -exit tests/accept/operators.tcl ?-all? TRAIN ?TEST? -layout 2026 ?-devices FILE?
#
# TRAIN and TEST hold DEVICE_gemm, DEVICE_attention, DEVICE_latent_attention and DEVICE_moe (.csv
# or .csv.xz), a device being one of devices.csv, or of FILE. Of every device the same shapes are
# taken, by a digest of what stands before the time: one of $share, or all of them (-all).
# Without TEST:
#   unseen    each device is left out in turn, and asked of the law that the others are fitted to
#   shapes    a fifth of the shapes is left out of all devices, and asked of boosted trees; its
#             bars are those of -all, for few rows teach little
# With it: all of TRAIN is fitted, all of TEST asked for (unseen). Where there is one device alone,
# and always at the end, the predictor that comes with Tharsis is asked (default).
# A line for each family and device: rows, median and ninetieth percentile of the error, and the
# share of rows within the interval of 80 %, which of a family (the mean of the devices left out)
# has to be from 70 to 90 %. Latent attention: a call of an engine, with its host.
namespace eval operators_2026 {
    variable tables {gemm attention latent_attention moe}
    variable share 20
    # Most the median may be, in percent.
    variable bars {
        unseen {
            {bf16 products} 10 {fp8 products} 15 {nvfp4 products} 20
            {decode attention} 15 {prefill attention} 15 {latent attention} 18 experts 18
        }
        shapes {
            {bf16 products} 5 {fp8 products} 5 {nvfp4 products} 6
            {decode attention} 7 {prefill attention} 7 {latent attention} 7 experts 7
        }
        default {}
    }
    # Of rows within the interval of 80 %: unseen, the mean of the devices, in percent.
    variable cover {70 90}
    variable n_sets 0 n_rows 0 holds 1 devices_file {}
    array set errors {}
}

# ---- rows ----

proc operators_2026::files_of {folder table} {
    set all [concat [glob -nocomplain -directory $folder *_$table.csv] \
        [glob -nocomplain -directory $folder *_$table.csv.xz]]
    if {$table eq "attention"} {set all [lsearch -all -inline -not $all *_latent_attention.*]}
    return [lsort $all]
}

# {digest line} of the lines that are taken. Products in fp8 by blocks, which have no law, are not.
proc operators_2026::lines_of {table lines} {
    variable share
    return [lmap line $lines {
        set digest [zlib crc32 [string range $line 0 [string last , $line]-1]]
        if {$digest % $share || ($table eq "gemm" && [string match fp8_block,* $line])} continue
        list [expr {$digest / $share}] $line
    }]
}

proc operators_2026::family {table line} {
    set word [lindex [split $line ,] 0]
    if {$table eq "latent_attention"} {return "latent attention"}
    if {$table eq "attention"} {return "$word attention"}
    if {$table eq "moe"} {return experts}
    return [dict get {bfloat16 "bf16 products" fp8 "fp8 products" nvfp4 "nvfp4 products"} $word]
}

# {device family digest row columns} of all rows of a folder, a row as format tharsis has it.
proc operators_2026::rows_of {folder} {
    variable tables
    set rows {}
    foreach table $tables {
        foreach file [files_of $folder $table] {
            set device [string range [file tail $file] 0 \
                [string first _$table [file tail $file]]-1]
            set lines [split [string trim [llm_ops::text $file]] \n]
            set some [lines_of $table [lrange $lines 1 end]]
            set text [join [linsert [lmap one $some {lindex $one 1}] 0 [lindex $lines 0]] \n]
            set own [split [lindex [::tharsis::lib::measured::own $file $text 1] 0] \n]
            foreach one $some row [lrange $own 1 end-1] {
                if {$row eq ""} continue
                lappend rows [list $device [family $table [lindex $one 1]] [lindex $one 0] $row \
                    [lindex $own 0]]
            }
        }
    }
    if {$rows eq ""} {error "$folder: has no DEVICE_gemm, DEVICE_attention"}
    return $rows
}

# Rows as a set of measurements: its name. Sets are kept, so every one has a new name.
proc operators_2026::set_of {rows} {
    variable n_sets
    variable devices_file
    set name set2026_[incr n_sets]
    foreach row $rows {lappend lines([lindex $row 4]) [lindex $row 3],[lindex $row 0]}
    foreach columns [lsort [array names lines]] {
        set f [file tempfile path .csv]
        puts $f $columns,device\n[join $lines($columns) \n]
        close $f
        read_measurements $path -name $name -format tharsis {*}$devices_file
        file delete $path
    }
    return $name
}

# ---- errors ----

proc operators_2026::words_of {row columns} {
    foreach column [split $columns ,] value [split $row ,] {
        if {$value eq "" || $column in {row_id group}} continue
        if {$column eq "kind"} {set kind $value} elseif {$column eq "phase"} {
            set phase $value
        } elseif {$column eq "time_ms"} {set measured $value} else {lappend words $column $value}
    }
    return [list [list $kind {*}$words -phase $phase] $measured]
}

# Asks for a row, and keeps its error. A kind that the predictor has no law of is counted apart.
proc operators_2026::ask {what row} {
    variable errors
    variable n_rows
    lassign $row device family - text columns
    lassign [words_of $text $columns] words measured
    incr n_rows
    if {[catch {predict_layer {*}$words -device $device -interval} times]} {
        lappend errors($what,$family,$device) {Inf 0}
        return
    }
    lassign [lmap time $times {milliseconds $time}] ms low high
    lappend errors($what,$family,$device) [list [expr {100 * abs($ms / $measured - 1)}] \
        [expr {$low <= $measured && $measured <= $high}]]
}

proc operators_2026::show {what} {
    variable errors
    variable bars
    variable holds
    variable share
    foreach key [lsort [array names errors $what,*]] {
        lassign [split $key ,] - family device
        set sorted [lsort -real -index 0 $errors($key)]
        set n [llength $sorted]
        set median [lindex $sorted [expr {$n / 2}] 0]
        set inside [expr {100. * [::tcl::mathop::+ {*}[lmap one $sorted {lindex $one 1}]] / $n}]
        puts [format "%-8s %-12s %-20s %7d %8.1f %8.1f %8.0f" $what $device $family $n $median \
            [lindex $sorted [expr {9 * $n / 10}] 0] $inside]
        dict lappend covers $family $inside
        if {![dict exists $bars $what $family] || ($what eq "shapes" && $share > 1)} continue
        set bar [dict get $bars $what $family]
        set held [expr {$median <= $bar}]
        lappend lines [format "bar: %s %s, %s: got %.2f %%, at most %g %%: %s" $what $family \
            $device $median $bar [expr {$held ? "holds" : "MISSED"}]]
        set holds [expr {$holds && $held}]
    }
    if {[info exists lines]} {puts [join $lines \n]}
    if {$what eq "unseen" && [info exists covers]} {show_covers $covers}
    flush stdout
}

# covers: of each family, by device, in percent.
proc operators_2026::show_covers {covers} {
    variable cover
    variable holds
    lassign $cover least most
    set n 0
    set n_held 0
    dict for {family all} $covers {
        set mean [expr {[::tcl::mathop::+ {*}$all] / [llength $all]}]
        set held [expr {$mean >= $least && $mean <= $most}]
        puts [format "bar: unseen %s, inside: got %.1f %%, at %s %%: %s" $family $mean \
            [expr {$mean < $least ? "least $least" : "most $most"}] \
            [expr {$held ? "holds" : "MISSED"}]]
        set holds [expr {$holds && $held}]
        foreach one $all {
            incr n
            incr n_held [expr {$one >= $least && $one <= $most}]
        }
    }
    puts "inside, $least to $most % of the rows: $n_held of $n pairs of family and device left out"
}

# ---- what is asked ----

proc operators_2026::where {rows condition} {
    return [lmap row $rows {
        lassign $row device family digest
        if {![expr $condition]} continue
        set row
    }]
}

proc operators_2026::unseen {rows devices} {
    foreach left $devices {
        set others [where $rows "\$device ne {$left}"]
        if {$others eq ""} return
        train_predictor -on [set_of $others] -learner law
        foreach row [where $rows "\$device eq {$left}"] {ask unseen $row}
    }
    show unseen
}

proc operators_2026::shapes {rows} {
    train_predictor -on [set_of [where $rows {$digest % 5 != 0}]] -learner law_boosting
    foreach row [where $rows {$digest % 5 == 0}] {ask shapes $row}
    show shapes
}

proc operators_2026::run {train test options} {
    variable share
    variable n_rows
    variable holds
    variable devices_file
    if {[dict exists $options -all]} {set share 1}
    if {[dict exists $options -devices]} {
        set devices_file [list -devices [dict get $options -devices]]
    }
    puts [format "%-8s %-12s %-20s %7s %8s %8s %8s" what device family rows {median %} {p90 %} \
        {inside %}]
    set rows [rows_of $train]
    set devices [lsort -unique [lmap row $rows {lindex $row 0}]]
    if {$test ne $train} {
        train_predictor -on [set_of $rows] -learner law
        set rows [rows_of $test]
        set devices [lsort -unique [lmap row $rows {lindex $row 0}]]
        set_of $rows
        foreach row $rows {ask unseen $row}
        show unseen
    } else {
        set_of $rows
        unseen $rows $devices
        if {[llength $devices] > 1} {shapes $rows}
    }
    read_predictor default
    foreach row $rows {ask default $row}
    show default
    puts "operators of [llength $devices] devices: $n_rows rows asked for"
    return $holds
}
