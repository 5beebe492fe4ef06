# SPDX-License-Identifier: GPL-3.0-or-later
# study_files.tcl - the file of a study, as others may have left it, in TAP: what is read is what
# create_study writes, and everything else is an error in one line.
#   tharsis -no_init -exit tests/soak/study_files.tcl ?NAME ...?
set script [info script]
source [file join [file dirname $script] probed.tcl]

set path [file join $folder study.db]
set other [file join $folder other.db]

# The id of the error of a script; "": none. An error is one line.
proc id_of {script} {
    if {![catch {uplevel #0 $script} said]} {return ""}
    if {![regexp {^Error ([A-Z0-9-]+)} $said -> id] || [regexp {[\n\r\t\x1b]} $said]} {
        error "not an error of Tharsis in one line: $said"
    }
    return $id
}

# Points 1 to 3 are cells 1, 4 and 8 of nine.
proc make {} {
    file delete $::path
    create_study s -file $::path -seed 9223372036854775807 -parameters {
        batch {1 16 1e3} dims {{4 4} {it's; "x"} 0.5}
    } -where {
        $batch != 1 ? $dims eq ($batch == 16 ? {it's; "x"} : 0.5) : $dims eq {it's; "x"}
    } -metrics {{n count} {share share} {note text}} -script {
        dict create n 700 share 0.125 note "o'clock" ;# '); DROP TABLE point; --
    }
}

set open {read_study $path}
set report "$open; report_study s -format csv -return_string"
set run "$open; suppress_message STUDY-0090; run_study s -threads 1"

# An open file that another process has taken away; one that is not there.
test cannot_lock_what_is_gone {
    make
    ::tharsis::core::store_open $::path
    file delete $::path
    check [id_of ::tharsis::core::store_lock] STUDY-0026
    check [id_of {::tharsis::core::store_open $path}] STUDY-0029
}

test lets_one_write {
    make
    set child [interp create]
    load {} Tharsis $child
    $child eval [list ::tharsis::core::store_open $::path]
    $child eval {::tharsis::core::store_lock; ::tharsis::core::store_lock}
    check [id_of $::run] STUDY-0027
    check [id_of $::report] ""
    interp delete $child
    check [uplevel #0 $::run] done
}

# Neither one that is done, nor one that failed: here somebody writes while a point is at work.
test refuses_a_second_result {
    file delete $::path
    create_study s -file $::path -parameters [list file [list $::path] x {1 2}] \
        -metrics {{n count}} -script {
            if {$x == 2} {
                ::tharsis::core::store_open $file
                ::tharsis::core::store_run \
                    {UPDATE point SET status = 'done', n = 5 WHERE point = 2} {} {{}}
            }
            dict create n 1
        }
    check [id_of {run_study s -threads 1}] STUDY-0028
    set table [report_study s -columns {point status n} -format csv -return_string]
    check [lindex [split $table] end-1] 2,done,5
}

# A study never takes the place of another one: here it appears while cells are counted.
test makes_nothing_over_a_study {
    make
    check [uplevel #0 $::run] done
    file rename $::path $::path.kept
    rename ::tharsis::lib::cells_of kept
    proc ::tharsis::lib::cells_of s {file rename $::path.kept $::path; binary format w 0}
    check [id_of {
        create_study other -file $path -parameters {x 1} -metrics {{n count}} -script {}
    }] STUDY-0024
    rename ::tharsis::lib::cells_of {}
    rename ::kept ::tharsis::lib::cells_of
    set table [report_study s -format csv -return_string -columns {point n note}]
    check [lindex [split $table \n] end-1] 3,700,o'clock
}

proc write_file {text} {
    set f [open $::path w]
    puts -nonewline $f $text
    close $f
}

test refuses_other_files {
    make
    file delete $::path
    check [id_of $::open] STUDY-0029 ;# none
    write_file ""
    check [id_of $::open] STUDY-0023
    write_file "a text that is longer than the sixteen bytes that SQLite looks at, and than its\
        header of a hundred bytes\n"
    check [id_of $::open] STUDY-0020
}

# The statements of a script reach no other file.
test refuses_statements_of_other_files {
    make
    ::tharsis::core::store_open $::path
    foreach sql [list "ATTACH '$::other' AS o" "VACUUM INTO '$::other'" \
            "SELECT load_extension('x')"] {
        check [id_of [list ::tharsis::core::store_run $sql {} {{}}]] STUDY-0020 $sql
    }
    check [file exists $::other] 0
}

# The same study each time, without waiting for the disk; whether the statements succeed on it.
proc is_changed {sql} {
    if {![file exists $::path.made]} {
        make
        file copy $::path $::path.made
    }
    file copy -force $::path.made $::path
    return [sql $::path "PRAGMA synchronous = OFF; $sql"]
}

proc expect {id sql {script ""}} {
    check [is_changed $sql] 1 $sql
    check [id_of [expr {$script eq "" ? $::report : $script}]] $id $sql
}

# Whatever somebody has changed in the definition is told, and nothing of it gets into SQL.
test refuses_what_was_tampered_with {
    foreach {id sql} {
        STUDY-0021 {PRAGMA application_id = 5}
        STUDY-0022 {PRAGMA user_version = 1}
        STUDY-0030 {UPDATE value SET value = '3' WHERE value = '16'}
        STUDY-0030 {UPDATE study SET value = 'puts' WHERE key = 'script'}
        STUDY-0030 {DELETE FROM study}
        STUDY-0030 {DELETE FROM value WHERE position = 1}
        STUDY-0030 {DELETE FROM value WHERE parameter = 0}
        STUDY-0030 {UPDATE parameter SET axis = 7 WHERE position = 1}
        STUDY-0030 {UPDATE parameter SET axis = -1 WHERE position = 0}
        STUDY-0030 {UPDATE metric SET type = 9 WHERE position = 0}
        STUDY-0001 {UPDATE metric SET "column" = 'x" FROM point; --' WHERE position = 0}
        STUDY-0008 {UPDATE parameter SET name = 'status' WHERE position = 0}
        STUDY-0030 {DROP TABLE metric}
    } {expect $id $sql $::open}
}

test refuses_points_of_other_grids_and_studies {
    expect STUDY-0025 {UPDATE point SET cell = 9 WHERE point = 1}
    check [id_of $::run] STUDY-0025
    expect STUDY-0092 {UPDATE point SET point = -3 WHERE point = 1}
    expect STUDY-0254 {ALTER TABLE point RENAME COLUMN note TO word}
}

# Each allocation of ours in turn.
test survives_a_lack_of_memory {
    make
    ::tharsis::core::store_open $::path
    set live [alloc live]
    set is_made 0
    for {set k 1} {!$is_made && $k < 200} {incr k} {
        alloc fail $k
        set is_made [expr {![catch {
            ::tharsis::core::store_open $::path
            ::tharsis::core::store_rows {SELECT count(*) FROM point} {} {} i
        }]}]
        alloc fail 0
        if {[alloc live] > $live} {error "allocation $k: blocks stay"}
    }
    check $is_made 1
    check [expr {$k > 3}] 1
}

# ---- a schema and cells that create_study does not make ----

# Views without an end, triggers, other types; every table dropped, renamed or made anew.
test refuses_another_schema {
    foreach table {study parameter value metric point} {
        foreach change {
            {DROP TABLE %1$s}
            {ALTER TABLE %1$s RENAME TO "o%1$s"}
            {ALTER TABLE %1$s ADD COLUMN z DEFAULT 7}
            {CREATE TRIGGER g AFTER UPDATE ON %1$s BEGIN DELETE FROM %1$s; END}
            {CREATE VIEW v AS SELECT * FROM %1$s}
            {CREATE INDEX i ON %1$s (1)}
            {CREATE TABLE other AS SELECT * FROM %1$s; DROP TABLE %1$s;
                ALTER TABLE other RENAME TO %1$s}
            {ALTER TABLE %1$s RENAME TO o; CREATE VIEW %1$s AS SELECT * FROM o}
            {DROP TABLE %1$s; CREATE VIEW %1$s AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL
                SELECT x + 1 FROM c) SELECT 'script' AS key, hex(zeroblob(5000000)) AS value FROM c}
            {DROP TABLE %1$s; CREATE VIRTUAL TABLE %1$s USING fts5(key, value)}
        } {
            set sql [format $change $table]
            if {[is_changed $sql]} { ;# there may be no such column for the index
                check [expr {[id_of $::report] ne ""}] 1 $sql
            }
        }
    }
}

# The definition with columns of any type, in which more rows stand than are counted; and the same
# rows under the name of the table that is expected.
test refuses_untyped_definitions {
    foreach change {
        {INSERT INTO v VALUES (0, NULL, 'x'), (0, NULL, 'y'), (0, NULL, 'z')}
        {INSERT INTO v VALUES (0, 3, 'x'), (0, -1, 'y')}
        {UPDATE v SET position = NULL}
        {UPDATE v SET value = NULL}
        {UPDATE v SET value = zeroblob(1000000)}
        {UPDATE v SET position = 'a'}
    } {
        set copy "CREATE TABLE v (parameter, position, value); INSERT INTO v SELECT * FROM value"
        expect STUDY-0252 "$copy; DROP TABLE value; $change; ALTER TABLE v RENAME TO value"
        set sql "$copy; $change; PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = (SELECT
            sql FROM sqlite_master WHERE name = 'value'), name = 'value', tbl_name = 'value' WHERE
            name = 'v'; DELETE FROM sqlite_master WHERE rowid = (SELECT min(rowid) FROM
            sqlite_master WHERE name = 'value')"
        if {[is_changed $sql]} {check [expr {[id_of $::report] ne ""}] 1 $sql}
    }
}

# Cells that no study has, wherever a column allows them: read to the end, or refused in one line.
test survives_any_cell {
    set n_changed 0
    foreach {table columns} {
        study {value key} parameter {name axis position} value {parameter value position}
        metric {name kind "column" type own}
        point {point cell status error mapping n share_percent note}
    } {
        foreach column $columns {
            if {$column eq "column"} {set column {"column"}}
            foreach cell {
                NULL x'00' x'1b5b324a' zeroblob(1000000) '' -1 4294967296 9223372036854775807
                -9223372036854775807 1e308 {'a' || char(0) || 'b'} {char(27) || '[2J'}
                hex(zeroblob(9000000))
            } {
                if {[is_changed "UPDATE \"$table\" SET $column = $cell WHERE $column = (SELECT
                        min($column) FROM \"$table\") OR $column IS NULL"]} {
                    incr n_changed
                    id_of $::report
                }
            }
        }
    }
    check [expr {$n_changed > 100}] 1
}

# A figure of another type is told; it is not 0, and no state is another one.
test refuses_results_of_other_types {
    foreach change {
        {n = 'slow'} {n = 1.5} {share_percent = x'00'} {note = x'6100'} {status = 'dome'}
        {cell = 'four'}
    } {expect STUDY-0255 "UPDATE point SET $change WHERE point = 2"}
}

# A study of n points with one parameter, in small pages.
proc make_large {n} {
    file delete $::path
    sql $::path {PRAGMA page_size = 512; VACUUM; PRAGMA user_version = 0}
    create_study s -file $::path -parameters [list x [lrepeat $n a]] -metrics {{n count}} -script {}
}

# Each inner page of the points leads, with all of its children, to the next one: as many rows as
# it has children, to the power of the number of pages.
test ends_where_pages_are_shared {
    make_large 6000
    set f [open $::path r+b]
    set pages {}
    for {set at 0} {[string length [set page [read $f 512]]] == 512} {incr at 512} {
        if {[string index $page 0] eq "\x05"} {lappend pages $at $page}
    }
    check [expr {[llength $pages] > 6}] 1
    for {set i 0} {$i + 2 < [llength $pages]} {incr i 2} {
        lassign [lrange $pages $i $i+2] at page next
        set number [binary format I [expr {$next / 512 + 1}]]
        binary scan $page @3Su n
        binary scan $page @12Su$n cells
        foreach cell [concat 8 $cells] { ;# the last child, and the others
            set page [string replace $page $cell $cell+3 $number]
        }
        seek $f $at
        puts -nonewline $f $page
    }
    close $f
    check [id_of $::report] STUDY-0253
}

# Ctrl-C ends reading, and only that.
test stops_reading_at_ctrl_c {
    make_large 20000
    set child [interp create]
    load {} Tharsis $child
    interrupt at 1
    catch {$child eval [list ::tharsis::read_study $::path]} said
    interrupt at 0
    check $said "read_study: interrupted; nothing was changed"
    interrupt take
}
finish
