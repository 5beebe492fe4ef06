/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read.c - a workload from an ONNX model.
 *   th_onnx_open -> read_once: { th_onnx_count_uses -> th_onnx_add_given ->
 *   th_onnx_add_constants -> th_onnx_add_inputs -> th_onnx_read_nodes -> th_workload_finish } ->
 *   (read_once again)
 * Where a node mixes the images of a batch, all is read again with a batch of 1, in which the
 * images are rows like others. */
#include <config.h>
#include "workloads/onnx/read.h"

#include "base/alloc.h"
#include "workloads/onnx/inputs.h"
#include "workloads/onnx/nodes.h"

/* Nodes and outputs that are read: functions that call each other twice would double them at every
 * level. */
enum { READ_LEAST = 100000, READ_PER_NODE = 4 };

/* Every output of the graph must be there. */
static int check_outputs(const th_onnx_reader *r, const ThOnnx__Graph *g)
{
    for (size_t i = 0; i < g->n_output; i++)
        if (!th_onnx_find(r, g->output[i]->name))
            return th_error_set(r->err, "WORK-0708", "%s: output \"%.100s\": no node makes it",
                                r->path, g->output[i]->name);
    return 0;
}

static int read_graph(th_onnx_reader *r, bool keeps_batch)
{
    const ThOnnx__Graph *g = r->model->graph;
    if (th_onnx_count_uses(r) || th_onnx_add_given(r, g) || th_onnx_add_constants(r, g) ||
        th_onnx_add_inputs(r, g, keeps_batch) || th_onnx_state_shapes(r, r->scope, g) ||
        th_onnx_read_nodes(r, g->node, g->n_node) || check_outputs(r, g))
        return -1;
    return r->w->n_layers == 0 && r->empty_input ? th_onnx_refuse_empty(r)
                                                 : th_workload_finish(r->w, r->err);
}

static void free_pointers(th_onnx_pointers *list)
{
    for (size_t i = 0; i < list->n; i++)
        th_free(list->at[i]);
    th_free(list->at);
}

static void clear(th_onnx_reader *r)
{
    free_pointers(&r->values);
    free_pointers(&r->blocks);
    th_free(r->out);
    th_map_free(r->uses);
    th_map_free(r->layer_names);
    th_map_free(r->weights);
    th_map_free(r->sources);
    th_map_free(r->functions);
}

/* NULL on failure; *mixes_batch is then true if reading with a batch of 1 may succeed. */
static th_workload *read_once(th_onnx_reader start, bool keeps_batch, bool *mixes_batch)
{
    th_onnx_reader r = start;
    th_onnx_scope scope = {.number = th_map_new()};
    r.opset = th_onnx_version(&r, "ai.onnx");
    *r.notes = (th_onnx_notes){.opset = r.opset};
    r.scope = &scope;
    r.uses = th_map_new();
    r.layer_names = th_map_new();
    r.weights = th_map_new();
    r.sources = th_map_new();
    r.read_max = READ_LEAST + READ_PER_NODE * (int64_t)r.model->graph->n_node;
    bool has_all = scope.number && r.uses && r.layer_names && r.weights && r.sources;
    int status = has_all ? read_graph(&r, keeps_batch) : th_error_no_memory(r.err);
    *mixes_batch = r.mixes_batch;
    th_map_free(scope.number);
    th_map_free(scope.stated);
    clear(&r);
    if (status) {
        th_workload_free(r.w);
        r.w = NULL;
    }
    return r.w;
}

th_workload *th_workload_read_onnx(const char *path, const th_onnx_options *options,
                                   th_onnx_notes *notes, th_error *err)
{
    bool mixes_batch = false;
    th_onnx_notes unread;
    ThOnnx__Model *m = th_onnx_open(path, err);
    if (!m)
        return NULL;
    const th_onnx_reader start = {
        .path = path, .model = m, .options = options, .notes = notes ? notes : &unread, .err = err};
    th_workload *w = read_once(start, true, &mixes_batch);
    if (!w && mixes_batch) {
        *err = (th_error){"", ""};
        w = read_once(start, false, &mixes_batch);
    }
    th_onnx_close(m);
    return w;
}
