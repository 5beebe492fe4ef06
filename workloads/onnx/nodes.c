/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nodes.c - see nodes.h.
 *
 * A node whose inputs are constants is computed, or, where their numbers are not known or too many,
 * its output is a constant of a known shape. A node that reads a tensor becomes what its row of the
 * table says (op.h). A branch of an If, whose condition must be known, is read in the place of the
 * node, and so is the body of a function of the model. */
#include <config.h>
#include "workloads/onnx/nodes.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "workloads/onnx/shape/fold.h"
#include "workloads/onnx/inputs.h"
#include "workloads/onnx/op.h"
#include "workloads/onnx/order.h"

enum { DEEPEST = 32, OWN_ATTENTION = 23 /* ai.onnx has one since this version */ };

/* ---- constants and uses ---------------------------------------------------------------------- */

/* dims: a sparse tensor's; else those of t, whose numbers are read. */
static int add_constant(th_onnx_reader *r, const th_onnx_tensor *t, const int64_t *dims,
                        size_t n_dims)
{
    th_onnx_value v = {.is_constant = true, .type = t->data_type};
    const char *name = t->name ? t->name : "";
    if (n_dims > TH_ONNX_RANK_MAX)
        return th_error_set(r->err, "WORK-0112",
                            "%s: initializer \"%.100s\": %zu axes: must be at most %d", r->path,
                            name, n_dims, TH_ONNX_RANK_MAX);
    for (; v.rank < (int32_t)n_dims; v.rank++)
        v.dim[v.rank] = dims[v.rank];
    if (th_onnx_find(r, name))
        return th_error_set(r->err, "WORK-0113",
                            "%s: initializer \"%.100s\": another tensor has the name", r->path,
                            name);
    if (dims == t->dims && th_onnx_fold_tensor(r, &v, t) < 0)
        return -1;
    v.unread = t;
    return th_onnx_define(r, name, &v) ? 0 : -1;
}

int th_onnx_add_constants(th_onnx_reader *r, const ThOnnx__Graph *g)
{
    for (size_t i = 0; i < g->n_initializer; i++) {
        const th_onnx_tensor *t = g->initializer[i];
        bool is_given = g == r->model->graph && th_onnx_is_given(r, t->name);
        if (!is_given && add_constant(r, t, t->dims, t->n_dims))
            return -1;
    }
    for (size_t i = 0; i < g->n_sparse_initializer; i++) {
        const ThOnnx__SparseTensor *t = g->sparse_initializer[i];
        if (add_constant(r, t->values, t->dims, t->n_dims))
            return -1;
    }
    return 0;
}

int th_onnx_count_use(th_onnx_reader *r, const char *name, int by)
{
    int64_t n = 0;
    th_map_get(r->uses, name, strlen(name), &n);
    return th_map_put(r->uses, name, strlen(name), n + by) ? th_error_no_memory(r->err) : 0;
}

static int count_nodes(th_onnx_reader *r, th_onnx_node *const *nodes, size_t n, int by)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < nodes[i]->n_input; k++)
            if (th_onnx_count_use(r, nodes[i]->input[k], by))
                return -1;
        for (size_t k = 0; k < nodes[i]->n_attribute; k++)
            if (nodes[i]->attribute[k]->g && th_onnx_count_graph(r, nodes[i]->attribute[k]->g, by))
                return -1;
    }
    return 0;
}

int th_onnx_count_graph(th_onnx_reader *r, const ThOnnx__Graph *g, int by)
{
    for (size_t i = 0; i < g->n_output; i++)
        if (th_onnx_count_use(r, g->output[i]->name, by))
            return -1;
    return count_nodes(r, g->node, g->n_node, by);
}

int th_onnx_count_uses(th_onnx_reader *r)
{
    for (size_t i = 0; i < r->model->n_functions; i++) {
        const ThOnnx__Function *f = r->model->functions[i];
        for (size_t k = 0; k < f->n_output; k++)
            if (th_onnx_count_use(r, f->output[k], 1))
                return -1;
        if (count_nodes(r, f->node, f->n_node, 1))
            return -1;
    }
    return th_onnx_count_graph(r, r->model->graph, 1);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool is_domain(const th_onnx_node *n, const char *domain)
{
    return strcmp(n->domain ? n->domain : "", domain) == 0;
}

static const th_onnx_operator *operator_of(const th_onnx_reader *r)
{
    const th_onnx_node *n = r->node;
    const th_onnx_operator *o = NULL;
    bool is_microsoft = is_domain(n, "com.microsoft");
    if (is_microsoft)
        o = th_onnx_operator_find(n->op_type, true);
    if (!o && (is_microsoft || is_domain(n, "") || is_domain(n, "ai.onnx")))
        o = th_onnx_operator_find(n->op_type, false);
    /* exporters put these into the default domain, too, which has an Attention of its own */
    bool is_own = o && (strcmp(n->op_type, "Attention") != 0 || r->opset >= OWN_ATTENTION);
    if (!is_own && (is_domain(n, "") || is_domain(n, "ai.onnx")))
        o = th_onnx_operator_find(n->op_type, true);
    return o;
}

static int refuse_operator(th_onnx_reader *r)
{
    return th_onnx_refuse(r, "WORK-0102",
                          "no rule for this operator; docs/onnx.md has those that are read, and "
                          "-unknown copy reads others as copies");
}

static bool has_tensor_input(const th_onnx_reader *r)
{
    for (size_t i = 0; i < r->node->n_input; i++)
        if (th_onnx_is_tensor(th_onnx_input_or_none(r, i)))
            return true;
    return false;
}

/* Of an output that depends on constants alone: why its numbers are not known. */
static void set_reason(th_onnx_reader *r, th_onnx_value *out)
{
    for (size_t i = 0; i < r->node->n_input && !out->unread && !out->uncomputed; i++) {
        const th_onnx_value *in = th_onnx_input_or_none(r, i);
        out->unread = in && !th_onnx_is_known(in) ? in->unread : NULL;
        out->uncomputed = in ? in->uncomputed : NULL;
    }
    if (!out->unread && !out->uncomputed)
        out->uncomputed = r->node;
}

/* Outputs that no layer makes are constants of a known shape. */
static int define_rest(th_onnx_reader *r)
{
    bool has_tensor = has_tensor_input(r), has_data = has_tensor;
    for (size_t i = 0; i < r->node->n_input; i++) {
        const th_onnx_value *in = th_onnx_input_or_none(r, i);
        has_data |= in && in->is_of_data;
    }
    for (size_t i = 0; i < r->n_out; i++) {
        int64_t number;
        const char *name = r->node->output[i];
        if (!name[0] || th_map_get(r->scope->number, name, strlen(name), &number))
            continue;
        r->out[i].is_constant = true;
        if (th_onnx_elements(&r->out[i]) == 0 && th_onnx_fold_begin(r, &r->out[i]) < 0)
            return -1;
        r->out[i].is_of_data = has_data;
        if (!has_tensor && !th_onnx_is_known(&r->out[i]))
            set_reason(r, &r->out[i]);
        if (th_onnx_define_output(r, i, &r->out[i]))
            return -1;
    }
    return 0;
}

static int check_shapes(th_onnx_reader *r)
{
    for (size_t i = 0; i < r->n_out; i++)
        if (th_onnx_elements(&r->out[i]) < 0)
            return th_onnx_refuse(r, "WORK-0114",
                                  "output %zu has more than 2^53 elements, or a negative extent",
                                  i + 1);
    return 0;
}

static int copy_unknown(th_onnx_reader *r)
{
    const th_onnx_value *in = NULL;
    for (size_t i = 0; i < r->node->n_input && !th_onnx_is_tensor(in); i++)
        in = th_onnx_input_or_none(r, i);
    if (!in)
        in = r->node->n_input > 0 ? th_onnx_input(r, 0) : NULL;
    if (!in)
        return r->err->id[0] ? -1 : refuse_operator(r);
    for (size_t i = 0; i < r->n_out; i++)
        th_onnx_set_stated(r, i, in);
    if (check_shapes(r) || (th_onnx_is_tensor(in) && th_onnx_read_copy(r, NULL)))
        return -1;
    return define_rest(r);
}

/* Every input that is named must be there. */
static int check_inputs(th_onnx_reader *r)
{
    for (size_t i = 0; i < r->node->n_input; i++)
        if (r->node->input[i][0] && !th_onnx_input(r, i))
            return -1;
    return 0;
}

static int make_room(th_onnx_reader *r)
{
    r->n_out = r->node->n_output;
    if (th_grow(&r->out, &r->out_room, r->n_out, sizeof *r->out))
        return th_error_no_memory(r->err);
    memset(r->out, 0, r->n_out * sizeof *r->out);
    return 0;
}

/* The output of a node that only looks at a constant has its elements. Two transposes of a matrix
 * undo each other; other constants are the same if they have been transposed alike. */
static void follow_source(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    int64_t order[TH_ONNX_RANK_MAX] = {in && in->rank == 2};
    if (!in || (o->class != TH_ONNX_VIEW && strcmp(o->name, "DequantizeLinear") != 0))
        return;
    r->out[0].source = in->source;
    if (o->read != th_onnx_read_transpose)
        return;
    th_onnx_ints(r->node, "perm", order, TH_ONNX_RANK_MAX);
    uint64_t alike = th_hash(order, sizeof order, (uint64_t)in->source) >> 2;
    r->out[0].source = in->rank != 2 ? (int64_t)alike : order[0] ? -in->source : in->source;
}

static int read_operator(th_onnx_reader *r, const th_onnx_operator *o)
{
    bool is_rule_free = o->shape == th_onnx_shape_data && o->fold && th_onnx_fold_can(r);
    if (!is_rule_free && (o->shape(r, o) || check_shapes(r)))
        return -1;
    bool has_tensor = has_tensor_input(r) && o->class != TH_ONNX_SHAPE;
    bool needs_no_numbers = o->fold == th_onnx_fold_shape || o->fold == th_onnx_fold_size ||
                            o->fold == th_onnx_fold_filled || o->fold == th_onnx_fold_eye;
    bool can_fold = o->fold && !has_tensor && (needs_no_numbers || th_onnx_fold_can(r));
    if (can_fold && o->fold(r, o) < 0)
        return -1;
    if (!has_tensor && r->n_out > 0)
        follow_source(r, o);
    bool has_elements = r->n_out > 0 && th_onnx_elements(&r->out[0]) > 0;
    if (has_tensor && has_elements && o->read(r, o))
        return -1;
    if (define_rest(r))
        return -1;
    if (!has_elements && (o->class == TH_ONNX_PASS || o->class == TH_ONNX_PRODUCT))
        th_onnx_note_empty(r);
    return 0;
}

/* ---- branches and functions ------------------------------------------------------------------ */

static th_onnx_value *copy_of(th_onnx_reader *r, const th_onnx_value *v, const char *name)
{
    th_onnx_value *copy = th_onnx_room(r, 1, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *v;
    copy->is_shared |= th_onnx_uses_of(r, name) > 1;
    copy->other_layout = NULL;
    return copy;
}

th_onnx_value *th_onnx_given(th_onnx_reader *r, size_t i)
{
    const th_onnx_value *v = th_onnx_input(r, i);
    return v ? copy_of(r, v, r->node->input[i]) : NULL;
}

th_onnx_value *th_onnx_take(th_onnx_reader *r, th_onnx_scope *inner, const char *name)
{
    th_onnx_scope *outer = r->scope;
    r->scope = inner;
    const th_onnx_value *v = th_onnx_find(r, name);
    r->scope = outer;
    if (v)
        return copy_of(r, v, name);
    th_onnx_refuse(r, "WORK-0115", "\"%.80s\", which it returns, is not there", name);
    return NULL;
}

int th_onnx_enter(th_onnx_reader *r, th_onnx_scope *inner)
{
    if (r->depth == DEEPEST)
        return th_onnx_refuse(r, "WORK-0116", "branches or functions deeper than %d levels",
                              DEEPEST);
    inner->number = th_map_new();
    if (!inner->number)
        return th_error_no_memory(r->err);
    r->depth++;
    return 0;
}

void th_onnx_leave(th_onnx_reader *r, th_onnx_scope *inner)
{
    th_map_free(inner->number);
    th_map_free(inner->stated);
    r->depth--;
}

static char **names_of(th_onnx_reader *r, ThOnnx__Value *const *values, size_t n)
{
    char **names = th_onnx_room(r, (int64_t)n, sizeof *names);
    for (size_t i = 0; names && i < n; i++)
        names[i] = values[i]->name;
    return names;
}

int th_onnx_inner_of(th_onnx_reader *r, const ThOnnx__Graph *g, th_onnx_inner *x)
{
    *x = (th_onnx_inner){.nodes = g->node,
                         .n_nodes = g->n_node,
                         .inputs = names_of(r, g->input, g->n_input),
                         .outputs = names_of(r, g->output, g->n_output),
                         .n_inputs = g->n_input,
                         .n_outputs = g->n_output,
                         .graph = g};
    return x->inputs && x->outputs ? 0 : -1;
}

int th_onnx_read_inner(th_onnx_reader *r, const th_onnx_inner *x, const th_onnx_value *const *in,
                       th_onnx_value **out)
{
    const th_onnx_node *node = r->node;
    th_onnx_scope inner = {.outer = x->graph ? r->scope : NULL}, *outer = r->scope;
    int status = 0;
    if (th_onnx_enter(r, &inner))
        return -1;
    r->scope = &inner;
    for (size_t i = 0; status == 0 && i < x->n_inputs; i++)
        if (in[i] && !th_onnx_define(r, x->inputs[i], in[i]))
            status = -1;
    if (status == 0 && x->graph &&
        (th_onnx_state_shapes(r, &inner, x->graph) || th_onnx_add_constants(r, x->graph)))
        status = -1;
    if (status == 0)
        status = th_onnx_read_nodes(r, x->nodes, x->n_nodes);
    r->scope = outer;
    r->node = node;
    for (size_t i = 0; status == 0 && i < x->n_outputs; i++)
        if (!(out[i] = th_onnx_take(r, &inner, x->outputs[i])))
            status = -1;
    th_onnx_leave(r, &inner);
    return status;
}

/* Reads what stands in the place of the node and defines its outputs. */
static int read_instead(th_onnx_reader *r, th_onnx_inner *x, const th_onnx_value *const *in)
{
    if (x->n_outputs > r->node->n_output)
        x->n_outputs = r->node->n_output;
    th_onnx_value **out = th_onnx_room(r, (int64_t)x->n_outputs, sizeof(*out));
    int status = out ? th_onnx_read_inner(r, x, in, out) : -1;
    for (size_t i = 0; status == 0 && i < x->n_outputs; i++)
        status = th_onnx_define_output(r, i, out[i]);
    return status;
}

static const ThOnnx__Graph *branch_of(const th_onnx_reader *r, bool is_then)
{
    const th_onnx_attribute *a =
        th_onnx_attribute_of(r->node, is_then ? "then_branch" : "else_branch");
    return a ? a->g : NULL;
}

static int read_if(th_onnx_reader *r)
{
    const th_onnx_value *condition = th_onnx_input(r, 0);
    if (!condition)
        return -1;
    if (th_onnx_elements(condition) != 1)
        return th_onnx_expected(r, "a condition of one number");
    if (!th_onnx_is_known(condition))
        return th_onnx_refuse(r, "WORK-0117", "its condition \"%.80s\" is not known%s",
                              r->node->input[0], th_onnx_why(r, condition).text);
    bool is_then = th_onnx_number(condition, 0) != 0;
    const ThOnnx__Graph *g = branch_of(r, is_then), *other = branch_of(r, !is_then);
    th_onnx_inner x;
    if (!g)
        return th_onnx_refuse(r, "WORK-0118", "%s: must be a graph",
                              is_then ? "then_branch" : "else_branch");
    if ((other && th_onnx_count_graph(r, other, -1)) || th_onnx_inner_of(r, g, &x))
        return -1;
    x.n_inputs = 0;
    return read_instead(r, &x, NULL);
}

/* The key of a function in a map; its length. */
static size_t key_of(const char *name, const char *domain, char *key, size_t size)
{
    int n = snprintf(key, size, "%s\n%s", domain ? domain : "", name);
    return n < (int)size ? (size_t)n : size - 1;
}

enum { KEY_BYTES = 512 }; /* longer names are compared as far as that */

static int map_functions(th_onnx_reader *r)
{
    char key[KEY_BYTES];
    r->functions = th_map_new();
    if (!r->functions)
        return th_error_no_memory(r->err);
    for (size_t i = r->model->n_functions; i-- > 0;) { /* of several the first */
        const ThOnnx__Function *f = r->model->functions[i];
        if (th_map_put(r->functions, key, key_of(f->name, f->domain, key, sizeof key), (int64_t)i))
            return th_error_no_memory(r->err);
    }
    return 0;
}

/* The function that the node calls; NULL: none. */
static const ThOnnx__Function *function_of(const th_onnx_reader *r)
{
    char key[KEY_BYTES];
    int64_t i;
    size_t n = r->functions ? key_of(r->node->op_type, r->node->domain, key, sizeof key) : 0;
    return n > 0 && th_map_get(r->functions, key, n, &i) ? r->model->functions[i] : NULL;
}

/* A node of a function's body with the attributes that the call gives. out's attributes are to be
 * freed. */
static int give_attributes(th_onnx_reader *r, const ThOnnx__Function *f, const th_onnx_node *call,
                           const th_onnx_node *from, th_onnx_node *out)
{
    *out = *from;
    out->n_attribute = 0;
    out->attribute = th_onnx_room(r, (int64_t)from->n_attribute, sizeof *out->attribute);
    if (!out->attribute)
        return -1;
    for (size_t i = 0; i < from->n_attribute; i++) {
        th_onnx_attribute *a = from->attribute[i];
        if (a->ref_attr_name && a->ref_attr_name[0]) {
            const th_onnx_attribute *given = th_onnx_attribute_of(call, a->ref_attr_name);
            for (size_t k = 0; !given && k < f->n_attribute_proto; k++)
                if (f->attribute_proto[k]->name &&
                    strcmp(f->attribute_proto[k]->name, a->ref_attr_name) == 0)
                    given = f->attribute_proto[k];
            if (!given)
                continue;
            th_onnx_attribute *named = th_onnx_room(r, 1, sizeof *named);
            if (!named)
                return -1;
            *named = *given;
            named->name = a->name;
            a = named;
        }
        out->attribute[out->n_attribute++] = a;
    }
    return 0;
}

static int read_function(th_onnx_reader *r, const ThOnnx__Function *f)
{
    th_onnx_node *nodes = th_onnx_room(r, (int64_t)f->n_node, sizeof *nodes),
                 **list = nodes ? th_onnx_room(r, (int64_t)f->n_node, sizeof *list) : NULL;
    th_onnx_value **in = list ? th_onnx_room(r, (int64_t)f->n_input, sizeof(*in)) : NULL;
    if (!in)
        return -1;
    for (size_t i = 0; i < f->n_node; i++) {
        list[i] = &nodes[i];
        if (give_attributes(r, f, r->node, f->node[i], &nodes[i]))
            return -1;
    }
    for (size_t i = 0; i < f->n_input && i < r->node->n_input; i++)
        if (r->node->input[i][0] && !(in[i] = th_onnx_given(r, i)))
            return -1;
    th_onnx_inner x = {.nodes = list,
                       .n_nodes = f->n_node,
                       .inputs = f->input,
                       .outputs = f->output,
                       .n_inputs = f->n_input,
                       .n_outputs = f->n_output};
    return read_instead(r, &x, (const th_onnx_value *const *)in);
}

/* ---- the graph ------------------------------------------------------------------------------- */

int th_onnx_count_read(th_onnx_reader *r, int64_t n)
{
    r->n_read = n < r->read_max - r->n_read ? r->n_read + n : r->read_max + 1;
    if (r->n_read <= r->read_max)
        return 0;
    return th_onnx_refuse(r, "WORK-0152",
                          "it is behind %lld nodes and outputs, with those of functions, branches "
                          "and loops: must be at most so many in a graph of %zu nodes",
                          (long long)r->read_max, r->model->graph->n_node);
}

static int read_node(th_onnx_reader *r)
{
    if (!r->functions && r->model->n_functions > 0 && map_functions(r))
        return -1;
    if (th_onnx_count_read(r, 1 + (int64_t)r->node->n_output))
        return -1;
    const ThOnnx__Function *f = function_of(r);
    const th_onnx_operator *o = operator_of(r);
    int32_t first = r->w->n_layers;
    if (f && (!o || !is_domain(r->node, "")))
        return read_function(r, f);
    if (check_inputs(r))
        return -1;
    if ((is_domain(r->node, "") || is_domain(r->node, "ai.onnx")) &&
        strcmp(r->node->op_type, "If") == 0)
        return read_if(r);
    bool turns = o && th_onnx_int(r->node, "channels_last", 0) != 0 &&
                 o->replace != th_onnx_replace_group_norm;
    int status = turns             ? th_onnx_replace_channels_last(r, o)
                 : o && o->replace ? o->replace(r, o)
                                   : 1;
    if (status > 0 && make_room(r))
        return -1;
    if (status > 0 && o && o->shape)
        status = read_operator(r, o);
    else if (status > 0)
        status = r->options->copies_unknown ? copy_unknown(r) : refuse_operator(r);
    if (status == 0 && (!o || o->class == TH_ONNX_PRODUCT || o->class == TH_ONNX_PASS))
        th_onnx_note_left_out(r, first,
                              !o || (o->class == TH_ONNX_PRODUCT && r->w->n_layers > first));
    return status;
}

int th_onnx_read_nodes(th_onnx_reader *r, th_onnx_node *const *nodes, size_t n)
{
    size_t *order = th_onnx_order(r, nodes, n);
    int status = order ? 0 : -1;
    for (size_t i = 0; i < n && status == 0; i++) {
        r->node = nodes[order[i]];
        status = read_node(r);
    }
    th_free(order);
    return status;
}
