/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.h - how a table fits a line of text: its columns, their widths, and the blocks of columns
 * where one line is too short.
 *   th_layout_table -> th_layout_block until all columns are shown */
#ifndef TH_RENDER_TEXT_LAYOUT_H
#define TH_RENDER_TEXT_LAYOUT_H
#include "render/text/report_scale.h"

enum { TH_TEXT_GAP = 2 }; /* blanks between two columns */

typedef struct th_layout {
    th_table table; /* of the columns that have a heading and are shown */
    th_scale scale[TH_COLUMNS_MAX];
    int width[TH_COLUMNS_MAX];
    bool is_shown[TH_COLUMNS_MAX]; /* in the present block of columns */
    bool wraps[TH_COLUMNS_MAX];    /* its texts continue on further lines, broken at blanks */
    int word[TH_COLUMNS_MAX];      /* the longest of those */
    char **texts;                  /* (n_rows + 1) x n_columns; the last row is the total */
    /* the prefix that is left out of all names of a column; NULL: none */
    const char *prefix[TH_COLUMNS_MAX];
    /* headings of columns that are left out because no row has a value there but 0 */
    const char *empty[TH_COLUMNS_MAX];
    int n_empty;
} th_layout;

/* All columns that have a heading, in their full width. false: memory is out. */
bool th_layout_whole(const th_table *t, th_layout *l);
/* The table in lines of the report's width: names lose a prefix that all have, then longer ones are
 * cut in the middle as long as they stay different, then columns go into blocks. In a table that
 * wraps, texts with blanks break there instead. A table in blocks
 * whose first column does not tell the rows apart gets numbers of rows. false: memory is out. */
bool th_layout_table(const th_table *t, th_layout *l);
/* Shows column 0 and the columns from first on that fit beside it; returns the one after them. */
int th_layout_block(th_layout *l, int first);
/* text in width columns, cut in the middle if it is too long */
void th_layout_add_padded(th_strbuf *out, const char *text, int width, bool to_right);

#endif
