/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_write_file.c - files that are replaced, grow, or stay as they are. Where a call fails or the
 * process is killed is tests/tcl/files.test. */
#include <config.h>
#include "base/files/write_file.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/alloc.h"
#include "tests/unit/tap.h"

/* Every test has a folder of its own, and works in it. */
static char folder[] = "test_write_file_XXXXXX";

static void enter(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    CU_ASSERT_PTR_NOT_NULL(mkdtemp(folder));
    CU_ASSERT_EQUAL(chdir(folder), 0);
}

/* Out of the folder, which holds these files and no others. */
static void leave(const char *const *names, int n)
{
    int found = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; (e = readdir(d));)
        found += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    CU_ASSERT_EQUAL(found, n);
    for (int i = 0; i < n; i++)
        CU_ASSERT_EQUAL(remove(names[i]), 0);
    CU_ASSERT_EQUAL(chdir(".."), 0);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}
#define LEAVE(...)                                                                                 \
    leave((const char *const[]){__VA_ARGS__},                                                      \
          (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

static const char *text_of(const char *path)
{
    static char text[200];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f)
        fclose(f);
    return text;
}

static void replace(const char *path, const char *text, const char *id)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_replace_file(path, text, strlen(text), &e), *id ? -1 : 0);
    TAP_ASSERT_TEXT(e.id, id);
}

static mode_t mode_of(const char *path)
{
    struct stat s = {0};
    stat(path, &s);
    return s.st_mode & 07777;
}

TEST(a_file_is_replaced_with_its_permissions)
{
    enter();
    mode_t mask = umask(022);
    replace("a", "first, and longer", "");
    CU_ASSERT_EQUAL(mode_of("a"), 0644);
    CU_ASSERT_EQUAL(chmod("a", 0660), 0);
    replace("a", "second", "");
    TAP_ASSERT_TEXT(text_of("a"), "second");
    CU_ASSERT_EQUAL(mode_of("a"), 0660);
    umask(mask);
    LEAVE("a");
}

TEST(links_are_followed)
{
    enter();
    CU_ASSERT_EQUAL(mkdir("d", 0777), 0);
    replace("d/a", "old", "");
    CU_ASSERT_EQUAL(symlink("d/b", "one"), 0); /* relative: of the folder of the link */
    CU_ASSERT_EQUAL(symlink("a", "d/b"), 0);
    CU_ASSERT_EQUAL(symlink("d/new", "dangling"), 0);
    CU_ASSERT_EQUAL(symlink("loop", "loop"), 0);
    replace("one", "through two links", "");
    TAP_ASSERT_TEXT(text_of("d/a"), "through two links");
    replace("dangling", "made", "");
    TAP_ASSERT_TEXT(text_of("d/new"), "made");
    replace("loop", "", "BASE-0040");
    struct stat s;
    CU_ASSERT(lstat("one", &s) == 0 && S_ISLNK(s.st_mode));
    CU_ASSERT(lstat("dangling", &s) == 0 && S_ISLNK(s.st_mode));
    CU_ASSERT(unlink("d/a") == 0 && unlink("d/b") == 0 && unlink("d/new") == 0);
    LEAVE("d", "one", "dangling", "loop");
}

/* Who reads a FIFO gets the bytes; what a descriptor has open keeps its inode. */
TEST(what_is_no_plain_file_is_written_in_place)
{
    char by_descriptor[40], got[10] = "";
    enter();
    CU_ASSERT_EQUAL(mkfifo("fifo", 0666), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    replace("fifo", "through", "");
    CU_ASSERT_EQUAL(read(reader, got, sizeof got - 1), 7);
    TAP_ASSERT_TEXT(got, "through");
    close(reader);
    int fd = open("log", O_RDWR | O_CREAT, 0666);
    snprintf(by_descriptor, sizeof by_descriptor, "/dev/fd/%d", fd);
    if (access(by_descriptor, W_OK) == 0) {
        CU_ASSERT_EQUAL(write(fd, "before ", 7), 7);
        replace(by_descriptor, "behind", "");
        CU_ASSERT_EQUAL(pread(fd, got, 2, 7), 2);
        TAP_ASSERT_TEXT(text_of("log"), "before behind");
    }
    close(fd);
    replace("/dev/null", "nothing", "");
    LEAVE("fifo", "log");
}

TEST(what_cannot_be_written_stays)
{
    enter();
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(mkdir("d", 0777), 0);
    replace("d", "", "BASE-0040");
    replace("nowhere/a", "", "BASE-0040");
    replace("", "", "BASE-0040");
    CU_ASSERT_EQUAL(th_append_file("d", "x", 1, &e), -1);
    TAP_ASSERT_TEXT(e.text, "d: cannot be written: Is a directory");
    replace("a", "whole", "");
    CU_ASSERT_EQUAL(chmod("a", 0444), 0);
    replace("a", "other", geteuid() == 0 ? "" : "BASE-0040"); /* root may */
    CU_ASSERT_EQUAL(mode_of("a"), 0444);
    LEAVE("d", "a");
}

/* In a process of its own: no file may have more than 10 bytes. */
static int write_too_much(void)
{
    const struct rlimit room = {10, 10};
    static const char text[] = "more than ten bytes";
    th_error e = {"", ""};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &room) || th_replace_file("a", text, sizeof text, &e) != -1 ||
        strcmp(e.text, "a: cannot be written: File too large") != 0)
        return 1;
    return th_append_file("a", text, sizeof text, &e) == -1 ? 0 : 2;
}

TEST(what_does_not_fit_leaves_the_old_bytes)
{
    enter();
    replace("a", "old", "");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(write_too_much());
    int status = 1;
    waitpid(child, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
    TAP_ASSERT_TEXT(text_of("a"), "old");
    LEAVE("a");
}

TEST(a_name_as_long_as_can_be)
{
    char name[256];
    enter();
    memset(name, 'n', 255);
    name[255] = '\0';
    replace(name, "1", "");
    replace(name, "2", "");
    TAP_ASSERT_TEXT(text_of(name), "2");
    LEAVE(name);
}

TEST(more_is_added_at_the_end)
{
    enter();
    CU_ASSERT_EQUAL(th_append_file("a", "one ", 4, NULL), 0);
    CU_ASSERT_EQUAL(th_append_file("a", "two", 3, NULL), 0);
    TAP_ASSERT_TEXT(text_of("a"), "one two");
    LEAVE("a");
}

TEST(no_memory_leaves_the_old_bytes)
{
    enter();
    replace("a", "old", "");
    CU_ASSERT_EQUAL(symlink("a", "link"), 0);
    int64_t live = th_alloc_live();
    int k = 1, failed = -1;
    for (; failed && k < 20; k++) {
        th_error e = {"", ""};
        th_alloc_fail_at(k);
        failed = th_replace_file("link", "new", 3, &e);
        th_alloc_fail_at(0);
        TAP_ASSERT_TEXT(e.id, failed ? "BASE-0001" : "");
        TAP_ASSERT_TEXT(text_of("a"), failed ? "old" : "new");
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    CU_ASSERT(!failed && k > 3);
    LEAVE("a", "link");
}

TAP_MAIN("write_file")
