/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_plot.c - see write_plot.h. */
#include <config.h>
#include "tcl/write_plot.h"
#include "tcl/tcl_session.h"

int th_write_plot(th_session *s, th_plot *p, const char *path, th_error *err)
{
    th_strbuf bytes = TH_STRBUF_INIT;
    int picture = p ? th_picture_find(path, err) : -1;
    int failed = picture < 0 ? -1 : th_plot_draw(p, (th_picture)picture, &bytes, err);
    if (!failed)
        failed = th_session_write_file(s, path, false, &bytes, err);
    th_strbuf_clear(&bytes);
    th_plot_free(p);
    return failed;
}
