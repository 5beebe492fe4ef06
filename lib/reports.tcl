# SPDX-License-Identifier: GPL-3.0-or-later
# reports.tcl - reports that are tables of figures. A table is a title, the attributes of a class of
# figures that are its columns (report/objects/figures.h, "query -tables"), the rest of a SELECT
# that begins "FROM CLASS", and notes.

# A column is the name of an attribute, whose heading and kind it has: "layer=name" under another
# name; "-name" in csv and json alone; {NAME HEADING KIND SQL} is computed.
proc ::tharsis::lib::table {name title from columns args} {
    set class [lindex $from 0]
    set shown {}
    set values {}
    foreach column $columns {
        if {[llength $column] == 4} {
            lassign $column field heading kind value
        } else {
            regexp {^(-?)(?:(\w+)=)?(\w+)$} $column -> hides field attribute
            lassign [core::figure $class $attribute] kind heading value
            if {$field eq ""} {set field $attribute}
            if {$hides ne ""} {set heading ""}
        }
        lappend shown [list $field $heading $kind]
        lappend values $value
    }
    if {$title ne ""} {lappend args title $title}
    return [dict create name $name columns $shown query "SELECT [join $values {, }] FROM $from" \
        {*}$args]
}

proc ::tharsis::lib::report {name title tables args} {
    return [dict create name $name title $title tables $tables {*}$args]
}

# The only row of a statement.
proc ::tharsis::lib::row {sql} {return [lindex [core::rows $sql] 0]}

# Is it printed as text?
proc ::tharsis::lib::is_text {o} {return [expr {[get $o format text] eq "text"}]}

# ---- runs ----

proc ::tharsis::lib::report_summary {o} {
    core::need run
    set about [core::about]
    lassign [row {SELECT link_utilization, network_bytes, energy_j FROM run}] links network energy
    set energy [expr {$energy eq "" ? "" : "energy"}]
    if {[dict get $about hand_built] ne ""} {
        set columns [list state makespan tasks tasks_done {*}[expr {$links eq "" ? "" :
            {link_utilization network}}] events {*}$energy]
        return [report summary Summary [list [table summary {} run $columns is_record 1]]]
    }
    set columns [list state makespan latency throughput \
        [expr {[dict get $about samples] > 1 ? "" : "-"}]batch_throughput inputs_done macs \
        achieved_macs accel_utilization link_utilization network dram tasks events expansions \
        {*}$energy]
    set latency "latency: mean over the inputs"
    if {[dict get $about inputs] > 1} {
        set latency "latency: from the arrival of an input to its end, the wait behind earlier\
            inputs included; mean over the inputs"
    }
    set tables [list [table summary {} run $columns is_record 1 notes [list [list latency $latency]\
        {link_utilization {used links busy: mean over the links that carried something}}\
        {expansions {expansions: computes simulated tile by tile, since transfers shared their\
            DRAM}}]]]
    if {[dict get $about models] > 0} {
        lappend tables [table models Models models {model=name layers arrival end latency longest\
            deadline verdict lateness} notes {
            {latency {latency: mean over the inputs}} {longest {longest: of one input}}
            {verdict {verdict: whether it meets the deadline}}}]
    }
    return [report summary Summary $tables]
}

proc ::tharsis::lib::report_utilization {o} {
    core::need run
    return [report utilization Utilization [list [table accelerators Utilization accels {
        accel=name utilization busy stall_in stall_out idle tasks sent -stall_input -stall_weight
        -stall_partial
    } notes {
        {stall_in {stall in: waiting for operands from DRAM}}
        {stall_out {stall out: waiting for room to store outputs}}
        {busy {busy, both stalls and idle add up to the elapsed time}}
    }]] arranged 1]
}

# In text, stalls on partial sums have a column where there are any, so that busy and stalls add up
# to active there too; it takes the place of idle where nobody idles.
proc ::tharsis::lib::report_layers {o} {
    if {[set program [dict get [core::about] hand_built]] ne ""} {
        fail TCL-0146 "the program \"[clip $program 100]\" is hand-built: only a mapped workload\
            has layers"
    }
    if {[dict exists $o totals]} {return [layer_totals]}
    core::need run
    lassign [row {SELECT total(stall_partial_ps) > 0, total(idle_ps) > 0 FROM layers}] stalls idles
    set hides_idle [expr {$stalls && !$idles ? "-" : ""}]
    set columns [list layer=name start -end active busy stall_input stall_weight \
        [expr {$stalls ? "" : "-"}]stall_partial stall_output ${hides_idle}idle kind -variant \
        n_accels -tasks -busy_cycles -macs_done -operations utilization bound roofline -dram_input \
        -dram_weight -dram_partial dram_read dram_written -input_reads -weight_reads \
        -partial_reads -output_writes -energy]
    return [report layers Layers [list [table layer_figures "Layers: time on their accelerators" \
        layers $columns breaks_at kind sums {sum {
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
    set times "SELECT max(t.end_ps) - min(t.start_ps) AS cost, sum(t.duration_ps) AS busy FROM $from"
    lassign [row "SELECT max(cost), sum(busy), count(*) FROM ($times)"] cost busy n
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
    if {$until <= $since} {fail TCL-0180 "-until: must be later than -since"}
    set started "kind = 'transfer' AND start_ps >= $since AND start_ps < $until"
    lassign [row "SELECT count(*), count(duration_ps), total(duration_ps) FROM tasks
        WHERE $started"] n done sum
    lassign [row "SELECT total(bytes), min((SELECT makespan_ps FROM run), $until) FROM tasks
        WHERE kind = 'transfer' AND end_ps >= $since AND end_ps < $until"] bytes last
    set times [lmap p {50 95 99 100} {
        expr {$done == 0 ? "NULL" : "(SELECT duration_ps FROM tasks WHERE $started AND duration_ps\
            IS NOT NULL ORDER BY duration_ps LIMIT 1 OFFSET [expr {($p * $done + 99) / 100 - 1}])"}
    }]
    lassign [row "SELECT [join $times {, }]"] median p95 p99 longest
    set mean [expr {$done == 0 ? "" : int($sum / $done + 0.5)}]
    set span [expr {$last - $since}]
    set rate [expr {$span <= 0 ? "" : int(8 * $bytes * 1e12 / $span + 0.5)}]
    return [report latency Latency [list [dict create name latency is_record 1 rows [list \
        [list $n $done $mean $median $p95 $p99 $longest $rate]] columns {
        {transfers "transfers started" count} {done "of these, done" count}
        {mean "mean latency" time} {median median time} {percentile_95 "95th percentile" time}
        {percentile_99 "99th percentile" time} {longest longest time}
        {delivered "delivered bandwidth" bandwidth}
    }]]]
}
