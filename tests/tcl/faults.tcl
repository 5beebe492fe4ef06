# SPDX-License-Identifier: GPL-3.0-or-later
# faults.tcl - processes of which one call that writes to files fails, or kills (write_faults.c).
# Sourced behind common.tcl; tests that use it have the constraint faults.
set faults_library [file join [temporaryDirectory] write_faults.so]
set faults_mark [file join [temporaryDirectory] struck]
# A library that is loaded first is what the address sanitizer wants to be.
testConstraint faults [expr {
    !([info exists env(THARSIS_SANITIZERS)] && $env(THARSIS_SANITIZERS) eq "yes") && \
        [file isdirectory /proc/self/fd] &&
    ![catch {exec {*}[expr {[info exists env(CC)] ? $env(CC) : "cc"}] -shared -fPIC\
                -o $faults_library \
        [file join $root tests tcl write_faults.c] -ldl}]}]

# Runs a script; call number at that changes a file with part in its path fails with how: "kill", or
# the number of an error. Whether there was such a call, how the process ended (0, its status, or
# SIGKILL), and what it said.
proc broken_at {at how part script} {
    global faults_library faults_mark
    file delete $faults_mark
    set code [catch {
        exec env LD_LIBRARY_PATH=[file dirname $faults_library] \
            LD_PRELOAD=[file tail $faults_library] FAULT_PATH=$part FAULT_AT=$at FAULT_HOW=$how \
            FAULT_MARK=$faults_mark \
            [info nameofexecutable] -no_init -batch [file_with broken.tcl $script] 2>@1
    } said options]
    set end [expr {$code == 0 ? 0 : [lindex [dict get $options -errorcode] 2]}]
    return [list [file exists $faults_mark] $end $said]
}
