# SPDX-License-Identifier: GPL-3.0-or-later
# golden.tcl - the example scripts with small budgets: their output, as text, is what it was.
#   tharsis -no_init -exit tests/golden/golden.tcl            compares, told in TAP
#   tharsis -no_init -exit tests/golden/golden.tcl --update   writes tests/golden/*.txt anew
# After a change of a model or a search the numbers move: look at the difference, then update.

set here [file dirname [file normalize [info script]]]
set root [file dirname [file dirname $here]]
set cases {
    f1_alexnet          {f1_resnet34.tcl alexnet -seed 1 -evaluations 120 -out out/f1_alexnet.json}
    map_and_report      {map_and_report.tcl -evaluations 120}
    compare_topologies  {compare_topologies.tcl -evaluations 20}
    compare_mappers     {compare_mappers.tcl -evaluations 60}
    compare_collectives {compare_collectives.tcl}
    compare_all_reduce  {compare_all_reduce.tcl}
    fair_topologies     {fair_topologies.tcl}
    from_astra          {from_astra.tcl}
    design_in_five_lines {design_in_five_lines.tcl -evaluations 60}
    multi_model         {multi_model.tcl -evaluations 200}
    pareto_front        {pareto_front.tcl -evaluations 200}
    pipeline_stream     {pipeline_stream.tcl -evaluations 60}
    published_designs   {published_designs.tcl}
    report_resnet34     {report_resnet34.tcl}
    step_and_watch      {step_and_watch.tcl}
    study_topologies    {study_topologies.tcl}
    systolic_array      {systolic_array.tcl}
    topology_choice     {topology_choice.tcl -evaluations 40}
    unreliable_training {unreliable_training.tcl}
    what_to_buy         {what_to_buy.tcl -evaluations 40}
    own_design          {own_design.tcl}
}

# Searches on larger systems, which the check of the release leaves out: it is built without
# optimisation, and runs the others.
set slow {compare_topologies compare_mappers fair_topologies report_resnet34 study_topologies
    topology_choice what_to_buy}
set is_sample [info exists env(THARSIS_SAMPLE)]

# Scripts that draw, and what draws.
set drawn {compare_topologies fair_topologies study_topologies}
set has_gnuplot [expr {[auto_execok gnuplot] ne ""}]

# The output of a script that works in a folder of its own; what goes wrong is part of it.
proc output_of {words} {
    set words [lassign $words script]
    catch {exec [info nameofexecutable] -no_init\
            -batch [file join $::root scripts experiments $script] \
               {*}$words 2>@1} output
    return $output\n
}

proc read_all {file} {
    set f [open $file]
    set text [read $f]
    close $f
    return $text
}

# The first line that differs, as TAP comments.
proc show_difference {got expected} {
    foreach g [split $got \n] e [split $expected \n] {
        if {$g ne $e} {
            puts "# expected: $e"
            puts "# got:      $g"
            return
        }
    }
}

set folder [expr {[info exists env(builddir)] ? $env(builddir) : [pwd]}]/tests/golden/tmp
file mkdir $folder
cd $folder
file delete -force out ;# a study would go on with what another build has done
set n 0
puts "1..[expr {[llength $cases] / 2}]"
foreach {name words} $cases {
    if {$is_sample && $name in $slow} {
        puts "ok [incr n] - $name # SKIP one of the larger searches"
        continue
    }
    if {!$has_gnuplot && $name in $drawn} {
        puts "ok [incr n] - $name # SKIP there is no gnuplot"
        continue
    }
    set file [file join $here $name.txt]
    set got [output_of $words]
    if {$argv eq "--update"} {
        set f [open $file w]
        puts -nonewline $f $got
        close $f
    }
    set expected [expr {[file exists $file] ? [read_all $file] : ""}]
    puts "[expr {$got eq $expected ? "ok" : "not ok"}] [incr n] - $name"
    show_difference $got $expected
    flush stdout
}
