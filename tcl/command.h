/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.h - the table of commands: one row gives registration, help, documentation and usage
 * errors.
 *
 * A family of commands is one cmd_*.c file and one array of rows. The dispatcher parses the words
 * of a call against the row before the row's function runs, so the function gets checked values
 * only:
 *   dispatch -> (help | parse -> check that no run is active -> run) -> result or "Error ID:
 *   command: text"
 * A function validates everything, then acts; if it fails, the session is unchanged. */
#ifndef TH_TCL_COMMAND_H
#define TH_TCL_COMMAND_H
#include <stdbool.h>
#include <stdint.h>
#include <tcl.h>
#include "base/error.h"
#include "base/strbuf.h"
#include "session/objects/objects.h"
#include "session/sections/sections.h"

#ifndef TCL_SIZE_MAX /* Tcl 8.6 counts in int */
typedef int Tcl_Size;
#endif

typedef struct th_session th_session;
typedef struct th_call th_call;

/* What a value is. With `most` it is a list of these. */
typedef enum {
    TH_OPTION_FLAG,      /* stands alone */
    TH_OPTION_TEXT,      /* any word: a name, a script */
    TH_OPTION_INTEGER,   /* minimum .. maximum */
    TH_OPTION_TIME,      /* "1.5us" */
    TH_OPTION_BANDWIDTH, /* "8Gbps" */
    TH_OPTION_BYTES,     /* "64MiB" */
    TH_OPTION_CHOICE,    /* one of the names */
    TH_OPTION_NUMBER,    /* "0.5": low .. high */
    TH_OPTION_PERCENT,   /* "5%": a share, low .. high */
    TH_OPTION_DURATION,  /* "50000h": seconds, low .. high */
    TH_OPTION_OBJECT,    /* "accel/3", of one of the classes */
    TH_OPTION_NODE,      /* "3", "host", "accel/3": any node, or, with classes, an accelerator; in
                            lists "8-15", too: accelerators by number */
    TH_OPTION_RUNS,      /* a list of saved runs */
    TH_OPTION_FILE       /* a file of the kind `file`, or any; or one of the names */
} th_option_kind;

/* Do the bounds low and high themselves belong to the range? */
typedef enum { TH_CLOSED, TH_ABOVE, TH_BETWEEN } th_option_range;

enum { TH_MANY = 1 << 28 }; /* elements of a list: any number */
#define TH_BIT(CLASS) (1u << (CLASS))
#define TH_NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A function for th_option.choice: its result is an expression of i. */
#define TH_CHOICE(function, ith_name)                                                              \
    static const char *function(int i)                                                             \
    {                                                                                              \
        return ith_name;                                                                           \
    }

/* An option, or a word of a command by its position. */
typedef struct th_option {
    const char *name; /* first, because Tcl_GetIndexFromObjStruct looks here; NULL ends a list */
    th_option_kind kind;
    const char *value; /* placeholder of the value in the synopsis; NULL for a flag */
    const char *help;
    int64_t minimum, maximum;     /* also of times, sizes and rates, where maximum 0 is none */
    const char *(*choice)(int i); /* the i-th name, NULL after the last; asked in order from 0. Of a
                                     text: what Tab offers */
    bool required;
    const char *const *names; /* instead of choice(): they end in NULL */
    double low, high;         /* high 0: no bound */
    th_option_range range;
    int least, most;  /* elements of a list; most 0: a single value */
    bool is_pairs;    /* words (of choice, if there is one) and values in turn; n counts pairs */
    bool is_distinct; /* no element is there twice */
    bool is_extents;  /* of a list of numbers: "4x4" is "4 4" */
    unsigned classes; /* bits of th_class; 0: all */
    const struct th_file_kind *file;
    const char *with;    /* options, or the first word, one of which must be there too */
    const char *without; /* likewise: none of which may be there */
    const char *unless;  /* likewise: with one of which it is not required */
} th_option;

enum { TH_OPTIONS_MAX = 48 }; /* of a command; create_system has 28 */
enum { TH_WORDS_MAX = 3 };    /* that have a kind */
enum { TH_NEEDS_MAX = 3 };

#define TH_RUN_IS_AS_IT_WAS     "the run is as it was"
#define TH_PROGRAM_IS_AS_IT_WAS "the program is as it was"

typedef struct th_command {
    const char *name;
    const char *group;        /* heading in help; NULL: a core command */
    const char *words;        /* positional words in the synopsis, "" for none */
    int min_words, max_words; /* max_words -1: any number */
    const th_option *options; /* NULL: none */
    const char *summary;      /* one line */
    const char *help;         /* full sentences; NULL: the summary is enough */
    int (*run)(th_call *c);   /* 0, or -1 with c->err (or Tcl's own error and an empty c->err) */
    bool is_report;           /* takes "> FILE" and ">> FILE" as its last words */
    bool not_while_running;   /* refused in breakpoint and timer scripts of a run */
    bool needs_every_rank;    /* refused where one rank of a step of training stands for others */
    bool ignores_run;         /* does not look at the run: one that is due is not made for it */
    const char *alias_of;     /* the row is a second name of this command */
    /* Instead of run: makes the text of the file that the first word names, which is returned. */
    int (*text)(th_call *c, th_strbuf *out);
    const th_option *kinds; /* of the first words, by position; NULL: they are texts */
    int (*needs[TH_NEEDS_MAX])(th_session *s, th_error *err); /* what must be there, in order */
    /* What the command tells after Ctrl-C (error BASE-0008), instead of the text of the part that
     * was interrupted. NULL: "nothing was changed"; for a report "nothing was printed". */
    const char *after_interrupt;
} th_command;

/* A checked value. Arrays belong to the call, which frees them. */
typedef struct th_value {
    Tcl_Obj *word;  /* NULL: not given */
    int64_t number; /* integer, ps, bits per second, bytes, node, number of the choice; 1: a flag */
    double real;    /* number, share, seconds */
    th_object object;
    bool is_name; /* one of the option's names in the place of its kind: `number` */
    char *path;   /* of a file */
    int n;        /* elements, or pairs, of a list */
    Tcl_Obj *list, **words;
    int64_t *numbers; /* of a pair: of its value */
    double *reals;
    int32_t *indices; /* of objects and nodes; of a pair: of its name */
    th_object *objects;
    th_runs runs;
} th_value;

/* One call of one command. */
struct th_call {
    th_session *session;
    Tcl_Interp *interp;
    const th_command *command;
    th_value option[TH_OPTIONS_MAX]; /* in the order of command->options */
    Tcl_Obj **words;                 /* the positional ones */
    int n_words;
    th_value word[TH_WORDS_MAX]; /* the first of them, checked as the row's kinds say */
    Tcl_Obj *redirect;           /* FILE of "> FILE"; NULL: none */
    bool append;                 /* it was ">> FILE" */
    th_error err;
};

/* Every family's rows; each array, and the list of arrays, ends in NULL. */
extern const th_command th_pipeline_commands[], th_transformer_commands[], th_parallel_commands[],
    th_plan_search_commands[];
extern const th_command th_session_commands[], th_system_commands[], th_workload_commands[],
    th_write_commands[], th_object_commands[], th_examine_commands[], th_map_commands[],
    th_program_commands[], th_collective_commands[], th_step_commands[], th_breakpoint_commands[],
    th_report_map_commands[], th_report_commands[], th_report_network_commands[],
    th_predict_commands[], th_predict_layer_commands[], th_evaluate_commands[],
    th_predict_network_commands[], th_output_commands[], th_plot_commands[], th_trace_commands[],
    th_property_event_commands[], th_compare_commands[], th_sensitivity_commands[],
    th_advice_commands[], th_checkpoint_commands[], th_study_commands[], th_reliability_commands[],
    th_survival_commands[], th_query_commands[], th_table_commands[], th_network_commands[];
extern const th_command *const th_command_families[];
/* What lib/ is made of: commands of ::tharsis::core, without group, options and help, which no user
 * is told of. A script may call them all the same, so they check what they are given. */
extern const th_command th_core_session_commands[], th_core_reliability_commands[],
    th_core_what_if_commands[], th_core_plot_commands[], th_core_query_commands[],
    th_core_saved_commands[], th_core_run_commands[], th_core_mapping_commands[],
    th_core_where_commands[], th_core_table_commands[], th_core_parallel_commands[],
    th_core_study_commands[], th_core_link_law_commands[], th_core_help_commands[],
    th_core_plan_commands[];
extern const th_command *const th_core_families[];

/* removed.c: rows of names that are gone, which answer with the line that does the same now. They
 * are in ::tharsis, not exported, and in no help. */
extern const th_command th_removed_commands[];
/* Sets c->err where the row once had this option: -1; 0: it never had. */
int th_removed_option(th_call *c, const char *option);

/* Creates every command in ::tharsis and exports it. */
void th_commands_create(Tcl_Interp *interp, th_session *s);
/* The names of all commands, which end in NULL. Returns how many. */
enum { TH_COMMANDS_MAX = 120 };
size_t th_command_names(const char *names[TH_COMMANDS_MAX + 1]);
const th_command *th_command_find(const char *name); /* also by an alias; NULL: unknown */

/* For the functions of the rows. */
bool th_call_has(const th_call *c, int option);
int64_t th_call_number(const th_call *c, int option, int64_t otherwise);
double th_call_real(const th_call *c, int option, double otherwise);
const char *th_call_text(const th_call *c, int option, const char *otherwise);
const char *th_call_word(const th_call *c, int i);
void th_call_return_text(th_call *c, const char *text);
void th_call_return_time(th_call *c, int64_t ps);
/* Puts "what: " before the text of an error that base/, topology/ ... gave. Returns -1. */
int th_call_prefix_error(th_call *c, const char *what, const th_error *e);
/* commands/cmd_parallel.c: the plan of a mapping's file, for the language model. 0 or -1. */
int th_call_read_plan(th_call *c, const char *path);
/* Ends the whole script with this message; catch does not stop it. Returns -1 and leaves c->err
 * empty. */
int th_call_cancel(th_call *c, const char *message);

/* option_value.c: checks a word and fills *v; values that name something of the session are looked
 * up by th_value_resolve. 0 or -1; th_value_clear in both cases. */
int th_value_parse(th_call *c, const th_option *o, Tcl_Obj *word, th_value *v);
int th_value_resolve(th_call *c, const th_option *o, th_value *v);
void th_value_clear(th_value *v);
/* The saved runs that word i names, in c->word[i].runs. 0 or -1. */
int th_call_find_runs(th_call *c, int i);
/* Options that are required, need or exclude others. 0 or -1. */
int th_options_check_together(th_call *c);
/* The i-th name of an option; NULL: there is none. */
const char *th_option_choice(const th_option *o, int i);

/* core/lib_call.c: for rows whose work is a procedure of the same name in lib/. */
int th_lib_run(th_call *c);
int th_lib_run_help(th_call *c);   /* prints, or writes pages */
extern const char th_lib_script[]; /* all files of lib/, made by render/html/embed.awk */

/* The words of the synopsis, options with their values, each behind a separator. */
void th_command_synopsis(const th_command *row, const char *separator, th_strbuf *out);
/* examples.c: example lines of a command, each ending in a newline; NULL: none. They can be run
 * once a system, a workload and a mapping were read and a run has finished. */
const char *th_example_of(const char *command);

#endif
