/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fields.h - the keys of a group of a file, described once: a const table of rows, which ends in a
 * row without a key. Reading and writing the group follow from it, also its bytes
 * (mapper/serialize/serializer.h) and its table in docs/formats.md.
 *
 * A row has a place in a structure, a kind, a range, and the value of an absent key. What no kind
 * says is of kind OWN: the owner of the table reads and writes it by functions, or apart (the row
 * then allows the key and explains it). */
#ifndef TH_BASE_FIELDS_H
#define TH_BASE_FIELDS_H
#include <stddef.h>
#include "base/files/config_read.h"
#include "base/strbuf.h"

typedef enum {
    TH_FIELD_OWN,
    TH_FIELD_INT,    /* int32_t or int64_t, from min to max */
    TH_FIELD_NUMBER, /* double */
    TH_FIELD_BOOL,
    TH_FIELD_WORD, /* bool, or int32_t: the position of a text in words */
    /* Quantities: int64_t. */
    TH_FIELD_TIME,
    TH_FIELD_BYTES,
    TH_FIELD_BANDWIDTH,
    TH_FIELD_FREQUENCY,
    TH_FIELD_DURATION
} th_field_kind;

enum {
    TH_FIELD_REQUIRED = 1,   /* of kind OWN: its owner sees to that */
    TH_FIELD_ALWAYS = 2,     /* written even if it is as absent */
    TH_FIELD_IF_ASKED = 4,   /* the same where th_fields_write is told so */
    TH_FIELD_ABOVE = 8,      /* the minimum itself is not allowed */
    TH_FIELD_UNLIMITED = 16, /* a bandwidth, or "unlimited" */
    TH_FIELD_INVERTED = 32,  /* of two values, the structure has the other one */
    TH_FIELD_IF_KNOWN = 64   /* a digest has it only if it is not as absent */
};

typedef struct th_field {
    const char *key;
    size_t offset, size; /* TH_FIELD_AT; size 0: of kind OWN, in no one place */
    th_field_kind kind;
    int flags;
    double min, max;          /* of numbers and quantities; max 0: none */
    int64_t absent;           /* what an absent key means */
    const char *const *words; /* end in NULL */
    /* Of kind OWN; NULL: the owner does so apart. read: 0 or -1; put: the value. */
    int (*read)(const th_config_node *g, void *base, th_error *err);
    void (*put)(th_strbuf *out, const void *base);
    /* One sentence, and what an absent key means where the value does not say it. */
    const char *says, *otherwise;
} th_field;
#define TH_FIELD_AT(type, member)                                                                  \
    .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

int th_fields_check_keys(const th_field *fields, const th_config_node *g, th_error *err);
/* Checks the keys of the group, then sets every field of the structure: from its key, or to what an
 * absent one means. 0, or -1 with a message that names file, line, key and what was expected. */
int th_fields_read(const th_field *fields, const th_config_node *g, void *base, th_error *err);
/* The same for the group of that key. */
int th_fields_read_group(const th_field *fields, const th_config_node *g, const char *key,
                         bool required, void *base, th_error *err);
/* Writes BEFORE key = value AFTER for every field that is not as if absent. */
typedef struct th_fields_form {
    const char *before, *after;
    bool if_asked; /* those of TH_FIELD_IF_ASKED in any case */
} th_fields_form;
void th_fields_write(const th_field *fields, const void *base, th_fields_form form, th_strbuf *out);
bool th_field_is_absent(const th_field *f, const void *base);

/* A word of a list that ends in NULL, as its position; absent: *out stays. 0 or -1. */
int th_config_word(const th_config_node *g, const char *key, const char *const *words, int *out,
                   th_error *err);
/* The same for an element n of the list key. */
int th_config_as_word(const th_config_node *n, const char *key, const char *const *words, int *out,
                      th_error *err);

#endif
