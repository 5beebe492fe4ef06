/* SPDX-License-Identifier: GPL-3.0-or-later */
/* render.c - a report in each of its formats. */
#include <config.h>
#include "session/table/report.h"

/* Names come from files: what they say to a terminal is written out. CSV and JSON keep it. */
static void render_visible(const th_report *r, th_strbuf *out)
{
    th_strbuf raw = TH_STRBUF_INIT;
    th_report_render_text(r, &raw);
    if (raw.text)
        th_strbuf_add_visible(out, raw.text);
    out->failed |= raw.failed;
    th_strbuf_clear(&raw);
}

int th_report_render(th_report *r, th_format format, th_strbuf *out, th_error *err)
{
    switch (format) {
    case TH_FORMAT_TEXT:
        render_visible(r, out);
        break;
    case TH_FORMAT_CSV:
        th_report_render_csv(r, out);
        break;
    case TH_FORMAT_JSON:
        th_report_render_json(r, out);
        break;
    }
    r->failed |= out->failed;
    return th_report_state(r, err);
}
