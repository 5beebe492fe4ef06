/* SPDX-License-Identifier: GPL-3.0-or-later */
/* order.c - see order.h. A depth-first search from each node, in the order of the file. A name that
 * no node outputs is an input or a constant, or undefined, which is reported when the node is read.
 */
#include <config.h>
#include "workloads/onnx/order.h"

#include <string.h>

#include "base/alloc.h"

enum { UNSEEN, OPEN, PLACED };

typedef struct {
    th_onnx_node *const *nodes;
    th_map *maker; /* of an output, by name: the number of the node */
    size_t n, depth, n_placed;
    size_t *order, *stack, *cursor;
    unsigned char *state;
} sorter;

/* The next node that outputs an input of this node and is not ordered yet; n: there is none. */
static size_t next_maker(sorter *s, size_t node)
{
    while (s->cursor[node] < s->nodes[node]->n_input) {
        const char *name = s->nodes[node]->input[s->cursor[node]++];
        int64_t maker;
        if (name[0] && th_map_get(s->maker, name, strlen(name), &maker) &&
            s->state[maker] != PLACED)
            return (size_t)maker;
    }
    return s->n;
}

static void open_node(sorter *s, size_t node)
{
    s->state[node] = OPEN;
    s->stack[s->depth++] = node;
}

static int place(th_onnx_reader *r, sorter *s, size_t root)
{
    open_node(s, root);
    while (s->depth > 0) {
        size_t node = s->stack[s->depth - 1], maker = next_maker(s, node);
        if (maker == s->n) {
            s->state[node] = PLACED;
            s->order[s->n_placed++] = node;
            s->depth--;
        } else if (s->state[maker] == OPEN) {
            r->node = s->nodes[node];
            return th_onnx_refuse(r, "WORK-0119",
                                  "it lies on a cycle: it reads what \"%.80s\" makes",
                                  th_onnx_node_name(s->nodes[maker]));
        } else {
            open_node(s, maker);
        }
    }
    return 0;
}

static int find_makers(sorter *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->nodes[i]->n_output; k++) {
            const char *name = s->nodes[i]->output[k];
            int64_t first;
            if (name[0] && !th_map_get(s->maker, name, strlen(name), &first) &&
                th_map_put(s->maker, name, strlen(name), (int64_t)i))
                return -1;
        }
    return 0;
}

size_t *th_onnx_order(th_onnx_reader *r, th_onnx_node *const *nodes, size_t n)
{
    sorter s = {.nodes = nodes, .n = n, .maker = th_map_new()};
    s.order = th_alloc_zero(n + 1, sizeof *s.order);
    s.stack = th_alloc_zero(n + 1, sizeof *s.stack);
    s.cursor = th_alloc_zero(n + 1, sizeof *s.cursor);
    s.state = th_alloc_zero(n + 1, sizeof *s.state);
    int status = s.maker && s.order && s.stack && s.cursor && s.state && find_makers(&s) == 0
                     ? 0
                     : th_error_no_memory(r->err);
    for (size_t i = 0; i < n && status == 0; i++)
        if (s.state[i] == UNSEEN)
            status = place(r, &s, i);
    if (status) {
        th_free(s.order);
        s.order = NULL;
    }
    th_map_free(s.maker);
    th_free(s.stack);
    th_free(s.cursor);
    th_free(s.state);
    return s.order;
}
