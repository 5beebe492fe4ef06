/* SPDX-License-Identifier: GPL-3.0-or-later */
/* input_file.h - the bytes of a fuzz target as a file, for readers of paths. */
#ifndef TH_TESTS_FUZZ_INPUT_FILE_H
#define TH_TESTS_FUZZ_INPUT_FILE_H
#include <stddef.h>
#include <stdint.h>

/* The path of a file of the process that holds these bytes until the next call; it is gone when the
 * process ends. Aborts if it cannot be written. */
const char *fuzz_input_file(const uint8_t *data, size_t size);

#endif
