/* SPDX-License-Identifier: GPL-3.0-or-later */
/* class_attributes.h - private to session/objects/: the attributes of each class. Figures of a run
 * are absent before a program is lowered. */
#ifndef TH_SESSION_OBJECTS_CLASS_ATTRIBUTES_H
#define TH_SESSION_OBJECTS_CLASS_ATTRIBUTES_H
#include <stddef.h>
#include "session/objects/objects.h"

extern const th_attribute th_accel_attributes[], th_layer_attributes[], th_link_attributes[],
    th_node_attributes[], th_task_attributes[];

/* Bits of th_record_kind at which the value of an attribute can change. */
enum {
    TH_RECORDS_OF_TASKS = 1u << TH_RECORD_TASK_START | 1u << TH_RECORD_TASK_END,
    TH_RECORDS_OF_ANY = TH_RECORDS_OF_TASKS | 1u << TH_RECORD_LINK
};

/* The value that lies there in a structure, a number below 0 is absent; of NULL, too. */
#define TH_AT(type, member) .at = offsetof(type, member), .size = sizeof(((type *)0)->member)
th_quantity th_attribute_at(const th_attribute *a, const void *structure);

/* A getter that is an expression of the session and the number of the object. */
#define TH_GETTER(name, value)                                                                     \
    static th_quantity name(th_session *s, int index, const th_attribute *a)                       \
    {                                                                                              \
        (void)a;                                                                                   \
        return value;                                                                              \
    }

/* Attributes of the components of an energy, in the order of th_energy, and their values, absent
 * where r is NULL or has no costs. */
#define TH_ENERGY_ATTRIBUTE(name, help, heading, getter, part)                                     \
    {                                                                                              \
        name, TH_KIND_ENERGY, help, NULL, heading, .is_detail = true, .get = getter, .at = part,   \
                                                   .changes = TH_RECORDS_OF_ANY                    \
    }
#define TH_ENERGY_ATTRIBUTES(getter)                                                               \
    TH_ENERGY_ATTRIBUTE("mac_energy", "energy of multiply-accumulates", "MACs", getter, 0),        \
        TH_ENERGY_ATTRIBUTE("vector_energy", "energy of vector units", "vector", getter, 1),       \
        TH_ENERGY_ATTRIBUTE("buffer_energy", "energy of on-chip buffers", "buffers", getter, 2),   \
        TH_ENERGY_ATTRIBUTE("dram_energy", "energy of DRAM accesses", "DRAM", getter, 3),          \
        TH_ENERGY_ATTRIBUTE("static_energy", "static power x time", "static", getter, 4),          \
        TH_ENERGY_ATTRIBUTE("link_energy", "energy of transfers over links", "links", getter, 5)
enum { TH_N_ENERGY_ATTRIBUTES = 6, TH_ENERGY_SUM = TH_N_ENERGY_ATTRIBUTES };
th_quantity th_energy_part(const th_result *r, const th_energy *e, int part);

/* The result of the present run; NULL: there is none, or memory is out. */
const th_result *th_run_result(th_session *s);
/* The short name of an object as a value. */
th_quantity th_object_name_text(th_session *s, th_class class, int32_t index);
/* Absent where it is 0. */
th_quantity th_mtbf_hours(int64_t mtbf_us);
/* The factor that set_property and inject_fault have applied to a property of an object. */
double th_property_factor_of(const th_session *s, th_property_kind kind, int index);

#endif
