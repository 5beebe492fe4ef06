/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_file.c - see plan_file.h. plan_read.c reads. */
#include <config.h>
#include "base/alloc.h"
#include "base/config_write.h"
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

static void put_int(th_strbuf *out, const char *key, int64_t x)
{
    th_strbuf_printf(out, "    %s = %lld;\n", key, (long long)x);
}

static void put_bool(th_strbuf *out, const char *key, bool x)
{
    th_strbuf_printf(out, "    %s = %s;\n", key, x ? "true" : "false");
}

static void put_text(th_strbuf *out, const char *key, const char *x)
{
    th_strbuf_printf(out, "    %s = ", key);
    th_config_put_text(out, x);
    th_strbuf_add(out, ";\n");
}

static void put_names(th_strbuf *out, const char *key, const char *const *names, int n)
{
    th_strbuf_printf(out, "    %s = ", key);
    th_config_put_names(out, names, n);
    th_strbuf_add(out, ";\n");
}

static void put_degrees(const th_parallel_plan *p, th_strbuf *out)
{
    const th_degrees *n = &p->n;
    put_int(out, "tensor", n->tensor);
    put_int(out, "pipeline", n->pipeline);
    put_int(out, "virtual", n->chunks);
    put_int(out, "context", n->context);
    put_int(out, "expert", n->expert);
    put_int(out, "expert_tensor", n->expert_tensor);
    put_int(out, "data", n->data);
    put_int(out, "zero", n->zero);
    put_int(out, "zero_group", n->zero_group);
    put_int(out, "micro_batch", p->batch.micro_batch);
    put_int(out, "global_batch", p->batch.global_batch);
}

static void put_order(const th_parallel_plan *p, th_strbuf *out)
{
    const char *order[TH_N_AXES + 1];
    int n = 0;
    for (int i = 0; i < TH_N_AXES; i++) {
        if (p->order[i] == TH_AXIS_DATA && !p->experts_apart)
            order[n++] = th_plan_expert_axis;
        order[n++] = th_axis_names[p->order[i]];
        if (p->order[i] == TH_AXIS_DATA && p->experts_apart)
            order[n++] = th_plan_expert_axis;
    }
    put_names(out, "order", order, n);
}

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
    const th_parallel_plan *p = &f->plan;
    const char *overlap[3];
    int n = 0;
    if (p->overlaps_data)
        overlap[n++] = th_plan_overlap_names[0];
    if (p->overlaps_tensor)
        overlap[n++] = th_plan_overlap_names[1];
    if (p->overlaps_pipeline)
        overlap[n++] = th_plan_overlap_names[2];
    th_strbuf_add(out, "plan = {\n");
    put_degrees(p, out);
    put_text(out, "schedule", p->schedule ? p->schedule->name : f->schedule_file);
    put_bool(out, "sequence_parallel", p->sequence_parallel);
    put_text(out, "layout", th_plan_layout_names[p->layout]);
    put_names(out, "overlap", overlap, n);
    put_order(p, out);
    put_text(out, "kernels", th_plan_kernel_names[!p->has_fused_kernels]);
    put_text(out, "attention", th_plan_attention_names[p->attention]);
    put_text(out, "expert_exchange", th_plan_exchange_names[p->exchanges_by_node]);
    put_text(out, "gradients", th_plan_gradient_names[p->gradient_bytes == 2]);
    put_bool(out, "frozen", p->frozen_weights);
    put_bool(out, "ignore_memory", f->ignores_memory);
    put_bool(out, "merge", f->merges);
    th_strbuf_add(out, "};\n");
    put_numbers(&f->numbers, out);
}
