/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool_mpi.h - evaluates batches on the ranks of an MPI run; in the program tharsis-mpi only.
 *   every rank: begin
 *   rank 0:     pools of th_pool_mpi, other work (send -> receive)*, end
 *   the others: serve until rank 0 ends */
#ifndef TH_MAPPER_POOL_MPI_H
#define TH_MAPPER_POOL_MPI_H
#include "mapper/pool/pool.h"
#include "mapper/serialize/serializer.h"

extern const th_pool_type th_pool_mpi;

int th_mpi_begin(int *argc, char ***argv); /* this process's rank */
/* Handles messages that do not belong to a search: writes an answer to each. 0, or -1: out of
 * memory. */
typedef int th_mpi_answer(void *state, const void *bytes, size_t n, th_serializer *answer);
/* The provider answers for procedures of designs. 0, or -1: out of memory, and all ranks end. */
int th_mpi_serve(const th_script_provider *scripts, th_mpi_answer *other, void *state);
/* On rank 0, outside batches: other work for ranks 1 .. n. A rank has one message at a time. */
int th_mpi_n_workers(void);
void th_mpi_send(int to, const void *bytes, size_t n);
/* An answer that has arrived: its length, in *bytes, which grows; -1: none, -2: out of memory. */
long th_mpi_receive(int *from, char **bytes, size_t *capacity);
void th_mpi_end(void); /* on rank 0: the others end too; a second call does nothing */

#endif
