/* SPDX-License-Identifier: GPL-3.0-or-later */
/* journal.c - the log of a search's fitness (journal.h). Layout, all numbers little-endian:
 *   header: magic[8], version 4, (parts, evaluations, seconds) 8 each, checksum 8
 *   record: bytes of the body 4, mappings 4, digest of the batch 8, elapsed 8, body, checksum 8
 * The body holds a fitness per mapping (serializer.h). A record's checksum covers all of it and
 * starts from that of the record before, the first from 0. Invariant: the file ends at `size`,
 * behind a complete record, except while one is being written. */
#include <config.h>

#include "mapper/search/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file_lock.h"
#include "base/map.h"
#include "base/open_file.h"
#include "mapper/serialize/serializer.h"

enum {
    FORMAT = 4,
    HEAD_BYTES = 8 + 4 + 8 * (TH_JOURNAL_N_PARTS + 2) + 8,
    RECORD_HEAD_BYTES = 4 + 4 + 8 + 8,
    CHECKSUM_BYTES = 8,
    MIXED = -1, /* evaluations: records of more than one budget may stand here */
};
static const char magic[8] = "THARSISJ";
static const double SYNC_EVERY_S = 1;

struct th_journal {
    char *path;
    int fd;
    th_journal_header header;
    bool is_mixed; /* it was written under another budget: the last batch may have been cut short */
    bool is_longer;      /* the log continues behind this search's budget: it stays as it is */
    unsigned char *log;  /* the file as it was found */
    size_t log_size, at; /* log_size 0: all of it has been replayed */
    int64_t size;        /* of the file */
    uint64_t checksum;   /* of the last record replayed or written */
    int64_t n_replayed, truncated_bytes;
    double elapsed_s, synced_s;
    bool is_dirty;
};

static double wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int refuse(const th_journal *j, const char *id, const char *why, th_error *err)
{
    return th_error_set(err, id, "checkpoint \"%s\": %s", j->path, why);
}

/* A failed system call, by errno. */
static int io_error(const char *path, const char *what, th_error *err)
{
    return th_error_set(err, "MAP-0102", "checkpoint \"%s\": cannot be %s: %s", path, what,
                        th_file_problem(errno));
}

/* --- header --- */

static void header(th_serializer *w, th_journal_header *h)
{
    char mark[sizeof magic];
    int version = FORMAT;
    memcpy(mark, magic, sizeof mark);
    th_serializer_bytes(w, mark, sizeof mark);
    th_serializer_int(w, &version);
    for (int i = 0; i < TH_JOURNAL_N_PARTS; i++)
        th_serializer_hash(w, &h->part[i]);
    th_serializer_int64(w, &h->evaluations);
    th_serializer_double(w, &h->seconds);
}

static int write_all(th_journal *j, const void *bytes, size_t n, int64_t at, th_error *err)
{
    const char *from = bytes;
    while (n > 0) {
        ssize_t done = pwrite(j->fd, from, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return io_error(j->path, "written", err);
        from += done;
        at += done;
        n -= (size_t)done;
    }
    j->is_dirty = true;
    return 0;
}

static int write_header(th_journal *j, const th_journal_header *h, th_error *err)
{
    th_serializer w = TH_SERIALIZER_INIT;
    th_journal_header copy = *h;
    header(&w, &copy);
    uint64_t sum = w.failed ? 0 : th_hash(w.out.text, w.out.length, 0);
    th_serializer_hash(&w, &sum);
    int failed =
        w.failed ? th_error_no_memory(err) : write_all(j, w.out.text, w.out.length, 0, err);
    th_serializer_clear(&w);
    return failed;
}

/* Says which parts differ. */
static int refuse_parts(const th_journal *j, const th_journal_header *found, th_error *err)
{
    static const char *const names[TH_JOURNAL_N_PARTS] = {"system",
                                                          "workload",
                                                          "stream of inputs",
                                                          "network",
                                                          "objective",
                                                          "constraints",
                                                          "algorithm",
                                                          "seed",
                                                          "options of the search",
                                                          "files or procedures of designs"};
    char list[256] = "";
    for (int i = 0; i < TH_JOURNAL_N_PARTS; i++) {
        if (found->part[i] == j->header.part[i])
            continue;
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", length > 0 ? ", " : "", names[i]);
    }
    if (!list[0])
        return 0;
    return th_error_set(err, "MAP-0103",
                        "checkpoint \"%s\": is of another search: it differs in %s", j->path, list);
}

static int read_header(th_journal *j, th_error *err)
{
    th_journal_header found = {0};
    uint64_t sum = 0;
    int version;
    th_serializer w = th_serializer_reader(j->log, j->log_size);
    if (j->log_size >= sizeof magic + sizeof version) {
        th_serializer v = th_serializer_reader(j->log + sizeof magic, sizeof version);
        th_serializer_int(&v, &version);
        if (memcmp(j->log, magic, sizeof magic) == 0 && version != FORMAT)
            return th_error_set(err, "MAP-0104",
                                "checkpoint \"%s\": has format %d; this program "
                                "writes and reads format %d",
                                j->path, version, FORMAT);
    }
    header(&w, &found);
    th_serializer_hash(&w, &sum);
    if (w.failed || memcmp(j->log, magic, sizeof magic) != 0 ||
        sum != th_hash(j->log, HEAD_BYTES - CHECKSUM_BYTES, 0))
        return refuse(j, "MAP-0105", "is not a checkpoint; it is left as it is", err);
    if (refuse_parts(j, &found, err))
        return -1;
    j->is_mixed = found.evaluations != j->header.evaluations ||
                  memcmp(&found.seconds, &j->header.seconds, sizeof found.seconds) != 0;
    j->at = HEAD_BYTES;
    return 0;
}

/* --- open and close --- */

static int lock(th_journal *j, th_error *err)
{
    if (th_file_lock(j->fd, 0, 0) <= 0)
        return 0; /* a file system without locks has none */
    return refuse(j, "MAP-0106", "is in use by another search", err);
}

static int read_log(th_journal *j, th_error *err)
{
    struct stat status;
    if (fstat(j->fd, &status) || (S_ISREG(status.st_mode) && status.st_size < 0))
        return io_error(j->path, "read", err);
    j->log_size = S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
    j->log = th_alloc(j->log_size + 1);
    if (!j->log)
        return th_error_no_memory(err);
    for (size_t have = 0; have < j->log_size;) {
        ssize_t n = pread(j->fd, j->log + have, j->log_size - have, (off_t)have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO; /* it has become shorter */
        if (n <= 0)
            return io_error(j->path, "read", err);
        have += (size_t)n;
    }
    return 0;
}

/* Killed while the header was being written: there is nothing behind it. */
static bool is_unfinished(const th_journal *j)
{
    size_t n = j->log_size < sizeof magic ? j->log_size : sizeof magic;
    return j->log_size < HEAD_BYTES && memcmp(j->log, magic, n) == 0;
}

static int create(th_journal *j, th_error *err)
{
    j->truncated_bytes = (int64_t)j->log_size;
    j->log_size = 0;
    j->size = HEAD_BYTES;
    return write_header(j, &j->header, err);
}

static int resume(th_journal *j, th_error *err)
{
    if (read_header(j, err))
        return -1;
    th_journal_header mixed = j->header;
    mixed.evaluations = MIXED;
    j->size = (int64_t)j->log_size;
    if (j->is_mixed && write_header(j, &mixed, err))
        return -1;
    return 0;
}

th_journal *th_journal_open(const char *path, const th_journal_header *h, th_error *err)
{
    th_journal *j = th_alloc_zero(1, sizeof *j);
    if (!j || !(j->path = th_alloc_string(path))) {
        th_free(j);
        th_error_no_memory(err);
        return NULL;
    }
    j->header = *h;
    j->synced_s = wall_s();
    j->fd = th_file_open(path, O_RDWR | O_CREAT);
    int failed = 0;
    if (j->fd < 0)
        failed = io_error(path, "opened for writing", err);
    if (!failed)
        failed = lock(j, err) || read_log(j, err);
    if (!failed)
        failed = is_unfinished(j) ? create(j, err) : resume(j, err);
    if (!failed)
        return j;
    th_journal_free(j);
    return NULL;
}

void th_journal_free(th_journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0) {
        if (j->is_dirty)
            fdatasync(j->fd);
        close(j->fd);
    }
    th_free(j->log);
    th_free(j->path);
    th_free(j);
}

/* --- records --- */

/* From here on the file is of one budget, and grows. */
static int end_log(th_journal *j, th_error *err)
{
    j->truncated_bytes = (int64_t)(j->log_size - j->at);
    j->size = (int64_t)j->at;
    if (j->truncated_bytes > 0 && ftruncate(j->fd, (off_t)j->size))
        return io_error(j->path, "written", err);
    th_free(j->log);
    j->log = NULL;
    j->log_size = 0;
    int failed = j->is_mixed ? write_header(j, &j->header, err) : 0;
    j->is_mixed = false;
    return failed;
}

typedef struct {
    int32_t n_bytes, n;
    uint64_t digest;
    double elapsed_s;
} record;

static void record_head(th_serializer *w, record *r)
{
    th_serializer_int(w, &r->n_bytes);
    th_serializer_int(w, &r->n);
    th_serializer_hash(w, &r->digest);
    th_serializer_double(w, &r->elapsed_s);
}

/* The next record of the log. False where none is whole. */
static bool next_record(const th_journal *j, record *r, th_serializer *body, uint64_t *sum)
{
    const unsigned char *start = j->log + j->at;
    size_t left = j->log_size - j->at;
    th_serializer w = th_serializer_reader(start, left);
    record_head(&w, r);
    if (w.failed || r->n_bytes < 0 || r->n < 0 ||
        (size_t)r->n_bytes + RECORD_HEAD_BYTES + CHECKSUM_BYTES > left)
        return false;
    *body = th_serializer_reader(w.at, (size_t)r->n_bytes);
    size_t size = RECORD_HEAD_BYTES + (size_t)r->n_bytes;
    th_serializer tail = th_serializer_reader(start + size, CHECKSUM_BYTES);
    th_serializer_hash(&tail, sum);
    return *sum == th_hash(start, size, j->checksum);
}

/* Is there nothing behind this record? */
static bool is_last(const th_journal *j, const record *r)
{
    return j->at + RECORD_HEAD_BYTES + (size_t)r->n_bytes + CHECKSUM_BYTES >= j->log_size;
}

/* The fitness of a whole record; false where it does not hold n of them. */
static bool read_body(th_serializer *body, int n, th_fitness *fitness)
{
    for (int i = 0; i < n; i++)
        th_serializer_fitness(body, &fitness[i]);
    return !body->failed && body->at == body->end;
}

int th_journal_replay(th_journal *j, uint64_t digest, int n, th_fitness *fitness, th_error *err)
{
    record r;
    th_serializer body;
    uint64_t sum;
    if (j->log_size == 0 || j->is_longer)
        return 0;
    if (j->at == j->log_size || !next_record(j, &r, &body, &sum))
        goto end;
    if (r.digest != digest || r.n != n || !read_body(&body, n, fitness)) {
        j->is_longer = j->is_mixed && n < r.n; /* this search's budget cuts the batch */
        if (j->is_longer)
            return 0;
        if (j->is_mixed && is_last(j, &r)) /* that of the log did */
            goto end;
        return refuse(j, "MAP-0107",
                      "the search asks for other mappings than it did: this is another version of "
                      "the program",
                      err);
    }
    j->at += RECORD_HEAD_BYTES + (size_t)r.n_bytes + CHECKSUM_BYTES;
    j->checksum = sum;
    j->n_replayed += n;
    j->elapsed_s = r.elapsed_s;
    return 1;
end:
    return end_log(j, err);
}

static void write_record(th_serializer *w, uint64_t digest, int n, const th_fitness *fitness,
                         double elapsed_s)
{
    th_serializer body = TH_SERIALIZER_INIT;
    for (int i = 0; i < n; i++) {
        th_fitness copy = fitness[i];
        th_serializer_fitness(&body, &copy);
    }
    record r = {(int32_t)body.out.length, n, digest, elapsed_s};
    record_head(w, &r);
    th_serializer_bytes(w, body.out.text, body.out.length);
    w->failed |= body.failed;
    th_serializer_clear(&body);
}

int th_journal_append(th_journal *j, uint64_t digest, int n, const th_fitness *fitness,
                      double elapsed_s, th_error *err)
{
    th_serializer w = TH_SERIALIZER_INIT;
    if (j->is_longer) {
        j->elapsed_s = elapsed_s;
        return 0;
    }
    write_record(&w, digest, n, fitness, elapsed_s);
    uint64_t sum = w.failed ? 0 : th_hash(w.out.text, w.out.length, j->checksum), copy = sum;
    th_serializer_hash(&w, &copy);
    int failed =
        w.failed ? th_error_no_memory(err) : write_all(j, w.out.text, w.out.length, j->size, err);
    if (!failed) {
        j->size += (int64_t)w.out.length;
        j->checksum = sum;
        j->elapsed_s = elapsed_s;
    } else if (ftruncate(j->fd, (off_t)j->size)) {
        /* an incomplete record, which the next open cuts off */
    }
    th_serializer_clear(&w);
    if (!failed && wall_s() - j->synced_s >= SYNC_EVERY_S)
        failed = th_journal_sync(j, err);
    return failed;
}

int th_journal_sync(th_journal *j, th_error *err)
{
    j->synced_s = wall_s();
    if (j->is_dirty && fdatasync(j->fd) && errno != EINVAL)
        return io_error(j->path, "written", err);
    j->is_dirty = false;
    return 0;
}

/* --- looks --- */

int64_t th_journal_n_replayed(const th_journal *j)
{
    return j->n_replayed;
}

int64_t th_journal_truncated_bytes(const th_journal *j)
{
    return j->truncated_bytes;
}

double th_journal_elapsed_s(const th_journal *j)
{
    return j->elapsed_s;
}
