/* SPDX-License-Identifier: GPL-3.0-or-later */
/* files.c - see files.h. TH_SOURCE_DIR and TH_DATA_DIR come from the build. */
#include <config.h>
#include "tcl/files.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include "base/files/data_file.h"
#include "base/files/open_file.h"
#include <string.h>
#include <sys/stat.h>
#include "base/alloc.h"
#include "topology/generate/pods.h"

static const char *const system_folders[] = {"topology/systems", NULL};
static const char *const workload_folders[] = {"workloads/models", NULL};
static const char *const schedule_folders[] = {"scripts/schedules", NULL};
static const char *const mapping_folders[] = {"scripts", "scripts/experiments", NULL};

static const char *const device_folders[] = {"predictor", NULL};
static const char *const model_folders[] = {"predictor/models", NULL};

const char *th_pod_name(int i)
{
    return th_pods[i].name;
}

const th_file_kind th_system_file = {"system", ".cfg", system_folders, th_pod_name};
const th_file_kind th_workload_file = {"workload", ".cfg", workload_folders};
const th_file_kind th_onnx_workload_file = {"workload", ".onnx", workload_folders};
const th_file_kind th_scalesim_workload_file = {"topology", ".csv", workload_folders};
const th_file_kind th_astra_network_file = {"network", ".yml", system_folders};
const th_file_kind th_astra_system_file = {"system", ".json", system_folders};
const th_file_kind th_schedule_file = {"schedule", ".cfg", schedule_folders};
const th_file_kind th_devices_file = {"devices", ".csv", device_folders};
const th_file_kind th_measurements_file = {"measurements", ".csv", model_folders};
const th_file_kind th_predictor_file = {"predictor", ".model", model_folders};
const th_file_kind th_mapping_file = {"mapping", ".map", mapping_folders};

static bool is_file(Tcl_Obj *path)
{
    struct stat s;
    const char *native = Tcl_FSGetNativePath(path);
    return native && th_file_stat(native, &s) == 0 && !S_ISDIR(s.st_mode);
}

static bool is_folder(Tcl_Obj *path)
{
    struct stat s;
    const char *native = Tcl_FSGetNativePath(path);
    return native && th_file_stat(native, &s) == 0 && S_ISDIR(s.st_mode);
}

/* FOLDER/NAME or FOLDER/NAME.ext (without a folder, NAME itself), with a reference; NULL: neither
 * exists. */
static Tcl_Obj *try(const char *folder, const char *name, const char *extension)
{
    const char *const endings[] = {"", extension, NULL};
    for (int i = 0; endings[i]; i++) {
        Tcl_Obj *path = folder ? Tcl_ObjPrintf("%s/%s%s", folder, name, endings[i])
                               : Tcl_ObjPrintf("%s%s", name, endings[i]);
        Tcl_IncrRefCount(path);
        if (is_file(path))
            return path;
        Tcl_DecrRefCount(path);
    }
    return NULL;
}

/* The folders to look in, as a list: those of $THARSIS_PATH, of the sources, of the installation,
 * and of one that was unpacked elsewhere. */
static Tcl_Obj *folders_of(th_session *s, const th_file_kind *kind)
{
    Tcl_Obj *list = Tcl_NewListObj(0, NULL);
    const char *path = NULL;
    if (th_file_policy_now() != &th_shipped_files_only) /* else near misses show a folder's names */
        path = Tcl_GetVar2(th_tcl_of(s)->interp, "env", "THARSIS_PATH", TCL_GLOBAL_ONLY);
    while (path && *path != '\0') {
        size_t length = strcspn(path, ":");
        if (length > 0)
            Tcl_ListObjAppendElement(NULL, list, Tcl_NewStringObj(path, (int)length));
        path += length + (path[length] == ':');
    }
    for (int i = 0; kind->folders[i]; i++)
        Tcl_ListObjAppendElement(NULL, list,
                                 Tcl_ObjPrintf("%s/%s", TH_SOURCE_DIR, kind->folders[i]));
    for (int i = 0; kind->folders[i]; i++)
        Tcl_ListObjAppendElement(NULL, list, Tcl_ObjPrintf("%s/%s", TH_DATA_DIR, kind->folders[i]));
    th_strbuf moved = TH_STRBUF_INIT;
    for (int i = 0; th_data_file_moved_folder(&moved) && kind->folders[i]; i++) {
        Tcl_ListObjAppendElement(NULL, list, Tcl_ObjPrintf("%s/%s", moved.text, kind->folders[i]));
        th_strbuf_clear(&moved);
    }
    th_strbuf_clear(&moved);
    Tcl_IncrRefCount(list);
    return list;
}

/* ---- near misses ---- */

/* Adds the names in a folder that end in extension, without it. */
static void add_names(Tcl_Obj *names, const char *folder, const char *extension)
{
    Tcl_Obj *found = Tcl_NewListObj(0, NULL), *path = Tcl_NewStringObj(folder, -1);
    Tcl_Obj *pattern = Tcl_ObjPrintf("*%s", extension);
    Tcl_Obj **files;
    Tcl_Size n = 0;
    Tcl_IncrRefCount(found);
    Tcl_IncrRefCount(path);
    Tcl_IncrRefCount(pattern);
    if (Tcl_FSMatchInDirectory(NULL, found, path, Tcl_GetString(pattern), NULL) == TCL_OK &&
        Tcl_ListObjGetElements(NULL, found, &n, &files) == TCL_OK)
        for (Tcl_Size i = 0; i < n; i++) {
            const char *file = Tcl_GetString(files[i]), *slash = strrchr(file, '/');
            const char *name = slash ? slash + 1 : file;
            Tcl_ListObjAppendElement(
                NULL, names, Tcl_NewStringObj(name, (int)(strlen(name) - strlen(extension))));
        }
    Tcl_DecrRefCount(pattern);
    Tcl_DecrRefCount(path);
    Tcl_DecrRefCount(found);
}

/* Sorted and without doubles, so that messages do not depend on the file system. Referenced. */
static Tcl_Obj *sorted(th_session *s, Tcl_Obj *names)
{
    Tcl_Interp *interp = th_tcl_of(s)->interp;
    Tcl_Obj *const words[] = {Tcl_NewStringObj("::lsort", -1), Tcl_NewStringObj("-unique", -1),
                              names};
    Tcl_Obj *result = names;
    Tcl_IncrRefCount(names);
    if (th_eval_words(interp, 3, words) == TCL_OK)
        result = Tcl_GetObjResult(interp);
    Tcl_IncrRefCount(result);
    Tcl_DecrRefCount(names);
    Tcl_ResetResult(interp);
    return result;
}

Tcl_Obj *th_file_names(th_session *s, const th_file_kind *kind)
{
    Tcl_Obj *all = Tcl_NewListObj(0, NULL), *folders = folders_of(s, kind), **element;
    Tcl_Size n;
    Tcl_ListObjGetElements(NULL, folders, &n, &element);
    for (Tcl_Size i = 0; i < n; i++)
        add_names(all, Tcl_GetString(element[i]), kind->extension);
    Tcl_DecrRefCount(folders);
    return sorted(s, all);
}

/* A word with a folder or an extension means a file, so no names are suggested. */
static bool is_of_file(const th_file_kind *kind, const char *name)
{
    size_t n = strlen(name), end = strlen(kind->extension);
    return strchr(name, '/') || (n >= end && strcmp(name + n - end, kind->extension) == 0);
}

static void not_found(th_session *s, const th_file_kind *kind, const char *name, th_error *err)
{
    if (is_of_file(kind, name)) {
        th_error_set(
            err, "TCL-0033",
            "%s \"%s\": no such file, here, in THARSIS_PATH or among those that come with Tharsis",
            kind->what, name);
        return;
    }
    Tcl_Obj *all = th_file_names(s, kind), **element;
    Tcl_Size n;
    for (int i = 0; kind->other && kind->other(i); i++)
        Tcl_ListObjAppendElement(NULL, all, Tcl_NewStringObj(kind->other(i), -1));
    Tcl_ListObjGetElements(NULL, all, &n, &element);
    const char **names = th_alloc_array((size_t)n + 1, sizeof *names);
    if (!names) {
        th_error_no_memory(err);
    } else {
        for (Tcl_Size i = 0; i < n; i++)
            names[i] = Tcl_GetString(element[i]);
        names[n] = NULL;
        th_error e;
        th_error_unknown(&e, "TCL-0030", kind->what, name, names);
        if (n > 0)
            th_error_set(err, e.id, "%s, or a file", e.text);
        else
            th_error_set(err, e.id, "%s \"%s\": no such file", kind->what, name);
    }
    th_free(names);
    Tcl_DecrRefCount(all);
}

Tcl_Obj *th_file_find(th_session *s, const th_file_kind *kind, Tcl_Obj *name, th_error *err)
{
    const char *text = Tcl_GetString(name);
    Tcl_Obj *here = Tcl_FSGetCwd(NULL); /* once Tcl knows it, relative paths stay relative */
    if (here)
        Tcl_DecrRefCount(here);
    Tcl_Obj *found = try(NULL, text, kind->extension);
    if (found)
        return found;
    Tcl_Obj *folders = folders_of(s, kind), **element;
    Tcl_Size n;
    Tcl_ListObjGetElements(NULL, folders, &n, &element);
    for (Tcl_Size i = 0; i < n && !found; i++)
        found = try(Tcl_GetString(element[i]), text, kind->extension);
    if (!found && is_folder(name))
        th_error_set(err, "TCL-0031", "%s \"%s\": is a folder, not a file", kind->what, text);
    else if (!found)
        not_found(s, kind, text, err);
    Tcl_DecrRefCount(folders);
    return found;
}
