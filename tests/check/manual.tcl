# SPDX-License-Identifier: GPL-3.0-or-later
# manual.tcl - see manual.sh: tharsis -no_init -exit manual.tcl FOLDER. One TAP line per page.
set root [file normalize [lindex $argv 0]]
set pages [lsort [concat [glob $root/*.html] [glob $root/*/*.html]]]
foreach page $pages {
    set channel [open $page]
    fconfigure $channel -encoding utf-8
    set text($page) [read $channel]
    close $channel
    set headings($page) [lmap {- id} [regexp -all -inline { id="([^"]*)"} $text($page)] {set id}]
}

# What is wrong with a link of a page; "" if nothing is.
proc breach {page link} {
    global headings
    if {[regexp {^https?:} $link]} return
    lassign [split $link #] path heading
    set to [expr {$path eq "" ? $page : [file normalize [file join [file dirname $page] $path]]}]
    if {![file exists $to]} {return "$link: no such file"}
    if {$heading ne "" && $heading ni $headings($to)} {return "$link: no such heading"}
}

puts "1..[expr {[llength $pages] + 1}]"
set n 0
foreach page $pages {
    set breaches [lmap {- - link} [regexp -all -inline {(href|src)="([^"]*)"} $text($page)] {
        set breach [breach $page $link]
        if {$breach eq ""} continue
        set breach
    }]
    if {![regexp {<title>[^<]+</title>} $text($page)]} {lappend breaches "no title"}
    puts "[expr {[llength $breaches] == 0 ? "ok" : "not ok"}] [incr n] -\
        [string range $page [string length $root]+1 end]"
    foreach breach $breaches {puts "# $breach"}
}

# Of the source tree: pages with pictures are made of pages with pictures.
set shown [llength [regexp -all -inline {<img src="[^"]*pictures/} [join [lmap page $pages {
    set text($page)
}]]]]
puts "[expr {$shown >= 8 ? "ok" : "not ok"}] [incr n] - $shown pictures are shown"
