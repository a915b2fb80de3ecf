/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lizard-trace says when the program has ended. */
#ifndef LIZARD_CMDS_TRACE_SUMMARY_H
#define LIZARD_CMDS_TRACE_SUMMARY_H

#include <lizard/trace.h>
#include <stdio.h>

/* The shortest name of the recording DIR that `lizard-gdb` takes, whatever is recorded next. Part of DIR. */
const char *lz_trace_name(const char *dir);
/* What was recorded, and the command that opens it, on stderr. */
void lz_trace_summary(const struct lz_trace_options *o, const struct lz_trace_result *r);

struct lz_trace_outcome {
	int rc;           /* of lz_trace() */
	bool kept;        /* the recording is still there */
	const char *pack; /* the file that it is packed in, or NULL */
	const char *why;  /* it failed, or NULL */
};
/* The same as a JSON object, which lizard-trace(1) describes, to TO. */
int lz_trace_summary_json(FILE *to, const struct lz_trace_options *o,
                          const struct lz_trace_result *r, const struct lz_trace_outcome *out);

#endif
