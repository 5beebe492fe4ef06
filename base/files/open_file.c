/* SPDX-License-Identifier: GPL-3.0-or-later */
/* open_file.c - see open_file.h. TH_SOURCE_DIR and TH_DATA_DIR come from the build. */
#include <config.h>

#include "base/files/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const th_shipped_folders[] = {
    TH_SOURCE_DIR "/topology", TH_SOURCE_DIR "/workloads", TH_SOURCE_DIR "/predictor",
    TH_SOURCE_DIR "/scripts",  TH_DATA_DIR "/topology",    TH_DATA_DIR "/workloads",
    TH_DATA_DIR "/predictor",  TH_DATA_DIR "/scripts",     NULL};

static _Thread_local const th_file_policy *policy;

const th_file_policy *th_file_policy_set(const th_file_policy *p)
{
    const th_file_policy *before = policy;
    policy = p;
    return before;
}

const th_file_policy *th_file_policy_now(void)
{
    return policy;
}

static bool is_below(const char *file, const char *folder)
{
    char whole[PATH_MAX];
    if (!realpath(folder, whole))
        return false;
    size_t n = strlen(whole);
    return strncmp(file, whole, n) == 0 && file[n] == '/';
}

static bool may_read_shipped(const char *path, bool writes)
{
    char whole[PATH_MAX];
    struct stat s;
    if (writes || !realpath(path, whole))
        return false;
    for (const char *const *folder = th_shipped_folders; *folder; folder++)
        if (is_below(whole, *folder))
            return stat(whole, &s) == 0 && S_ISREG(s.st_mode);
    return false;
}

const th_file_policy th_shipped_files_only = {
    may_read_shipped, "a safe interpreter opens only files that come with Tharsis", true};

bool th_file_may(const char *path, bool writes)
{
    if (!policy || !policy->may || policy->may(path, writes))
        return true;
    errno = EACCES; /* the same where there is no such file */
    return false;
}

int th_file_open(const char *path, int flags)
{
    enum { PERMISSIONS = 0666 };
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    return th_file_may(path, writes) ? open(path, flags | O_CLOEXEC, PERMISSIONS) : -1;
}

FILE *th_file_stream(const char *path)
{
    int fd = th_file_open(path, O_RDONLY);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

int th_file_stat(const char *path, struct stat *out)
{
    return th_file_may(path, false) ? stat(path, out) : -1;
}

bool th_file_is_there(const char *path)
{
    struct stat s;
    return th_file_stat(path, &s) == 0;
}

const char *th_file_problem(int error)
{
    return error == EACCES && policy && policy->may ? policy->reason : strerror(error);
}
