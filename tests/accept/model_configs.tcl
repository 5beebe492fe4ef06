# SPDX-License-Identifier: GPL-3.0-or-later
# model_configs.tcl - parameters of published language models, counted from their config.json.
#
#   tharsis -exit tests/accept/model_configs.tcl DIRECTORY
#
# DIRECTORY holds NAME.json, one for each model. Each becomes a model by create_transformer -config;
# its parameters are held against the number that its authors print, where the table below has it,
# else against the one in its name (7B; of 17B-16E, which counts those that a token passes, against
# these). Figures: files that are read, the largest error against printed
# numbers, and against names. Exit status: 0 where all bars hold, 1 where one does not, 2 where the
# data cannot be read.

# Billions, as the models' reports and pages print them.
set printed {
    Qwen3-8B* 8.19  Qwen3-32B* 32.8  Qwen3-30B-A3B* 30.5  Qwen3-235B-A22B* 235  DeepSeek-V3* 671
    *Llama-3.1-8B* 8.03  *Llama-3.1-70B* 70.6  Mixtral-8x7B* 46.7  gpt-oss-20b* 20.9
}

# What a model is held against: KIND, billions, and whether these are what a token passes.
proc wanted {name} {
    foreach {pattern billions} $::printed {
        if {[string match $pattern $name]} {return [list printed $billions 0]}
    }
    if {[regexp -nocase {(\d+(?:\.\d+)?)B(-\d+E)?} $name - billions experts]} {
        return [list name $billions [expr {$experts ne ""}]]
    }
    return {none 0 0}
}

# Parameters, and those of them that are not experts which a token does not pass, billions.
proc counted {file} {
    create_transformer -config $file
    set text [report_transformer -format json -return_string]
    regexp {"parameters": (\d+)} $text - all
    regexp {"active_parameters": (\d+)} $text - active
    return [list [expr {$all / 1e9}] [expr {$active / 1e9}]]
}

proc bar {what got side bar} {
    set holds [expr {$side eq "most" ? $got <= $bar : $got >= $bar}]
    puts [format "bar: %s: got %.4g, at %s %g: %s" $what $got $side $bar\
        [expr {$holds ? "holds" : "MISSED"}]]
    return $holds
}

proc run_all {directory} {
    set files [lsort [glob -directory $directory *.json]]
    array set worst {printed 0 name 0 none 0}
    set n 0
    puts [format "%-45s %10s %10s %8s %8s" model parameters active against {error [%]}]
    foreach file $files {
        set name [file rootname [file tail $file]]
        if {[catch {counted $file} got]} {
            puts "$name: $got"
            continue
        }
        incr n
        lassign $got all active
        lassign [wanted $name] kind billions of_active
        set error [expr {$kind eq "none" ? 0 :
            100 * abs(($of_active ? $active : $all) / $billions - 1)}]
        set worst($kind) [expr {max($worst($kind), $error)}]
        puts [format "%-45s %10.3f %10.3f %8s %8s" $name $all $active $billions\
            [expr {$kind eq "none" ? "-" : [format %.2f $error]}]]
    }
    set holds [bar "files read" [expr {100.0 * $n / [llength $files]}] least 100]
    set holds [expr {[bar "error against printed numbers" $worst(printed) most 0.5] && $holds}]
    return [expr {[bar "error against names" $worst(name) most 3] && $holds}]
}

if {[llength $argv] != 1} {
    puts stderr "usage: tharsis -exit tests/accept/model_configs.tcl DIRECTORY"
    exit 2
}
suppress_message TCL-0362
if {[catch {run_all [lindex $argv 0]} holds]} {
    puts stderr "model_configs.tcl: $holds"
    exit 2
}
exit [expr {!$holds}]
