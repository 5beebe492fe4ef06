/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_help.h - systems from the text of ASTRA-sim's two files. */
#ifndef TH_TESTS_UNIT_ASTRA_HELP_H
#define TH_TESTS_UNIT_ASTRA_HELP_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "topology/files/astra_read.h"

/* A file of this text in the working folder; name ends in XXXXXX and is filled in. */
static inline void text_file(char *name, const char *text, size_t length)
{
    int file = mkstemp(name);
    if (file < 0 || write(file, text, length) != (ssize_t)length || close(file) != 0) {
        printf("Bail out! %s cannot be written\n", name);
        exit(1);
    }
}

/* NULL with err where the texts are wrong; the names of the files are cut out of the message. */
static inline th_system *astra_system(const char *network, const char *parameters, th_error *err)
{
    char yml[] = "network_XXXXXX", json[] = "system_XXXXXX";
    text_file(yml, network, strlen(network));
    text_file(json, parameters, strlen(parameters));
    th_system *s = th_system_read_astra(yml, json, TH_LINKS_DEFAULT_MAX, err);
    const char *const names[] = {yml, json};
    for (int i = 0; i < 2 && !s && err; i++) {
        char *at = strstr(err->text, names[i]), *suffix = at ? strrchr(names[i], '_') : NULL;
        if (suffix)
            memmove(at + (suffix - names[i]), at + strlen(names[i]),
                    strlen(at + strlen(names[i])) + 1);
    }
    unlink(yml);
    unlink(json);
    return s;
}

#endif
