/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_schema.c - a study whose tables somebody has changed by SQL: other columns, types,
 * encodings, pages, views, triggers, indices, virtual tables, rows. The bytes choose the encoding
 * and then words of a grammar; the database is read as fuzz_study reads it. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sqlite3.h>
#include "base/strbuf.h"
#include "base/files/text_file.h"
#include "tests/fuzz/target.h"

enum {
    N_ENCODINGS = 4,
    STATEMENTS_MAX = 4,
    DEPTH = 4,
    WORDS_MAX = 25,      /* and a NULL */
    CELL_MAX = 20000000, /* more than a study may have */
    SQL_MAX = 4000,
    BETWEEN = 1000,
    LOOKS = 100 /* a statement ends after so many times so many steps */
};

/* Words of each letter; %X stands for a word of letter X, %= for the last table. */
static const char *const grammar[26][WORDS_MAX] = {
    ['S' - 'A'] = {"DROP TABLE %T",
                   "ALTER TABLE %T RENAME TO %N",
                   "ALTER TABLE %T RENAME COLUMN %C TO %C",
                   "ALTER TABLE %T ADD COLUMN %D",
                   "ALTER TABLE %T DROP COLUMN %C",
                   "CREATE TABLE %N (%D, %D, %D) %O",
                   "CREATE VIEW %N AS %Q",
                   "DROP TABLE %T; CREATE VIEW %= AS %Q",
                   "CREATE TRIGGER %N AFTER UPDATE ON %T BEGIN %M; END",
                   "CREATE INDEX %N ON %T (%E)",
                   "CREATE UNIQUE INDEX %N ON %T (%C) WHERE %E",
                   "CREATE VIRTUAL TABLE %N USING fts5(%C, %C)",
                   "CREATE TABLE o AS SELECT %E, * FROM %T; DROP TABLE %=; ALTER TABLE o RENAME TO "
                   "%=",
                   "CREATE TABLE o AS SELECT * FROM %T; DROP TABLE %=; ALTER TABLE o RENAME TO %=",
                   "DROP TABLE %T; CREATE TABLE %= (%D, %D, %D, %D) %O",
                   "%M",
                   "%M",
                   "%M",
                   "PRAGMA writable_schema = ON; UPDATE sqlite_master SET %X",
                   "PRAGMA writable_schema = ON; UPDATE sqlite_master SET %X WHERE name = '%T'",
                   "PRAGMA writable_schema = ON; INSERT INTO sqlite_master SELECT type, name, "
                   "tbl_name, rootpage, sql FROM sqlite_master WHERE name = '%T'",
                   "PRAGMA user_version = %I",
                   "PRAGMA application_id = %I",
                   "VACUUM"},
    ['M' - 'A'] = {"INSERT OR REPLACE INTO %T VALUES (%V, %V)",
                   "INSERT OR REPLACE INTO %T VALUES (%V, %V, %V)",
                   "INSERT OR REPLACE INTO metric VALUES (%V, %V, %V, %V, %V, %V)",
                   "INSERT OR REPLACE INTO %T SELECT * FROM %T",
                   "INSERT OR REPLACE INTO point SELECT point + 10, * FROM (SELECT cell, batch, "
                   "dims, seed, status, error, mapping, latency_ps, note FROM point)",
                   "UPDATE OR IGNORE %T SET %C = %V", "UPDATE OR IGNORE %T SET %C = %V WHERE %E",
                   "UPDATE OR IGNORE %T SET %C = %E", "UPDATE study SET value = %V WHERE key = %K",
                   "DELETE FROM %T WHERE %E"},
    ['T' - 'A'] = {"study", "parameter", "value", "metric", "point", "point", "value",
                   "sqlite_master", "o"},
    ['N' - 'A'] = {"study", "parameter", "value", "metric", "point", "o", "\"a\nb\"", "\"\x1b[2J\"",
                   "sqlite_stat1"},
    ['C' - 'A'] = {"key",        "value",      "position", "name",  "axis", "parameter", "kind",
                   "\"column\"", "type",       "own",      "point", "cell", "status",    "error",
                   "mapping",    "latency_ps", "note",     "batch", "seed", "rowid"},
    ['D' - 'A'] = {"%C %Y", "%C", "%C %Y PRIMARY KEY", "%C %Y NOT NULL DEFAULT (%V)",
                   "%C %Y GENERATED ALWAYS AS (%E) STORED", "%C AS (%E)", "%C %Y CHECK (%E)",
                   "%C TEXT COLLATE NOCASE", "%C %Y REFERENCES %T", "%C %Y UNIQUE"},
    ['Y' - 'A'] = {"INTEGER", "TEXT", "REAL", "BLOB", "NUMERIC", "ANY", "INTEGER[]", ""},
    ['O' - 'A'] = {"", "", "STRICT", "WITHOUT ROWID", "WITHOUT ROWID, STRICT"},
    ['Q' - 'A'] = {"SELECT * FROM %T", "SELECT %V AS %C, %V AS %C",
                   "WITH RECURSIVE c(key, value) AS (SELECT %V, 1 UNION ALL SELECT key, value + 1 "
                   "FROM c) SELECT * FROM c",
                   "SELECT a.* FROM %T a, %T b, %T c", "SELECT %E AS %C FROM %T"},
    ['E' - 'A'] = {"%V", "%C", "%C = %V", "%C IS NULL", "abs(%C)", "hex(randomblob(%I))",
                   "%C || %C", "(%E) + (%E)", "load_extension(%V)", "rowid % 2", "%C > %V",
                   "zeroblob(%I)", "CAST(%C AS %Y)", "printf('%100000s', %C)"},
    ['I' - 'A'] = {"0", "1", "2", "3", "-1", "100", "65536", "2147483647", "4294967296",
                   "9223372036854775807"},
    ['K' - 'A'] = {"'name'", "'version'", "'script'", "'where'", "'seed'", "'digest'"},
    ['V' - 'A'] = {"%I",
                   "%I",
                   "NULL",
                   "''",
                   "'a'",
                   "x'00'",
                   "x'1b5b324a'",
                   "'a' || char(0) || 'b'",
                   "char(27) || '[2J'",
                   "char(155) || 'm'",
                   "CAST(x'ff80' AS TEXT)",
                   "1e308",
                   "-1e-308",
                   "9e999",
                   "zeroblob(100000)",
                   "hex(zeroblob(9000000))",
                   "%K",
                   "'done'",
                   "'failed'",
                   "'waiting'",
                   "'12'",
                   "'0x1F'",
                   "char(10) || 'b'"},
    ['X' - 'A'] = {"sql = 'CREATE TABLE study (%C %Y)'",
                   "rootpage = (SELECT rootpage FROM sqlite_master WHERE name = '%T')",
                   "rootpage = %I", "name = '%N'", "tbl_name = '%N'", "type = 'view'",
                   "type = 'trigger'", "sql = NULL", "sql = %V", "type = %V", "name = %V",
                   "rootpage = %V"},
};

typedef struct {
    const uint8_t *at, *end;
    const char *table; /* the last one */
    th_strbuf sql;
} choices;

/* The bytes that were read end in 0. */
static unsigned draw(choices *c, unsigned n)
{
    return c->at < c->end ? *c->at++ % n : 0;
}

static const char *word_of(choices *c, char letter)
{
    const char *const *words = grammar[letter - 'A'];
    unsigned n = 0;
    while (n < WORDS_MAX && words[n])
        n++;
    const char *word = words[draw(c, n)];
    if (letter == 'T')
        c->table = word;
    return word;
}

static void expand(choices *c, const char *word, int depth)
{
    for (; *word && c->sql.length < SQL_MAX; word++) {
        bool is_letter = word[0] == '%' && word[1] >= 'A' && word[1] <= 'Z';
        if (word[0] == '%' && word[1] == '=')
            th_strbuf_add(&c->sql, c->table);
        else if (is_letter && depth < DEPTH)
            expand(c, word_of(c, word[1]), depth + 1);
        else if (is_letter)
            th_strbuf_add(&c->sql, "1");
        else
            th_strbuf_add_bytes(&c->sql, word, 1);
        word += is_letter || (word[0] == '%' && word[1] == '=');
    }
}

/* ---- the study before it is changed ---- */

static th_strbuf plain[N_ENCODINGS];

/* Points 1 to 3 are cells 1, 4 and 8 of nine. */
static const char creation[] =
    "create_study s -file $path -parameters {batch {1 16 1e3} dims {{4 4} it's 0.5}} -where "
    "{$batch == 1e3 ? $dims eq \"0.5\" : $dims eq \"it's\"} -metrics {latency {note text}} -script "
    "{dict create note x}";

static void begin(void)
{
    static const char *const settings[N_ENCODINGS] = {
        "PRAGMA page_size = 4096", "PRAGMA encoding = 'UTF-16le'", "PRAGMA encoding = 'UTF-16be'",
        "PRAGMA page_size = 512; PRAGMA auto_vacuum = FULL"};
    fuzz_study_begin();
    for (int i = 0; i < N_ENCODINGS; i++) {
        const char *path = fuzz_input_file((const uint8_t *)"", 0);
        sqlite3 *db;
        must(sqlite3_open(path, &db) == SQLITE_OK);
        must(sqlite3_exec(db, settings[i], NULL, NULL, NULL) == SQLITE_OK);
        must(sqlite3_exec(db, "PRAGMA user_version = 0", NULL, NULL, NULL) == SQLITE_OK);
        sqlite3_close(db);
        must(fuzz_study_create(path, creation));
        must(th_file_bytes_read(path, 1 << 20, &plain[i], NULL) == 0);
    }
}

/* ---- the changes ---- */

static int end_late(void *n_looks)
{
    return ++*(int *)n_looks > LOOKS;
}

/* Each in its own right: one that SQLite refuses changes nothing. */
static void change(sqlite3 *db, choices *c)
{
    int n_looks = 0;
    sqlite3_progress_handler(db, BETWEEN, end_late, &n_looks);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, CELL_MAX);
    for (unsigned left = 1 + draw(c, STATEMENTS_MAX); left > 0; left--) {
        n_looks = 0;
        c->sql.length = 0;
        expand(c, "%S", 0);
        must(!c->sql.failed);
        if (getenv("FUZZ_SHOW"))
            printf("# %s\n", c->sql.text);
        sqlite3_exec(db, c->sql.text, NULL, NULL, NULL);
    }
}

static void run(const uint8_t *data, size_t size)
{
    choices c = {data, data + size, "study", TH_STRBUF_INIT};
    const th_strbuf *from = &plain[draw(&c, N_ENCODINGS)];
    sqlite3_int64 n = (sqlite3_int64)from->length;
    unsigned char *bytes = sqlite3_malloc64((sqlite3_uint64)n);
    sqlite3 *db;
    must(bytes && sqlite3_open(":memory:", &db) == SQLITE_OK);
    memcpy(bytes, from->text, from->length);
    must(sqlite3_deserialize(db, "main", bytes, n, n,
                             SQLITE_DESERIALIZE_RESIZEABLE | SQLITE_DESERIALIZE_FREEONCLOSE) ==
         SQLITE_OK);
    change(db, &c);
    bytes = sqlite3_serialize(db, "main", &n, 0);
    sqlite3_close(db);
    th_strbuf_clear(&c.sql);
    if (bytes)
        fuzz_study_read(bytes, (size_t)n);
    sqlite3_free(bytes);
}

const fuzz_target fuzz_schema = {"schema", run, begin};
