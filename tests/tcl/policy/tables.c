/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tables.c - prints the tables of commands and of designs as Tcl lists, for policy.test:
 *   command NAME MIN_WORDS MAX_WORDS IS_REPORT {OPTION IS_FLAG ...} EXAMPLES
 *   design TYPE {KEY ...} {REQUIRED_KEY VALUE ...} */
#include <config.h>
#include <stdio.h>
#include "sim/design/design.h"
#include "tcl/command.h"

static void print_command(const th_command *row)
{
    const char *examples = th_example_of(row->name);
    printf("command %s %d %d %d {", row->name, row->min_words, row->max_words, row->is_report);
    for (const th_option *o = row->options; o && o->name; o++)
        printf("%s %d ", o->name, o->kind == TH_OPTION_FLAG);
    printf("} {%s}\n", examples ? examples : "");
}

/* Of any kind that is required. */
static const char *value_of(const th_design_key *k)
{
    return k->kind == TH_KEY_FREQUENCY   ? "1GHz"
           : k->kind == TH_KEY_BANDWIDTH ? "1GB/s"
           : k->kind == TH_KEY_BYTES     ? "1MiB"
           : k->kind == TH_KEY_CHOICE    ? k->choices[0]
                                         : "8";
}

static void print_design(const th_design_type *type)
{
    printf("design %s {", type->name);
    for (const th_design_key *k = type->keys; k->name; k++)
        printf("%s ", k->name);
    for (const th_design_key *k = th_energy_keys; k->name; k++)
        printf("%s ", k->name);
    printf("} {");
    for (const th_design_key *k = type->keys; k->name; k++)
        if (k->required)
            printf("%s %s ", k->name, value_of(k));
    printf("}\n");
}

int main(void)
{
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *row = th_command_families[f]; row->name; row++)
            print_command(row);
    for (int i = 0; th_design_types[i]; i++)
        print_design(th_design_types[i]);
    return 0;
}
