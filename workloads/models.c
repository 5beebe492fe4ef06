/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.c - several networks that share a system, as one workload.
 *   join: check -> copy base's layers -> copy added's layers, renumbered and renamed -> finish
 *   alone: copy one model's layers, renumbered -> finish
 * The layers of a model are contiguous, in their order, and read no tensors of other models, so
 * sorting does not move them. */
#include <config.h>

#include "workloads/models.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"

static int check(const th_workload *base, const th_workload *added, const char *name, th_error *err)
{
    if (name[0] == '\0' || strchr(name, '/'))
        return th_error_set(err, "WORK-0075",
                            "model \"%.100s\": its name must not be empty or have a \"/\"", name);
    if (added->n_models > 0)
        return th_error_set(err, "WORK-0090",
                            "model \"%.100s\": workload \"%.100s\" is made of models: must be one "
                            "network",
                            name, added->name);
    if (!base)
        return 0;
    if (base->batch != added->batch)
        return th_error_set(err, "WORK-0076",
                            "model \"%.100s\": a batch of %d, and the workload has %d: all models "
                            "have one batch",
                            name, (int)added->batch, (int)base->batch);
    for (int i = 0; i < th_workload_parts(base); i++)
        if (strcmp(th_workload_part(base, i).name, name) == 0)
            return th_error_set(err, "WORK-0077",
                                "model \"%.100s\": the workload has one of this name", name);
    return 0;
}

/* --- layers ----------------------------------------------------------------------------------- */

/* prefix: "" or "NAME/". Layers keep their order and get those before them in front. */
static int add_layer(th_workload *out, const th_layer *from, const char *prefix, int32_t offset,
                     th_error *err)
{
    th_strbuf name = TH_STRBUF_INIT;
    th_layer l = *from;
    th_strbuf_printf(&name, "%s%s", prefix, from->name);
    l.inputs = th_alloc_array((size_t)from->n_inputs + 1, sizeof *l.inputs);
    int failed = name.failed || !l.inputs ? th_error_no_memory(err) : 0;
    for (int i = 0; !failed && i < from->n_inputs; i++)
        l.inputs[i] =
            from->inputs[i] == TH_EXTERNAL_INPUT ? from->inputs[i] : from->inputs[i] + offset;
    l.tied_to += from->tied_to > 0 ? offset : 0;
    l.name = name.text;
    if (!failed)
        failed = th_workload_add_layer(out, &l, err) < 0 ? -1 : 0;
    th_strbuf_clear(&name);
    th_free(l.inputs);
    return failed;
}

/* The layers and the figures of a part of some workload become a model of out. */
static int add_model(th_workload *out, const th_workload *from, const th_model *part,
                     bool is_renamed, th_error *err)
{
    int32_t first = out->n_layers, offset = first - part->first_layer;
    th_strbuf prefix = TH_STRBUF_INIT;
    th_strbuf_printf(&prefix, "%s/", part->name);
    int failed = prefix.failed ? th_error_no_memory(err) : 0;
    for (int32_t l = 0; !failed && l < part->n_layers; l++)
        failed = add_layer(out, &from->layers[part->first_layer + l], is_renamed ? prefix.text : "",
                           offset, err);
    th_strbuf_clear(&prefix);
    if (failed)
        return -1;
    th_model *m = &out->models[out->n_models];
    *m = *part;
    m->first_layer = first;
    m->name = th_alloc_string(part->name);
    if (!m->name)
        return th_error_no_memory(err);
    out->n_models++;
    return 0;
}

static int add_all(th_workload *out, const th_workload *base, const th_workload *added,
                   const th_model *model, th_error *err)
{
    int n = base ? th_workload_parts(base) : 0;
    out->models = th_alloc_zero((size_t)n + 1, sizeof *out->models);
    if (!out->models)
        return th_error_no_memory(err);
    for (int i = 0; i < n; i++) {
        th_model part = th_workload_part(base, i);
        if (add_model(out, base, &part, base->n_models == 0, err))
            return -1;
    }
    return add_model(out, added, model, true, err);
}

th_workload *th_models_join(const th_workload *base, const th_workload *added,
                            const th_model_options *o, th_error *err)
{
    th_model model = th_workload_part(added, 0);
    th_strbuf name = TH_STRBUF_INIT;
    if (o->name)
        model.name = (char *)o->name; /* copied where it is kept */
    model.arrival_ps = o->arrival_ps;
    model.deadline_ps = o->deadline_ps;
    if (check(base, added, model.name, err))
        return NULL;
    th_strbuf_printf(&name, "%s%s%s", base ? base->name : "", base ? "+" : "", model.name);
    const th_workload *like = base ? base : added;
    th_workload *out =
        name.failed
            ? NULL
            : th_workload_new(name.text, NULL,
                              &(th_workload_input){like->batch, like->input_c, like->input_h,
                                                   like->input_w, like->precision},
                              err);
    if (name.failed)
        th_error_no_memory(err);
    th_strbuf_clear(&name);
    if (out && add_all(out, base, added, &model, err) == 0 && th_workload_finish(out, err) == 0)
        return out;
    th_workload_free(out);
    return NULL;
}

th_workload *th_models_alone(const th_workload *w, int i, th_error *err)
{
    th_model model = th_workload_part(w, i);
    model.arrival_ps = model.deadline_ps = 0;
    const th_workload_input input = {w->batch, w->input_c, w->input_h, w->input_w, w->precision};
    th_workload *out = th_workload_new(model.name, NULL, &input, err);
    if (out && !(out->models = th_alloc_zero(1, sizeof *out->models)))
        th_error_no_memory(err);
    if (out && out->models && add_model(out, w, &model, false, err) == 0 &&
        th_workload_finish(out, err) == 0)
        return out;
    th_workload_free(out);
    return NULL;
}
