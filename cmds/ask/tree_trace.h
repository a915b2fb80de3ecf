/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run as trace events, which Perfetto and Chrome's tracing show. */
#ifndef LIZARD_CMDS_TREE_TRACE_H
#define LIZARD_CMDS_TREE_TRACE_H

#include <cmds/ask/asking.h>

/* Writes calls at most DEPTH levels deep, system calls, signals, turns and output into the file
 * PATH (-: stdout). */
int lz_tree_trace(struct lz_asking *a, const char *path, uint64_t depth);

#endif
