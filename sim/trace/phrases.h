/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phrases.h - what a writer has said of a change, to be said again without asking it.
 *
 *   new -> (say or (listen -> the writer writes -> learn))* -> forget | free
 * A phrase is the bytes that went out between listen and learn, but for the stamps among them, the text of the
 * time: saying it puts the stamp of now there. So it is what the writer would write, as long as stamps have
 * the same length; when that changes, phrases are to be forgotten. */
#ifndef TH_SIM_TRACE_PHRASES_H
#define TH_SIM_TRACE_PHRASES_H
#include "sim/trace/writer.h"

typedef struct th_phrase { /* private: where it stands */
    uint32_t at;
    uint16_t length, n_stamps;
} th_phrase;

th_phrases *th_phrases_new(void);     /* NULL: memory is out */
void th_phrases_free(th_phrases *p); /* accepts NULL */
void th_phrases_forget(th_phrases *p);
/* Is it known what is said of this key (not 0)? Then it is said. */
bool th_phrases_say(const th_phrases *p, th_out *o, const th_stamp *stamp, uint64_t key);
/* The same in two steps; a phrase that was found is good until the age changes: phrases were forgotten. */
bool th_phrases_find(const th_phrases *p, uint64_t key, th_phrase *out);
void th_phrases_put(const th_phrases *p, th_out *o, const th_stamp *stamp, th_phrase x);
/* The i-th of its n_stamps + 1 pieces, between which stamps go, of n bytes. */
const char *th_phrases_piece(const th_phrases *p, th_phrase x, size_t i, size_t *n);
int64_t th_phrases_age(const th_phrases *p);
/* What is written from now on, until learn, is said of a key. Not learned where memory is out, or where it
 * is longer than anything that is said often. */
void th_phrases_listen(th_out *o);
void th_phrases_learn(th_phrases *p, th_out *o, uint64_t key);

#endif
