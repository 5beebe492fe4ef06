/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_model_error.c - the errors of models in the source are those of their pages, and every
 * design and every network has one. */
#include <config.h>
#include "session/model_error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim/design/design.h"
#include "tests/unit/tap.h"

/* The number in the line "Error: N % ..." of a page, or "Error (NAME): N % ..." where the page has
 * several models; -1: "unknown"; -2: there is no such line. */
static double error_of_page(const th_model_error *e)
{
    char path[2048], line[1000], own[100];
    const char *top = getenv("srcdir");
    double percent = -2;
    snprintf(path, sizeof path, "%s/docs/models/%s", top ? top : ".", e->page);
    snprintf(own, sizeof own, "Error (%s): ", e->model);
    FILE *f = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    while (fgets(line, sizeof line, f)) {
        const char *text = strncmp(line, "Error: ", 7) == 0       ? line + 7
                           : strncmp(line, own, strlen(own)) == 0 ? line + strlen(own)
                                                                  : NULL;
        if (!text)
            continue;
        CU_ASSERT_EQUAL(percent, -2); /* once */
        if (strncmp(text, "unknown", 7) == 0)
            percent = -1;
        else
            CU_ASSERT_EQUAL(sscanf(text, "%lf %%", &percent), 1);
    }
    fclose(f);
    return percent;
}

TEST(pages_and_source_say_the_same)
{
    for (int i = 0; th_model_errors[i].model; i++) {
        double page = error_of_page(&th_model_errors[i]);
        if (page != th_model_errors[i].percent)
            printf("# %s: %g in the source, %g in docs/models/%s\n", th_model_errors[i].model,
                   th_model_errors[i].percent, page, th_model_errors[i].page);
        CU_ASSERT_EQUAL(page, th_model_errors[i].percent);
    }
}

static bool is_listed(const char *model, bool is_network)
{
    for (int i = 0; th_model_errors[i].model; i++)
        if (strcmp(th_model_errors[i].model, model) == 0 &&
            th_model_errors[i].is_network == is_network)
            return true;
    printf("# %s is not listed\n", model);
    return false;
}

TEST(every_design_and_every_network_is_listed)
{
    int n = 0;
    for (int i = 0; th_design_types[i]; i++, n++)
        CU_ASSERT_TRUE(is_listed(th_design_types[i]->name, false));
    for (int i = 0; th_network_types[i]; i++, n++)
        CU_ASSERT_TRUE(is_listed(th_network_types[i]->name, true));
    for (int i = 0; th_model_errors[i].model; i++)
        n--;
    CU_ASSERT_EQUAL(n, 0);
}

static double error_of(uint32_t used, uint32_t outside)
{
    return th_models_error((th_models){used, outside});
}

/* tiled 2.9, winograd 2, systolic unknown, fluid 13.1 %. */
TEST(the_largest_error_that_was_measured_counts)
{
    th_strbuf text = TH_STRBUF_INIT;
    CU_ASSERT_EQUAL(error_of(0, 0), 0);
    CU_ASSERT_EQUAL(error_of(1u << 2, 0), 0);
    CU_ASSERT_EQUAL(error_of(1u << 0 | 1u << 1 | 1u << 2, 0), 2.9);
    CU_ASSERT_EQUAL(error_of(1u << 1 | 1u << 10, 0), 13.1);
    CU_ASSERT_EQUAL(error_of(1u << 1 | 1u << 10, 1u << 10), 2.0);
    CU_ASSERT_EQUAL(error_of(1u << 1 | 1u << 10, 1u << 1 | 1u << 10), 0);
    th_models_describe((th_models){1u << 1 | 1u << 2 | 1u << 10, 0}, &text);
    TAP_ASSERT_TEXT(text.text, "winograd 2 %, systolic unknown, fluid network 13.1 %");
    th_strbuf_clear(&text);
    th_models_describe(th_models_union((th_models){1u << 1, 1u << 1}, (th_models){1u << 1, 0}),
                       &text);
    TAP_ASSERT_TEXT(text.text, "winograd unknown (2 % on whole convolutions)");
    th_strbuf_clear(&text);
}

/* What an error was measured on is said where there is an error, and only there. */
TEST(known_errors_have_a_range)
{
    for (int i = 0; th_model_errors[i].model; i++)
        CU_ASSERT_EQUAL(th_model_errors[i].percent > 0, th_model_errors[i].range != NULL);
}

TAP_MAIN("model_error")
