/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program wrote, for a front end that shows it: lines `EVENT FD BYTES`, these in hexadecimal digits. */
#include "replayer/front/inside.h"

#include <stdlib.h>
#include <string.h>

static void print_piece(FILE *to, const struct lz_output_piece *p)
{
	fprintf(to, "%lu %u ", (unsigned long)p->event, p->fd);
	for (size_t i = 0; i < p->len; i++)
		fprintf(to, "%02x", p->bytes[i]);
	fputc('\n', to);
}

static char *written_since(struct lz_front *f, uint64_t event)
{
	struct lz_output o;
	char *text = NULL;
	size_t len;

	if (lz_session_output(f->s, event, &o) < 0)
		return NULL;
	FILE *to = open_memstream(&text, &len);

	if (to) {
		if (o.cut)
			fputs("cut\n", to);
		for (size_t i = 0; i < o.n; i++)
			print_piece(to, &o.v[i]);
		fclose(to);
	}
	lz_output_free(&o);
	return text;
}

char *lz_front_output(struct lz_front *f, const char *text)
{
	char *end;
	unsigned long event = strtoul(text, &end, 10);

	if (strcmp(text, "keep") == 0) {
		lz_session_keep_output(f->s);
		return strdup("");
	}
	return end == text || *end ? strdup("output keep, or output EVENT\n")
	                           : written_since(f, event);
}
