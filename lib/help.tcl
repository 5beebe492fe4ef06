# SPDX-License-Identifier: GPL-3.0-or-later
# help.tcl - help: the command table on the terminal, as a manual page and as pages of docs/.
#   core::commands, core::command (tcl/core/core_help.c) -> text

namespace eval ::tharsis::lib::help {
    # For a first script, by what one wants, in the order of their use.
    variable first_commands {
        {Describe a system and what runs on it}
        {read_system create_system read_workload create_transformer read_program check_setup}
        {Map it, or plan its training; run it} {map_workload parallel_plan run step where}
        {See where the time goes}
        {report_summary report_layers report_links report_critical_path report_bounds query}
        {Decide what to change} {save_run report_compare report_sensitivity report_advice}
        {Keep the results} {write_report write_plot create_study}
    }
    # What the groups are for.
    variable purposes {
        session {The program itself}
        build {Describe a system and a network}
        objects {Find accelerators, links, layers and tasks, and read their attributes}
        map {Search for a mapping, and see what was found}
        program {Simulate traffic, collectives and traces without a network}
        training {Plan and simulate the training of language models}
        report {See where the time, energy and memory of a run go}
        simulate {Run, stop and step}
        compare {Compare runs, and find what is worth changing}
        breakpoints {Stop a run when something happens}
        predict {Predict layer times on GPUs from measurements}
        output {Write pages, plots and data}
        trace {Write every event of a run to a file}
        sweep {Run many points, and compare them}
    }
    # Words of users that stand in no text, and the commands that they mean.
    variable topics {
        {sweep} {create_study read_study run_study report_study write_plot parallel_foreach}
        {debug} {step where examine add_breakpoint run report_breakpoints}
        {waveform gtkwave} {open_trace add_trace close_trace}
        {bottleneck} {report_critical_path report_bounds report_sensitivity report_utilization}
        {buy upgrade} {report_advice report_sensitivity}
        {llm} {create_transformer report_transformer parallel_plan report_training read_workload}
        {llama gpt huggingface} {create_transformer parallel_plan report_training}
        {moe} {create_transformer parallel_plan}  {cluster dgx} create_system
        {health} {inject_fault add_trace}  {straggler} inject_fault  {goodput} report_reliability
        {congestion} {report_links report_critical_path}
        {compare} {report_compare report_diff save_run write_plot}
    }
    # What many options of a command are about; an option stands under the first that has it.
    variable questions {
        {What may be used?} {-space -sets -allow -forbid -complete -chunks -design* -survive*}
        {What must it keep to?} {-deadline -keep_late -memory -ignore_memory -objective -max_links}
        {How long does the search take, and where does it begin?} {-evaluations -seconds -steps
            -stop_gap -threads -start -initial -checkpoint -unequal}
        {What runs on which network?} {-network -inputs -interval -micro_batches -batch -forward}
        {How are the ranks divided?} {-tensor -pipeline -virtual -context -expert(_tensor)? -data
            -zero* -sequence_parallel -micro_batch -schedule -layout -order -stages -shares}
        {How do accelerators compute?} {-precision -kernels -attention -launch -software -gradients
            -frozen -numbers -recompute -overlap -expert_exchange -merge}
        {What shape has the model?} {-kv_heads -head_dim -*_rank -(rope|value)_dim -window* -qk_norm
            -attention_dropout -*ffn -gated -experts -top_k -dense_layers -expert_skew -tied -bias
            -norm_size -other_parameters -config -layer_*}
        {How is it connected?} {-island -nics -switches* -reduct* -half* -host(_[bl]*)? -stripes*}
        {What does it cost, and when does it fail?} {-link_cost -*_mtbf}
    }
    # Of docs/pictures/, which scripts/pictures.tcl makes.
    variable pictures {
        report_utilization {utilization {write_plot FILE -of utilization}}
        report_links {links {write_plot FILE -of links}}
        report_layers {layers {write_plot FILE -of layers}}
        report_search {convergence {write_plot FILE -of convergence}}
        report_compare {topologies {write_plot RUNS FILE -x name -y latency -type bar}}
        write_plot {links {write_plot FILE -of links}}
        write_report {timeline {The timeline of a page shows the tasks of every accelerator}}
    }
}

# Texts, each behind the path of its file; that without a path is printed.
proc ::tharsis::lib::help {o} {
    set words [dict get $o words]
    if {[dict exists $o markdown]} {return [markdown_pages [dict get $o markdown]]}
    if {$words ne ""} {
        set row [core::command [lindex $words 0]]
        set text [expr {$row eq "" ? [search_help [lindex $words 0]] :
            [help_of $row [dict exists $o all]]}]
    } else {
        set text [expr {[dict exists $o man] ? [man_page] :
            [dict exists $o all] ? [help_all] : [help_first]}]
    }
    return [list "" $text]
}

# ---- one command ----

# Words in lines of at most 80 columns; the first begins at a column, the others at an indent.
proc ::tharsis::lib::wrap {words column indent} {
    set text ""
    foreach word $words {
        if {$text ne "" && $column + 1 + [string length $word] > 80} {
            append text \n [string repeat " " $indent]
            set column $indent
        } elseif {$text ne ""} {
            append text " "
            incr column
        }
        append text $word
        incr column [string length $word]
    }
    return $text\n
}

# A name, and text behind it at an indent.
proc ::tharsis::lib::entry {name text indent} {
    set words [regexp -all -inline {[^ ]+} $text]
    return [format "    %-*s" [expr {$indent - 4}] $name][wrap $words $indent $indent]
}

proc ::tharsis::lib::indented {lines} {return [regsub -all -line {^(?=.)} $lines "    "]}

proc ::tharsis::lib::capital {text} {
    return [string toupper [string index $text 0]][string range $text 1 end]
}

proc ::tharsis::lib::option_help {o} {
    set all [expr {[dict get $o is_choice] ? " One of [join [dict get $o names] {, }]." : ""}]
    return [dict get $o help]$all
}

# The options of a row that most reports have, and its own.
proc ::tharsis::lib::divide {options} {
    set of_reports [core::report_options]
    lassign {} shared own
    foreach o $options {lappend [expr {$o in $of_reports ? "shared" : "own"}] $o}
    return [list $shared $own]
}

# Options and their texts: in full, or a line for each.
proc ::tharsis::lib::explain {options {in_brief 0}} {
    set width [lindex [lsort -integer [lmap o $options {string length [dict get $o form]}]] end]
    if {$in_brief && $width > 26} {set width 26}
    return [join [lmap o $options {
        set form [format %-*s $width [dict get $o form]]
        set text [option_help $o]
        if {$in_brief} {set text [brief $text [expr {74 - [string length $form]}]]}
        entry "$form  " $text [expr {6 + $width}]
    }] ""]
}

# By tables of the reports of a command their columns, and what these mean: a legend says it, or the
# figure.
proc ::tharsis::lib::columns_of_command {command} {
    set tables {}
    foreach {report legends} [core::legends $command] {
        set known {}
        foreach {table column meaning} [meanings $report] {
            foreach {of name text} $legends {
                if {$name eq $column && $of in [list "" $table]} {set meaning $text}
            }
            dict lappend tables $table $column $meaning
            lappend known " $column" "$table $column"
        }
        foreach {table column meaning} $legends {
            if {"$table $column" in $known} continue
            if {$table eq ""} {set table $report}
            dict lappend tables $table $column $meaning
        }
    }
    return $tables
}

# The most used options of a command, which are those of its example (the first eight), or its first
# ones, and the others.
proc ::tharsis::lib::by_use {options example} {
    set words [regexp -all -inline {\S+} $example]
    set used [lrange [keep o $options {[dict get $o name] in $words}] 0 7]
    if {$used eq ""} {set used [lrange $options 0 2]}
    return [list $used [keep o $options {$o ni $used}]]
}

# QUESTION OPTIONS ..., in the order of the questions; a few options need none.
proc ::tharsis::lib::by_question {options} {
    set questions [expr {[llength $options] < 10 ? "" : $help::questions}]
    foreach {question patterns} [list {*}$questions "Other options" *] {
        set fits "^([join [string map {* .*} $patterns] |])$"
        set group [keep o $options {[regexp $fits [dict get $o name]]}]
        if {$group ne ""} {lappend all $question $group}
        set options [keep o $options {$o ni $group}]
    }
    return $all
}

# As much of a text as there is room for, up to the end of a clause; "..." says that it goes on.
proc ::tharsis::lib::brief {text room} {
    if {[string length $text] <= $room} {return $text}
    set cut [string range $text 0 $room-4]
    foreach {end least} [list {[.;:,] | (?=\()} [expr {$room / 3}] { } 0] {
        foreach at [lreverse [regexp -all -inline -indices $end $cut]] {
            set said [string range $cut 0 [lindex $at 0]-1]
            if {[string length $said] > $least &&
                [regexp -all {\(} $said] == [regexp -all {\)} $said]} {return "$said ..."}
        }
    }
    return ...
}

# The first screen says what the command does, its most used options and an example. Where the
# options in full leave no room for that, they are divided: the most used ones, and the others by
# questions. Returns {USAGE OPTIONS QUESTIONS}, QUESTIONS empty where they are not.
proc ::tharsis::lib::parts_of_help {row full} {
    dict with row {}
    set own [lindex [divide $options] 1]
    set words [split $synopsis \n]
    set usage "    [wrap $words 4 8]"
    set lines [llength [split $usage[explain $own]$example \n]]
    lassign [by_use $own $example] used others
    if {$full || $lines <= 20 || $others eq ""} {return [list $usage $own {}]}
    set left_out [lmap o $others {string cat ? [dict get $o form] ?}]
    set kept [keep word $words {$word ni $left_out}]
    set kept [linsert $kept [expr {"?> FILE?" in $kept ? "end-2" : "end"}] "?OPTION ...?"]
    return [list "    [wrap $kept 4 8]" $used [by_question $others]]
}

proc ::tharsis::lib::help_of {row {full 0}} {
    dict with row {}
    lassign [parts_of_help $row $full] usage first questions
    set text "$name - $summary\n\n$usage"
    if {$first ne ""} {append text \n [explain $first [expr {$questions ne ""}]]}
    if {$example ne ""} {append text "\nExample:\n" [indented $example]}
    if {$help ne ""} {append text \n [wrap [regexp -all -inline {[^ ]+} $help] 0 0]}
    foreach {question rest} $questions {append text "\n$question\n[explain $rest 1]"}
    if {$questions ne ""} {append text "\n\"help -all $name\" explains every option in full.\n"}
    set shared [lindex [divide $options] 0]
    if {$shared ne ""} {
        append text "\n    [wrap [list {*}[lmap o $shared {dict get $o name}] {("help -all")}] 4 4]"
    }
    dict for {table columns} [columns_of_command $name] {
        append text "\nColumns of $table:\n"
        foreach {column meaning} $columns {
            append text [entry "[format %-20s $column]  " $meaning 26]
        }
    }
    return $text
}

# ---- all commands ----

proc ::tharsis::lib::help_line {command} {
    return [format "    %-20s %s\n" [lindex $command 0] [lindex $command 2]]
}

proc ::tharsis::lib::command_groups {} {
    foreach command [core::commands] {dict lappend groups [lindex $command 1] $command}
    return $groups
}

proc ::tharsis::lib::help_first {} {
    set all [core::commands]
    foreach {purpose names} $help::first_commands {
        append text $purpose \n
        foreach name $names {append text [help_line [lsearch -inline -exact -index 0 $all $name]]}
        append text \n
    }
    return "${text}\"help -all\" lists all [llength $all] commands, \"help WORD\" finds those about\
        a word,\n\"help COMMAND\" (or \"? COMMAND\", \"COMMAND -help\") explains one.\n"
}

# "map: search for a mapping ..."; groups without a known purpose have their name alone.
proc ::tharsis::lib::purpose_of {group} {return [get $help::purposes $group [capital $group]]}

proc ::tharsis::lib::help_all {} {
    dict for {group commands} [command_groups] {
        append text [purpose_of $group] \n
        append text [join [lmap command $commands {help_line $command}] ""] \n
    }
    return "${text}Options of reports:\n[explain [core::report_options]]\n\"help COMMAND\" or\
        \"COMMAND -help\" tells more, \"help WORD\" finds commands.\n"
}

# ---- search ----

# Words are compared without their endings, so that "stepping" finds step, and "tile" finds tiles;
# of a doubled last letter one stays.
proc ::tharsis::lib::stem {word} {
    regexp {^(.{3,}?)(?:ing|ers|ed|es|er|s|e)$} $word -> word
    return [regsub {^(..+)(.)\2$} $word {\1\2}]
}

# Have the texts the word, which is in small letters, or one with the same stem?
proc ::tharsis::lib::have_word {texts word} {
    set texts [string tolower [join $texts \n]]
    set stem [stem $word]
    if {[string first $word $texts] >= 0} {return 1}
    if {![regexp {^[a-z]+$} $stem]} {return 0}
    set others [regexp -all -inline "\\m$stem\[a-z]*" [regsub -all {[^a-z]} $texts " "]]
    return [expr {$stem in [lmap other $others {stem $other}]}]
}

# KIND PLACE WORD ..., of all that has a name and is no command.
proc ::tharsis::lib::named_things {} {
    foreach command [core::commands] {
        lassign $command name - - alias_of
        if {$alias_of ne ""} continue
        set row [core::command $name]
        foreach o [list {*}[lindex [divide [dict get $row options]] 1] {*}[dict get $row kinds]] {
            set option [dict get $o name]
            lappend all Options "$name $option" [string trimleft $option -]
            set values [dict get $o names]
            if {[dict get $o is_file]} {lappend values {*}[core::files $name $option]}
            foreach value $values {lappend all Values "$name $option $value" $value}
        }
    }
    return [list {*}$all {*}[core::words]]
}

# What one may search for: commands, topics and things, and the words of their names.
proc ::tharsis::lib::known_words {} {
    set names [lmap command [core::commands] {lindex $command 0}]
    foreach {topic -} $help::topics {lappend names {*}$topic}
    foreach {- - name} [named_things] {lappend names $name}
    foreach name $names {lappend parts {*}[split $name _]}
    foreach name [list {*}$names {*}$parts] {dict set words [string tolower $name] {}}
    return [dict keys $words]
}

# Where the things are that have the word in their names: some of each kind.
proc ::tharsis::lib::places {word} {
    lassign {} places text
    foreach {kind place name} [named_things] {
        set parts [string tolower [list $name {*}[split $name _]]]
        if {[stem $word] in [lmap part $parts {stem $part}]} {dict lappend places $kind $place}
    }
    dict for {kind all} $places {
        set more [expr {[llength $all] > 9 ? ", [expr {[llength $all] - 9}] more" : ""}]
        append text [entry $kind [join [lrange $all 0 8] {, }]$more 22]
    }
    return $text
}

# First the commands that are about the word, by their names, groups, summaries, options and topics;
# then those whose help has it, and what has it in its name.
proc ::tharsis::lib::search_help {text} {
    set word [string tolower $text]
    set all [core::commands]
    lassign {} about others meant
    foreach {words commands} $help::topics {
        if {[have_word $words $word]} {lappend meant {*}$commands}
    }
    foreach command $all {
        lassign $command name group summary alias_of
        set row [core::command $name]
        if {$alias_of ne "" || $word eq ""} continue
        if {$name in $meant || [have_word [list $name $group $summary \
                {*}[lmap o [dict get $row options] {dict get $o name}]] $word]} {
            append about [help_line $command]
        } elseif {[have_word [list [dict get $row help] \
                {*}[lmap o [dict get $row options] {dict get $o help}]] $word]} {
            append others [help_line $command]
        }
    }
    set parts {}
    foreach {heading part} [list "" $about "Mentioned in the help of\n" $others \
        "In the names of\n" [places $word]] {
        if {$part ne ""} {lappend parts [expr {$parts eq "" ? "" : $heading}]$part}
    }
    if {$parts ne ""} {return [join $parts \n]}
    set near [core::nearest $word [known_words]]
    if {$near ne "" && $near ne $word} {
        return "Nothing is about \"[clip $text 40]\". About \"$near\":\n[search_help $near]"
    }
    fail_unknown TCL-0060 command $text [lmap command $all {lindex $command 0}]
}

# ---- a manual page, in the macros of man(7) ----

# Without what roff would interpret: backslashes, hyphens that are minus signs, and a dot or an
# apostrophe at the beginning of a line.
proc ::tharsis::lib::roff {text} {
    return [regsub -line {^[.']} [string map {\\ \\e - \\-} $text] {\\\&&}]
}

proc ::tharsis::lib::man_options {options} {
    return [join [lmap o $options {
        set value [regsub {.+} [roff [dict get $o value]] { \\fI&\\fP}]
        string cat ".TP\n.B [roff [dict get $o name]]$value\n[roff [option_help $o]]\n"
    }] ""]
}

proc ::tharsis::lib::man_command {command} {
    lassign $command name - - alias_of
    if {$alias_of ne ""} {return ".SS [roff $name]\nThe same as $alias_of.\n"}
    set row [core::command $name]
    dict with row {}
    set text ".SS [roff $name]\n.B [roff [string map {\n " "} $synopsis]]\n"
    append text ".PP\n[roff [capital $summary]].\n"
    if {$help ne ""} {append text ".PP\n[roff $help]\n"}
    append text [man_options [lindex [divide $options] 1]]
    if {$example ne ""} {append text ".PP\n.nf\n[roff [indented $example]].fi\n"}
    return $text
}

proc ::tharsis::lib::man_page {} {
    set text ".\\\" Written by \"help -man\" from the command table; not edited by hand.
.TH THARSIS\\-COMMANDS 7 \"\" \"tharsis [dict get [core::about] version]\"
.nh
.SH NAME
tharsis\\-commands \\- Tcl commands of the tharsis simulator
.SH DESCRIPTION
Options stand in any order; scripts never abbreviate them. ?x? may be left out.
At the end of a report, > FILE writes it to a file and >> FILE appends it.
"
    dict for {group commands} [command_groups] {
        append text ".SH \"[string toupper $group] COMMANDS\"\n"
        foreach command $commands {append text [man_command $command]}
    }
    append text ".SH OPTIONS OF REPORTS\n" [man_options [core::report_options]]
    return "$text.SH SEE ALSO\n.BR tharsis (1)\n"
}

# ---- pages of docs/ ----

proc ::tharsis::lib::markdown_pages {folder} {
    set pages [list $folder/commands.md [markdown_list]]
    foreach command [core::commands] {
        lassign $command name - - alias_of
        if {$alias_of eq ""} {lappend pages $folder/commands/$name.md [markdown_page $name]}
    }
    return $pages
}

# "|" would end a cell of a table.
proc ::tharsis::lib::escaped {text} {return [string map {| \\|} $text]}

proc ::tharsis::lib::markdown_options {options} {
    return [join [lmap o $options {
        string cat "| `[escaped [dict get $o form]]` | [escaped [option_help $o]] |\n"
    }] ""]
}

proc ::tharsis::lib::markdown_list {} {
    set text {# Commands

Written by `help -markdown docs` from the command table; not edited by hand.

Options stand in any order; scripts never abbreviate them. `?x?` may be left out.
Lists of objects take glob patterns of names: `link/3_*`.
At the end of a report, `> FILE` writes it to a file and `>> FILE` appends it.
[messages.md](messages.md) lists the error messages.
}
    dict for {group commands} [command_groups] {
        append text "\n## [capital $group]\n\n[purpose_of $group].\n\n| | |\n|---|---|\n"
        foreach command $commands {
            lassign $command name - summary alias_of
            set page [expr {$alias_of eq "" ? $name : $alias_of}]
            append text "| \[$name](commands/$page.md) | [escaped $summary] |\n"
        }
    }
    append text "\n## Options of reports\n\nWhere a report prints text or a table:\n\n"
    return "$text| option | meaning |\n|---|---|\n[markdown_options [core::report_options]]"
}

proc ::tharsis::lib::markdown_page {name} {
    set row [core::command $name]
    dict with row {}
    set shared [lindex [divide $options] 0]
    lassign [parts_of_help $row 0] - first questions
    set text "# $name\n\n[capital $summary].\n\n```\n    [wrap [split $synopsis \n] 4 8]```\n\n"
    if {$help ne ""} {append text $help \n\n}
    foreach command [core::commands] {
        if {[lindex $command 3] eq $name} {append text "`[lindex $command 0]` is the same.\n\n"}
    }
    if {$options ne ""} {append text [set head "| option | meaning |\n|---|---|\n"]}
    if {$shared ne ""} {
        append text "| [lmap o $shared {string cat `[dict get $o name]`}] | \[options of\
            reports](../commands.md#options-of-reports) |\n"
    }
    if {$options ne ""} {append text [markdown_options $first] \n}
    foreach {question x} $questions {append text "## $question\n\n$head[markdown_options $x]\n"}
    set tables [columns_of_command $name]
    if {$tables ne ""} {append text "## Columns\n\nBy their names in csv, without the unit.\n"}
    dict for {table columns} $tables {
        append text "\n| column of `$table` | meaning |\n|---|---|\n"
        foreach {column meaning} $columns {append text "| `$column` | $meaning |\n"}
    }
    if {$tables ne ""} {append text \n}
    if {$example ne ""} {append text "## Example\n\n```tcl\n$example```\n\n"}
    if {[dict exists $help::pictures $name]} {
        lassign [dict get $help::pictures $name] file caption
        append text "!\[$caption](../pictures/$file.svg)\n\n"
    }
    return "${text}See also the \[commands of the group \"$group\"](../commands.md#$group).\n"
}
