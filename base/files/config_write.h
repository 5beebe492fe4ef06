/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_write.h - values as configuration files have them, so that reading gives them back to the
 * last bit. Quantities have the shortest unit in which they are exact. */
#ifndef TH_BASE_CONFIG_WRITE_H
#define TH_BASE_CONFIG_WRITE_H
#include "base/strbuf.h"
#include "base/units.h"

void th_config_put_text(th_strbuf *out, const char *text); /* in quotes */
void th_config_put_number(th_strbuf *out, double x);       /* finite */
void th_config_put_time(th_strbuf *out, th_time ps);       /* >= 0; in quotes, as are those below */
void th_config_put_bytes(th_strbuf *out, int64_t bytes);   /* >= 0 */
void th_config_put_bandwidth(th_strbuf *out,
                             int64_t bits_per_s);         /* > 0; TH_UNLIMITED: "unlimited" */
void th_config_put_duration(th_strbuf *out, int64_t us);  /* >= 0; see th_parse_duration */
void th_config_put_frequency(th_strbuf *out, int64_t hz); /* > 0 */
/* [ "a", "b" ] */
void th_config_put_names(th_strbuf *out, const char *const *names, int n);

#endif
