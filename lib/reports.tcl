# SPDX-License-Identifier: GPL-3.0-or-later
# reports.tcl - reports that are tables of figures. A table is a title, the attributes of a class of
# figures that are its columns (session/objects/figures.h, "query -tables"), the rest of a SELECT
# that begins "FROM CLASS", and notes.

# A column is the name of an attribute, whose heading, kind and meaning it has: "layer=name" under
# another name; "-name" in csv and json alone; {NAME HEADING KIND SQL} is computed. Returns {NAME
# HEADING KIND SQL ?MEANING?}.
proc ::tharsis::lib::column {class column} {
    if {[llength $column] == 4} {return $column}
    regexp {^(-?)(?:(\w+)=)?(\w+)$} $column -> hides field attribute
    lassign [core::figure $class $attribute] kind heading sql meaning
    return [list [expr {$field eq "" ? $attribute : $field}] \
        [expr {$hides eq "" ? $heading : ""}] $kind $sql $meaning]
}

proc ::tharsis::lib::table {name title from columns args} {
    set all [lmap column $columns {column [lindex $from 0] $column}]
    if {$title ne ""} {lappend args title $title}
    return [dict create name $name columns [lmap column $all {lreplace $column 3 3}] \
        query "SELECT [join [lmap column $all {lindex $column 3}] {, }] FROM $from" {*}$args]
}

# The columns of a table of a report, which its help names too; of all these classes. The last one
# may be *: every figure of the run (TH_OF_RUN, session/objects/objects.h) that no table of the
# class has, details in csv and json alone.
proc ::tharsis::lib::columns {report table class columns} {
    variable columns_of
    dict set columns_of $report $table [list $class $columns]
}

# These columns; some of them in csv and json alone.
proc ::tharsis::lib::shown {report table {hides {}}} {
    variable columns_of
    return [lmap column [all_columns {*}[dict get $columns_of $report $table]] {
        expr {$column in $hides ? "-$column" : $column}
    }]
}

proc ::tharsis::lib::all_columns {classes columns} {
    if {[lindex $columns end] ne "*"} {return $columns}
    return [concat [lrange $columns 0 end-1] [others [lindex $classes 0]]]
}

proc ::tharsis::lib::others {class} {
    variable columns_of
    foreach {classes columns} [concat {*}[concat {*}[lmap tables [dict values $columns_of] {
        dict values $tables
    }]]] {
        if {$class ni $classes} continue
        foreach column $columns {lappend named [regsub {^-?(\w+=)?(\w+).*} $column {\2}]}
    }
    return [lmap {name figure} [core::kept $class] {
        if {$name in $named} continue
        expr {[lindex $figure 4] eq "detail" ? "-$name" : $name}
    }]
}

# For help: TABLE COLUMN MEANING ..., of the columns of a report that are attributes.
proc ::tharsis::lib::meanings {report} {
    variable columns_of
    set all {}
    dict for {table x} [get $columns_of $report {}] {
        foreach column [all_columns {*}$x] {
            lassign [column [lindex $x 0 0] $column] name - - - meaning
            if {$meaning ne ""} {lappend all $table $name $meaning}
        }
    }
    return $all
}

proc ::tharsis::lib::report {name title tables args} {
    return [dict create name $name title $title tables $tables {*}$args]
}

# The only row of a statement.
proc ::tharsis::lib::row {sql} {return [lindex [core::rows $sql] 0]}

# Is it printed as text?
proc ::tharsis::lib::is_text {o} {return [expr {[get $o format text] eq "text"}]}

# ---- runs ----

# Where predicted times come from, as notes.
proc ::tharsis::lib::origin_notes {} {
    set said [lmap {origin share} [core::origins] {string cat [percent $share] " $origin"}]
    if {$said eq ""} return
    return [list [list {} "predicted, of accelerators' time: [join $said {, }]"]]
}

::tharsis::lib::columns summary summary run {
    state makespan latency throughput batch_throughput inputs_done macs achieved_macs
    accel_utilization link_utilization network=moved dram tasks events expansions energy *
}
::tharsis::lib::columns summary models models {
    model=name layers arrival end latency longest deadline verdict lateness
}

proc ::tharsis::lib::report_summary {o} {
    core::need run
    set about [core::about]
    lassign [row {SELECT link_utilization, moved_bytes, energy_j FROM run}] links network energy
    if {[dict get $about hand_built] ne ""} {
        set columns [list state makespan tasks tasks_done {*}[expr {$links eq "" ? "" :
            {link_utilization network=moved}}] events {*}[expr {$energy eq "" ? "" : "energy"}] \
            {*}[others run]]
        return [report summary Summary [list [table summary {} run $columns is_record 1\
            notes [origin_notes]]] head [held_against]]
    }
    set columns [shown summary summary [expr {[dict get $about samples] > 1 ? "" :
        "batch_throughput"}]]
    if {$energy eq ""} {set columns [lsearch -all -inline -not -exact $columns energy]}
    set latency "latency: mean over the inputs"
    if {[dict get $about inputs] > 1} {
        set latency "latency: from the arrival of an input to its end, the wait behind earlier\
            inputs included; mean over the inputs"
    }
    set tables [list [table summary {} run $columns is_record 1 notes [list [list latency $latency]\
        {link_utilization {used links busy: mean over the links that carried something}}\
        {expansions {expansions: computes simulated tile by tile, since transfers shared their\
            DRAM}} {*}[origin_notes]]]]
    return [report summary Summary [concat $tables [models_tables]]]
}

# When each model ends, against its deadline; nothing where there are no models.
proc ::tharsis::lib::models_tables {} {
    if {[dict get [core::about] models] == 0} return
    return [list [table models Models models [shown summary models] notes {
        {latency {latency: mean over the inputs}} {longest {longest: of one input}}
        {verdict {verdict: whether it meets the deadline}}}]]
}

::tharsis::lib::columns utilization accelerators accels {
    accel=name utilization busy stall_in stall_out idle tasks sent -stall_input -stall_weight
    -stall_partial -stalled *
}

proc ::tharsis::lib::report_utilization {o} {
    core::need run
    set notes {
        {stall_in {stall in: waiting for operands from DRAM}}
        {stall_out {stall out: waiting for room to store outputs}}
        {busy {busy, both stalls and idle add up to the elapsed time}}
    }
    return [report utilization Utilization [list [table accelerators Utilization accels \
        [shown utilization accelerators] notes [concat $notes [idle_notes]]]] arranged 1]
}

::tharsis::lib::columns layers layer_figures layers {
    layer=name start -end active busy stall_input stall_weight stall_partial stall_output idle kind
    -variant n_accels -tasks -busy_cycles -macs_done -operations utilization bound roofline
    -dram_input -dram_weight -dram_partial dram_read dram_written -input_reads -weight_reads
    -partial_reads -output_writes -energy *
}

# In text, stalls on partial sums have a column where there are any, so that busy and stalls add up
# to active there too; it takes the place of idle where nobody idles.
proc ::tharsis::lib::report_layers {o} {
    set program [dict get [core::about] hand_built]
    fail_if {$program ne ""} TCL-0146 "the program \"[clip $program 100]\" is hand-built: only a\
        mapped workload has layers"
    if {[dict exists $o totals]} {return [layer_totals]}
    core::need run
    lassign [row {SELECT total(stall_partial_ps) > 0, total(idle_ps) > 0 FROM layers}] stalls idles
    set hides [expr {!$stalls ? "stall_partial" : $idles ? "" : "idle"}]
    return [report layers Layers [list [table layer_figures "Layers: time on their accelerators" \
        layers [shown layers layer_figures $hides] breaks_at kind sums {sum {
            busy stall_input stall_weight stall_partial stall_output idle tasks busy_cycles
            macs_done operations dram_input dram_weight dram_partial dram_read dram_written
            input_reads weight_reads partial_reads output_writes energy
    }} notes {
        {active {active: time with a task of the layer under way}}
        {{busy stall_input stall_weight stall_partial stall_output idle} {busy, stalls on input,\
            weight and output, and idle: summed over its accelerators}}
        {utilization {of peak: MACs, of those that the arrays could have done while active}}
        {bound {bound: what took longest}}
        {roofline {x roofline: active, as a multiple of max(MACs / peak, DRAM bytes / bandwidth)}}
        {dram_wait {wait: for DRAM, as a share of the time of its tasks}}
    }]] arranged 1]
}

proc ::tharsis::lib::layer_totals {} {
    core::need workload
    return [report layer_totals "Layers by kind" [list [table layer_totals "Layers by kind" \
        {layers GROUP BY kind ORDER BY min(id)} {
            kind {layers layers count count(*)} {parameters parameters count sum(parameters)}
            {macs MACs count sum(macs)} {activations activations count sum(activations)}
    } sums {sum {layers parameters macs activations}} notes {
        {macs {MACs: multiply-accumulates of one batch}}
        {activations {activations: elements of the outputs of one batch}}
    }]] arranged 1]
}

# The bubble of every accelerator that computes: with cost the longest time, over accelerators, from
# the first start to the last end of its compute tasks, (cost - busy) / cost, as arXiv 2401.10241
# defines the bubble rate where all stages are equally busy.
proc ::tharsis::lib::report_pipeline {o} {
    core::need run
    set from {tasks t JOIN accels a ON a.id = t.accel_id
        WHERE t.kind = 'compute' AND t.end_ps IS NOT NULL GROUP BY t.accel_id}
    lassign [row "SELECT max(cost), sum(busy), count(*) FROM (SELECT max(t.end_ps) - min(t.start_ps)
        AS cost, sum(t.duration_ps) AS busy FROM $from)"] cost busy n
    if {$n == 0} {set cost 0}
    set bubble "1 - iif($cost > 0, sum(t.duration_ps) * 1.0 / $cost, 0)"
    set table [table pipeline {} "$from ORDER BY t.accel_id" [list \
        {accel accel text a.name} {start start time min(t.start_ps)} {end end time max(t.end_ps)} \
        {busy busy time sum(t.duration_ps)} [list bubble bubble share $bubble]]]
    if {$n > 0} {
        set share [expr {$cost > 0 ? 1 - double($busy) / (double($cost) * $n) : 1.0}]
        dict set table total [list all {} {} $busy $share]
    }
    return [report pipeline Pipeline [list $table] arranged 1]
}

# The p-th percentile of n is the ceil(p n / 100)-th smallest (nearest rank).
proc ::tharsis::lib::report_latency {o} {
    core::need run
    set since [get $o since 0]
    set until [get $o until 9223372036854775807]
    fail_if {$until <= $since} TCL-0180 "-until: must be later than -since"
    set transfers "FROM tasks WHERE +kind = 'transfer'" ;# the plus: no index of all tasks is made
    set started "$transfers AND start_ps >= $since AND start_ps < $until"
    lassign [row "SELECT count(*), count(duration_ps), total(duration_ps), max(duration_ps)\
        $started"] n done sum longest
    lassign [row "SELECT total(bytes), (SELECT min(makespan_ps, $until) FROM run) $transfers AND\
        end_ps >= $since AND end_ps < $until"] bytes last
    lassign [lmap p {50 95 99} { ;# from the longest, of which there are fewer
        row "SELECT duration_ps $started AND duration_ps IS NOT NULL ORDER BY duration_ps DESC\
            LIMIT 1 OFFSET [expr {$done - ($p * $done + 99) / 100}]"
    }] median p95 p99
    set mean [expr {$done == 0 ? "" : int($sum / $done + 0.5)}]
    set span [expr {$last - $since}]
    set rate [expr {$span <= 0 ? "" : int(8 * $bytes * 1e12 / $span + 0.5)}]
    return [report latency Latency [list [dict create name latency is_record 1 rows [list \
        [list $n $done $mean $median $p95 $p99 $longest $rate]] columns {
        {transfers "transfers started" count} {done "of these, done" count}
        {mean "mean latency" time} {median median time} {percentile_95 "95th percentile" time}
        {percentile_99 "99th percentile" time} {longest longest time}
        {delivered "delivered bandwidth" bandwidth}
    }] {*}[models_tables]]]
}

# ---- energy, memory ----

::tharsis::lib::columns energy energy {layers accels run} {
    mac=mac_energy vector=vector_energy buffer=buffer_energy dram=dram_energy static=static_energy
    links=link_energy {energy sum energy energy_j}
}

proc ::tharsis::lib::report_energy {o} {
    core::need run
    set program [dict get [core::about] hand_built]
    set by [get $o by [expr {$program ne "" ? "accel" : "layer"}]]
    set columns [shown energy energy]
    set all [row [dict get [table {} {} run $columns] query]]
    fail_if {[lindex $all end] eq ""} TCL-0196 "the system\
        \"[clip [row {SELECT system FROM run}] 100]\" has no energy costs: mac_energy, dram_energy\
        ... of its designs with energy_source, or link_energy"
    fail_if {$by eq "layer" && $program ne ""} TCL-0197 "-by layer: the program\
        \"[clip $program 100]\" is hand-built: must be accel"
    set table [table energy {} ${by}s [linsert $columns 0 $by=name] total [list sum {*}$all]]
    set rows [core::rows [dict get $table query]]
    if {$by eq "layer"} {
        dict set table notes {{layer {(rest): energy of no layer: idle accelerators, what failures\
            cut short, collectives}}}
        lappend rows [energy_rest $all $rows]
    } else {
        set links [lindex $all 5]
        lappend rows [list (links) 0 0 0 0 0 $links $links]
    }
    return [report energy Energy [list [rows_of $table $rows]] arranged 1 \
        head [head_lines costs [dict keys [core::energy_sources]]]]
}

# A difference of sums may be off by their rounding.
proc ::tharsis::lib::energy_rest {all rows} {
    set rest 0.0
    for {set i 1} {$i <= 6} {incr i} {
        set sum [tcl::mathop::+ 0.0 {*}[lmap layer $rows {lindex $layer $i}]]
        set whole [lindex $all $i-1]
        lappend row [set part [expr {$whole - $sum > $whole * 1e-12 ? $whole - $sum : 0.0}]]
        set rest [expr {$rest + $part}]
    }
    return [list (rest) {*}$row $rest]
}

::tharsis::lib::columns memory memory accels {
    accel=name capacity=dram_bytes weights peak {free free bytes {dram_bytes - peak_bytes}}
    {used used share {peak_bytes * 1.0 / dram_bytes}} at=peak_at layer=peak_layer
}

proc ::tharsis::lib::memory_table {} {
    core::need simulation
    return [dict create tables [list [table memory Memory accels [shown memory memory]]]]
}

# ---- the network ----

::tharsis::lib::columns links links links {
    link=name -from -to bandwidth=nominal_bandwidth bytes load -busy utilization mean_flows
    max_flows mean_queue -max_queue *
}

proc ::tharsis::lib::links_table {used} {
    return [dict create tables [list [table links Links \
        "links[expr {$used ? " WHERE bytes > 0 OR busy_ps > 0" : ""}]" [shown links links] notes {
        {load {load: carried / (bandwidth x elapsed time)}}
        {utilization {busy: time with at least one flow}} {mean_flows {flows: mean number while\
            busy}} {mean_queue {queue: mean number beyond the first, over the elapsed time}}
    }]]]
}

::tharsis::lib::columns collectives collectives tasks {
    {task task count id} collective algorithm ranks -chunks {bytes size bytes bytes} -start -end
    {time time time duration_ps} algorithm_bandwidth bus_bandwidth -bound over_bound
}

# Beside the links, by load: the flows over one of them.
proc ::tharsis::lib::report_links {o} {
    core::need run
    if {[dict exists $o by]} {return [links_by_job $o]}
    if {[dict exists $o over_time]} {return [link_over_time $o]}
    if {[dict exists $o flows]} {
        set link [core::link -flows [dict get $o flows]]
    } else {
        set link [expr {[get $o format text] eq "csv" ? "" : [row {SELECT id FROM links
            WHERE bytes > 0 AND load > 0 ORDER BY load DESC, id LIMIT 1}]}]
    }
    set table [lindex [dict get [links_table [dict exists $o used]] tables] 0]
    if {![dict exists $o sort_by]} {dict append table query " ORDER BY load DESC, id"}
    set tables [list $table]
    if {$link ne ""} {lappend tables [link_flows $link $o]}
    return [report links Links $tables arranged 1]
}

proc ::tharsis::lib::link_flows {link o} {
    set title "Flows over link/[clip [row "SELECT name FROM links WHERE id = $link"] 60]"
    if {![dict exists $o flows]} {append title ", the most loaded one"}
    set table [dict create name flows title $title columns {
        {task task count} {what what text} {from from text} {to to text}
        {messages messages count} {bytes carried bytes} {start start time} {end end time}
    } rows [lsort -integer -decreasing -index 5 [core::link_flows $link]]]
    if {[row {SELECT state FROM run}] ne "done"} {
        dict lappend table notes {{messages bytes} {messages, carried: of whole tasks, though the\
            run has not ended}}
    }
    if {[dict get [core::about] reroutes]} {
        dict lappend table notes {{} {by the routes of the system, without detours round links that\
            are down}}
    }
    if {[dict exists $o limit] || [is_text $o]} {dict set table limit [get $o limit 10]}
    return $table
}

proc ::tharsis::lib::link_over_time {o} {
    set link [core::link -over_time [dict get $o over_time]]
    set name [clip [row "SELECT name FROM links WHERE id = $link"] 60]
    return [report links Links [list [dict create name over_time title \
        "Flows on link/$name over time" rows [lmap window [lindex [core::link_windows $link \
            [get $o limit 20]] 0] {
                linsert $window end [expr {[lindex $window 3] - ([lindex $window 3] > 0)}]
            }] columns {
        {start start time} {end end time} {mean_flows flows mean} {max_flows "peak flows" count}
        {max_queue "peak queue" count}
    } notes {
        {mean_flows {flows: their mean over the window}} {max_queue {queue: flows beyond the first}}
    }]]]
}

proc ::tharsis::lib::report_collectives {o} {
    core::need run
    set notes {
        {algorithm_bandwidth {algbw: size / time}}
        {bus_bandwidth {busbw: algbw times the share of the size that each rank sends at least; to\
            be held against nccl-tests only where the links have the rates that messages reach}}
        {over_bound {over bound: time / lower bound of the group alone - 1}}
    }
    if {[dict get [core::about] chooses]} {
        set notes [linsert $notes 0 {algorithm {algorithm: the fastest, where system.json names\
            none for all ranks at once}}]
    }
    return [report collectives Collectives [list [table collectives Collectives \
        {tasks WHERE +kind = 'collective'} [shown collectives collectives] wide_range 1 \
        notes $notes]] arranged 1]
}

# ---- jobs ----

proc ::tharsis::lib::need_jobs {} {
    core::need run
    if {[dict get [core::about] jobs] == 0} {
        uplevel 1 {fail TCL-0935 "what ran has no jobs: create_program and add_job"}
    }
}

::tharsis::lib::columns jobs jobs jobs {
    job=name program ranks -tasks start end time {alone alone time NULL}
    {slowdown slowdown mean NULL} {bytes "over links" bytes NULL}
}

proc ::tharsis::lib::report_jobs {o} {
    need_jobs
    set table [table jobs Jobs jobs [shown jobs jobs] notes {
        {time {time: end - start}}
        {alone {alone: the same without the other jobs, simulated on the same accelerators}}
        {slowdown {slowdown: time / alone}} {bytes {over links: summed over all links}}
    }]
    set j -1
    return [report jobs Jobs [list [rows_of $table [lmap row [core::rows [dict get $table query]] \
        bytes [lrange [core::bytes_by_job] 0 end-1] {
            set alone [core::job_alone [incr j]]
            if {$alone ne ""} {set alone [expr {$alone - [lindex $row 4]}]}
            set time [lindex $row 6]
            set slowdown [expr {$time ne "" && $alone ne "" && $alone > 0 ?
                double($time) / $alone : ""}]
            lreplace $row 7 9 $alone $slowdown [expr [join [linsert $bytes 0 0] +]]
    }]]] arranged 1]
}

proc ::tharsis::lib::links_by_job {o} {
    need_jobs
    set names [concat [core::rows {SELECT name FROM jobs}] {{}}]
    set elapsed [row {SELECT makespan_ps FROM run}]
    set by_job [core::bytes_by_job]
    set rows {}
    set l -1
    foreach link [core::rows {SELECT name, nominal_bandwidth_bits_per_s FROM links}] {
        lassign $link name bandwidth
        incr l
        set bytes [lmap job $by_job {lindex $job $l}]
        set all [expr [join $bytes +]]
        set bits [expr {$bandwidth * ($elapsed / 1e12)}]
        foreach job $names own $bytes {
            if {$own == 0} continue
            lappend rows [list $name [lindex $job 0] $own [expr {double($own) / $all}] \
                [expr {$bits == 0 ? 0.0 : 8.0 * $own / $bits}]]
        }
    }
    if {![dict exists $o sort_by]} {set rows [lsort -integer -decreasing -index 2 $rows]}
    return [report links Links [list [dict create name by_job title "Links by job" rows $rows \
        columns {{link link text} {job job text} {bytes carried bytes} {share "of the link" share}
            {load load share}} notes {
            {share {of the link: of all bytes over it}}
            {load {load: carried / (bandwidth x elapsed time)}}
    }]] arranged 1]
}

proc ::tharsis::lib::report_ranks {o} {
    set reasons [core::rank_reasons]
    set table [table ranks {} ranks {{rank rank count id} state finish exposed
        {reason "what is left" text NULL}} wraps 1 absent - notes {{exposed
        {exposed: until its finish without computation}}}]
    return [report ranks Ranks [list [rows_of $table [lmap row [core::rows [dict get $table \
        query]] reason $reasons {lreplace $row 4 4 $reason}]]] arranged 1]
}

# ---- mappings, plans of training ----

::tharsis::lib::columns mapping sets sets {
    {set set count id} n_accels n_layers first_layer last_layer begin end design accels shares
}
::tharsis::lib::columns mapping plan_stages stages {
    {stage stage count id} layers ranks accels memory
}
::tharsis::lib::columns mapping layers layers {layer=name {count count count 1} set strategy shard}

# Which set works when is shown where sets share accelerators.
proc ::tharsis::lib::sets_table {} {
    lassign [row {SELECT max(overlaps) > 0, max("begin_ps") IS NOT NULL FROM sets}] overlaps has_run
    set hides {}
    if {!$overlaps} {set hides {first_layer last_layer}}
    if {!$overlaps || !$has_run} {lappend hides begin end}
    set is_equal [row {SELECT count(*) = 0 FROM sets WHERE shares <> 'equal'}]
    set notes [idle_notes]
    if {[row {SELECT count(*) > 0 FROM sets WHERE design = 'own'}]} {
        lappend notes {design {own: each of its accelerators has its own design}}
    }
    return [dict create tables [list [table sets "Sets of accelerators" sets \
        [lrange [shown mapping sets $hides] 0 end-$is_equal] notes $notes]]]
}

# Merged: neighbours of the same set, strategy and part of an output share a line, which has the
# largest of each extent; fully connected layers must be equal in all.
proc ::tharsis::lib::mapped_layers {is_merged} {
    set table [table layers Layers layers [shown mapping layers]]
    if {!$is_merged} {return [dict create tables [list $table]]}
    set dims {B K C H W R S}
    lassign {} lines last
    foreach row [core::rows [dict get $table query]] is_fc [core::rows {SELECT kind = 'fc' FROM\
        layers}] {
        lassign $row name - set strategy shard
        set extents [lmap dim $dims {expr {[regexp "$dim\\d+" $shard part] ?
            [string range $part 1 end] : 1}}]
        lassign $last first - count set_before strategy_before extents_before fc_before
        set compared [expr {$is_fc || $fc_before eq 1 ? $dims : "B K H W"}]
        if {$last ne "" && $set == $set_before && $strategy eq $strategy_before &&
            [lmap d $dims e $extents {expr {$d in $compared ? $e : 0}}] eq
            [lmap d $dims e $extents_before {expr {$d in $compared ? $e : 0}}]} {
            set extents [lmap a $extents b $extents_before {expr {$a > $b ? $a : $b}}]
            set lines [lrange $lines 0 end-1]
        } else {
            set first $name
            set count 0
        }
        set last [list $first $name [incr count] $set $strategy $extents $is_fc]
        lappend lines $last
    }
    return [dict create tables [list [rows_of $table [lmap line $lines {
        lassign $line first last count set strategy extents
        set shard [concat {*}[lmap d $dims e $extents {expr {$e > 1 ? "$d$e" : ""}}]]
        set range "[clip $first 96] .. [clip $last 96]"
        list [expr {$count > 1 ? [regsub {^([^/]+/)(.*) \.\. \1} $range {\1\2 .. }] :
            [clip $first 96]}] $count $set $strategy [expr {$shard eq "" ? 1 : $shard}]
    }]]]]
}

# Of a step of training the mapping is its plan.
proc ::tharsis::lib::report_mapping {o} {
    if {[dict get [core::about] is_step]} {
        return [report mapping Plan [list [table plan_stages {} stages \
            [shown mapping plan_stages]]] arranged 1]
    }
    core::need mapping
    set sets [dict get [sets_table] tables]
    if {[dict exists $o alternatives]} {
        return [report mapping Mapping [concat $sets [alternatives $o]] arranged 3]
    }
    set is_merged [expr {[is_text $o] && ![dict exists $o sort_by]}]
    return [report mapping Mapping [concat $sets [dict get [mapped_layers $is_merged] tables]] \
        arranged 2]
}

# Other designs for each layer, and strategies without rotation.
proc ::tharsis::lib::alternatives {o} {
    set found [lassign [core::alternatives] makespan]
    set names [core::rows {SELECT name, set_id, design FROM layers}]
    set designs [lmap design [lrange [core::designs] 0 59] {lindex $design 0}]
    lassign {} of_designs shards unfit
    foreach x $found {
        lassign $x layer alone by_design split rotates phase exclusive exclusive_alone instead why
        set name [lindex $names $layer 0]
        lappend of_designs [list {*}[lindex $names $layer] $alone \
            {*}[lrange $by_design 0 [llength $designs]-1]]
        lappend shards [list $name $split $alone $rotates $phase $exclusive $exclusive_alone \
            $instead [change_from $instead $makespan] $why]
        if {$why ne ""} { ;# reasons are long
            set end [string first ": " $why [expr {[string first ": " $why] + 1}]]
            lappend unfit [list $name [expr {$end < 0 ? $why : [string range $why 0 $end-1]}]]
        }
    }
    set tables [list [dict create name designs title "Each layer alone, by its fastest strategy" \
        rows $of_designs columns [concat {{layer layer text} {set set count} {design design text}
            {alone "this mapping" time}} [lmap name $designs {list $name $name time}]] \
        notes {{alone {this mapping: with its present design and strategy; then each design with\
            the strategy that is fastest on it}}} {*}[expr {[dict exists $o limit] ?
        [list limit [dict get $o limit]] : ""}]]]
    lappend tables [dict create name shards title "Exclusive shards instead" rows $shards columns {
        {layer layer text} {split split text} {alone alone time} {rotates rotates text}
        {phase "per phase" bytes} {exclusive "best ES" text} {exclusive_alone "ES alone" time}
        {run_exclusive {} time} {change "run with ES" change} {infeasibility {} text}
    } notes {
        {alone {alone: the layer by itself}}
        {{rotates phase} {rotates, per phase: what its accelerators pass on, and how much of it in\
            a phase}}
        {{exclusive exclusive_alone change} {ES: exclusive shards, a strategy without rotation}}
        {change {run with ES: change of the makespan if this layer alone took it}}
    }]
    if {[is_text $o] && [llength $unfit] > 0} {
        lappend tables [dict create name infeasible rows $unfit title \
            "Where the best exclusive shards do not fit" columns {
            {layer layer text} {infeasibility "why its best ES does not fit" text}
        }]
    }
    return $tables
}
