/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/files/data_file.h"
#include "tests/unit/predict_help.h"

static int find(const char *name, const char *beside, th_strbuf *out)
{
    return th_data_file_find(&(th_data_file){name, ".csv", beside, "predictor"}, out);
}

TEST(beside_the_file_that_names_it_goes_first)
{
    auto_file f = write_text("devices.csv", "mine");
    char other[200];
    auto_strbuf path = TH_STRBUF_INIT;
    snprintf(other, sizeof other, "%s/system.cfg", f.folder);
    CU_ASSERT_EQUAL(find("devices", other, &path), 0);
    TAP_ASSERT_TEXT(path.text, f.path);
    th_strbuf_clear(&path);
    CU_ASSERT_EQUAL(find(f.path, "/elsewhere/system.cfg", &path), 0);
    TAP_ASSERT_TEXT(path.text, f.path);
}

TEST(then_along_the_path_then_in_the_sources)
{
    auto_file f = write_text("devices.csv", "mine");
    auto_strbuf path = TH_STRBUF_INIT;
    char folders[200];
    snprintf(folders, sizeof folders, "/nowhere::%s", f.folder);
    setenv("THARSIS_PATH", folders, 1);
    CU_ASSERT_EQUAL(find("devices.csv", "/nowhere/system.cfg", &path), 0);
    TAP_ASSERT_TEXT(path.text, f.path);
    th_strbuf_clear(&path);
    unsetenv("THARSIS_PATH");
    CU_ASSERT_EQUAL(find("devices", "/nowhere/system.cfg", &path), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(path.text, "/predictor/devices.csv"));
}

TEST(nowhere)
{
    auto_strbuf path = TH_STRBUF_INIT;
    CU_ASSERT_EQUAL(find("no_such_table", NULL, &path), 1);
    CU_ASSERT_EQUAL(path.length, 0);
    CU_ASSERT_EQUAL(find("models", NULL, &path), 1); /* a folder */
    th_error err;
    CU_ASSERT_EQUAL(
        th_data_file_need(&(th_data_file){"table", ".csv", NULL, "predictor"}, &path, &err), -1);
    TAP_ASSERT_TEXT(err.id, "BASE-0462");
    TAP_ASSERT_TEXT(err.text, "table.csv: must be along $THARSIS_PATH, or be installed");
}

TAP_MAIN("data_file")
