/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shapes.c - the shapes of all tensors of ONNX models as read_workload infers them, for tests
 * (onnx.test).
 *   onnx_shapes FILE...   "FILE NAME EXTENT,EXTENT..." for every tensor
 *   onnx_shapes -list     "NAME" for every operator of ai.onnx that has a row */
#include <config.h>
#include <stdio.h>
#include <string.h>

#include "workloads/onnx/op.h"
#include "workloads/onnx/read.h"

static void print(void *context, const char *name, const int64_t *dim, int rank)
{
    printf("%s %s ", (const char *)context, name);
    for (int i = 0; i < rank; i++)
        printf("%s%lld", i ? "," : "", (long long)dim[i]);
    putchar('\n');
}

static void infer(char *file)
{
    th_error e = {"", ""};
    const th_onnx_options o = {.precision = -1, .on_value = print, .context = file};
    th_workload *w = th_workload_read_onnx(file, &o, NULL, &e);
    if (!w)
        printf("%s - %s\n", file, e.text);
    th_workload_free(w);
}

static void list(void)
{
    puts("If");
    for (int i = 0; th_onnx_operator_at(i); i++)
        if (!th_onnx_operator_at(i)->is_microsoft)
            puts(th_onnx_operator_at(i)->name);
}

int main(int n, char **words)
{
    if (n == 2 && strcmp(words[1], "-list") == 0)
        list();
    else
        for (int i = 1; i < n; i++)
            infer(words[i]);
    return 0;
}
