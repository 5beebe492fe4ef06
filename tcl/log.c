/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log.c - see log.h. A layer on the channels of standard output and standard error copies what is
 * written; a trace of the interpreter reports top-level commands. Every piece is written to the
 * file at once, so nothing is lost when the program ends early. */
#include <config.h>
#include "tcl/log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/files/open_file.h"
#include "base/files/write_file.h"

enum { N_CHANNELS = 2 };

struct th_log {
    Tcl_Interp *interp;
    char *path;
    int file;                      /* descriptor */
    Tcl_Channel layer[N_CHANNELS]; /* NULL: there is no such channel */
    Tcl_Trace trace;
    int is_paused;
    int error; /* errno of the first failed write; 0: none */
};

static void put(th_log *log, const char *bytes, size_t n)
{
    if (log->error == 0 && th_write_all(log->file, bytes, n) != 0)
        log->error = errno;
}

/* ---- the channel layer ---- */

typedef struct th_layer_data {
    th_log *log;
    Tcl_Channel self;
} th_layer_data;

static int layer_close(ClientData data, Tcl_Interp *interp, int flags)
{
    (void)interp;
    if ((flags & (TCL_CLOSE_READ | TCL_CLOSE_WRITE)) != 0)
        return EINVAL;
    ckfree(data);
    return 0;
}

static int layer_write(ClientData data, const char *bytes, int n, int *error)
{
    const th_layer_data *l = data;
    put(l->log, bytes, (size_t)n);
    int written = (int)Tcl_WriteRaw(Tcl_GetStackedChannel(l->self), bytes, n);
    if (written < 0)
        *error = Tcl_GetErrno();
    return written;
}

static int layer_read(ClientData data, char *bytes, int n, int *error)
{
    (void)data;
    (void)bytes;
    (void)n;
    *error = EINVAL;
    return -1;
}

static void layer_watch(ClientData data, int mask)
{
    const th_layer_data *l = data;
    Tcl_Channel below = Tcl_GetStackedChannel(l->self);
    Tcl_ChannelWatchProc(Tcl_GetChannelType(below))(Tcl_GetChannelInstanceData(below), mask);
}

static int layer_handle(ClientData data, int direction, ClientData *out)
{
    return Tcl_GetChannelHandle(Tcl_GetStackedChannel(((th_layer_data *)data)->self), direction,
                                out);
}

static int layer_notify(ClientData data, int mask)
{
    (void)data;
    return mask;
}

static const Tcl_ChannelType layer_type = {
    .typeName = "tharsis_log",
    .version = TCL_CHANNEL_VERSION_5,
    .inputProc = layer_read,
    .outputProc = layer_write,
    .watchProc = layer_watch,
    .getHandleProc = layer_handle,
    .close2Proc = layer_close,
#if TCL_MAJOR_VERSION < 9
    .closeProc = TCL_CLOSE2PROC,
#endif
    .handlerProc = layer_notify,
};

static Tcl_Channel add_layer(th_log *log, Tcl_Channel below)
{
    if (!below)
        return NULL;
    th_layer_data *data = (th_layer_data *)ckalloc(sizeof *data);
    data->log = log;
    Tcl_Flush(below);
    data->self = Tcl_StackChannel(log->interp, &layer_type, data, TCL_WRITABLE, below);
    if (!data->self)
        ckfree((char *)data);
    return data->self;
}

/* ---- commands ---- */

static int note(ClientData data, Tcl_Interp *interp, int level, const char *command,
                Tcl_Command token, int objc, Tcl_Obj *const objv[])
{
    th_log *log = data;
    (void)interp;
    (void)level;
    (void)token;
    (void)objc;
    (void)objv;
    if (log->is_paused)
        return TCL_OK;
    put(log, "% ", 2);
    put(log, command, strlen(command));
    put(log, "\n", 1);
    return TCL_OK;
}

/* ---- begin and end ---- */

static int is_layered(Tcl_Channel channel)
{
    return channel && Tcl_GetChannelType(Tcl_GetTopChannel(channel)) == &layer_type;
}

th_log *th_log_begin(Tcl_Interp *interp, const char *path, int appends, th_error *err)
{
    Tcl_Channel out = Tcl_GetStdChannel(TCL_STDOUT), errors = Tcl_GetStdChannel(TCL_STDERR);
    if (is_layered(out) || is_layered(errors)) {
        th_error_set(err, "TCL-0611", "a log is open already: log_end first");
        return NULL;
    }
    th_log *log = th_alloc_zero(1, sizeof *log);
    if (!log || !(log->path = th_alloc_string(path))) {
        th_error_no_memory(err);
        th_free(log);
        return NULL;
    }
    log->interp = interp;
    log->file = th_file_open(path, O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC));
    if (log->file < 0) {
        th_error_set(err, "TCL-0612", "log \"%s\": cannot be opened: %s", path,
                     th_file_problem(errno));
        th_free(log->path);
        th_free(log);
        return NULL;
    }
    log->layer[0] = add_layer(log, out);
    log->layer[1] = add_layer(log, errors);
    log->trace = Tcl_CreateObjTrace(interp, 1, 0, note, log, NULL);
    return log;
}

void th_log_pause(th_log *log, int is_paused)
{
    if (log)
        log->is_paused = is_paused;
}

int th_log_end(th_log *log, th_error *err)
{
    if (!log)
        return 0;
    for (int i = 0; i < N_CHANNELS; i++)
        if (log->layer[i])
            Tcl_UnstackChannel(log->interp, log->layer[i]);
    if (!Tcl_InterpDeleted(log->interp))
        Tcl_DeleteTrace(log->interp, log->trace);
    int error = log->error;
    if (close(log->file) != 0 && error == 0)
        error = errno;
    if (error != 0)
        th_error_set(err, "TCL-0616", "%s: not all of the log could be written: %s", log->path,
                     strerror(error));
    th_free(log->path);
    th_free(log);
    return error == 0 ? 0 : -1;
}
