/* SPDX-License-Identifier: GPL-3.0-or-later */
/* data_file.c - see data_file.h. TH_SOURCE_DIR and TH_DATA_DIR come from the build. */
#include <config.h>

#include "base/files/data_file.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/open_file.h"

static bool is_file(const char *path)
{
    struct stat s;
    return th_file_stat(path, &s) == 0 && !S_ISDIR(s.st_mode);
}

/* 0: FOLDER/NAME, or that with the extension, is there, and stands in *out. 1, -1 as above. */
static int try(const th_data_file *f, const char *folder, size_t length, th_strbuf *out)
{
    const char *const endings[] = {"", f->extension};
    for (int i = 0; i < 2; i++) {
        th_strbuf path = TH_STRBUF_INIT;
        th_strbuf_printf(&path, "%.*s%s%s%s", (int)length, folder, length > 0 ? "/" : "", f->name,
                         endings[i]);
        bool is_there = !path.failed && is_file(path.text);
        if (is_there)
            th_strbuf_printf(out, "%s", path.text);
        bool failed = path.failed || out->failed;
        th_strbuf_clear(&path);
        if (failed || is_there)
            return failed ? -1 : 0;
    }
    return 1;
}

static int try_beside(const th_data_file *f, th_strbuf *out)
{
    const char *slash = f->beside ? strrchr(f->beside, '/') : NULL;
    if (*f->name == '/' || !slash)
        return try(f, "", 0, out);
    return try(f, f->beside, (size_t)(slash - f->beside), out);
}

static int try_below(const th_data_file *f, const char *top, th_strbuf *out)
{
    th_strbuf folder = TH_STRBUF_INIT;
    th_strbuf_printf(&folder, "%s/%s", top, f->folder);
    int found = folder.failed ? -1 : try(f, folder.text, folder.length, out);
    th_strbuf_clear(&folder);
    return found;
}

/* ---- an installation that was moved ---- */

/* share/tharsis in one of the folders above the file into *out. */
static bool find_share_above(const char *file, th_strbuf *out)
{
    enum { LEVELS = 5 }; /* of /usr/lib/tcltk/x86_64-linux-gnu/tharsis/libtharsistcl.so */
    char path[PATH_MAX], probe[PATH_MAX + sizeof "/share/tharsis/topology"];
    struct stat s;
    if (!realpath(file, path))
        return false;
    for (int level = 0; level <= LEVELS && strrchr(path, '/'); level++) {
        *strrchr(path, '/') = '\0';
        snprintf(probe, sizeof probe, "%s/share/tharsis/topology", path);
        if (th_file_stat(probe, &s) == 0 && S_ISDIR(s.st_mode)) {
            th_strbuf_printf(out, "%s/share/tharsis", path);
            return !out->failed;
        }
    }
    return false;
}

bool th_data_file_moved_folder(th_strbuf *out)
{
    static const char here;
    Dl_info library;
    return (dladdr(&here, &library) != 0 && strchr(library.dli_fname, '/') &&
            find_share_above(library.dli_fname, out)) ||
           find_share_above("/proc/self/exe", out);
}

static int try_moved(const th_data_file *f, th_strbuf *out)
{
    th_strbuf folder = TH_STRBUF_INIT;
    int found = th_data_file_moved_folder(&folder) ? try_below(f, folder.text, out) : 1;
    th_strbuf_clear(&folder);
    return found;
}

int th_data_file_find(const th_data_file *f, th_strbuf *out)
{
    int found = try_beside(f, out);
    const char *path = getenv("THARSIS_PATH");
    while (found == 1 && path && *path != '\0') {
        size_t length = strcspn(path, ":");
        if (length > 0)
            found = try(f, path, length, out);
        path += length + (path[length] == ':');
    }
    if (found == 1)
        found = try_below(f, TH_SOURCE_DIR, out);
    if (found == 1)
        found = try_below(f, TH_DATA_DIR, out);
    return found == 1 ? try_moved(f, out) : found;
}

int th_data_file_need(const th_data_file *f, th_strbuf *out, th_error *err)
{
    int found = th_data_file_find(f, out);
    if (found == 1)
        return th_error_set(err, "BASE-0462", "%s%s: must be along $THARSIS_PATH, or be installed",
                            f->name, f->extension);
    return found < 0 ? th_error_no_memory(err) : 0;
}
