# SPDX-License-Identifier: GPL-3.0-or-later
# session.tcl - sessions for tests that make commands fail: one that has read a system, a workload
# and a mapping and has run, as the examples of the manual expect it, and what a script sees of it.

# An interpreter with a session of its own.
proc new_session {} {
    set child [interp create]
    load {} Tharsis $child
    $child eval {
        namespace import ::tharsis::*
        set_threads 1
        read_system f1_16xlarge
        read_workload alexnet
    }
    $child eval [list read_mapping [file join $::root tests tcl hand.map]]
    $child eval run
    return $child
}

# What a script can see of a session: the results of these commands, or why they cannot run now.
set looks {
    {where -return_string}
    {now}
    {report_summary -return_string -format json}
    {report_utilization -return_string -format csv}
    {report_links -return_string -format csv}
    {report_mapping -return_string -format csv}
    {get_tasks *} {get_layers *} {get_nodes *}
    {report_breakpoints -return_string}
    {report_property -return_string link/0_1}
    {report_property -return_string accel/0}
    {report_memory -return_string}
    {report_collectives -return_string}
    {report_search -return_string}
    {set_units}
}
proc look {child} {
    return [lmap command $::looks {
        catch {$child eval $command} said
        set said
    }]
}

# The first look at which two sessions differ; "": none.
proc difference {before after} {
    foreach command $::looks a $before b $after {
        if {$a ne $b} {return $command}
    }
    return ""
}

# The commands of an example, each whole.
proc commands_of {text} {
    set command ""
    set all {}
    foreach line [split $text \n] {
        append command $line \n
        if {[info complete $command]} {
            if {[string trim $command] ne ""} {lappend all [string trim $command]}
            set command ""
        }
    }
    return $all
}

# Examples of commands that have none in the manual.
set other_examples {
    add_compute {
        create_program p
        add_compute -on accel/0 -operations 1000000 -bytes 1MB
    }
    read_program {
        create_program p
        add_collective all_reduce -bytes 1MB
        run
        write_program out/p -format chakra
        read_program out/p -format chakra
    }
    write_program {
        create_program p
        add_collective all_reduce -bytes 1MB
        run
        write_program out/p -format chakra
    }
    report_ranks {
        create_program p
        add_collective all_reduce -bytes 1MB
        run
        write_program out/p -format chakra
        read_program out/p -format chakra
        run
        report_ranks
    }
    read_table {
        set f [open out/rows.csv w]
        puts $f "name,size\na,1\nb,2"
        close $f
        read_table out/rows.csv
    }
    version {
        version
    }
}

# The example of a command in the manual, or one from here; "": there is none.
proc example_of {command} {
    if {[dict exists $::other_examples $command]} {return [dict get $::other_examples $command]}
    set page [file join $::root docs commands $command.md]
    if {![file exists $page]} {return ""}
    set f [open $page]
    set text [read $f]
    close $f
    return [expr {[regexp {\n## Example\n\n```tcl\n(.*?)```} $text -> example] ? $example : ""}]
}
