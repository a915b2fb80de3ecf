/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A reply of the server, by format. */
#include "replayer/rsp/inside.h"

#include <common/base/cleanup.h>
#include <common/base/printable.h>
#include <lizard/error.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

int lz_rsp_print(struct lz_rsp *p, void (*print)(struct lz_rsp *p, FILE *to))
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return lz_fail("out of memory for a reply");
	print(p, to);
	fclose(to);
	int rc = text ? lz_wire_send(p->wire, text, len) : lz_fail("out of memory for a reply");

	free(text);
	return rc;
}

int lz_rsp_error(struct lz_rsp *p, const char *why)
{
	lz_auto_free char *shown = p->error_strings ? lz_dup_printable(why) : NULL;
	lz_auto_free char *hex = shown ? lz_hex(shown, strlen(shown)) : NULL;

	return hex ? lz_rsp_reply(p, "E01;%s", hex) : lz_rsp_reply(p, "E01");
}
