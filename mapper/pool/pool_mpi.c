/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool_mpi.c - evaluates batches on the ranks of an MPI run: rank 0 distributes them and evaluates
 * too.
 *
 *   rank 0: create (broadcast the problem) -> (evaluate | run_tasks)* -> destroy;  end
 *   others: serve: (problem -> host name | chunk -> answer | other work -> answer)* until quit
 *
 * Ranks on the machine of rank 0 would each fill a cache of their own; threads share one. So rank
 * 0 runs threads instead of those ranks, on their cores, and the ranks sleep, unless
 * TH_RANKS_APART is set. A batch is distributed in chunks, large ones first, to any other rank
 * with fewer than OUTSTANDING chunks, so that a rank has its next chunk when it finishes one. When
 * no answer waits, the threads of rank 0 evaluate some mappings themselves. A mapping's fitness
 * does not depend on which rank evaluates it, so results do not either. No rank blocks in MPI,
 * which would keep a core busy: an idle rank polls and sleeps, longer each time. A lost rank ends
 * the run, through MPI. */
#include <config.h>

#include "mapper/pool/pool_mpi.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/alloc.h"
#include "mapper/pool/worker.h"

enum {
    TAG_PROBLEM = 1,
    TAG_CHUNK,
    TAG_ANSWER,
    TAG_QUIT,
    TAG_PLACE,
    TAG_OTHER,       /* work that does not belong to a search, and its answer */
    OUTSTANDING = 2, /* chunks of a rank, including the one that it evaluates */
    CHUNK_MAX = 64,  /* mappings: more do not make messages cheaper */
    SHORTEST_NAP_NS = 10 * 1000,
    LONGEST_NAP_NS = 2 * 1000 * 1000
};

/* --- waiting --- */

typedef struct {
    long ns;
} backoff;

static void back_off(backoff *n)
{
    n->ns = n->ns == 0 ? SHORTEST_NAP_NS : 2 * n->ns;
    if (n->ns > LONGEST_NAP_NS)
        n->ns = LONGEST_NAP_NS;
    const struct timespec t = {0, n->ns};
    nanosleep(&t, NULL);
}

/* The message that has arrived from this rank, if any. */
static bool has_message(int from, MPI_Status *status)
{
    int has = 0;
    MPI_Iprobe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &has, status);
    return has;
}

/* Into *bytes, which grows. Its length; -1: out of memory. */
static int receive(const MPI_Status *status, char **bytes, size_t *capacity)
{
    int n = 0;
    MPI_Get_count(status, MPI_BYTE, &n);
    if (th_grow(bytes, capacity, (size_t)n + 1, 1))
        return -1;
    MPI_Recv(*bytes, n, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return n;
}

/* --- begin and end --- */

int th_mpi_begin(int *argc, char ***argv)
{
    int rank = 0;
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    /* Where processes may not read each other's memory (containers) Open MPI prints long
     * warnings. */
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    prctl(PR_SET_TIMERSLACK, 1000UL); /* naps of 10 us, not of 60 */
    return rank;
}

/* Where a rank runs. */
typedef struct {
    char machine[MPI_MAX_PROCESSOR_NAME];
    cpu_set_t cores;
} place;

static place this_place(void)
{
    place p;
    int n = 0;
    memset(&p, 0, sizeof p);
    MPI_Get_processor_name(p.machine, &n);
    if (sched_getaffinity(0, sizeof p.cores, &p.cores))
        CPU_ZERO(&p.cores);
    return p;
}

static int n_ranks(void)
{
    int n = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    return n;
}

void th_mpi_end(void)
{
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over)
        return;
    for (int rank = 1; rank < n_ranks(); rank++)
        MPI_Send(NULL, 0, MPI_BYTE, rank, TAG_QUIT, MPI_COMM_WORLD);
    MPI_Finalize();
}

/* --- the others --- */

typedef struct {
    th_worker *worker;
    th_mpi_answer *other; /* of other work */
    void *state;
} server;

/* 1: go on; 0: quit; -1: out of memory. */
static int serve_one(const server *s, const MPI_Status *status, char **bytes, size_t *capacity)
{
    th_serializer answer = TH_SERIALIZER_INIT;
    int n = receive(status, bytes, capacity), failed = n < 0 ? -1 : 0;
    if (failed || status->MPI_TAG == TAG_QUIT)
        return failed;
    if (status->MPI_TAG == TAG_PROBLEM) {
        place here = this_place();
        MPI_Send(&here, (int)sizeof here, MPI_BYTE, 0, TAG_PLACE, MPI_COMM_WORLD);
        th_worker_read_problem(s->worker, *bytes, (size_t)n);
        return 1;
    }
    bool is_other = status->MPI_TAG == TAG_OTHER;
    failed = is_other ? s->other(s->state, *bytes, (size_t)n, &answer)
                      : th_worker_evaluate(s->worker, *bytes, (size_t)n, &answer);
    if (!failed)
        MPI_Send(answer.out.text, (int)answer.out.length, MPI_BYTE, 0,
                 is_other ? TAG_OTHER : TAG_ANSWER, MPI_COMM_WORLD);
    th_serializer_clear(&answer);
    return failed ? -1 : 1;
}

int th_mpi_serve(const th_script_provider *scripts, th_mpi_answer *other, void *state)
{
    char *bytes = NULL;
    size_t capacity = 0;
    MPI_Status status;
    backoff n = {0};
    const server s = {th_worker_new(scripts, NULL), other, state};
    int goes_on = s.worker ? 1 : -1;
    while (goes_on > 0) {
        if (has_message(0, &status)) {
            goes_on = serve_one(&s, &status, &bytes, &capacity);
            n.ns = 0;
        } else {
            back_off(&n);
        }
    }
    th_worker_free(s.worker);
    th_free(bytes);
    if (goes_on < 0)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Finalize();
    return goes_on;
}

/* --- rank 0 --- */

int th_mpi_n_workers(void)
{
    return n_ranks() - 1;
}

void th_mpi_send(int to, const void *bytes, size_t n)
{
    MPI_Send(bytes, (int)n, MPI_BYTE, to, TAG_OTHER, MPI_COMM_WORLD);
}

long th_mpi_receive(int *from, char **bytes, size_t *capacity)
{
    MPI_Status status;
    int has = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_OTHER, MPI_COMM_WORLD, &has, &status);
    if (!has)
        return -1;
    *from = status.MPI_SOURCE;
    int n = receive(&status, bytes, capacity);
    return n < 0 ? -2 : n;
}

typedef struct {
    th_serializer bytes; /* until its answer has arrived */
    MPI_Request request;
    int first, n; /* mappings */
} chunk;

typedef struct {
    chunk chunks[OUTSTANDING]; /* oldest first */
    int n;
    th_segment_counts counts; /* of its cache, by its last answer */
    bool is_local;            /* on this machine: replaced by a thread */
} rank_state;

typedef struct {
    th_pool pool;
    th_pool *local; /* the threads of rank 0 */
    int n_threads, n_ranks;
    bool any_remote;   /* ranks that get chunks */
    rank_state *ranks; /* [0] is not used */
    char *received;
    size_t received_capacity;
    /* the batch */
    th_mapping *const *mappings;
    double bound;
    th_fitness *fitness;
    int n, next, n_outstanding;
    int failed_at; /* lowest index that failed; n: none */
    th_error error;
} mpi_pool;

static void destroy(th_pool *pool)
{
    mpi_pool *p = (mpi_pool *)pool;
    th_pool_free(p->local);
    th_free(p->ranks);
    th_free(p->received);
    th_free(p);
}

static int send_problem(const th_problem *problem, int n, th_error *err)
{
    th_serializer w = TH_SERIALIZER_INIT;
    if (th_worker_write_problem(&w, problem, err)) {
        th_serializer_clear(&w);
        return -1;
    }
    for (int rank = 1; rank < n && !w.failed; rank++)
        MPI_Send(w.out.text, (int)w.out.length, MPI_BYTE, rank, TAG_PROBLEM, MPI_COMM_WORLD);
    int failed = w.failed ? th_error_no_memory(err) : 0;
    th_serializer_clear(&w);
    return failed;
}

/* The number of threads that replace the ranks of this machine, at most one per core. All ranks
 * have received the problem, and report where they run. */
static int find_local_ranks(mpi_pool *p)
{
    place own = this_place(), other;
    int here = 1;
    for (int rank = 1; rank < p->n_ranks; rank++) {
        MPI_Recv(&other, (int)sizeof other, MPI_BYTE, rank, TAG_PLACE, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        p->ranks[rank].is_local =
            !getenv("TH_RANKS_APART") && strcmp(own.machine, other.machine) == 0;
        p->any_remote |= !p->ranks[rank].is_local;
        if (!p->ranks[rank].is_local)
            continue;
        CPU_OR(&own.cores, &own.cores, &other.cores);
        here++;
    }
    int cores = CPU_COUNT(&own.cores);
    if (here > 1)
        sched_setaffinity(0, sizeof own.cores, &own.cores); /* threads inherit it */
    return here < cores ? here : cores > 0 ? cores : 1;
}

static th_pool *create(const th_problem *problem, int threads, th_error *err)
{
    (void)threads; /* as many as ranks */
    int n = n_ranks();
    mpi_pool *p = th_alloc_zero(1, sizeof *p);
    rank_state *ranks = th_alloc_zero((size_t)n, sizeof *ranks);
    if (!p || !ranks) {
        th_error_no_memory(err);
        th_free(p);
        th_free(ranks);
        return NULL;
    }
    p->pool.type = &th_pool_mpi;
    p->n_ranks = n;
    p->ranks = ranks;
    if (send_problem(problem, n, err) == 0) {
        p->n_threads = find_local_ranks(p);
        p->local = th_pool_new(&th_pool_threads, problem, p->n_threads, err);
    }
    if (p->local)
        return &p->pool;
    destroy(&p->pool);
    return NULL;
}

static void note_failure(mpi_pool *p, int i, const th_error *e)
{
    if (i < p->failed_at) {
        p->failed_at = i;
        p->error = *e;
    }
}

/* Large chunks first, single mappings at the end, so that all ranks end together. */
static int chunk_size(const mpi_pool *p)
{
    int n = (p->n - p->next) / (2 * p->n_ranks);
    return n < 1 ? 1 : n > CHUNK_MAX ? CHUNK_MAX : n;
}

/* 0, or -1: out of memory. */
static int send_chunk(mpi_pool *p, int rank)
{
    rank_state *r = &p->ranks[rank];
    chunk *c = &r->chunks[r->n];
    *c = (chunk){.bytes = TH_SERIALIZER_INIT, .first = p->next, .n = chunk_size(p)};
    th_worker_write_chunk(&c->bytes, p->mappings + c->first, c->n, p->bound);
    if (c->bytes.failed) {
        th_serializer_clear(&c->bytes);
        return -1;
    }
    MPI_Isend(c->bytes.out.text, (int)c->bytes.out.length, MPI_BYTE, rank, TAG_CHUNK,
              MPI_COMM_WORLD, &c->request);
    p->next += c->n;
    p->n_outstanding++;
    r->n++;
    return 0;
}

/* Ranks with nothing first. */
static int send_chunks(mpi_pool *p)
{
    for (int have = 0; have < OUTSTANDING; have++)
        for (int rank = 1; rank < p->n_ranks && p->next < p->n; rank++)
            if (!p->ranks[rank].is_local && p->ranks[rank].n == have && send_chunk(p, rank))
                return -1;
    return 0;
}

/* The answers to the oldest chunk of a rank. */
static void read_answers(mpi_pool *p, int rank, th_serializer *in)
{
    rank_state *r = &p->ranks[rank];
    chunk c = r->chunks[0];
    for (int j = 0; j < c.n; j++) {
        th_error e = {"", ""};
        if (th_worker_read_answer(in, &p->fitness[c.first + j], &e))
            note_failure(p, c.first + j, &e);
    }
    th_worker_read_counts(in, &r->counts);
    MPI_Wait(&c.request, MPI_STATUS_IGNORE);
    th_serializer_clear(&c.bytes);
    p->n_outstanding--;
    r->n--;
    memmove(r->chunks, r->chunks + 1, (size_t)r->n * sizeof *r->chunks);
}

/* Was there an answer? -1: out of memory. */
static int read_one(mpi_pool *p)
{
    MPI_Status status;
    if (p->n_outstanding == 0 || !has_message(MPI_ANY_SOURCE, &status))
        return 0;
    int n = receive(&status, &p->received, &p->received_capacity);
    if (n < 0)
        return -1;
    th_serializer in = th_serializer_reader(p->received, (size_t)n);
    read_answers(p, status.MPI_SOURCE, &in);
    return 1;
}

/* Evaluates the next mappings on the threads: all that are left where there is no other rank, else
 * one per thread. A failure of any of them is reported for the first, which precedes all later
 * ones. */
static void evaluate_some(mpi_pool *p)
{
    th_error e = {"", ""};
    int n = p->n - p->next, first = p->next;
    if (p->any_remote && n > p->n_threads)
        n = p->n_threads;
    p->next += n;
    if (th_pool_evaluate(p->local, p->mappings + first, n, p->bound, p->fitness + first, &e))
        note_failure(p, first, &e);
}

/* Runs until all answers have arrived. After an allocation failure it still waits for the chunks
 * that were sent. */
static int run_batch(mpi_pool *p)
{
    backoff rest = {0};
    int failed = 0;
    while (p->n_outstanding > 0 || (p->next < p->n && !failed)) {
        failed |= !failed && send_chunks(p) ? 1 : 0;
        int taken = read_one(p);
        failed |= taken < 0;
        if (taken > 0) {
            rest.ns = 0;
        } else if (p->next < p->n && !failed) {
            evaluate_some(p);
        } else {
            back_off(&rest);
        }
    }
    return failed ? -1 : 0;
}

static int evaluate(th_pool *pool, th_mapping *const *mappings, int n, double bound,
                    th_fitness *fitness, th_error *err)
{
    mpi_pool *p = (mpi_pool *)pool;
    p->mappings = mappings;
    p->bound = bound;
    p->fitness = fitness;
    p->n = p->failed_at = n;
    p->next = 0;
    if (run_batch(p))
        return th_error_no_memory(err);
    return p->failed_at == n ? 0 : th_error_set(err, p->error.id, "%s", p->error.text);
}

static th_evaluator *evaluator(th_pool *pool)
{
    return th_pool_evaluator(((mpi_pool *)pool)->local);
}

static int run_tasks(th_pool *pool, th_pool_task *task, void *state, int n, th_error *err)
{
    return th_pool_run_tasks(((mpi_pool *)pool)->local, task, state, n, err);
}

static th_segment_counts segments(th_pool *pool)
{
    const mpi_pool *p = (mpi_pool *)pool;
    th_segment_counts sum = th_pool_segments(p->local);
    for (int rank = 1; rank < p->n_ranks; rank++)
        th_segment_counts_add(&sum, &p->ranks[rank].counts);
    return sum;
}

const th_pool_type th_pool_mpi = {"mpi", create, destroy, evaluate, evaluator, run_tasks, segments};
