/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_file.c - see plan_file.h. In libconfig: plan = { global_batch = 8; ... }; numbers = { ... }.
 * Keys are options of parallel_plan, and have their defaults. */
#include <config.h>
#include "base/alloc.h"
#include "base/files/config_read.h"
#include "base/files/config_write.h"
#include "training/plan_file.h"
#include "training/plan_stages.h"

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

enum { DEGREE_MAX = 1 << 16, BATCH_MAX = 1 << 24 };

/* ---- keys that are lists, or words that stand for numbers ---- */

static int read_overlap(const th_config_node *g, void *base, th_error *err)
{
    th_parallel_plan *p = &((th_plan_file *)base)->plan;
    const th_config_node *list;
    if (th_config_child(g, "overlap", false, TH_CONFIG_LIST, &list, err))
        return -1;
    for (int i = 0; list && i < th_config_count(list); i++) {
        int at;
        if (th_config_as_word(th_config_at(list, i), "overlap", th_plan_overlap_names, &at, err))
            return -1;
        p->overlaps_data |= at == 0;
        p->overlaps_tensor |= at == 1;
        p->overlaps_pipeline |= at == 2;
    }
    return 0;
}

/* The words of a list: how many, of which those up to most are put into words; -1 on failure. */
static int read_words(const th_config_node *g, const char *key, const char **words, int most,
                      th_error *err)
{
    const th_config_node *list;
    if (th_config_child(g, key, false, TH_CONFIG_LIST, &list, err))
        return -1;
    const int n = list ? th_config_count(list) : 0;
    for (int i = 0; i < n && i < most; i++)
        if (th_config_as_string(th_config_at(list, i), &words[i], err))
            return -1;
    return n;
}

static int read_order(const th_config_node *g, void *base, th_error *err)
{
    const char *words[TH_N_AXES + 1];
    const int n = read_words(g, "order", words, TH_N_AXES + 1, err);
    return n < 0 ? -1 : th_plan_set_order(&((th_plan_file *)base)->plan, words, n, err);
}

static int read_stages(const th_config_node *g, void *base, th_error *err)
{
    const char *words[TH_OWN_STAGES_MAX];
    const int n = read_words(g, "stages", words, TH_OWN_STAGES_MAX, err);
    return n < 0 ? -1 : th_plan_set_stages(&((th_plan_file *)base)->plan, words, n, err);
}

static void put_stages(th_strbuf *out, const void *base)
{
    const th_parallel_plan *p = &((const th_plan_file *)base)->plan;
    char words[TH_OWN_STAGES_MAX][32];
    const char *names[TH_OWN_STAGES_MAX];
    for (int32_t i = 0; i < p->n_own; i++) {
        th_plan_stage_word(p, i, words[i], sizeof words[i]);
        names[i] = words[i];
    }
    th_config_put_names(out, names, p->n_own);
}

static int read_shares(const th_config_node *g, void *base, th_error *err)
{
    th_parallel_plan *p = &((th_plan_file *)base)->plan;
    const th_config_node *list;
    int64_t share = 0;
    if (th_config_child(g, "shares", false, TH_CONFIG_LIST, &list, err))
        return -1;
    p->n_shares = list ? th_config_count(list) : 0;
    if (p->n_shares > TH_SHARES_MAX)
        return th_error_set(err, "MAP-0798", "%s:%d: shares: must be at most %d",
                            th_config_file(list), th_config_line(list), TH_SHARES_MAX);
    for (int32_t i = 0; i < p->n_shares; i++, share = 0) {
        if (th_config_as_int(th_config_at(list, i), 1, TH_MICRO_BATCHES_MAX, &share, err))
            return -1;
        p->shares[i] = (int32_t)share;
    }
    return 0;
}

static void put_shares(th_strbuf *out, const void *base)
{
    const th_parallel_plan *p = &((const th_plan_file *)base)->plan;
    for (int32_t i = 0; i < p->n_shares; i++)
        th_strbuf_printf(out, "%s%d", i > 0 ? ", " : "[", (int)p->shares[i]);
    th_strbuf_add(out, "]");
}

static void put_overlap(th_strbuf *out, const void *base)
{
    const th_parallel_plan *p = &((const th_plan_file *)base)->plan;
    const bool overlaps[] = {p->overlaps_data, p->overlaps_tensor, p->overlaps_pipeline};
    const char *words[3];
    int n = 0;
    for (int i = 0; i < 3; i++)
        if (overlaps[i])
            words[n++] = th_plan_overlap_names[i];
    th_config_put_names(out, words, n);
}

static void put_order(th_strbuf *out, const void *base)
{
    const th_parallel_plan *p = &((const th_plan_file *)base)->plan;
    const char *order[TH_N_AXES + 1];
    int n = 0;
    for (int i = 0; i < TH_N_AXES; i++) {
        if (p->order[i] == TH_AXIS_DATA && !p->experts_apart)
            order[n++] = th_plan_expert_axis;
        order[n++] = th_axis_names[p->order[i]];
        if (p->order[i] == TH_AXIS_DATA && p->experts_apart)
            order[n++] = th_plan_expert_axis;
    }
    th_config_put_names(out, order, n);
}

static int read_schedule(const th_config_node *g, void *base, th_error *err)
{
    const char *name;
    return th_config_string(g, "schedule", true, &name, err) ||
                   th_plan_file_set_schedule(base, name, err)
               ? -1
               : 0;
}

static void put_schedule(th_strbuf *out, const void *base)
{
    const th_plan_file *f = base;
    th_config_put_text(out, f->plan.schedule ? f->plan.schedule->name : f->schedule_file);
}

static int read_gradients(const th_config_node *g, void *base, th_error *err)
{
    int at = 0;
    if (th_config_word(g, "gradients", th_plan_gradient_names, &at, err) < 0)
        return -1;
    ((th_plan_file *)base)->plan.gradient_bytes = at == 0 ? 4 : 2;
    return 0;
}

static void put_gradients(th_strbuf *out, const void *base)
{
    const th_plan_file *f = base;
    th_config_put_text(out, th_plan_gradient_names[f->plan.gradient_bytes == 2]);
}

/* ---- the table ---- */

#define DEGREE(key, member, text, default_text)                                                    \
    {                                                                                              \
        key, TH_FIELD_AT(th_plan_file, member), TH_FIELD_INT, TH_FIELD_ALWAYS, 1, DEGREE_MAX,      \
            .says = text, .otherwise = default_text                                                \
    }
#define WORD(key, member, names, flag, text)                                                       \
    {                                                                                              \
        key, TH_FIELD_AT(th_plan_file, member), TH_FIELD_WORD, TH_FIELD_ALWAYS | (flag),           \
            .words = names, .says = text                                                           \
    }
#define FLAG(key, member, value, text)                                                             \
    {                                                                                              \
        key, TH_FIELD_AT(th_plan_file, member), TH_FIELD_BOOL, TH_FIELD_ALWAYS, .absent = value,   \
                                                                                .says = text       \
    }

const th_field th_plan_fields[] = {
    DEGREE("tensor", plan.n.tensor, "ranks that share each product", "1"),
    DEGREE("pipeline", plan.n.pipeline, "stages", "1"),
    DEGREE("virtual", plan.n.chunks, "chunks of each stage", "1, 2 of a V schedule"),
    DEGREE("context", plan.n.context, "ranks that share a sequence", "1"),
    DEGREE("expert", plan.n.expert, "ranks that share the experts", "1"),
    DEGREE("expert_tensor", plan.n.expert_tensor, "ranks that share each expert", "1"),
    DEGREE("data", plan.n.data, "replicas", "as many as there are accelerators for"),
    {"zero", TH_FIELD_AT(th_plan_file, plan.n.zero), TH_FIELD_INT, TH_FIELD_ALWAYS, 0, 3,
     .says = "what replicas share: 1 optimizer states, 2 gradients too, 3 weights too"},
    DEGREE("zero_group", plan.n.zero_group, "ranks that share it", "`data` x `context`"),
    DEGREE("micro_batch", plan.batch.micro_batch, "sequences of a micro-batch", "1"),
    {"global_batch", TH_FIELD_AT(th_plan_file, plan.batch.global_batch), TH_FIELD_INT,
     TH_FIELD_REQUIRED, 1, BATCH_MAX, .says = "sequences of a step"},
    {"shares", TH_FIELD_AT(th_plan_file, plan.n_shares), .read = read_shares, .put = put_shares,
     .says = "list of the micro-batches of replicas: as many of them take the first number, the "
             "second, and so on",
     .otherwise = "as many for all"},
    {"schedule", .read = read_schedule, .put = put_schedule,
     .says = "of the pipeline: a name, or a file", .otherwise = "`1f1b`, or `interleaved`"},
    {"recompute", TH_FIELD_AT(th_plan_file, plan.recompute), TH_FIELD_WORD, TH_FIELD_ALWAYS,
     .words = th_plan_recompute_names, .says = "what the backward operation computes again",
     .otherwise = "that of `create_transformer`"},
    FLAG("sequence_parallel", plan.sequence_parallel, false, "norms are shared by tensor ranks"),
    WORD("layout", plan.layout, th_plan_layout_names, 0, "how layers are spread over stages"),
    {"stages", .read = read_stages, .put = put_stages,
     .says =
         "list, of each stage `LAYERS`, `LAYERS@BLOCK` or `LAYERS@BLOCK+AGAIN`: its layers; the "
         "stage whose accelerators it has; how many of its layers, the first ones, are "
         "computed again",
     .otherwise = "stages are equal"},
    {"overlap", .read = read_overlap, .put = put_overlap,
     .says = "list of the communication that computation hides: `data`, `tensor`, `pipeline`",
     .otherwise = "none"},
    {"order", .read = read_order, .put = put_order,
     .says = "the kinds of ranks, neighbours first: `tensor`, `context`, `expert`, `data`, "
             "`pipeline`",
     .otherwise = "in this order"},
    WORD("kernels", plan.has_fused_kernels, th_plan_kernel_names, TH_FIELD_INVERTED,
         "elementwise operations are fused, or each is a pass of its own"),
    WORD("attention", plan.attention, th_plan_attention_names, 0, "the kernel of attention"),
    WORD("launch", plan.launch, th_plan_launch_names, 0,
         "how the host launches kernels; `auto`: eager ones from Python"),
    WORD("expert_exchange", plan.exchanges_by_node, th_plan_exchange_names, 0,
         "how tokens reach their experts"),
    {"gradients", TH_FIELD_AT(th_plan_file, plan.gradient_bytes), .read = read_gradients,
     .put = put_gradients, .says = "precision in which gradients are reduced: `fp32`, `16bit`",
     .otherwise = "`fp32`"},
    FLAG("frozen", plan.frozen_weights, false, "adapters alone are trained"),
    FLAG("ignore_memory", ignores_memory, false, "a plan that does not fit is simulated"),
    FLAG("merge", merges, true, "ranks that do the same are simulated once"),
    {NULL}};

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

/* ---- reading ---- */

static int read_numbers(const th_config_node *root, th_training_numbers *out, th_error *err)
{
    const char *names[TH_N_NUMBERS + 1] = {NULL};
    const th_config_node *g;
    *out = th_training_numbers_shipped();
    for (int i = 0; i < TH_N_NUMBERS; i++)
        names[i] = th_number_meanings[i].name;
    if (th_config_child(root, "numbers", false, TH_CONFIG_GROUP, &g, err))
        return -1;
    if (!g)
        return 0;
    if (th_config_check_keys(g, names, err))
        return -1;
    for (int i = 0; i < TH_N_NUMBERS; i++) {
        if (th_config_double(g, names[i], false, &out->of[i], err))
            return -1;
        if (!(out->of[i] >= 0 && out->of[i] <= TH_NUMBER_MAX))
            return th_error_set(err, "MAP-0442", "%s:%d: %s: must be a number from 0 to %d",
                                th_config_file(g), th_config_line(g), names[i], TH_NUMBER_MAX);
    }
    return 0;
}

static int read_all(const th_config_node *root, th_plan_file *f, th_error *err)
{
    static const char *const groups[] = {"plan", "numbers", NULL};
    const th_recompute of_model = f->plan.recompute;
    f->schedule_file = NULL;
    f->plan.schedule = NULL;
    f->plan.gradient_bytes = 4;
    if (th_config_check_keys(root, groups, err) || th_plan_set_order(&f->plan, NULL, 0, err) ||
        th_fields_read_group(th_plan_fields, root, "plan", true, f, err) ||
        read_numbers(root, &f->numbers, err))
        return -1;
    if (!th_config_member(th_config_member(root, "plan"), "recompute"))
        f->plan.recompute = of_model;
    return 0;
}

static int read_config(th_config *c, th_plan_file *f, th_error *err)
{
    int failed = c ? read_all(th_config_root(c), f, err) : -1;
    if (c)
        th_config_close(c);
    if (c && failed)
        th_plan_file_clear(f);
    return failed;
}

int th_plan_file_read(const char *path, th_plan_file *f, th_error *err)
{
    return read_config(th_config_open(path, err), f, err);
}

int th_plan_file_read_text(const char *text, const char *name, th_plan_file *f, th_error *err)
{
    return read_config(th_config_open_text(text, name, err), f, err);
}

bool th_plan_file_is(const char *path)
{
    th_error err;
    th_config *c = th_config_open(path, &err);
    bool is_plan = c && th_config_member(th_config_root(c), "plan");
    th_config_close(c);
    return is_plan;
}
