/* SPDX-License-Identifier: GPL-3.0-or-later */
/* min_max.h - the lesser and the greater of two numbers: th_min(a, b), th_max(a, b) of any mix of
 * int, int64_t and double, compared and returned in the type of a + b. Each is evaluated once. */
#ifndef TH_BASE_MIN_MAX_H
#define TH_BASE_MIN_MAX_H
#include <stdint.h>

#define TH_MIN_MAX_OF(type, name)                                                                  \
    static inline type th_min_##name(type a, type b)                                               \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    static inline type th_max_##name(type a, type b)                                               \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }
TH_MIN_MAX_OF(int32_t, int32)
TH_MIN_MAX_OF(int64_t, int64)
TH_MIN_MAX_OF(double, double)
#undef TH_MIN_MAX_OF

#define TH_BY_TYPE(function, a, b)                                                                 \
    _Generic((a) + (b), int32_t                                                                    \
             : function##_int32, int64_t                                                           \
             : function##_int64, double                                                            \
             : function##_double)(a, b)
#define th_min(a, b) TH_BY_TYPE(th_min, a, b)
#define th_max(a, b) TH_BY_TYPE(th_max, a, b)

#endif
