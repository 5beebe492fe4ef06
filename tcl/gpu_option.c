/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_option.c - see gpu_option.h. */
#include <config.h>
#include "tcl/gpu_option.h"
#include "base/alloc.h"
#include "base/names.h"
#include "tcl/files.h"
#include "tcl/warning.h"

int th_gpu_option_need_gpus(th_session *s, th_error *err)
{
    th_gpu_models *l = s->gpu_models;
    if (l->gpus.n > 0)
        return 0;
    Tcl_Obj *name = Tcl_NewStringObj("devices", -1);
    Tcl_IncrRefCount(name);
    Tcl_Obj *path = th_file_find(s, &th_devices_file, name, err);
    int failed = path ? th_gpus_read(&l->gpus, Tcl_FSGetNativePath(path), NULL, err) : -1;
    if (path)
        Tcl_DecrRefCount(path);
    Tcl_DecrRefCount(name);
    return failed;
}

static void unknown_gpu(const th_gpus *g, const char *option, const char *name, th_error *err)
{
    th_error e;
    char series[300];
    const char **names = th_alloc_array((size_t)g->n + 1, sizeof *names);
    if (!names) {
        th_error_no_memory(err);
        return;
    }
    for (int i = 0; i < g->n; i++)
        names[i] = g->gpu[i].name;
    names[g->n] = NULL;
    th_error_unknown(&e, "TCL-0328", option, name, names);
    th_gpus_describe_series(g, name, series, sizeof series);
    if (*series != '\0')
        th_print(e.text, sizeof e.text, "%s \"%.60s\": is not described%s", option, name, series);
    th_error_set(err, e.id, "%s; read_measurements -devices describes others", e.text);
    th_free(names);
}

const th_gpu *th_gpu_option_find(th_session *s, const char *option, const char *name, th_error *err)
{
    const th_gpu_models *l = s->gpu_models;
    if (th_gpu_option_need_gpus(s, err) != 0)
        return NULL;
    const th_gpu *gpu = th_gpus_find(&l->gpus, name);
    if (!gpu && l->predictor)
        gpu = th_predictor_gpu(l->predictor, name);
    if (!gpu)
        unknown_gpu(&l->gpus, option, name, err);
    return gpu;
}

void th_gpu_option_warn_of_sheet(th_call *c, const th_op *op, th_phase phase)
{
    bool is_narrow = th_op_is_narrow(op);
    uint32_t *warned = &c->session->gpu_models->warned[is_narrow], bit = 1u << op->kind;
    if (!(*warned & bit))
        th_warn(c, "TCL-0329", "%s, %s: not measured: by the data sheet",
                th_op_kind_title(op->kind, is_narrow), th_phase_name(phase));
    *warned |= bit;
}

void th_gpu_option_warn_of_fewer(th_call *c, int32_t fewer, th_time longer, int32_t batch,
                                 th_time time)
{
    static const double MODEL_ERROR = 0.06; /* docs/models/learned.md: less tells nothing */
    char text[2][64];
    if ((double)longer <= (1 + MODEL_ERROR) * (double)time)
        return;
    th_warn(c, "TCL-1205",
            "outside the measured range: a batch of %d is predicted to take %s, longer than %s of "
            "%d, which cannot be",
            (int)fewer, th_format_time(longer, text[0], sizeof text[0]),
            th_format_time(time, text[1], sizeof text[1]), (int)batch);
}

const char *th_gpu_option_kind(int i)
{
    return i < TH_N_OP_KINDS ? th_op_kind_name((th_op_kind)i) : NULL;
}

const char *th_gpu_option_phase(int i)
{
    return i < TH_N_PHASES ? th_phase_name((th_phase)i) : NULL;
}
