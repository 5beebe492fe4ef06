/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_file.c - see plan_file.h. plan_read.c reads. */
#include <config.h>
#include "base/alloc.h"
#include "base/config_write.h"
#include "training/plan_fields.h"
#include "training/plan_file.h"

void th_plan_file_clear(th_plan_file *f)
{
    th_free(f->schedule_file);
    f->schedule_file = NULL;
}

int th_plan_file_set_schedule(th_plan_file *f, const char *name, th_error *err)
{
    f->plan.schedule = th_pipeline_find(name);
    if (!f->plan.schedule && !(f->schedule_file = th_alloc_string(name)))
        return th_error_no_memory(err);
    f->plan.schedule_file = f->schedule_file;
    return 0;
}

static void set_if_0(int32_t *x, int64_t otherwise)
{
    if (*x == 0)
        *x = otherwise < 1 ? 1 : otherwise < INT32_MAX ? (int32_t)otherwise : INT32_MAX;
}

int th_plan_file_fill(th_plan_file *f, int32_t n_accels, th_error *err)
{
    th_degrees *n = &f->plan.n;
    int32_t *const ones[] = {&n->tensor, &n->pipeline,      &n->context,
                             &n->expert, &n->expert_tensor, &f->plan.batch.micro_batch};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        set_if_0(ones[i], 1);
    set_if_0(&n->data, n_accels / ((int64_t)n->tensor * n->pipeline * n->context));
    set_if_0(&n->zero_group, (int64_t)n->data * n->context);
    if (!f->plan.schedule && !f->schedule_file &&
        th_plan_file_set_schedule(f, n->chunks > 1 ? "interleaved" : "1f1b", err))
        return -1;
    set_if_0(&n->chunks, f->plan.schedule && f->plan.schedule->is_v ? 2 : 1);
    return 0;
}

/* ---- text ---- */

static void put_numbers(const th_training_numbers *numbers, th_strbuf *out)
{
    th_strbuf_add(out, "numbers = {\n");
    for (int i = 0; i < TH_N_NUMBERS; i++) {
        th_strbuf_printf(out, "    %s = ", th_number_meanings[i].name);
        th_config_put_number(out, numbers->of[i]);
        th_strbuf_add(out, ";\n");
    }
    th_strbuf_add(out, "};\n");
}

void th_plan_file_write(const th_plan_file *f, th_strbuf *out)
{
    th_strbuf_add(out, "plan = {\n");
    th_fields_write(th_plan_fields, f, (th_fields_form){"    ", ";\n", false}, out);
    th_strbuf_add(out, "};\n");
    put_numbers(&f->numbers, out);
}
