# SPDX-License-Identifier: GPL-3.0-or-later
# pages.tcl - what README.md, the cookbook, the tutorial and the explanations show is what happens:
# their blocks are run, and the output below each is what came.
#   tharsis -no_init -exit tests/golden/pages.tcl            compares, told in TAP
#   tharsis -no_init -exit tests/golden/pages.tcl --update   writes the outputs anew, into the pages
# Pages may be named behind it: pages.tcl --update docs/cookbook.md.
# After a change of a model or a search the numbers move: look at the difference, then update.
#
# Blocks stand between ``` fences. The word behind the fence says what they are:
#   tcl          commands of a script; "# FILE.tcl" alone in the first line: the file FILE.tcl,
#   which is not run
#   tcl prompt   commands as somebody types them: what they return is shown too
#   sh           commands of a shell; run where an output follows (others install, or open windows)
#   (nothing)    the output of the block before
# The blocks of a page share one session and one folder, in their order. A tcl block without an
# output prints nothing.

set here [file dirname [file normalize [info script]]]
set root [file dirname [file dirname $here]]
set pages {README.md docs/cookbook.md docs/tutorial.md docs/explanations.md docs/studies.md
    docs/own_accelerator.md}

proc read_all {file} {
    set f [open $file]
    set text [read $f]
    close $f
    return $text
}

proc write_all {file text} {
    set f [open $file w]
    puts -nonewline $f $text
    close $f
}

# The blocks of a page: kind, text, and the lines (from 0) of its opening and closing fence.
proc blocks_of {page} {
    set blocks {}
    set at -1
    set number 0
    foreach line [split $page \n] {
        if {$at < 0 && [regexp {^```([a-z ]*)$} $line -> kind]} {
            set at $number
            set text {}
        } elseif {$at >= 0 && $line eq "```"} {
            lappend blocks \
                [dict create kind $kind text [join [lappend text {}] \n] first $at last $number]
            set at -1
        } elseif {$at >= 0} {
            lappend text $line
        }
        incr number
    }
    return $blocks
}

proc is_output {block} {
    return [expr {[dict get $block kind] eq ""}]
}

# What is run of a page: blocks, each with expected (the output block, or nothing).
proc cases_of {blocks} {
    set cases {}
    for {set i 0} {$i < [llength $blocks]} {incr i} {
        set block [lindex $blocks $i]
        set next [lindex $blocks $i+1]
        set has_output [expr {$next ne "" && [is_output $next]}]
        set is_file [regexp {^# (\S+\.tcl)\n} [dict get $block text] -> file]
        if {[is_output $block] || ([dict get $block kind] eq "sh" && !$has_output)} {
            continue
        }
        if {$is_file} {
            dict set block kind file
            dict set block file $file
        }
        dict set block expected [expr {$has_output && !$is_file ? $next : ""}]
        lappend cases $block
    }
    return $cases
}

# The whole of what the session of a page does; a mark stands before the output of each block.
set mark "---- block"
set driver {
    proc answer {code result} {
        if {$code == 1 || $result ne ""} {
            puts $result
        }
    }
    proc run_tcl {text} {
        if {[catch {uplevel #0 $text} result]} {
            puts $result
        }
    }
    proc run_prompt {text} {
        set command ""
        foreach line [split $text \n] {
            append command $line \n
            if {[info complete $command]} {
                answer [catch {uplevel #0 $command} result] $result
                set command ""
            }
        }
    }
    proc run_sh {text} {
        flush stdout
        catch {exec sh -c $text >@stdout 2>@stdout}
    }
}

proc outputs_of {cases} {
    set script $::driver
    set n 0
    foreach case $cases {
        dict with case {
            append script "\nputs {$::mark [incr n]}\n"
            if {$kind eq "file"} {
                write_all $file $text
            } else {
                append script [list run_[lindex $kind end] $text] \n
            }
        }
    }
    write_all page_driver.tcl $script
    catch {exec [info nameofexecutable] -no_init -batch page_driver.tcl 2>@1} output
    return [lrange [split [regsub -all "(^|\n)$::mark \[0-9\]+" $output "\x1e"] \x1e] 1 end]
}

# As a block has it: one line end behind, none before.
proc tidy {output} {
    set output [string trim $output \n]
    return [expr {$output eq "" ? "" : "$output\n"}]
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

proc updated {page cases outputs} {
    set lines [split $page \n]
    foreach case [lreverse $cases] output [lreverse $outputs] {
        set old [dict get $case expected]
        if {$old ne ""} {
            set lines [lreplace $lines [dict get $old first]+1 [dict get $old last]-1 \
                           {*}[split [string trimright [tidy $output] \n] \n]]
        }
    }
    return [join $lines \n]
}

# Runs a page in a folder of its own; its cases with outputs. With --update the page has them from
# then on.
proc run_page {name} {
    set file [file join $::root $name]
    set cases [cases_of [blocks_of [read_all $file]]]
    set folder [file join $::folder [file rootname [file tail $name]]]
    file delete -force $folder
    file mkdir $folder
    cd $folder
    set outputs [outputs_of $cases]
    if {"--update" in $::argv} {
        write_all $file [updated [read_all $file] $cases $outputs]
        set cases [cases_of [blocks_of [read_all $file]]]
    }
    return [lmap case $cases output $outputs {list $name $case $output}]
}

proc tell {number name case output} {
    set block [dict get $case expected]
    set expected [tidy [expr {$block eq "" ? "" : [dict get $block text]}]]
    set got [tidy $output]
    puts "[expr {$got eq $expected ? "ok" : "not ok"}] $number - $name,\
            line [expr {[dict get $case first] + 1}]"
    show_difference $got $expected
}

if {[auto_execok gnuplot] eq ""} {
    puts "1..0 # SKIP there is no gnuplot"
    exit
}
set folder \
    [file join [expr {[info exists env(builddir)] ? $env(builddir) : [pwd]}] tests golden tmp]
set env(PATH) [file dirname [info nameofexecutable]]:$env(PATH)
set named [lsearch -all -inline -not $argv --update]
set cases [concat {*}[lmap page [expr {$named eq "" ? $pages : $named}] {run_page $page}]]
puts "1..[llength $cases]"
set n 0
foreach case $cases {
    tell [incr n] {*}$case
}
