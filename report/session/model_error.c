/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_error.c - see model_error.h. An error is that of a total against a measurement: of a
 * network on an accelerator, of an operation on links. Agreement with another simulator is none. */
#include <config.h>
#include "report/session/model_error.h"
#include <string.h>

const th_model_error th_model_errors[] = {
    {"tiled", false, 2.9, "tiled.md"},
    {"winograd", false, 2.0, "winograd.md"},
    {"systolic", false, -1, "systolic.md"},
    {"systolic_vec", false, -1, "systolic_vec.md"},
    {"serial_tiled", false, -1, "serial_tiled.md"},
    {"gemv", false, -1, "gemv.md"},
    {"roofline", false, -1, "roofline.md"},
    {"learned", false, 6.0, "learned.md"},
    {"table", false, 0, "table.md"},
    {"script", false, -1, "script.md"},
    {"fluid", true, 13.1, "network.md"},
    {"ideal", true, -1, "network.md"},
    {"packet", true, 11.1, "packet.md"},
    {"astra_aware", true, -1, "astra.md"},
    {"astra_unaware", true, -1, "astra.md"},
    {NULL, false, 0, NULL},
};

static th_models bit_of(const char *model, bool is_network)
{
    for (int i = 0; th_model_errors[i].model; i++)
        if (th_model_errors[i].is_network == is_network &&
            strcmp(th_model_errors[i].model, model) == 0)
            return (th_models)1 << i;
    return 0;
}

th_models th_models_of(const th_session *s, const th_result *r)
{
    th_models models = 0;
    for (int i = 0; s->mapping && i < s->mapping->n_sets; i++)
        for (int32_t k = 0; k < s->mapping->sets[i].n_accels; k++) {
            int32_t accel = s->mapping->sets[i].accels[k];
            int32_t design = th_set_design(&s->mapping->sets[i], k, s->system);
            if (r->accels[accel].n_tasks > 0)
                models |= bit_of(s->system->designs[design].type, false);
        }
    if (r->moved_bytes > 0)
        models |= bit_of(s->simulation->options.network->name, true);
    return models;
}

double th_models_error(th_models models)
{
    double most = 0;
    for (int i = 0; th_model_errors[i].model; i++)
        if (models >> i & 1u && th_model_errors[i].percent > most)
            most = th_model_errors[i].percent;
    return most;
}

void th_models_describe(th_models models, th_strbuf *out)
{
    const char *before = "";
    for (int i = 0; th_model_errors[i].model; i++) {
        const th_model_error *e = &th_model_errors[i];
        if (!(models >> i & 1u))
            continue;
        th_strbuf_printf(out, "%s%s%s", before, e->model, e->is_network ? " network" : "");
        if (e->percent < 0)
            th_strbuf_add(out, " unknown");
        else
            th_strbuf_printf(out, " %g %%", e->percent);
        before = ", ";
    }
}
