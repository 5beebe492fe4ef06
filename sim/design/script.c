/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.c - a design whose cycles come from a Tcl procedure. The procedure may also give the
 * bytes; by default each tensor moves once.
 *
 * The model is ours. An answer of n tiles becomes n equal steps; the last one has the remainders of
 * the divisions. Each step loads and stores its part of every tensor and computes its part of the
 * cycles. The pipeline adds overlap, fill, drain, slots, ports and the DRAM. Keys of the block that
 * the design does not define are parameters of the procedure.
 *   prepare -> connect (by th_compute_cost_cache) -> schedule* -> release
 * Not modelled: operands that stay on chip between tiles (an answer gives the total of bytes
 * moved). */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "base/names.h"
#include "sim/design/designs.h"
#include "sim/design/script_memo.h"
#include "sim/design/tiles.h"

enum { CLOCK, PROCEDURE, TIME_LIMIT, SLOTS, INPUT_PORT, WEIGHT_PORT, OUTPUT_PORT };

static const th_time limit_min = 1000000000, limit_max = 3600000000000000,
                     default_limit_ps = 2000000000000; /* 1 ms, 1 h, 2 s */

static const th_design_key keys[] = {
    [CLOCK] = {"clock", TH_KEY_FREQUENCY, true, 1e3, 1e13, 0,
               "clock of the cycles that are returned", NULL},
    [PROCEDURE] = {"procedure", TH_KEY_TEXT, true, 0, 0, 0, "the Tcl procedure that is called",
                   NULL},
    [TIME_LIMIT] = {"time_limit", TH_KEY_TEXT, false, 0, 0, 0,
                    "real time that a call may take, \"2s\" when left out", NULL},
    [SLOTS] = {"slots", TH_KEY_INTEGER, false, 1, TH_SLOTS_MAX, 2,
               "tiles that each on-chip buffer holds", NULL},
    [INPUT_PORT] = {"input_port", TH_KEY_NUMBER, false, 1e-3, 1e6, 0,
                    "elements per cycle; absent: as fast as the DRAM", NULL},
    [WEIGHT_PORT] = {"weight_port", TH_KEY_NUMBER, false, 1e-3, 1e6, 0,
                     "elements per cycle; absent: as fast as the DRAM", NULL},
    [OUTPUT_PORT] = {"output_port", TH_KEY_NUMBER, false, 1e-3, 1e6, 0,
                     "elements per cycle; absent: as fast as the DRAM", NULL},
    {.name = NULL},
};

/* What prepare makes of a block. */
typedef struct {
    const th_design_block *block;
    const char *procedure;
    th_time limit_ps;
    th_script_memo *memo; /* NULL: not connected */
    uint64_t digest;
} script;

bool th_script_is_own_key(const char *key)
{
    for (int i = 0; keys[i].name; i++)
        if (strcmp(keys[i].name, key) == 0)
            return true;
    return false;
}

static const char *misspelt(const char *parameter)
{
    if (th_script_is_own_key(parameter))
        return NULL;
    for (int i = 0; keys[i].name; i++)
        if (!keys[i].required && th_name_distance(parameter, keys[i].name) == 1)
            return keys[i].name;
    return NULL;
}

/* Rejects parameters whose names resemble an optional key: such a parameter may be a misspelt key.
 * A misspelt required key is reported as missing anyway. */
static int check_parameters(const th_design_block *b, th_error *err)
{
    for (int i = 0; i < b->n_params; i++) {
        const char *key = b->params[i].key, *near = misspelt(key);
        if (near)
            return th_error_set(
                err, "SIM-0091",
                "%s:%d: design \"%s\": \"%s\" looks like the key \"%s\": correct it, "
                "or give the parameter another name",
                b->file, b->params[i].line, b->name, key, near);
    }
    return 0;
}

static int prepare(th_design_config *c, const th_design_block *block, th_error *err)
{
    th_time limit = default_limit_ps;
    const char *text = c->text[TIME_LIMIT];
    if (check_parameters(block, err))
        return -1;
    if (text && (th_parse_time(text, &limit, NULL) || limit < limit_min || limit > limit_max))
        return th_error_set(
            err, "SIM-0096",
            "%s:%d: design \"%s\": time_limit \"%s\": must be a time of 1ms to 3600s", block->file,
            block->line, block->name, text);
    script *s = th_alloc_zero(1, sizeof *s);
    if (!s)
        return th_error_no_memory(err);
    *s = (script){.block = block, .procedure = c->text[PROCEDURE], .limit_ps = limit};
    c->data = s;
    return 0;
}

static void release(th_design_config *c)
{
    th_free(c->data);
    c->data = NULL;
}

int th_script_connect(const th_design_type *type, th_design_config *c, th_script_memo *m,
                      th_error *err)
{
    if (type != &th_design_script || !m)
        return 0;
    script *s = c->data;
    if (th_script_memo_digest(m, s->block, s->procedure, &s->digest, err))
        return -1;
    s->memo = m;
    return 0;
}

bool th_script_is_asked(const th_design_type *type)
{
    return type == &th_design_script;
}

int64_t th_script_tensor_bytes(const th_shard *s, th_tensor tensor)
{
    const int32_t *d = s->dim;
    int64_t b = d[TH_DIM_B], images = th_shard_multiplies_activations(s) ? b : 1;
    switch (tensor) {
    case TH_TENSOR_INPUT:
        return th_shard_bytes(s, tensor, b * d[TH_DIM_C] * s->in_h * s->in_w);
    case TH_TENSOR_WEIGHT:
        return th_shard_bytes(
            s, tensor, images * d[TH_DIM_K] * th_group_inputs(s) * d[TH_DIM_R] * d[TH_DIM_S]);
    case TH_TENSOR_OUTPUT:
        return th_shard_bytes(s, tensor, b * d[TH_DIM_K] * d[TH_DIM_H] * d[TH_DIM_W]);
    case TH_N_TENSORS:
        break;
    }
    return 0;
}

/* The bytes of the answer, or the size of the tensor if the answer has none. */
static int64_t bytes_of(const th_script_answer *a, th_script_number number, const th_shard *s,
                        th_tensor tensor)
{
    return a->has[number] ? (int64_t)a->number[number] : th_script_tensor_bytes(s, tensor);
}

/* The share of one of n tiles. */
static int64_t part_of(int64_t all, int64_t n, bool is_last)
{
    return is_last ? all - all / n * (n - 1) : all / n;
}

static double tiles_of(const th_script_answer *a)
{
    return a->has[TH_SCRIPT_TILES] ? a->number[TH_SCRIPT_TILES] : 1;
}

static void fill_schedule(const th_design_config *d, const th_shard *s, const th_script_answer *a,
                          th_schedule *out)
{
    int64_t n = (int64_t)tiles_of(a), cycles = (int64_t)a->number[TH_SCRIPT_CYCLES],
            input = bytes_of(a, TH_SCRIPT_INPUT_BYTES, s, TH_TENSOR_INPUT),
            weight = bytes_of(a, TH_SCRIPT_WEIGHT_BYTES, s, TH_TENSOR_WEIGHT),
            output = bytes_of(a, TH_SCRIPT_OUTPUT_BYTES, s, TH_TENSOR_OUTPUT);
    *out = (th_schedule){.hz = (int64_t)d->value[CLOCK], .count = {1, (int32_t)n, 1, 1, 1}};
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        bool is_last = mask & TH_LAST_H;
        out->step[mask] = (th_step){part_of(input, n, is_last), part_of(weight, n, is_last),
                                    part_of(cycles, n, is_last)};
        out->output_bytes[mask & (TH_N_STORE_KINDS - 1)] = part_of(output, n, is_last);
    }
    out->slots_in = out->slots_out = (int32_t)d->value[SLOTS];
    th_set_ports(out, s, &d->value[INPUT_PORT]);
    out->macs_per_cycle =
        a->has[TH_SCRIPT_MACS_PER_CYCLE] ? a->number[TH_SCRIPT_MACS_PER_CYCLE] : 0;
    out->variant = a->variant[0] != '\0' ? a->variant : NULL;
}

static const th_script_answer *answer_for(const script *s, const th_shard *shard, th_error *err)
{
    th_shard asked = *shard;
    asked.adds_to_output = asked.has_bias = 0;
    const th_script_question question = {s->block, s->procedure, s->limit_ps, &asked};
    return th_script_memo_find(s->memo, s->digest, &question, err);
}

static int schedule(const th_design_config *d, const th_shard *shard, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    const script *s = d->data;
    (void)memory;
    if (!s->memo)
        return th_error_set(err, "SIM-0092",
                            "%s:%d: design \"%s\": nobody here can call procedure %s",
                            s->block->file, s->block->line, s->block->name, s->procedure);
    const th_script_answer *answer = answer_for(s, shard, err);
    if (!answer)
        return -1;
    fill_schedule(d, shard, answer, out);
    return 0;
}

const th_design_type th_design_script = {
    .name = "script",
    .synopsis = "a Tcl procedure says cycles and bytes",
    .keys = keys,
    .takes_parameters = true,
    .schedule = schedule,
    .prepare = prepare,
    .release = release,
};
