/* SPDX-License-Identifier: GPL-3.0-or-later */
/* boost.c - gradient boosting through XGBoost's C interface.
 *   train: load library -> matrix -> booster -> { round } -> its trees as text -> { read_tree }
 * The library is loaded by the first training: it and those that it needs hold 5.5 MB of a process,
 * and predictions need none of them.
 * Training uses one thread, so that the same seed gives the same trees on every machine. */
#include <config.h>

#include "predictor/regress/boost.h"

static int not_available(th_error *err)
{
    return th_error_set(err, "PRED-0052",
                        "boosting: needs the library XGBoost, which is not there");
}

#ifdef HAVE_XGBOOST

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

/* The functions of the library; all NULL: it is not there. */
static struct {
    __typeof__(&XGBGetLastError) last_error;
    __typeof__(&XGDMatrixCreateFromMat) create_matrix;
    __typeof__(&XGDMatrixSetFloatInfo) set_info;
    __typeof__(&XGDMatrixFree) free_matrix;
    __typeof__(&XGBoosterCreate) create;
    __typeof__(&XGBoosterSetParam) set_param;
    __typeof__(&XGBoosterUpdateOneIter) update;
    __typeof__(&XGBoosterDumpModelEx) dump;
    __typeof__(&XGBoosterFree) free;
} library;
static bool is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool find(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);
    memcpy(function, &address, sizeof address); /* as POSIX wants it for functions */
    return address;
}

static void load(void)
{
    void *l = dlopen(TH_XGBOOST_SONAME, RTLD_NOW | RTLD_LOCAL);
    is_loaded = l && find(l, "XGBGetLastError", &library.last_error) &&
                find(l, "XGDMatrixCreateFromMat", &library.create_matrix) &&
                find(l, "XGDMatrixSetFloatInfo", &library.set_info) &&
                find(l, "XGDMatrixFree", &library.free_matrix) &&
                find(l, "XGBoosterCreate", &library.create) &&
                find(l, "XGBoosterSetParam", &library.set_param) &&
                find(l, "XGBoosterUpdateOneIter", &library.update) &&
                find(l, "XGBoosterDumpModelEx", &library.dump) &&
                find(l, "XGBoosterFree", &library.free);
}

bool th_boost_is_available(void)
{
    pthread_once(&once, load);
    return is_loaded;
}

static int library_failed(th_error *err)
{
    return th_error_set(err, "PRED-0050", "XGBoost: %.300s", library.last_error());
}

static int set_options(BoosterHandle b, const th_boost_options *o, th_error *err)
{
    /* Newton's step on the pseudo-Huber error goes far beyond the mark where errors are many slopes
     * wide; a leaf is held to this many. */
    static const double SLOPES_MAX = 6;
    char number[8][32];
    snprintf(number[0], sizeof number[0], "%d", o->depth);
    snprintf(number[1], sizeof number[1], "%.9g", o->learning_rate);
    snprintf(number[2], sizeof number[2], "%.9g", o->min_child_weight);
    snprintf(number[3], sizeof number[3], "%.9g", o->subsample);
    snprintf(number[4], sizeof number[4], "%.9g", o->colsample);
    snprintf(number[5], sizeof number[5], "%llu", (unsigned long long)(o->seed & INT32_MAX));
    snprintf(number[6], sizeof number[6], "%.9g", o->huber_slope);
    snprintf(number[7], sizeof number[7], "%.9g", SLOPES_MAX * o->huber_slope);
    const char *const options[][2] = {
        {"objective", "reg:pseudohubererror"},
        {"huber_slope", number[6]},
        {"max_delta_step", number[7]},
        {"base_score", "0"},
        {"tree_method", "hist"},
        {"max_bin", "256"},
        {"nthread", "1"},
        {"verbosity", "0"},
        {"lambda", "1"},
        {"max_depth", number[0]},
        {"eta", number[1]},
        {"min_child_weight", number[2]},
        {"subsample", number[3]},
        {"colsample_bytree", number[4]},
        {"seed", number[5]},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (library.set_param(b, options[i][0], options[i][1]))
            return library_failed(err);
    return 0;
}

/* A node of the text: "3:[f12<0.5] yes=7,no=8,missing=7" or "7:leaf=-0.25". */
typedef struct {
    bool is_leaf;
    unsigned feature, yes, no;
    float value;
} node;

enum { NODES_MAX = 4096 };

static int read_node(const char *line, unsigned *number, node *out)
{
    char *end;
    *number = (unsigned)strtoul(line, &end, 10);
    if (*end != ':' || *number >= NODES_MAX)
        return -1;
    if (strncmp(end, ":leaf=", 6) == 0) {
        *out = (node){.is_leaf = true, .value = strtof(end + 6, NULL)};
        return 0;
    }
    if (strncmp(end, ":[f", 3) != 0)
        return -1;
    *out = (node){.feature = (unsigned)strtoul(end + 3, &end, 10)};
    if (*end != '<')
        return -1;
    out->value = strtof(end + 1, &end);
    return sscanf(end, "] yes=%u,no=%u", &out->yes, &out->no) == 2 && out->yes < NODES_MAX &&
                   out->no < NODES_MAX && out->feature < TH_TREES_FEATURES_MAX
               ? 0
               : -1;
}

/* In whole units, and so small that sums of very many stay whole numbers. */
static int32_t answer_of(float value)
{
    static const double UNITS_MAX = 1 << 20;
    return (int32_t)lrint(fmin(fmax((double)value / TH_TREES_UNIT, -UNITS_MAX), UNITS_MAX));
}

/* Lays node number of the library's tree at place `at`; below a leaf every answer is its own. */
static void lay(th_trees *t, int tree, const node *nodes, unsigned number, size_t at, int depth)
{
    size_t questions = ((size_t)1 << t->depth) - 1;
    const node *n = &nodes[number];
    if (depth == t->depth) {
        t->leaf[(size_t)tree * (questions + 1) + at - questions] = answer_of(n->value);
        return;
    }
    t->split[(size_t)tree * questions + at] = n->is_leaf ? 0 : th_trees_split(n->feature, n->value);
    lay(t, tree, nodes, n->is_leaf ? number : n->yes, 2 * at + 1, depth + 1);
    lay(t, tree, nodes, n->is_leaf ? number : n->no, 2 * at + 2, depth + 1);
}

int th_boost_read_tree(th_trees *t, int tree, const char *text, th_error *err)
{
    node nodes[NODES_MAX];
    for (int i = 0; i < NODES_MAX; i++)
        nodes[i] = (node){.is_leaf = true};
    for (const char *line = text; line && *line != '\0';) {
        node n;
        unsigned number;
        const char *end = strchr(line, '\n');
        line += strspn(line, "\t ");
        if (read_node(line, &number, &n))
            return th_error_set(err, "PRED-0051",
                                "XGBoost: tree %d: has a line that is not known: %.60s", tree,
                                line);
        nodes[number] = n;
        line = end ? end + 1 : NULL;
    }
    lay(t, tree, nodes, 0, 0, 0);
    return 0;
}

static int read_trees(BoosterHandle b, const th_boost_options *o, th_trees *out, th_error *err)
{
    bst_ulong n = 0;
    const char **text = NULL;
    if (library.dump(b, "", 0, "text", &n, &text))
        return library_failed(err);
    if (th_trees_init(out, (int)n, o->depth))
        return th_error_no_memory(err);
    for (bst_ulong i = 0; i < n; i++) {
        if (th_boost_read_tree(out, (int)i, text[i], err)) {
            th_trees_clear(out);
            return -1;
        }
    }
    return 0;
}

int th_boost_train(const th_boost_data *d, const th_boost_options *o, th_trees *out, th_error *err)
{
    DMatrixHandle matrix = NULL;
    BoosterHandle b = NULL;
    if (!th_boost_is_available())
        return not_available(err);
    if (library.create_matrix(d->x, (bst_ulong)d->n, (bst_ulong)d->n_features, NAN, &matrix))
        return library_failed(err);
    int failed =
        library.set_info(matrix, "label", d->y, (bst_ulong)d->n) || library.create(&matrix, 1, &b)
            ? library_failed(err)
            : set_options(b, o, err);
    for (int i = 0; !failed && i < o->rounds; i++)
        failed = library.update(b, i, matrix) ? library_failed(err) : 0;
    if (!failed)
        failed = read_trees(b, o, out, err);
    if (b)
        library.free(b);
    library.free_matrix(matrix);
    return failed;
}

#else

bool th_boost_is_available(void)
{
    return false;
}

int th_boost_train(const th_boost_data *d, const th_boost_options *o, th_trees *out, th_error *err)
{
    (void)d, (void)o, (void)out;
    return not_available(err);
}

#endif
