/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_checkpoint.c - the bytes as the checkpoint of a run, whose digest of the inputs is made
 * right first, loaded into a session with a run of its own: after a refusal the session is as it
 * was; after a success, and the run's own checkpoint, too. The command's own functions read the
 * bytes and make the digest, so its source is a part of this file. */
#include "tcl/commands/cmd_checkpoint.c"

#include "base/files/text_file.h"
#include "tcl/init.h"
#include "tests/fuzz/target.h"

enum { OWN_BYTES_MAX = 1 << 16 };

static Tcl_Interp *interp;
static th_strbuf own = TH_STRBUF_INIT; /* checkpoint of the session's run */

/* Messages and a collective between four accelerators, one link of which has changed. */
#define SESSION                                                                                    \
    "namespace import ::tharsis::*; set_threads 1;"                                                \
    "create_system -name s -topology torus -dims {2 2} -accel npu_v1 -link_bandwidth 100Gbps "     \
    "-link_latency 500ns;"                                                                         \
    "create_program p; add_transfer -from accel/0 -to accel/3 -bytes 1MB; add_collective "         \
    "all_reduce "                                                                                  \
    "-bytes 256KiB -algorithm ring;"                                                               \
    "run -until 10us; set_property link/0_1 bandwidth 50Gbps; run -until 20us"
#define PROBE                                                                                      \
    "list [now] [report_utilization -return_string] [report_links -return_string] "                \
    "[get_property link/0_1 bandwidth]"

static int eval(const char *script)
{
    return Tcl_EvalEx(interp, script, -1, TCL_EVAL_GLOBAL);
}

/* A checkpoint may ask for as long a run as a command. */
static bool is_short(const th_run_options *o)
{
    enum { INPUTS_MAX = 16, BYTES_MIN = 256 };
    const th_network_options *n = &o->network_options;
    return o->stream.n_inputs <= INPUTS_MAX && o->stream.micro_batches <= INPUTS_MAX &&
           (n->packet_bytes == 0 || n->packet_bytes >= BYTES_MIN);
}

/* Writes the right digest into the line "program" of the text. */
static void put_digest(char *text, uint64_t digest)
{
    enum { N_DIGITS = 16 };
    char *line = strstr(text, "\nprogram ");
    char digits[N_DIGITS + 1];
    if (!line || strlen(line) < strlen("\nprogram ") + N_DIGITS)
        return;
    snprintf(digits, sizeof digits, "%016" PRIx64, digest);
    memcpy(line + strlen("\nprogram "), digits, N_DIGITS);
}

/* False: the run would be a long one. */
static bool make_right(char *text, size_t size)
{
    th_error e = {"", ""};
    checkpoint k = {.n_changes = 0};
    uint64_t digest;
    bool is_good = true;
    if (read_checkpoint(fuzz_input_file((const uint8_t *)text, size), &k, &e) == 0) {
        is_good = is_short(&k.options);
        must(digest_run(th_session_of(interp), &k.options, &digest, &e) == 0);
        put_digest(text, digest);
    }
    th_free(k.changes);
    return is_good;
}

static char *probe(void)
{
    must(eval(PROBE) == TCL_OK);
    return strdup(Tcl_GetStringResult(interp));
}

/* Returns false where it is refused, by one line. */
static bool load_bytes(const char *text, size_t size)
{
    fuzz_input_file((const uint8_t *)text, size);
    if (eval("load_checkpoint [lindex $argv 0]") == TCL_OK)
        return true;
    must(!strchr(Tcl_GetStringResult(interp), '\n'));
    return false;
}

static void load_own(void)
{
    must(load_bytes(own.text, own.length));
    Tcl_ResetResult(interp);
}

static void must_be_as_before(const char *before)
{
    char *after = probe();
    must(strcmp(before, after) == 0);
    free(after);
    Tcl_ResetResult(interp);
}

static void load_between(const char *text, size_t size)
{
    char *before = probe();
    if (load_bytes(text, size))
        load_own();
    must_be_as_before(before);
    free(before);
}

static void run(const uint8_t *data, size_t size)
{
    char *text = calloc(size + 1, 1);
    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    if (make_right(text, size))
        load_between(text, size);
    free(text);
}

static void begin(void)
{
    interp = Tcl_CreateInterp();
    must(Tharsis_Init(interp) == TCL_OK);
    th_session_of(interp)->is_quiet = true;
    Tcl_SetVar(interp, "argv", fuzz_input_file((const uint8_t *)"", 0), TCL_GLOBAL_ONLY);
    if (eval(SESSION) != TCL_OK || eval(PROBE) != TCL_OK) {
        fprintf(stderr, "# %s\n", Tcl_GetStringResult(interp));
        abort();
    }
    must(eval("save_checkpoint [lindex $argv 0].own") == TCL_OK);
    must(th_text_file_read(Tcl_GetStringResult(interp), OWN_BYTES_MAX, &own, NULL) == 0);
    must(eval("file delete [lindex $argv 0].own") == TCL_OK);
    run(NULL, 0); /* what the session keeps from its first refusal on */
}

const fuzz_target fuzz_checkpoint = {"checkpoint", run, begin};
