/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A remote-serial-protocol server over a session: any stock GDB, LLDB or IDE in front of a
 * recording. */
#ifndef LIZARD_RSP_H
#define LIZARD_RSP_H

#include <lizard/session.h>

struct lz_rsp_options {
	int in, out;     /* the debugger's end: a pipe or a socket; not closed */
	int echo;        /* non-blocking: what the program writes arrives here; -1: not wanted */
	bool host_files; /* files outside the recording may be read by the debugger */
	/* out: the debugger detached or went away, but did not kill; may be NULL */
	bool *disconnect;
};

/* Talks until the debugger detaches, kills or goes away. 0, or -1 with an error. */
int lz_rsp_serve(struct lz_session *s, const struct lz_rsp_options *o);

#endif
