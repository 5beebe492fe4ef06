/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write.c - see write.h. */
#include <config.h>
#include "tcl/plot/write.h"

/* Pictures are bytes, not text. */
static int write_bytes(th_session *s, const char *path, const th_strbuf *bytes, th_error *err)
{
    if (th_session_make_folder_of(s, path, err) != 0)
        return -1;
    Tcl_Channel file = Tcl_OpenFileChannel(NULL, path, "wb", 0666);
    if (file == NULL)
        return th_error_set(err, "TCL-0379", "%s: cannot be opened: %s", path,
                            Tcl_ErrnoMsg(Tcl_GetErrno()));
    bool is_written = Tcl_Write(file, bytes->text, (Tcl_Size)bytes->length) >= 0;
    is_written = Tcl_Close(NULL, file) == TCL_OK && is_written;
    return is_written ? 0
                      : th_error_set(err, "TCL-0380", "%s: cannot be written: %s", path,
                                     Tcl_ErrnoMsg(Tcl_GetErrno()));
}

int th_write_plot(th_session *s, th_plot *p, const char *path, th_error *err)
{
    th_strbuf bytes = TH_STRBUF_INIT;
    int picture = p != NULL ? th_picture_find(path, err) : -1;
    int rc = picture < 0 ? -1 : th_plot_draw(p, (th_picture)picture, &bytes, err);
    if (rc == 0)
        rc = write_bytes(s, path, &bytes, err);
    th_strbuf_clear(&bytes);
    th_plot_free(p);
    return rc;
}
