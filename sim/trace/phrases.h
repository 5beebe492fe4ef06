/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phrases.h - what a writer has said of a change, to be said again without asking it.
 *
 *   new -> (say or (listen -> the writer writes -> learn))* -> forget | free
 * A phrase is the bytes that went out between listen and learn, but for the stamps among them, the
 * text of the time: saying it puts the stamp of now there. So it is what the writer would write, as
 * long as stamps have the same length; when that changes, phrases are to be forgotten. */
#ifndef TH_SIM_TRACE_PHRASES_H
#define TH_SIM_TRACE_PHRASES_H
#include "sim/trace/writer.h"

/* Where it stands in the texts, below 2^31, and its bytes with the stamps. */
typedef struct th_phrase {
    uint32_t at, length;
} th_phrase;

th_phrases *th_phrases_new(void);    /* NULL: memory is out */
void th_phrases_free(th_phrases *p); /* accepts NULL */
void th_phrases_forget(th_phrases *p);
/* Is it known what is said of this key? Then it is said. Of 0, what is not said again, nothing is
 * ever known. */
bool th_phrases_say(const th_phrases *p, th_out *o, const th_stamp *stamp, uint64_t key);
/* A key that is a writer's own, unlike those of changes. what: below 16; of: of its 58 lowest bits.
 */
static inline uint64_t th_phrases_key(int what, uint64_t of)
{
    enum { WHAT = 58 };
    return UINT64_C(3) << 62 | (uint64_t)what << WHAT | (of & ((UINT64_C(1) << WHAT) - 1));
}
/* One that was found is good until the age changes: phrases were forgotten. */
bool th_phrases_find(const th_phrases *p, uint64_t key, th_phrase *out);
int64_t th_phrases_age(const th_phrases *p);
/* What is written from now on, until learn, is said of a key. Not learned where memory is out,
 * where a block of the file ends within it, or where it is longer than anything that is said often.
 */
void th_phrases_listen(th_out *o);
void th_phrases_learn(th_phrases *p, th_out *o, uint64_t key);

/* A phrase among the texts of all is its length, the number of stamps, where they stand, and the
 * text with room for them. Puts it where TH_PHRASE_ROUND bytes more than its length are free;
 * returns its end. Most are short: so many bytes at a time take no call, and the rest is
 * overwritten. The stamp as th_stamp_put_words takes it. */
enum { TH_PHRASE_ROUND = 32 };
const char *th_phrases_texts(const th_phrases *p); /* until one is learned */
TH_INLINE char *th_phrase_put(const char *phrase, th_stamp_words words, int32_t n_stamp,
                              const char *stamp, char *to)
{
    uint16_t length, n_stamps, place;
    memcpy(&length, phrase, sizeof length);
    memcpy(&n_stamps, phrase + sizeof length, sizeof n_stamps);
    const char *places = phrase + sizeof length + sizeof n_stamps,
               *text = places + n_stamps * sizeof place;
    for (size_t done = 0; done < length; done += TH_PHRASE_ROUND)
        memcpy(to + done, text + done, TH_PHRASE_ROUND);
    for (size_t i = 0; i < n_stamps; i++) {
        memcpy(&place, places + i * sizeof place, sizeof place);
        th_stamp_put_words(words, n_stamp, stamp, to + place);
    }
    return to + length;
}

#endif
