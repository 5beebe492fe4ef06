/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_study.h - what a study can record of a run. */
#ifndef TH_TCL_CORE_CORE_STUDY_H
#define TH_TCL_CORE_CORE_STUDY_H

/* The i-th figure; NULL after the last. */
const char *th_study_metric_name(int i);

#endif
