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
# DEVICE_power of TEST (else TRAIN) has the mean power of the board beside the time:
#   power     by the data sheet of a device that the law was not fitted to
#   power_half  with board, idle_W and fp16_pJ of -devices fitted to half of the rows, of the others
# also of the rows from 50 us on alone, which have no bar: NVML tells a mean over some milliseconds,
# so rows of the same short shape have from a quarter of the limit to all of it.
# A line for each family and device: rows, median and ninetieth percentile of the error, and the
# share of rows within the interval of 80 %, which of a family (the mean of the devices left out)
# has to be from 70 to 90 %. Latent attention: a call of an engine, with its host.
# Products in fp8 by blocks (scales of 128 x 128) are learned from nowhere, and asked of the law of
# fp8, where they take four times the device's floor or more: below it stands the engine's cast.
namespace eval operators_2026 {
    variable tables {gemm attention latent_attention moe}
    variable share 20
    # Most the median may be, in percent.
    variable bars {
        unseen {
            {bf16 products} 10 {fp8 products} 15 {nvfp4 products} 20 {fp8 by blocks} 15
            {decode attention} 15 {prefill attention} 15 {latent attention} 18 experts 18
        }
        shapes {
            {bf16 products} 5 {fp8 products} 5 {nvfp4 products} 6
            {decode attention} 7 {prefill attention} 7 {latent attention} 7 experts 7
        }
        default {}
        power {
            {bf16 products} 20 {nvfp4 products} 20 {decode attention} 20 {prefill attention} 20
        }
        power_half {
            {bf16 products} 6 {nvfp4 products} 6 {decode attention} 6 {prefill attention} 6
        }
    }
    # Of rows within the interval of 80 %: unseen, the mean of the devices, in percent.
    variable cover {70 90}
    variable by_blocks "fp8 by blocks" floors 4
    variable long_ms 0.05
    variable sheet [file join [file dirname [file normalize [info script]]] .. .. .. predictor \
        devices.csv]
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

proc operators_2026::is_by_blocks {table line} {
    return [expr {$table eq "gemm" && [string match fp8_block,* $line]}]
}

# The least time of products by blocks that is asked for.
proc operators_2026::floor_of {table lines} {
    variable floors
    set times [lmap line $lines {
        if {![is_by_blocks $table $line]} continue
        lindex [split $line ,] end
    }]
    return [expr {$floors * [lindex [lsort -real [concat $times Inf]] 0]}]
}

# {digest line} of the lines that are taken.
proc operators_2026::lines_of {table lines} {
    variable share
    set floor [floor_of $table $lines]
    return [lmap line $lines {
        set digest [zlib crc32 [string range $line 0 [string last , $line]-1]]
        if {$digest % $share} continue
        if {[is_by_blocks $table $line] && [lindex [split $line ,] end] < $floor} continue
        list [expr {$digest / $share}] $line
    }]
}

proc operators_2026::family {table line} {
    variable by_blocks
    if {$table eq "power"} {
        lassign [split $line ,] operator dtype
        if {$operator ne "gemm"} {return "$operator attention"}
        set table gemm
        set line $dtype,
    }
    set word [lindex [split $line ,] 0]
    if {[is_by_blocks $table $line]} {return $by_blocks}
    if {$table eq "latent_attention"} {return "latent attention"}
    if {$table eq "attention"} {return "$word attention"}
    if {$table eq "moe"} {return experts}
    return [dict get {bfloat16 "bf16 products" fp8 "fp8 products"
        nvfp4 "nvfp4 products" fp8_block "fp8 products by blocks"} $word]
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
            set asked [lmap one $some {regsub {^fp8_block,} [lindex $one 1] fp8,}]
            if {$table ne "gemm"} {set asked [lmap one $some {lindex $one 1}]}
            set text [join [linsert $asked 0 [lindex $lines 0]] \n]
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

# {device family digest row columns watts} of the rows with a power.
proc operators_2026::power_rows {folder} {
    set rows {}
    foreach file [files_of $folder power] {
        set lines [split [string trim [llm_ops::text $file]] \n]
        set at [lsearch [split [lindex $lines 0] ,] power_w]
        set some [lines_of power [lrange $lines 1 end]]
        set text [join [linsert [lmap one $some {lindex $one 1}] 0 [lindex $lines 0]] \n]
        set own [split [lindex [::tharsis::lib::measured::own $file $text 1] 0] \n]
        foreach one $some row [lrange $own 1 end-1] {
            if {$row eq ""} continue
            set line [lindex $one 1]
            lappend rows [list [::tharsis::lib::measured::device_of $file power] \
                [family power $line] [lindex $one 0] $row [lindex $own 0] \
                [lindex [split $line ,] $at]]
        }
    }
    return $rows
}

# Rows, but for products by blocks, as a set of measurements: its name. Sets are kept, so every one
# has a new name.
proc operators_2026::set_of {rows} {
    variable n_sets
    variable devices_file
    variable by_blocks
    set name set2026_[incr n_sets]
    foreach row [lsearch -all -inline -not -exact -index 1 $rows $by_blocks] {
        lappend lines([lindex $row 4]) [lindex $row 3],[lindex $row 0]
    }
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

# Error of a power in percent; device: whose data sheet is asked.
proc operators_2026::power_error {row device} {
    lassign [words_of [lindex $row 3] [lindex $row 4]] words
    regexp {^[0-9.]+} [predict_layer {*}$words -device $device -power] watts
    return [expr {100 * abs($watts / [lindex $row 5] - 1)}]
}

proc operators_2026::ask_power {what row device} {
    variable errors
    variable n_rows
    variable long_ms
    set error [list [power_error $row $device] 0]
    lassign $row own family
    incr n_rows
    lappend errors($what,$family,$own) $error
    if {[lindex [split [lindex $row 3] ,] end] >= $long_ms} {
        lappend errors($what,$family\ long,$own) $error
    }
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

proc operators_2026::unseen {rows devices power} {
    foreach left $devices {
        set others [where $rows "\$device ne {$left}"]
        if {$others eq ""} return
        train_predictor -on [set_of $others] -learner law
        foreach row [where $rows "\$device eq {$left}"] {ask unseen $row}
        foreach row [where $power "\$device eq {$left}"] {ask_power power $row $left}
    }
    show unseen
    show power
}

proc operators_2026::shapes {rows} {
    train_predictor -on [set_of [where $rows {$digest % 5 != 0}]] -learner law_boosting
    foreach row [where $rows {$digest % 5 == 0 && $family ne $::operators_2026::by_blocks}] {
        ask shapes $row
    }
    show shapes
}

# {columns fields} of a device in devices.csv, by its name or another of its names.
proc operators_2026::sheet_of {device} {
    variable sheet
    set f [open $sheet]
    set lines [split [string trim [read $f]] \n]
    close $f
    set columns [split [lindex $lines 0] ,]
    foreach line [lrange $lines 1 end] {
        set fields [split $line ,]
        set names [list [lindex $fields 0] \
            {*}[split [lindex $fields [lsearch $columns aliases]] ";"]]
        foreach name $names {
            if {[regsub -all {[^a-z0-9]} [string tolower $name] {}] eq
                [regsub -all {[^a-z0-9]} $device {}]} {return [list $columns $fields]}
        }
    }
    error "$device: is not in $sheet"
}

# The name of a device like this one with other numbers, column and value in turn.
proc operators_2026::device_like {device numbers} {
    variable n_sets
    lassign [sheet_of $device] columns fields
    set name ${device}_[incr n_sets]
    lset fields 0 $name
    lset fields [lsearch $columns aliases] ""
    dict for {column value} $numbers {lset fields [lsearch $columns $column] $value}
    foreach {path text} [list [file tempfile devices .csv] "[join $columns ,]\n[join $fields ,]" \
        [file tempfile rows .csv] \
            "kind,batch,channels_in,channels_out,device,time_ms\ndense,1,1,1,$name,1"] {
        puts $path $text
        close $path
    }
    read_measurements $rows -name set2026_$name -format tharsis -devices $devices
    file delete $devices $rows
    return $name
}

# Median error of rows by a device with these numbers.
proc operators_2026::power_median {rows device numbers} {
    set name [device_like $device $numbers]
    set sorted [lsort -real [lmap row $rows {power_error $row $name}]]
    return [lindex $sorted [expr {[llength $sorted] / 2}]]
}

# Coordinate search of idle power and energy of an operation on the rows of even digest.
proc operators_2026::fit_power {rows device} {
    lassign [sheet_of $device] columns fields
    foreach column {idle_W fp16_pJ} {
        dict set numbers $column [lindex $fields [lsearch $columns $column]]
    }
    set best [power_median $rows $device $numbers]
    foreach {column factor} {idle_W 1.25 fp16_pJ 1.25 idle_W 1.1 fp16_pJ 1.1} {
        foreach by [list $factor [expr {1 / $factor}]] {
            while {1} {
                set next $numbers
                dict set next $column [expr {[dict get $numbers $column] * $by}]
                set figure [power_median $rows $device $next]
                if {$figure >= $best} break
                set numbers $next
                set best $figure
            }
        }
    }
    return $numbers
}

proc operators_2026::half_of_power {rows} {
    foreach device [lsort -unique [lmap row $rows {lindex $row 0}]] {
        set own [where $rows "\$device eq {$device}"]
        set numbers [fit_power [where $own {$digest % 2 == 0}] $device]
        puts "power of $device, fitted to half of its rows: $numbers"
        set name [device_like $device $numbers]
        foreach row [where $own {$digest % 2}] {ask_power power_half $row $name}
    }
    show power_half
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
        foreach row [power_rows $test] {ask_power power $row [lindex $row 0]}
        show unseen
        show power
    } else {
        set_of $rows
        set power [power_rows $train]
        unseen $rows $devices $power
        half_of_power $power
        if {[llength $devices] > 1} {shapes $rows}
    }
    read_predictor default
    foreach row $rows {ask default $row}
    show default
    puts "operators of [llength $devices] devices: $n_rows rows asked for"
    return $holds
}
