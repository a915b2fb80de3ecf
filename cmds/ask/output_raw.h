/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LIZARD_CMDS_OUTPUT_RAW_H
#define LIZARD_CMDS_OUTPUT_RAW_H

#include <stddef.h>
#include <stdint.h>

/* Writes the program's bytes to stdout as they are. 0; -1: lz_error(). */
int lz_output_raw(void *arg, const uint8_t *bytes, size_t n);

#endif
