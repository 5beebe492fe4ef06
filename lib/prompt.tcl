# SPDX-License-Identifier: GPL-3.0-or-later
# prompt.tcl - what the shell does with what is typed: completion, names that are no commands, and
# lines that repeat others.
#   Complete: position of the word -> candidates for it -> their common beginning and the candidates
# Nothing is made for completion: tasks are offered only once the mapping has been lowered.

# LINE from START to END, in bytes, is WORD. Returns a list: the longest common beginning of the
# candidates, then the candidates, if there are several.
proc ::tharsis::Complete {word start end line} {
    set bytes [encoding convertto utf-8 $line]
    foreach at {start end} {
        set $at [string length [encoding convertfrom utf-8 [string range $bytes 0 [set $at]-1]]]
    }
    if {$start > $end} {set start $end}
    regexp {[^] \t\[{};\n"]*$} [string range $line 0 $end-1] word
    set from [expr {$end - [string length $word]}]
    set found [lib::begun [lib::candidates [string range $line 0 $from-1] $word] $word]
    # readline's word may begin elsewhere: candidates are cut or extended to fit.
    set found [lmap name [lrange $found 0 499] {
        string cat [string range $line $start $from-1] [string range $name $start-$from end]
    }]
    if {[llength $found] < 2} {return $found}
    set sorted [lsort $found]
    set n [string length [lindex $sorted 0]]
    while {![string equal -length $n [lindex $sorted 0] [lindex $sorted end]]} {incr n -1}
    return [list [string range [lindex $sorted 0] 0 $n-1] {*}$found]
}

# The names that begin with the word.
proc ::tharsis::lib::begun {names word} {
    return [lsearch -all -inline -glob $names [regsub -all {[][*?\\]} $word {\\&}]*]
}

# The unfinished command at the end of the text: how many words it has, the first and the last of
# them; within braces, which may hold a script or a list, also those of the command around it.
proc ::tharsis::lib::unfinished {text} {
    set around {}
    set now {0 {} {} {} {}}
    foreach token [regexp -all -inline {[]\[{};\n]|[^] \t\[{};\n"]+} $text] {
        lassign $now n first last
        switch -- $token {
            \[ - \{ {
                lappend around $now
                set now [list 0 {} {} {*}[expr {$token eq "\{" ? [list $first $last] : {{} {}}}]]
            }
            ] - \} {
                if {$around eq ""} continue
                set now [lindex $around end]
                set around [lrange $around 0 end-1]
                lset now 0 [expr {[lindex $now 0] + 1}]
            }
            ; - \n {set now {0 {} {} {} {}}}
            default {
                if {[incr n] == 1} {set first $token}
                set now [lreplace $now 0 2 $n $first $token]
            }
        }
    }
    return $now
}

# The option of a row whose value follows this word; empty: the word is none.
proc ::tharsis::lib::option_before {row word} {
    foreach o [get $row options {}] {
        if {[dict get $o name] eq $word && [dict get $o value] ne ""} {return $o}
    }
}

proc ::tharsis::lib::candidates {text word} {
    lassign [unfinished $text] n first last around_first around_last
    set o [option_before [core::command $around_first] $around_last]
    set row [core::command $first]
    if {[string index $word 0] eq "$"} {
        return [lmap name [lsort [info globals]] {string cat $ $name}]
    }
    if {$o ne "" && ([dict get $o is_list] || [dict get $o names] ne "")} {
        return [of_value $around_first $o $word]
    }
    if {$n == 0} {return [of_command $word]}
    if {$row ne ""} {return [of_argument $row $n $last $word]}
    if {$word ne ""} {return [core::objects $word]}
}

proc ::tharsis::lib::of_command {word} {
    if {$word ne ""} {return [lsort [namespace eval :: {info commands}]]}
    return [lmap command [core::commands] {lindex $command 0}]
}

proc ::tharsis::lib::of_value {command o word} {
    if {[dict get $o is_file]} {set names [core::files $command [dict get $o name]]}
    lappend names {*}[dict get $o names]
    if {$names eq "" && ![dict get $o is_file]} {return [named [dict get $o value] $word]}
    return $names
}

# By the placeholder in the synopsis. Where nothing is offered here, the shell offers files.
proc ::tharsis::lib::named {synopsis word} {
    set names {}
    if {[regexp {OBJECT|NODE|LINK|ACCEL|TASK|LAYER|PATTERN|CONDITION} $synopsis]} {
        set names [core::objects $word]
    }
    if {[string match *RUN* $synopsis]} {lappend names {*}[core::runs]}
    if {[string match *STUDY* $synopsis]} {lappend names {*}[dict keys $study::all]}
    if {[string match *BREAKPOINT* $synopsis]} {
        lappend names {*}[lmap breakpoint [core::breakpoints] {lindex $breakpoint 0}]
    }
    return $names
}

# Behind a command, its n words and the last of them.
proc ::tharsis::lib::of_argument {row n last word} {
    dict with row {}
    set o [option_before $row $last]
    set file [lindex $kinds 0]
    if {$last in {> >>}} return
    if {$o ne ""} {return [of_value $name $o $word]}
    if {[string index $word 0] eq "-" || ($word eq "" && !$has_words)} {
        return [list {*}[lmap o $options {dict get $o name}] -help]
    }
    if {$name eq "help"} {return [of_command $word]}
    if {[get $file is_file 0]} {return [core::files $name [dict get $file name]]}
    if {![string match *ATTRIBUTE* $words]} {return [named $words $word]}
    if {$n == 2} {return [core::attributes $last]}
    if {![string match *.* $words]} {return [named $words $word]}
    # "accel/3.": names may hold dots, so the object stands before the last one.
    set object [string range $word 0 [string last . $word]-1]
    set names [lmap name [core::attributes $object] {string cat $object . $name}]
    return [expr {[begun $names $word] eq "" ? [core::objects $word] : $names}]
}

# ---- names that are no commands ----

# In the shell, instead of the handler of Tcl, which at a prompt would also run programs: loads the
# command from a Tcl library, says what a removed one is now, takes the name for the beginning of a
# command where it was typed, or suggests the command that was meant. "quit" is exit, "?" is help.
proc ::tharsis::Unknown {name args} {
    if {$name eq "quit"} {tailcall ::exit {*}$args}
    if {[string index $name 0] eq "?"} {
        tailcall ::tharsis::help {*}[string range $name 1 end] {*}$args
    }
    if {[uplevel #0 [list ::auto_load $name]]} {tailcall ::$name {*}$args}
    set all [lmap command [core::commands] {lindex $command 0}]
    if {[regexp {^[a-z]} $name] && $name ni $all && [info commands ::tharsis::$name] ne ""} {
        tailcall ::tharsis::$name {*}$args
    }
    set found {}
    if {$name ne "" && [uplevel 1 ::tharsis::core::is_typed]} {
        set found [lib::begun [lsort [namespace eval :: {info commands}]] $name]
    }
    if {[llength $found] == 1} {tailcall ::[lindex $found 0] {*}$args}
    set near [core::nearest $name]
    if {$found ne ""} {
        set text [lib::ambiguity $name $found]
    } elseif {$near ne ""} {
        set text "invalid command name \"$name\": did you mean \"$near\"?"
    } elseif {[string is wordchar -strict $name] && [string length $name] > 2 &&
            [set near [core::nearest [string tolower $name] [lib::known_words]]] ne ""} {
        set text "invalid command name \"$name\": \"help $near\" lists commands about it"
    } else {
        set text "invalid command name \"$name\": \"help\" lists the commands"
    }
    return -code error -errorcode [list TCL LOOKUP COMMAND $name] $text
}

# What a beginning may have meant, as far as it fits on a line of 80 columns.
proc ::tharsis::lib::ambiguity {name found} {
    set text "ambiguous command name \"$name\":"
    for {set rest [llength $found]} {$rest > 0} {incr rest -1} {
        set command [lindex $found end-[expr {$rest - 1}]]
        if {[string length "$text $command"] > ($rest > 1 ? 68 : 80)} {
            return "$text and $rest more"
        }
        append text " $command"
    }
    return $text
}

# ---- lines that repeat others ----

# Adds a command to Tcl's history. Where it is "!!", "!12", "!-2" or "!run", this is instead the
# last command, number 12, the last but one, or the last that begins with "run"; what follows a
# blank is added to it. Tcl counts back from the present command, so that one is recorded first, and
# changed to what it stands for. A "!" elsewhere is Tcl's.
proc ::tharsis::lib::typed {command} {
    set line [string trimright $command " \t\n"]
    ::history add $line
    if {![regexp {^(!([^ \t\n]*))(.*)$} $line -> word event rest]} {return $command}
    if {$event eq "!"} {set event -1}
    if {$event eq "" || [catch {::history event $event} meant]} {
        return -code error "\"$word\": no command typed before is meant: \"history\" lists them"
    }
    ::history change $meant$rest 0
    return $meant$rest
}
