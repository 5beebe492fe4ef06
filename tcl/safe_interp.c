/* SPDX-License-Identifier: GPL-3.0-or-later */
/* safe_interp.c - see safe_interp.h. */
#include <config.h>
#include "tcl/safe_interp.h"
#include <stdatomic.h>
#include "base/files/open_file.h"
#include "tcl/init.h"
#include "tcl/tcl_session.h"

static th_file_policy confined = {NULL, "refused by -safe", true};

static atomic_bool is_confined;

void th_interp_confine_all(bool (*may)(const char *path, bool writes))
{
    confined.may = may;
    atomic_store(&is_confined, true);
}

/* The kernel refuses most of it too; this says why, and holds where the kernel cannot. A command
 * that is hidden can be called by "interp invokehidden" alone, and interp goes as well. Packages
 * ask for "interp issafe". "file normalize" would tell where links elsewhere lead: here it does
 * not look at files. */
static const char restrictions[] =
    "auto_load ::tclPkgUnknown\n" /* its file makes an alias */
    "foreach name {exec socket load unload interp} {\n"
    "    if {[::tcl::namespace::which -command ::$name] eq {}} continue\n"
    "    interp hide {} $name\n"
    "    proc ::$name args \"error {$name: refused in a stranger's script}\"\n"
    "}\n"
    "proc ::interp {what args} {\n"
    "    if {$what eq {issafe}} {return 0}\n"
    "    error \"interp $what: refused in a stranger's script\"\n"
    "}\n"
    "proc ::tcl::file::normalize path {\n"
    "    set parts {}\n"
    "    foreach part [file split [file join [pwd] $path]] {\n"
    "        if {$part eq {..}} {\n"
    "            set parts [lrange $parts 0 [expr {max(0, [llength $parts] - 2)}]]\n"
    "        } elseif {$part ne {.}} {\n"
    "            lappend parts $part\n"
    "        }\n"
    "    }\n"
    "    file join {*}$parts\n"
    "}\n"
    "array unset ::env\n";

static Tcl_ObjCmdProc *open_of_tcl;

/* "open" without its programs. */
static int open_file(ClientData data, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[])
{
    if (objc < 2 || Tcl_GetString(objv[1])[0] != '|')
        return open_of_tcl(data, interp, objc, objv);
    Tcl_SetObjResult(interp,
                     Tcl_NewStringObj("open: a program: refused in a stranger's script", -1));
    return TCL_ERROR;
}

static int restrict_commands(Tcl_Interp *interp)
{
    Tcl_CmdInfo info;
    if (th_session_of(interp))
        th_tcl_of(th_session_of(interp))->files = &confined;
    if (!Tcl_GetCommandInfo(interp, "open", &info))
        return TCL_ERROR;
    open_of_tcl = info.objProc; /* the same in all interpreters */
    Tcl_CreateObjCommand(interp, "open", open_file, info.objClientData, NULL);
    return Tcl_EvalEx(interp, restrictions, -1, TCL_EVAL_GLOBAL);
}

static int make_safe(Tcl_Interp *interp)
{
    static const int numbers[] = {TCL_STDIN, TCL_STDOUT, TCL_STDERR};
    enum { N = sizeof numbers / sizeof *numbers };
    Tcl_Channel channels[N];
    for (int i = 0; i < N; i++) /* Tcl_MakeSafe takes them away, and nobody else may use them */
        if ((channels[i] = Tcl_GetStdChannel(numbers[i])))
            Tcl_RegisterChannel(NULL, channels[i]);
    int code = Tcl_MakeSafe(interp);
    for (int i = 0; i < N; i++)
        if (channels[i] && numbers[i] != TCL_STDIN && th_session_of(interp))
            Tcl_RegisterChannel(interp, channels[i]);
    return code;
}

int th_interp_new(bool is_safe, Tcl_Interp **out)
{
    Tcl_Interp *interp = *out = Tcl_CreateInterp();
    if (Tcl_Init(interp) != TCL_OK || th_init_commands(interp) != TCL_OK ||
        Tcl_Eval(interp, "namespace import ::tharsis::*") != TCL_OK)
        return TCL_ERROR;
    if (!is_safe)
        return atomic_load(&is_confined) ? restrict_commands(interp) : TCL_OK;
    th_session_refuse_files(th_session_of(interp));
    return make_safe(interp) == TCL_OK ? Tcl_HideCommand(interp, "interp", "interp") : TCL_ERROR;
}

/* Commands that keep a state, tell the time or draw at random are taken from procedures of designs.
 * After a call, "variables" tells names, and values of global variables, without what errors leave
 * behind: an answer that depends on the calls before it would depend on the threads. */
static const char seal[] =
    "proc ::tharsis::variables {} {\n"
    "    unset -nocomplain ::errorInfo ::errorCode\n"
    "    foreach name [info globals] {\n"
    "        set value [expr {[array exists ::$name] ? [array get ::$name] : [set ::$name]}]\n"
    "        lappend found [list ::$name $value]\n"
    "    }\n"
    "    set spaces [namespace children ::]\n"
    "    while {$spaces ne {}} {\n"
    "        set spaces [lassign $spaces space]\n"
    "        lappend spaces {*}[namespace children $space]\n"
    "        lappend found {*}[info vars ${space}::*]\n"
    "    }\n"
    "    return $found\n"
    "}\n"
    "proc ::tharsis::answer {procedure shard parameters} {\n"
    "    set answer [$procedure $shard $parameters]\n"
    "    foreach variable [variables] {\n"
    "        if {$variable ni [seen]} {\n"
    "            error \"sets [lindex $variable 0]: must depend on its arguments alone\"\n"
    "        }\n"
    "    }\n"
    "    return $answer\n"
    "}\n"
    "foreach name {after chan clock coroutine fileevent interp package pid time trace unknown "
    "update "
    "vwait yield yieldto} {\n"
    "    catch {rename ::$name {}}\n"
    "}\n"
    "foreach name {info::cmdcount mathfunc::rand mathfunc::srand namespace::delete "
    "namespace::ensemble namespace::eval namespace::export namespace::forget namespace::import "
    "namespace::inscope namespace::path namespace::unknown namespace::upvar} {\n"
    "    catch {rename ::tcl::$name {}}\n"
    "}\n"
    "foreach name [info commands ::oo::*] {catch {rename $name {}}}\n"
    "foreach space {::tcl::clock ::tcl::unsupported} {catch {namespace delete $space}}\n"
    "unset -nocomplain name space\n"
    "proc ::tharsis::seen {} [list return [::tharsis::variables]]\n"
    "rename ::proc {}\n"
    "rename ::rename {}\n";

int th_interp_new_for_procedures(const char *text, Tcl_Interp **out)
{
    Tcl_Interp *interp = *out = Tcl_CreateInterp();
    Tcl_Obj *list = Tcl_NewStringObj(text, -1), *packages = NULL, *procedures = NULL;
    Tcl_IncrRefCount(list);
    bool failed = Tcl_Init(interp) != TCL_OK ||
                  (atomic_load(&is_confined) && restrict_commands(interp) != TCL_OK) ||
                  Tcl_ListObjIndex(interp, list, 0, &packages) != TCL_OK || !packages ||
                  Tcl_EvalObjEx(interp, packages, TCL_EVAL_GLOBAL) != TCL_OK ||
                  make_safe(interp) != TCL_OK ||
                  Tcl_ListObjIndex(interp, list, 1, &procedures) != TCL_OK || !procedures ||
                  Tcl_EvalObjEx(interp, procedures, TCL_EVAL_GLOBAL) != TCL_OK ||
                  Tcl_EvalEx(interp, seal, -1, TCL_EVAL_GLOBAL) != TCL_OK;
    Tcl_DecrRefCount(list);
    return failed ? TCL_ERROR : TCL_OK;
}

Tcl_Interp *th_interp_new_for_expressions(Tcl_Interp *parent)
{
    Tcl_DeleteCommand(parent, TH_WHERE_INTERP);
    Tcl_Interp *interp = Tcl_CreateSlave(parent, TH_WHERE_INTERP, 1);
    if (interp)
        Tcl_HideCommand(interp, "interp", "interp");
    return interp;
}
