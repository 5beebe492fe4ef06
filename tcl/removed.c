/* SPDX-License-Identifier: GPL-3.0-or-later */
/* removed.c - names of commands and options that are gone, and the line that does the same now. A
 * name that goes gets a row here. */
#include <config.h>
#include "tcl/command.h"
#include <string.h>

static int run_removed(th_call *c)
{
    return th_error_set(&c->err, "TCL-2330", "is no command any more; use %s", c->command->summary);
}

#define GONE(NAME, NOW)                                                                            \
    {                                                                                              \
        NAME, NULL, "", 0, -1, NULL, NOW, .run = run_removed                                       \
    }

const th_command th_removed_commands[] = {
    GONE("create_pod", "create_system POD -size {N ...}"),
    GONE("disable_breakpoint", "enable_breakpoint BREAKPOINT ... -off"),
    {.name = NULL},
};

#define OF_NETWORK                                                                                 \
    "-weights -packet_bytes -buffer_bytes -virtual_channels -credit_delay -router_delay "          \
    "-terminal_bandwidth -crossbar_inputs -allocation_cycle -deadlock"

/* Options divided by blanks; now: the command that takes them. */
static const struct {
    const char *command, *options, *now;
} gone[] = {
    {"run", OF_NETWORK, "set_network"},
    {"map_workload", OF_NETWORK, "set_network"},
};

static bool is_among(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += n)
        if (at[n] == ' ' || at[n] == '\0')
            return true;
    return false;
}

int th_removed_option(th_call *c, const char *option)
{
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (strcmp(gone[i].command, c->command->name) == 0 && is_among(gone[i].options, option))
            return th_error_set(&c->err, "TCL-2331", "%s: is no option any more; use %s %s", option,
                                gone[i].now, option);
    return 0;
}
