# SPDX-License-Identifier: GPL-3.0-or-later
# writes.tcl - calls that write to files, one after the other: the process is killed there, the call
# fails (no space left, an input/output error), or writes half of its bytes, in TAP.
#   tharsis -no_init -exit tests/soak/writes.tcl ?CASE ...?
#
#   files    each is the old one or the new one, whole; all are new where half was written
#   study    run again, it ends with the results of a study that nothing has disturbed
#   traces   grow in place: what is there is the beginning of the whole trace; the run is the same
# An error is one line. Each third call is struck; with THARSIS_LONG set, every one.
set here [file dirname [file normalize [info script]]]
set root [expr {[info exists env(srcdir)] ? $env(srcdir) : [file join $here .. ..]}]
set builddir [expr {[info exists env(builddir)] ? $env(builddir) : [pwd]}]
set folder [file join $builddir tests soak writes_tmp]
set library [file join $folder write_faults.so]
set step [expr {[info exists env(THARSIS_LONG)] ? 1 : 3}]
set hows {kill 28 5 short}

file delete -force $folder
file mkdir $folder
set is_able [expr {!([info exists env(THARSIS_SANITIZERS)] && $env(THARSIS_SANITIZERS) eq "yes") &&
    [file isdirectory /proc/self/fd] &&
    ![catch {
        exec {*}[expr {[info exists env(CC)] ? $env(CC) : "cc"}] -shared -fPIC -o $library \
            [file join $root tests tcl write_faults.c] -ldl
    }]}]

proc read_all {path} {
    set f [open $path rb]
    set bytes [read $f]
    close $f
    return $bytes
}

proc write_all {path bytes} {
    set f [open $path wb]
    puts -nonewline $f $bytes
    close $f
}

# Runs a script in a process in which call number at to files whose path has the part fails. Whether
# there was such a call, how the process ended (0, its status or SIGKILL), and what it said.
proc struck {at how part script} {
    global folder library
    set mark [file join $folder mark]
    file delete $mark
    write_all [file join $folder script.tcl] $script
    set code [catch {
        exec env LD_PRELOAD=$library FAULT_PATH=$part FAULT_AT=$at FAULT_HOW=$how \
            FAULT_MARK=$mark [info nameofexecutable] -no_init -batch \
            [file join $folder script.tcl] 2>@1
    } said options]
    set end [expr {$code == 0 ? 0 : [lindex [dict get $options -errorcode] 2]}]
    return [list [file exists $mark] $end $said]
}

# An error is one line, behind which the shell says where; a kill says nothing.
proc check_end {how end said} {
    set is_told [regexp {^(\S+ )?Error [A-Z]+-\d+: [^\n]*} [string trim $said]]
    set is_good [switch $how {
        kill {expr {$end eq "SIGKILL"}}
        short {expr {$end == 0}}
        default {expr {$end == 0 || $is_told}}
    }]
    if {!$is_good} {
        return "ended with $end: $said"
    }
    return ""
}

set session "set_threads 1; read_system f1_16xlarge; read_workload alexnet
    read_mapping [list [file join $root tests tcl hand.map]]; run\n"

# ---- files that are replaced ----

set pair {create_study pages -file pages.db -parameters {x {1 2}} -metrics {{n count}} -script {
    dict create n $x}; catch {run_study pages -threads 1}
}
set model [file join $root tests fuzz corpus predictor dense.model]
set writers [dict create \
    predictor {predictor.model} program {p.0.et p.3.et p.groups.json} compare {compare.html} \
    study {study.html} plots {plot.txt plot.gp} redirection {layers.csv}]
set scripts [dict create \
    predictor "read_predictor [list $model]; write_predictor predictor.model" \
    program {create_program p; add_collective all_reduce -bytes 1MB -accels {accel/0 accel/3}
        run; write_program p -format chakra} \
    compare "$session; save_run a; save_run b; write_report compare.html -compare {a b}" \
    study "$pair; write_report study.html -study pages" \
    plots "$session; write_plot plot.txt -of utilization; write_plot plot.gp -of links" \
    redirection "$session; report_layers -format csv > layers.csv"]

# What is wrong with the files of a writer; "": nothing.
proc look_at {files new how} {
    foreach file $files whole $new {
        set bytes [expr {[file exists $file] ? [read_all $file] : "none"}]
        if {$bytes ne $whole && ($how eq "short" || $bytes ne "old $file")} {
            return "$file is neither old nor new"
        }
    }
    return ""
}

proc strike_writer {name} {
    global writers scripts hows step folder
    set files [dict get $writers $name]
    set home [file join $folder $name]
    file mkdir $home
    cd $home
    set script [dict get $scripts $name]
    if {$name eq "program"} {set script "read_system f1_16xlarge; $script"}
    lassign [struck 0 kill $home/ $script] -> end said
    if {$end ne 0} {return [list 0 [list $said]]}
    set new [lmap file $files {read_all $file}]
    set wrong {}
    set n 0
    foreach how $hows {
        for {set at 1} {1} {incr at $step} {
            foreach file $files {write_all $file "old $file"}
            lassign [struck $at $how [lindex [split [lindex $files 0] .] 0]. $script] hit end said
            if {!$hit} {break}
            incr n
            foreach what [list [check_end $how $end $said] [look_at $files $new $how]] {
                if {$what ne ""} {lappend wrong "$how at call $at: $what"}
            }
        }
    }
    return [list $n $wrong]
}

# ---- a study ----

proc strike_study {} {
    global hows step folder
    set home [file join $folder study_run]
    file mkdir $home
    cd $home
    set script {
        create_study s -file s.db -parameters {x {1 2 3 4}} -metrics {{n count} {t text}} -script {
            dict create n $x t "text $x"}
        run_study s -threads 1
    }
    set report "$script; report_study s -format csv > s.csv"
    struck 0 kill s.db $report
    set expected [read_all s.csv]
    set wrong {}
    set n 0
    foreach how $hows {
        for {set at 1} {1} {incr at $step} {
            file delete s.db s.db-journal s.csv
            lassign [struck $at $how s.db $script] hit end said
            if {!$hit} {break}
            incr n
            set what [check_end $how $end $said]
            if {$what ne ""} {lappend wrong "$how at call $at: $what"}
            struck 0 kill s.db $report
            if {![file exists s.csv] || [read_all s.csv] ne $expected} {
                lappend wrong "$how at call $at: other results"
            }
        }
    }
    return [list $n $wrong]
}

# ---- traces ----

proc strike_trace {format} {
    global hows step folder session
    set home [file join $folder trace_$format]
    file mkdir $home
    cd $home
    set script "$session
        restart; open_trace t.out -format $format
        if {\[catch {run; close_trace} said\]} {puts \$said; catch close_trace}
        report_summary > summary.txt"
    struck 0 kill t.out $script
    set whole [read_all t.out]
    set summary [read_all summary.txt]
    set wrong {}
    set n 0
    foreach how $hows {
        for {set at 1} {1} {incr at} {
            file delete t.out
            lassign [struck $at $how t.out $script] hit end said
            if {!$hit} {break}
            incr n
            set what [check_end $how $end $said]
            set bytes [expr {[file exists t.out] ? [read_all t.out] : ""}]
            if {$what eq "" && ![string equal -length [string length $bytes] $bytes $whole]} {
                set what "is no beginning of the trace"
            }
            if {$what eq "" && $how ne "kill" && [read_all summary.txt] ne $summary} {
                set what "another run"
            }
            if {$what eq "" && $how eq "short" && $bytes ne $whole} {set what "is not whole"}
            if {$what eq "" && $how in {28 5} && ![string match "*t.out*" $said]} {
                set what "does not say so: $said"
            }
            if {$what ne ""} {lappend wrong "$how at call $at: $what"}
        }
    }
    return [list $n $wrong]
}

# ---- all ----

set cases {}
foreach name [dict keys $writers] {lappend cases $name [list strike_writer $name]}
lappend cases study_run strike_study
foreach format {csv vcd chrome perfetto} {lappend cases trace_$format [list strike_trace $format]}
if {[llength $argv] > 0} {
    set cases [concat {*}[lmap name $argv {list $name [dict get $cases $name]}]]
}
set count 0
dict for {name strike} $cases {
    incr count
    if {!$is_able} {
        puts "ok $count - $name # SKIP needs Linux, a compiler and no sanitizer"
        continue
    }
    lassign [{*}$strike] n wrong
    set is_good [expr {$n > 2 && $wrong eq ""}]
    puts "[expr {$is_good ? "ok" : "not ok"}] $count - $name: $n calls"
    foreach what $wrong {puts "# [string range [string map {\n " | "} $what] 0 300]"}
    flush stdout
}
puts "1..$count"
cd $builddir
file delete -force $folder
