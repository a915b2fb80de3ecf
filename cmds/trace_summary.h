/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lizard-trace says when the program has ended. */
#ifndef LIZARD_CMDS_TRACE_SUMMARY_H
#define LIZARD_CMDS_TRACE_SUMMARY_H

#include <lizard/trace.h>

/* What was recorded, and the command that opens it, on stderr. */
void lz_trace_summary(const struct lz_trace_options *o, const struct lz_trace_result *r);

#endif
