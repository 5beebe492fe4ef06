/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping.h - a mapping: sets of accelerators, a design per set, and a set and a strategy per
 * layer. Plain data; mapping_read.h reads it from a text file. */
#ifndef TH_MAPPER_MAPPING_H
#define TH_MAPPER_MAPPING_H
#include "base/strbuf.h"
#include "mapper/generator.h"
#include "mapper/shard.h"
#include "topology/system.h"

enum { TH_DESIGN_OWN = -1 }; /* each member has the first design of its own list */
#define TH_DESIGN_OWN_NAME "own"

typedef struct th_set {
    int32_t design; /* index in system.designs, or TH_DESIGN_OWN */
    int32_t n_accels;
    int32_t *accels; /* accelerator indices; the index in this list is the position of the shard */
    /* share of the work, by position, 1 .. TH_SHARE_MAX; NULL: equal ones (shard.h) */
    int32_t *shares;
} th_set;

bool th_set_equal(const th_set *a, const th_set *b);
/* The position of an accelerator in the set; -1: it is no member. */
int32_t th_set_place(const th_set *set, int32_t accel);
bool th_sets_overlap(const th_set *a, const th_set *b); /* have they an accelerator in common? */
/* The design of the accelerator at position r. */
int32_t th_set_design(const th_set *set, int r, const th_system *s);
const char *th_set_design_name(const th_set *set, const th_system *s); /* also "own" */
/* Can every accelerator of the set be configured with this design? */
bool th_set_supports_design(const th_system *s, const th_set *set, int32_t design);
/* Gives the set a copy of these shares; NULL takes them away. 0, or -1: memory is out. */
int th_set_share(th_set *set, const int32_t *shares);

/* Where the weights of a layer are, on a system with serial transfers. */
typedef enum {
    /* pinned as far as the weight memory allows, by a knapsack per accelerator */
    TH_WEIGHTS_AUTO,
    TH_WEIGHTS_PINNED,  /* in the weight memory from the start */
    TH_WEIGHTS_STREAMED /* transferred for every run of the layer */
} th_weights_place;
extern const char *const th_weights_place_names[]; /* ends in NULL */

typedef struct th_mapping {
    int32_t n_sets;
    th_set *sets;
    int32_t n_layers;
    int32_t *set_of;       /* per layer */
    th_strategy *strategy; /* per layer */
    /* per layer: it is one of the vector unit and has another strategy than following its producer
     * gives (strategies.h); searches keep it */
    bool *own;
    /* On systems with serial transfers only. */
    /* layers in the order in which accelerators run them; NULL: that of the workload */
    int32_t *order;
    uint8_t *weights; /* per layer a th_weights_place; NULL: all TH_WEIGHTS_AUTO */
    /* activations cross the network even between consecutive layers of one accelerator */
    bool activations_cross;
    uint8_t generator; /* th_generator: what made it; digests and comparisons leave it out */
} th_mapping;

/* Empty sets (n_accels 0), with all layers on set 0. sizes[i] is the number of accelerators of set
 * i. NULL: memory is out. */
th_mapping *th_mapping_new(int n_sets, const int32_t *sizes, int n_layers);
th_mapping *th_mapping_copy(const th_mapping *m);
void th_mapping_free(th_mapping *m); /* accepts NULL */
bool th_mapping_equal(const th_mapping *a, const th_mapping *b);
/* Layers from .. to - 1 of m, a mapping onto the same sets, get the strategies of another one. */
void th_mapping_take_strategies(th_mapping *m, const th_mapping *from_other, int from, int to);
/* True if the sets have the same members and designs, and every layer is on the same set. */
bool th_mapping_same_sets(const th_mapping *a, const th_mapping *b);

/* Does an accelerator belong to several sets, and work for each when its layers are due? */
bool th_mapping_sets_overlap(const th_mapping *m);

/* Sets with some of these layers that can work at the same time, as they share no accelerators.
 * -1: memory is out. */
int32_t th_mapping_sets_at_once(const th_mapping *m, int first_layer, int n_layers);

/* A new last set, without layers and shares. Its number; -1: memory is out. */
int32_t th_mapping_add_set(th_mapping *m, const int32_t *accels, int32_t n, int32_t design);
/* Takes away a set that has no layers; those behind it move up. */
void th_mapping_drop_set(th_mapping *m, int32_t set);
void th_mapping_drop_idle_sets(th_mapping *m); /* all that have no layers */
/* Has every accelerator one design in all of its sets? */
bool th_mapping_designs_agree(const th_mapping *m, const th_system *s);
/* Gives the set's design to all others in which an accelerator would have another one, and so on.
 * False: one of them cannot take it. */
bool th_mapping_spread_design(th_mapping *m, const th_system *s, int32_t set);

typedef struct th_place {
    int32_t set; /* -1: in none */
    int32_t at;  /* position in the set */
} th_place;
/* Where the accelerator is, of several sets in the first; m may be NULL. */
th_place th_mapping_find(const th_mapping *m, int32_t accel);

/* Allocates order (as the workload's) and weights (all auto). 0, or -1: memory is out. */
int th_mapping_add_queues(th_mapping *m);

/* Checks that accelerators are in range, in no set twice and with one design in all sets, that they
 * can take it, that every layer is on a set, and that every strategy fits. 0 or -1. */
int th_mapping_check(const th_mapping *m, const th_system *s, const th_workload *w, th_error *err);
/* The same check for one set, given those before it; prefix is put before the reason in err. */
int th_mapping_check_set(const th_mapping *m, int set, const th_system *s, const char *prefix,
                         th_error *err);

/* Bytes that the accelerator at position r of layer a holds of two layers with the same weights
 * (th_layer.tied_to) in common; 0 where it does not run b. */
int64_t th_mapping_common_weight_bytes(const th_mapping *m, const th_workload *w, int a, int b,
                                       int r);
/* Bytes of a tied layer's weights that position r keeps for another layer too:
 * the one whose weights they are, or an earlier one that is tied to it; of several, the most. */
int64_t th_mapping_kept_weight_bytes(const th_mapping *m, const th_workload *w, int layer, int r);

/* The mapping as text in the format of mapping files; the same mapping gives the same bytes. */
void th_mapping_write(const th_mapping *m, const th_system *s, const th_workload *w,
                      th_strbuf *out);

#endif
