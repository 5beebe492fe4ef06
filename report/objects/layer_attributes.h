/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_attributes.h - the attributes of layers, for attributes.c. */
#ifndef TH_REPORT_OBJECTS_LAYER_ATTRIBUTES_H
#define TH_REPORT_OBJECTS_LAYER_ATTRIBUTES_H
#include "report/objects/objects.h"

extern const th_attribute th_layer_attributes[];
/* Figures of a run are absent as long as nothing is lowered. */
th_quantity th_layer_attribute(th_session *s, int index, int attribute);

#endif
