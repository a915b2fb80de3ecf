/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A reply of the server, by format. */
#include "replayer/rsp/inside.h"

#include <lizard/error.h>
#include <stdarg.h>
#include <stdlib.h>

int lz_rsp_reply(struct lz_rsp *p, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return lz_fail("out of memory for a reply");
	int rc = lz_wire_send(p->wire, text, (size_t)n);

	free(text);
	return rc;
}
