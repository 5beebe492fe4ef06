/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool_mpi.h - evaluates batches on the ranks of an MPI run. In the program tharsis-mpi alone.
 *   every rank: begin; rank 0: pools of th_pool_mpi, end; the others: serve until rank 0 ends */
#ifndef TH_MAPPER_POOL_MPI_H
#define TH_MAPPER_POOL_MPI_H
#include "mapper/pool/pool.h"

extern const th_pool_type th_pool_mpi;

int th_mpi_begin(int *argc, char ***argv); /* this process's rank */
int th_mpi_serve(void); /* 0, or -1: memory is out, and all ranks end */
void th_mpi_end(void);  /* on rank 0: the others end too; a second call does nothing */

#endif
