/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_parallel.c - items (item.h) on threads of this process and on other ranks of MPI, and the
 * core commands that give them out and end with what came of them.
 *   parallel: crew -> { take -> NEXT, give -> DONE -> wait, SHOW }* until nothing is left
 * A thread waits for a job, does it, and waits again; a rank gets one as a message, and keeps no
 * state between messages. One lock guards all that threads share; what ranks do, and the names of
 * items, is of the thread that gives and takes alone. Other threads may cancel the interpreter of
 * an item only while the item runs. */
#include <config.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include "base/alloc.h"
#include "base/interrupt.h"
#include "session/progress.h"
#include "tcl/core/item.h"
#include "tcl/core/lib_report.h"

enum { WAIT_MS = 50, RANKS_WAIT_MS = 2 };

typedef enum { IDLE, GIVEN, DONE } place_state;

/* Where an item is done. */
typedef struct {
    struct crew *owner;
    place_state state;
    Tcl_Obj *name; /* of the item; NULL: idle */
    /* of a thread */
    Tcl_ThreadId thread;
    char *job, *outcome;
    Tcl_Interp *interp; /* of the running item; NULL: none */
} place;

typedef struct crew {
    pthread_mutex_t lock;
    pthread_cond_t given, done; /* signals after these events */
    bool is_stopping, is_over;
    int threads_each;
    Tcl_Obj *job; /* the words before the variables */
    const th_mailbox *mailbox;
    place *places; /* the threads, then the ranks 1, 2, ... */
    int n_threads, n_ranks, n_started, n_busy;
    char *received;
    size_t capacity;
} crew;

/* ---- one thread ---- */

/* False: there are no more. */
static bool wait_for_job(place *p)
{
    pthread_mutex_lock(&p->owner->lock);
    while (p->state != GIVEN && !p->owner->is_over)
        pthread_cond_wait(&p->owner->given, &p->owner->lock);
    bool has_job = p->state == GIVEN;
    pthread_mutex_unlock(&p->owner->lock);
    return has_job;
}

static Tcl_ThreadCreateType work(ClientData data)
{
    place *p = data;
    th_items_begin_thread();
    while (wait_for_job(p)) {
        const th_item_guard guard = {&p->owner->lock, &p->owner->is_stopping, &p->interp};
        char *outcome = th_item_run(p->job, p->owner->threads_each, &guard);
        th_free(p->job);
        pthread_mutex_lock(&p->owner->lock);
        p->outcome = outcome;
        p->state = DONE;
        pthread_cond_signal(&p->owner->done);
        pthread_mutex_unlock(&p->owner->lock);
    }
    Tcl_FinalizeThread();
    TCL_THREAD_CREATE_RETURN;
}

/* ---- all of them ---- */

static int start_threads(crew *c, th_error *err)
{
    for (; c->n_started < c->n_threads; c->n_started++) {
        place *p = &c->places[c->n_started];
        p->owner = c;
        if (Tcl_CreateThread(&p->thread, work, p, TCL_THREAD_STACK_DEFAULT, TCL_THREAD_JOINABLE) !=
            TCL_OK)
            return th_error_set(
                err, "STUDY-0046",
                "a thread cannot be started: this Tcl has none, or there are too many");
    }
    return 0;
}

/* ---- giving and taking ---- */

/* Not when all are busy. 0, or -1: memory is out. */
static int crew_give(crew *c, Tcl_Obj *name, Tcl_Obj *variables)
{
    place *p = c->places;
    while (p->name)
        p++;
    int length, rank = (int)(p - c->places) - c->n_threads + 1;
    Tcl_Obj *words = Tcl_DuplicateObj(c->job);
    Tcl_IncrRefCount(words);
    th_lib_append(words, variables);
    const char *text = Tcl_GetStringFromObj(words, &length);
    pthread_mutex_lock(&c->lock);
    p->job = rank < 1 ? th_alloc_string(text) : NULL;
    bool failed = rank < 1 && !p->job;
    p->state = p->job ? GIVEN : IDLE;
    pthread_cond_broadcast(&c->given);
    pthread_mutex_unlock(&c->lock);
    if (!failed) {
        p->name = name;
        Tcl_IncrRefCount(name);
        c->n_busy++;
        if (rank >= 1)
            c->mailbox->send(rank, text, (size_t)length);
    }
    Tcl_DecrRefCount(words);
    return failed ? -1 : 0;
}

/* outcome NULL: memory was out. */
static Tcl_Obj *end_of(crew *c, place *p, const char *outcome, size_t n)
{
    static const char lost[] = "failed {memory is out} {}";
    Tcl_Obj *words = outcome ? Tcl_NewStringObj(outcome, (int)n) : th_lib_text(lost);
    Tcl_Obj *all = Tcl_NewListObj(1, &p->name);
    Tcl_IncrRefCount(words);
    Tcl_ListObjAppendList(NULL, all, words);
    Tcl_DecrRefCount(words);
    Tcl_DecrRefCount(p->name);
    p->name = NULL;
    c->n_busy--;
    return all;
}

static Tcl_Obj *take_from_thread(crew *c)
{
    place *p = NULL;
    char *outcome = NULL;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < c->n_threads && !p; i++)
        if (c->places[i].state == DONE) {
            p = &c->places[i];
            outcome = p->outcome;
            p->outcome = NULL;
            p->state = IDLE;
        }
    pthread_mutex_unlock(&c->lock);
    Tcl_Obj *end = p ? end_of(c, p, outcome, outcome ? strlen(outcome) : 0) : NULL;
    th_free(outcome);
    return end;
}

static Tcl_Obj *crew_take(crew *c)
{
    int from = 0;
    Tcl_Obj *end = c->n_busy > 0 ? take_from_thread(c) : NULL;
    if (end || c->n_busy == 0 || c->n_ranks == 0)
        return end;
    long n = c->mailbox->receive(&from, &c->received, &c->capacity);
    if (n == -1)
        return NULL;
    place *p = &c->places[c->n_threads + from - 1];
    return end_of(c, p, n < 0 ? NULL : c->received, n < 0 ? 0 : (size_t)n);
}

static bool has_done(const crew *c)
{
    for (int i = 0; i < c->n_threads; i++)
        if (c->places[i].state == DONE)
            return true;
    return false;
}

static void crew_wait(crew *c)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (c->n_ranks > 0 ? RANKS_WAIT_MS : WAIT_MS) * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&c->lock);
    while (!has_done(c) && pthread_cond_timedwait(&c->done, &c->lock, &until) != ETIMEDOUT)
        continue;
    pthread_mutex_unlock(&c->lock);
}

static void crew_stop(crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->is_stopping = true;
    for (int i = 0; i < c->n_threads; i++)
        if (c->places[i].interp)
            Tcl_CancelEval(c->places[i].interp, NULL, NULL, TCL_CANCEL_UNWIND);
    pthread_mutex_unlock(&c->lock);
}

/* Waits for all of them: threads are stopped, ranks cannot be, and their late answers must not be
 * taken for others. */
static void crew_free(crew *c)
{
    if (!c)
        return;
    crew_stop(c);
    while (c->n_busy > 0) {
        Tcl_Obj *end = crew_take(c);
        if (!end)
            crew_wait(c);
        else
            Tcl_DecrRefCount(end);
    }
    pthread_mutex_lock(&c->lock);
    c->is_over = true;
    pthread_cond_broadcast(&c->given);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->n_started; i++)
        Tcl_JoinThread(c->places[i].thread, &(int){0});
    pthread_cond_destroy(&c->done);
    pthread_cond_destroy(&c->given);
    pthread_mutex_destroy(&c->lock);
    Tcl_DecrRefCount(c->job);
    th_free(c->places);
    th_free(c->received);
    th_free(c);
}

/* n threads, and all ranks of the mailbox, which may be NULL; searches of an item may use
 * threads_each threads. The words of a job are kept but for its variables. NULL: error in err. */
static crew *crew_new(int n, int threads_each, const th_mailbox *mailbox, Tcl_Obj *const *job,
                      th_error *err)
{
    crew *c = th_alloc_zero(1, sizeof *c);
    if (!c) {
        th_error_no_memory(err);
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->given, NULL);
    pthread_cond_init(&c->done, NULL);
    c->threads_each = threads_each;
    c->mailbox = mailbox;
    c->job = Tcl_NewListObj(TH_JOB_VARIABLES, job);
    Tcl_IncrRefCount(c->job);
    int n_ranks = mailbox ? mailbox->n() : 0;
    c->places = th_alloc_zero((size_t)(n + n_ranks), sizeof *c->places);
    c->n_threads = c->places ? n : 0;
    c->n_ranks = c->places ? n_ranks : 0;
    if (!c->places)
        th_error_no_memory(err);
    else if (start_threads(c, err) == 0)
        return c;
    crew_free(c);
    return NULL;
}

/* ---- all items ---- */

typedef struct {
    th_call *c;
    crew *crew;
    Tcl_Obj *next, *done, *show; /* words of commands */
    Tcl_Obj *taken;              /* outcomes that DONE has not seen */
    th_progress progress;
    double done_s; /* since the start: the last call of DONE */
    int pause_ms;  /* to the next, while items are at work */
    bool is_empty, was_stopped;
} items;

/* ---- calls of lib/ ---- */

/* With one word more, which may be NULL. 0, or -1: the interpreter holds the error. */
static int call(items *x, Tcl_Obj *command, Tcl_Obj *word)
{
    Tcl_Obj *words = Tcl_DuplicateObj(command);
    Tcl_IncrRefCount(words);
    int code = word ? Tcl_ListObjAppendElement(x->c->interp, words, word) : TCL_OK;
    if (code == TCL_OK)
        code = Tcl_EvalObjEx(x->c->interp, words, TCL_EVAL_GLOBAL);
    Tcl_DecrRefCount(words);
    return code == TCL_OK ? 0 : -1;
}

/* NEXT returns the name and the variables of an item, or nothing. */
static int give_items(items *x)
{
    while (!x->is_empty && !x->was_stopped &&
           x->crew->n_busy < x->crew->n_threads + x->crew->n_ranks) {
        Tcl_Obj **word;
        if (call(x, x->next, NULL) != 0)
            return -1;
        Tcl_Obj *item = Tcl_GetObjResult(x->c->interp);
        x->is_empty = Tcl_GetCharLength(item) == 0;
        if (x->is_empty)
            break;
        if (th_lib_elements(item, 2, &word) < 0)
            return th_lib_fault(x->c, "parallel");
        if (crew_give(x->crew, word[0], word[1]) != 0)
            return th_error_no_memory(&x->c->err);
    }
    return 0;
}

/* What DONE does takes as long as a disk does, and those who have the next items need not wait. */
static int hand_over(items *x)
{
    double now = th_progress_elapsed_s(&x->progress);
    Tcl_Size n = 0;
    Tcl_ListObjLength(NULL, x->taken, &n);
    if (n == 0 || (x->crew->n_busy > 0 && now - x->done_s < x->pause_ms * 1e-3))
        return 0;
    Tcl_Obj *taken = x->taken;
    x->taken = Tcl_NewListObj(0, NULL);
    Tcl_IncrRefCount(x->taken);
    int failed = call(x, x->done, taken);
    Tcl_DecrRefCount(taken);
    x->done_s = th_progress_elapsed_s(&x->progress);
    return failed;
}

/* SHOW returns the line of progress, of the seconds since the start. */
static int show(items *x)
{
    if (!th_progress_is_due(&x->progress))
        return 0;
    if (call(x, x->show, Tcl_NewDoubleObj(th_progress_elapsed_s(&x->progress))) != 0)
        return -1;
    th_progress_show(&x->progress, "%s", Tcl_GetStringResult(x->c->interp));
    return 0;
}

/* The flag of Ctrl-C is not cleared here: the runs of all items poll it until they have ended. */
static void poll(items *x)
{
    if (x->was_stopped ||
        (!th_interrupt_is_pending() && Tcl_Canceled(x->c->interp, 0) != TCL_ERROR))
        return;
    x->was_stopped = true;
    crew_stop(x->crew);
}

static int do_items(items *x)
{
    for (;;) {
        Tcl_Size n = 0;
        for (Tcl_Obj *end; (end = crew_take(x->crew));)
            th_lib_append(x->taken, end);
        if (give_items(x) != 0 || hand_over(x) != 0)
            return -1;
        Tcl_ListObjLength(NULL, x->taken, &n);
        if (x->crew->n_busy == 0 && n == 0)
            return 0;
        crew_wait(x->crew);
        poll(x);
        if (show(x) != 0)
            return -1;
    }
}

/* ---- the command ---- */

enum { THREADS, WANTED, PAUSE_MS, SCRIPT, FINISH, OF, SECONDS, IS_SAFE, SETTINGS };

/* No more threads than items; the remaining ones go to searches. */
static crew *make_crew(th_call *c, Tcl_Obj *const *setting)
{
    const th_mailbox *mailbox = th_tcl_of(c->session)->mailbox;
    Tcl_WideInt wanted;
    int threads, is_safe;
    if (Tcl_GetIntFromObj(NULL, setting[THREADS], &threads) != TCL_OK ||
        Tcl_GetWideIntFromObj(NULL, setting[WANTED], &wanted) != TCL_OK || wanted < 1 ||
        Tcl_GetBooleanFromObj(NULL, setting[IS_SAFE], &is_safe) != TCL_OK || threads > 1024) {
        th_lib_fault(c, "parallel");
        return NULL;
    }
    if (threads < 1)
        threads = mailbox ? 1 : c->session->threads;
    int n = wanted < threads ? (int)wanted : threads;
    const char *path = Tcl_GetVar2(c->interp, "auto_path", NULL, TCL_GLOBAL_ONLY);
    Tcl_Obj *job[] = {setting[SCRIPT],
                      setting[FINISH],
                      setting[OF],
                      setting[SECONDS],
                      Tcl_NewIntObj(is_safe || Tcl_IsSafe(c->interp)),
                      th_lib_text(path)};
    return crew_new(n, threads / n, mailbox, job, &c->err);
}

/* parallel SETTINGS NEXT DONE SHOW: does the items that NEXT returns until it returns nothing. Each
 * ends as a list NAME STATE TEXT DIGEST (item.h), and DONE gets lists of such ends, in the order in
 * which they came, each at most PAUSE_MS after its item. Returns whether Ctrl-C ended it before. */
static int run_parallel(th_call *c)
{
    Tcl_Obj **setting;
    if (th_tcl_of(c->session)->is_item)
        return th_error_set(&c->err, "STUDY-0081",
                            "refused in the script of a study or of parallel_foreach");
    int pause_ms;
    if (th_lib_elements(c->words[0], SETTINGS, &setting) < 0 ||
        Tcl_GetIntFromObj(NULL, setting[PAUSE_MS], &pause_ms) != TCL_OK)
        return th_lib_fault(c, "parallel");
    items x = {.pause_ms = pause_ms,
               .c = c,
               .next = c->words[1],
               .done = c->words[2],
               .show = c->words[3]};
    if (!(x.crew = make_crew(c, setting)))
        return -1;
    x.progress = th_progress_start(c->session->is_quiet);
    x.taken = Tcl_NewListObj(0, NULL);
    Tcl_IncrRefCount(x.taken);
    th_interrupt_hold(true);
    int failed = do_items(&x);
    Tcl_InterpState state = Tcl_SaveInterpState(c->interp, failed ? TCL_ERROR : TCL_OK);
    crew_free(x.crew);
    th_progress_end(&x.progress);
    th_interrupt_hold(false);
    if (x.was_stopped)
        th_interrupt_take();
    Tcl_RestoreInterpState(c->interp, state);
    Tcl_DecrRefCount(x.taken);
    if (!failed)
        Tcl_SetObjResult(c->interp, Tcl_NewBooleanObj(x.was_stopped));
    return failed;
}

/* interrupted TEXT: the command that lib/ answers ends by Ctrl-C, with this text, which its
 * procedure returns. */
static int run_interrupted(th_call *c)
{
    th_tcl_of(c->session)->was_stopped = true;
    th_call_return_text(c, th_call_word(c, 0));
    return 0;
}

/* globals: the variables that the script of an item finds. */
static int run_globals(th_call *c)
{
    Tcl_Interp *interp = th_item_interp(false, "", &c->err);
    if (!interp)
        return -1;
    int code = Tcl_Eval(interp, "info globals");
    th_call_return_text(c, Tcl_GetStringResult(interp));
    Tcl_DeleteInterp(interp);
    return code == TCL_OK ? 0 : th_lib_fault(c, "globals");
}

const th_command th_core_parallel_commands[] = {
    {.name = "parallel",
     .words = "SETTINGS NEXT DONE SHOW",
     .min_words = 4,
     .max_words = 4,
     .run = run_parallel,
     .not_while_running = true,
     .ignores_run = true},
    TH_CORE_ROW("interrupted", "TEXT", 1, 1, run_interrupted),
    TH_CORE_ROW("globals", "", 0, 0, run_globals),
    {.name = NULL},
};
