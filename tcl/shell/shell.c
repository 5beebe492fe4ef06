/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell.c - the shell of tharsis and tharsis-mpi: an interpreter with the commands at hand, a
 * script, a prompt.
 *   block SIGINT -> parse the command line -> interpreter -> ~/.tharsisrc -> SCRIPT -> prompt
 * Exit codes: 0 all well, 1 a script failed or a trace or log could not be written (init.c),
 * 2 the command line is wrong. */
#include <config.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/strbuf.h"
#include "base/units.h"
#include "tcl/shell/confine.h"
#include "tcl/init.h"
#include "base/interrupt.h"
#include "tcl/shell/ctrl_c.h"
#include "tcl/shell/error_text.h"
#include "tcl/shell/line_editor.h"
#include "tcl/log.h"
#include "tcl/safe_interp.h"
#include "tcl/report_call.h"
#include "tcl/stack_guard.h"
#include "tcl/tcl_session.h"
#include "tcl/shell/shell.h"
#include "tcl/shell/source.h"

#if TCL_MAJOR_VERSION > 8 && !defined(Tcl_StaticPackage)
#define Tcl_StaticPackage Tcl_StaticLibrary /* its name since Tcl 9 */
#endif

enum { EXIT_SCRIPT = 1, EXIT_USAGE = 2 };
enum { SAFE_CPU_SECONDS = 600, SAFE_WALL_SECONDS = 3600, HEAP_KEPT_BYTES = 64 << 20 };
#define SAFE_DISK_BYTES   ((int64_t)1 << 30)
#define SAFE_MEMORY_BYTES ((int64_t)4 << 30)

static const char usage_text[] =
    "Usage: tharsis [-no_init] [-exit] [-batch] [-trace] [-log FILE] [-threads N] [-safe]\n"
    "               [SCRIPT [ARGS]]\n"
    "  -no_init    do not read ~/.tharsisrc\n"
    "  -exit       exit after SCRIPT; status 1 if it failed\n"
    "  -batch      no prompt and no progress lines; exit after SCRIPT\n"
    "  -trace      print the whole Tcl stack of an error, with the text of each command\n"
    "  -log FILE   copy commands and what they print to FILE, as log_begin does\n"
    "  -threads N  evaluate mappings with N threads\n"
    "  -safe       for a stranger's SCRIPT: no other programs, no sockets, files only below\n"
    "              -folder FOLDER (.), -cpu SECONDS (600), -wall SECONDS (3600), -memory BYTES\n"
    "              (4GiB), -disk BYTES (1GiB); -unsafe_kernel: also where the kernel lacks a part\n"
    "  -version    print the version and exit\n"
    "  -help       print this and exit\n"
    "Without SCRIPT commands are read from standard input; \"help\" lists them. With -exit or\n"
    "-batch the first that fails ends the program with status 1, unless a person types them.\n"
    "What they return is printed where a person types; elsewhere \"puts [get_links]\" prints it.\n";

static const char first_prompt[] = "tharsis> ", next_prompt[] = "       > ";

typedef struct th_command_line {
    bool no_init, exits, is_batch, prints_traces, is_safe;
    const char *only_safe; /* an option that is only for -safe; NULL: none was given */
    th_confinement limits;
    int threads;     /* 0: not said */
    const char *log; /* NULL: none */
    int script;      /* index in argv; 0: none */
} th_command_line;

/* ---- command line ---- */

static int complain(const char *what, const char *word)
{
    fprintf(stderr, "tharsis: %s \"%s\"\n%s", what, word, usage_text);
    return EXIT_USAGE;
}

static int parse_threads(const char *text, th_command_line *out)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;
    if (!text || *text == '\0' || *end != '\0' || n < 1 || n > 1024)
        return complain("-threads must be from 1 to 1024, not", text ? text : "");
    out->threads = (int)n;
    return 0;
}

static bool is_of_safe(const char *word)
{
    return strcmp(word, "-folder") == 0 || strcmp(word, "-cpu") == 0 ||
           strcmp(word, "-memory") == 0 || strcmp(word, "-wall") == 0 || strcmp(word, "-disk") == 0;
}

static int parse_seconds(const char *text, int64_t *out)
{
    char *end;
    *out = strtol(text, &end, 10);
    return *text == '\0' || *end != '\0' || *out < 1 || *out > INT32_MAX ? -1 : 0;
}

/* An option of -safe. */
static int parse_limit(const char *word, const char *text, th_command_line *out)
{
    enum { LEAST_BYTES = 64 << 20 };
    th_error e;
    out->only_safe = word;
    if (!text)
        return complain("needs a value:", word);
    if (strcmp(word, "-folder") == 0) {
        out->limits.folder = text;
    } else if (strcmp(word, "-cpu") == 0) {
        if (parse_seconds(text, &out->limits.cpu_seconds) != 0)
            return complain("-cpu must be a whole number of seconds, at least 1, not", text);
    } else if (strcmp(word, "-wall") == 0) {
        if (parse_seconds(text, &out->limits.wall_seconds) != 0)
            return complain("-wall must be a whole number of seconds, at least 1, not", text);
    } else if (strcmp(word, "-disk") == 0) {
        if (th_parse_bytes(text, &out->limits.disk_bytes, &e) != 0 || out->limits.disk_bytes < 1)
            return complain("-disk must be bytes as \"1GiB\", not", text);
    } else if (th_parse_bytes(text, &out->limits.memory_bytes, &e) != 0 ||
               out->limits.memory_bytes < LEAST_BYTES) {
        return complain("-memory must be bytes as \"4GiB\", at least 64MiB, not", text);
    }
    return 0;
}

/* 0 to go on, else 1 + the exit code. */
static int parse_command_line(int argc, char **argv, th_command_line *out)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] != '-') {
            out->script = i;
            return 0;
        }
        if (strcmp(word, "-no_init") == 0) {
            out->no_init = true;
        } else if (strcmp(word, "-exit") == 0) {
            out->exits = true;
        } else if (strcmp(word, "-batch") == 0) {
            out->is_batch = true;
        } else if (strcmp(word, "-trace") == 0) {
            out->prints_traces = true;
        } else if (strcmp(word, "-threads") == 0) {
            if (parse_threads(argv[++i], out) != 0)
                return 1 + EXIT_USAGE;
        } else if (strcmp(word, "-log") == 0) {
            if (!(out->log = argv[++i]))
                return 1 + complain("needs the name of a file:", word);
        } else if (strcmp(word, "-safe") == 0) {
            out->is_safe = out->no_init = true;
        } else if (strcmp(word, "-unsafe_kernel") == 0) {
            out->limits.takes_unsafe_kernel = true;
            out->only_safe = word;
        } else if (is_of_safe(word)) {
            if (parse_limit(word, argv[++i], out) != 0)
                return 1 + EXIT_USAGE;
        } else if (strcmp(word, "-help") == 0 || strcmp(word, "--help") == 0) {
            fputs(usage_text, stdout);
            return 1;
        } else if (strcmp(word, "-version") == 0 || strcmp(word, "--version") == 0) {
            puts("tharsis " PACKAGE_VERSION);
            return 1;
        } else {
            return 1 + complain("unknown option", word);
        }
    }
    return 0;
}

/* ---- interpreter ---- */

static void set_arguments(Tcl_Interp *interp, int argc, char **argv, const th_command_line *line)
{
    int first = line->script > 0 ? line->script : argc - 1;
    Tcl_Obj *words = Tcl_NewListObj(0, NULL);
    for (int i = first + 1; i < argc; i++)
        Tcl_ListObjAppendElement(NULL, words, Tcl_NewStringObj(argv[i], -1));
    Tcl_SetVar2Ex(interp, "argc", NULL, Tcl_NewIntObj(argc - first - 1), TCL_GLOBAL_ONLY);
    Tcl_SetVar2Ex(interp, "argv", NULL, words, TCL_GLOBAL_ONLY);
    Tcl_SetVar2Ex(interp, "argv0", NULL, Tcl_NewStringObj(argv[line->script], -1), TCL_GLOBAL_ONLY);
}

static int begin_log(Tcl_Interp *interp, const char *file)
{
    Tcl_Obj *const words[] = {Tcl_NewStringObj("::tharsis::log_begin", -1),
                              Tcl_NewStringObj(file, -1)};
    return th_eval_words(interp, 2, words);
}

/* The kernel's limits, before there is another thread. */
static int confine(th_command_line *line, char **argv, const th_remote *elsewhere)
{
    th_error e;
    line->limits.script = line->script > 0 ? argv[line->script] : NULL;
    if (elsewhere->pool)
        return complain("is not for tharsis-mpi:", "-safe");
    if (th_confine(&line->limits, &e) == 0) {
        th_interp_confine_all(th_confine_grants);
        return 0;
    }
    fprintf(stderr, "tharsis: Error %s: %s\n", e.id, e.text);
    return -1;
}

static int start(Tcl_Interp *interp, const th_command_line *line, const th_remote *elsewhere)
{
    bool is_interactive = line->script == 0 && !line->is_batch && isatty(STDIN_FILENO);
    Tcl_SetVar2Ex(interp, "tcl_interactive", NULL, Tcl_NewBooleanObj(is_interactive),
                  TCL_GLOBAL_ONLY);
    if (th_source_create(interp, first_prompt) != TCL_OK)
        return TCL_ERROR;
    Tcl_Eval(interp, "namespace eval :: {namespace unknown ::tharsis::Unknown}");
    /* For "load {} Tharsis CHILD". */
    Tcl_StaticPackage(interp, "Tharsis", Tharsis_Init, Tharsis_SafeInit);
    th_session *s = th_session_of(interp);
    s->is_quiet = line->is_batch;
    s->pool = elsewhere->pool;
    th_tcl_of(s)->mailbox = elsewhere->mailbox;
    if (line->threads > 0)
        s->threads = line->threads;
    th_ctrl_c_start(interp);
    return line->log ? begin_log(interp, line->log) : TCL_OK;
}

/* A line on standard output or standard error, through Tcl's channels, where a log sees it. */
static void say(int channel, const char *text)
{
    Tcl_Channel to = Tcl_GetStdChannel(channel);
    th_strbuf visible = TH_STRBUF_INIT;
    if (!to)
        return;
    th_strbuf_add_visible(&visible, text); /* results and errors hold words of files */
    Tcl_WriteChars(to, visible.text ? visible.text : "", -1);
    Tcl_WriteChars(to, "\n", 1);
    Tcl_Flush(to);
    th_strbuf_clear(&visible);
}

/* The same for a person: lines that are wider than the terminal are broken at blanks. */
static void say_to_person(int channel, const char *text)
{
    size_t width = (size_t)th_screen_width(), first = 0, blank = 0;
    th_strbuf lines = TH_STRBUF_INIT;
    th_strbuf_add(&lines, text);
    for (size_t i = 0; width > 0 && !lines.failed && i < lines.length; i++) {
        if (lines.text[i] == ' ')
            blank = i;
        if (i - first >= width && blank > first) {
            lines.text[blank] = '\n';
            first = blank + 1;
        }
        if (lines.text[i] == '\n')
            first = i + 1;
    }
    say(channel, lines.failed ? text : lines.text);
    th_strbuf_clear(&lines);
}

static void print_error(Tcl_Interp *interp, int code, bool is_full)
{
    Tcl_Obj *text = th_error_text(interp, code, is_full);
    Tcl_Flush(Tcl_GetStdChannel(TCL_STDOUT));
    (isatty(STDIN_FILENO) ? say_to_person : say)(TCL_STDERR, Tcl_GetString(text));
    Tcl_DecrRefCount(text);
}

/* A Tcl return code; the error is printed. */
static int source(Tcl_Interp *interp, const char *file, bool is_full)
{
    int code = Tcl_EvalFile(interp, file);
    if (code != TCL_OK && code != TCL_RETURN)
        print_error(interp, code, is_full);
    return code == TCL_RETURN ? TCL_OK : code;
}

static void source_init_file(Tcl_Interp *interp, bool is_full)
{
    const char *home = getenv("HOME");
    if (!home)
        return;
    Tcl_Obj *path = Tcl_ObjPrintf("%s/.tharsisrc", home);
    Tcl_IncrRefCount(path);
    if (Tcl_FSAccess(path, R_OK) == 0)
        source(interp, Tcl_GetString(path), is_full);
    Tcl_DecrRefCount(path);
}

/* ---- prompt ---- */

typedef struct th_input {
    bool is_on; /* a person types */
    bool prints_traces;
} th_input;

/* Takes the command into the history, and a repeated one in its place. False: what it repeats was
 * never typed. */
static bool record(Tcl_Interp *interp, Tcl_Obj **command)
{
    Tcl_Obj *const words[] = {Tcl_NewStringObj("::tharsis::lib::typed", -1), *command};
    th_log *log = th_tcl_of(th_session_of(interp))->log;
    th_log_pause(log, 1);
    bool is_meant = th_eval_words(interp, 2, words) == TCL_OK;
    th_log_pause(log, 0);
    if (!is_meant) {
        say(TCL_STDERR, Tcl_GetStringResult(interp));
        return false;
    }
    Tcl_Obj *meant = Tcl_GetObjResult(interp);
    if (strcmp(Tcl_GetString(meant), Tcl_GetString(*command)) != 0)
        say(TCL_STDOUT, Tcl_GetString(meant));
    Tcl_IncrRefCount(meant);
    Tcl_DecrRefCount(*command);
    *command = meant;
    return true;
}

/* Runs one whole command and prints its result. */
static int run_command(Tcl_Interp *interp, Tcl_Obj **command, const th_input *in)
{
    if (in->is_on && !record(interp, command))
        return TCL_ERROR;
    th_tcl_session *t = th_tcl_of(th_session_of(interp));
    t->is_typed = in->is_on;
    int code = Tcl_EvalObjEx(interp, *command, TCL_EVAL_GLOBAL);
    t->is_typed = false;
    th_interrupt_take(); /* a late one */
    if (code != TCL_OK)
        print_error(interp, code, in->prints_traces);
    else if (in->is_on && Tcl_GetStringResult(interp)[0] != '\0')
        say_to_person(TCL_STDOUT, Tcl_GetStringResult(interp));
    return code;
}

/* A new, empty command in the place of *command. */
static void begin_command(Tcl_Obj **command)
{
    if (*command)
        Tcl_DecrRefCount(*command);
    *command = Tcl_NewObj();
    Tcl_IncrRefCount(*command);
}

/* The next line, for the caller to drop; NULL at the end. What was typed before of the command is
 * forgotten where Ctrl-C came. */
static Tcl_Obj *next_line(Tcl_Interp *interp, const th_input *in, const char *prompt, bool *dropped)
{
    if (in->is_on)
        return th_line_editor_read(interp, prompt, dropped);
    Tcl_Channel channel = Tcl_GetStdChannel(TCL_STDIN);
    Tcl_Obj *line = Tcl_NewObj();
    Tcl_IncrRefCount(line);
    if (channel && Tcl_GetsObj(channel, line) >= 0)
        return line;
    Tcl_DecrRefCount(line);
    return NULL;
}

/* Adds a line to the command. False at the end of the input. */
static bool read_line(Tcl_Interp *interp, const th_input *in, const char *prompt, Tcl_Obj **command)
{
    bool dropped = false;
    Tcl_Obj *line = next_line(interp, in, prompt, &dropped);
    if (dropped)
        begin_command(command);
    if (!line)
        return false;
    Tcl_AppendObjToObj(*command, line);
    Tcl_AppendToObj(*command, "\n", 1);
    Tcl_DecrRefCount(line);
    return true;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\n")] == '\0';
}

/* Reads commands to the end of the input. */
static int read_commands(Tcl_Interp *interp, const th_input *in, bool stops_at_error)
{
    Tcl_Obj *command = NULL;
    int last = TCL_OK;
    const char *prompt = first_prompt;
    begin_command(&command);
    while (!(stops_at_error && last != TCL_OK) && read_line(interp, in, prompt, &command)) {
        bool is_whole = Tcl_CommandComplete(Tcl_GetString(command));
        prompt = is_whole ? first_prompt : next_prompt;
        if (!is_whole)
            continue;
        if (!is_blank(Tcl_GetString(command)))
            last = run_command(interp, &command, in);
        begin_command(&command);
    }
    if (!Tcl_CommandComplete(Tcl_GetString(command))) /* incomplete */
        last = run_command(interp, &command, in);
    Tcl_DecrRefCount(command);
    if (in->is_on)
        say(TCL_STDOUT, "");
    return last;
}

/* Is there a person at the prompt to see errors? */
static bool is_typed(const th_command_line *line)
{
    return !line->is_batch && isatty(STDIN_FILENO);
}

static int run_prompt(Tcl_Interp *interp, const th_command_line *line)
{
    th_input in = {.is_on = is_typed(line), .prints_traces = line->prints_traces};
    if (in.is_on)
        say(TCL_STDOUT,
            "Tharsis " PACKAGE_VERSION ". \"help\" lists the commands, \"exit\" leaves.");
    if (in.is_on)
        th_line_editor_open(interp, first_prompt);
    return read_commands(interp, &in, !in.is_on && (line->exits || line->is_batch));
}

bool th_shell_find_tcl(const char *program)
{
    Tcl_FindExecutable(program);
    Tcl_Interp *bare = Tcl_CreateInterp(); /* nothing runs in it */
    bool is_found = th_find_tcl(bare);
    if (!is_found)
        fprintf(stderr, "tharsis: %s\n", Tcl_GetStringResult(bare));
    Tcl_DeleteInterp(bare);
    return is_found;
}

int th_shell_main(int argc, char **argv, const th_remote *elsewhere)
{
    th_command_line line = {.limits = {.folder = ".",
                                       .cpu_seconds = SAFE_CPU_SECONDS,
                                       .wall_seconds = SAFE_WALL_SECONDS,
                                       .disk_bytes = SAFE_DISK_BYTES,
                                       .memory_bytes = SAFE_MEMORY_BYTES}};
#ifdef M_TRIM_THRESHOLD /* else the heap goes back to the kernel and comes again with each report */
    mallopt(M_TRIM_THRESHOLD, HEAP_KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, HEAP_KEPT_BYTES / 16);
#endif
    th_ctrl_c_block();
    th_stack_guard_install();
    int answer = parse_command_line(argc, argv, &line);
    if (answer != 0)
        return answer - 1;
    if (line.only_safe && !line.is_safe)
        return complain("is only for -safe:", line.only_safe);
    /* Tcl takes the encoding of texts from the environment, which -safe empties. */
    if (!th_shell_find_tcl(argv[0]))
        return EXIT_SCRIPT;
    if (line.is_safe && confine(&line, argv, elsewhere) != 0)
        return EXIT_SCRIPT;
    Tcl_Interp *interp;
    int code = th_interp_new(false, &interp);
    if (code != TCL_OK || (code = start(interp, &line, elsewhere)) != TCL_OK) {
        fprintf(stderr, "tharsis: %s\n", Tcl_GetStringResult(interp));
        Tcl_Exit(EXIT_SCRIPT);
    }
    set_arguments(interp, argc, argv, &line);
    if (!line.no_init)
        source_init_file(interp, line.prints_traces);
    if (line.script > 0)
        code = source(interp, argv[line.script], line.prints_traces);
    bool is_over =
        line.script > 0 && (line.exits || line.is_batch || (code != TCL_OK && !is_typed(&line)));
    if (!is_over)
        code = run_prompt(interp, &line) == TCL_OK || !(line.exits || line.is_batch) ? TCL_OK
                                                                                     : TCL_ERROR;
    Tcl_DeleteInterp(interp);
    Tcl_Exit(code == TCL_OK ? EXIT_SUCCESS : EXIT_SCRIPT);
}
