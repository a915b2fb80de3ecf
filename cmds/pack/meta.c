/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text that goes into a pack: `meta`, and the directories of compilations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmds/pack/pack.h"
#include <common/base/array.h>
#include <common/base/secrets.h>
#include <lizard/error.h>

int lz_names_add(struct lz_names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->v[i], name) == 0)
			return 0;
	if (lz_extend(names->v, names->n) < 0)
		return -1;
	names->v[names->n] = strdup(name);
	return names->v[names->n] ? (names->n++, 0) : lz_fail("no memory");
}

void lz_names_free(struct lz_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	*names = (struct lz_names){0};
}

/* One line, without its end. */
static int put_line(FILE *to, const char *line, size_t len, struct lz_names *left_out)
{
	static const char key[] = "env ";
	const size_t n = sizeof(key) - 1;
	char *variable = NULL;
	int rc = 0;

	if (len > n && memcmp(line, key, n) == 0 && !(variable = strndup(line + n, len - n)))
		return lz_fail("no memory");
	if (variable && lz_env_is_secret(variable)) {
		*strchr(variable, '=') = 0;
		fprintf(to, "%s%s=%s", key, variable, LZ_ENV_LEFT_OUT);
		rc = lz_names_add(left_out, variable);
	} else {
		fwrite(line, 1, len, to);
	}
	free(variable);
	return rc;
}

char *lz_pack_meta(const char *text, size_t *len, struct lz_names *left_out)
{
	const char *end = text + *len;
	char *out = NULL;
	FILE *to = open_memstream(&out, len);
	int rc = to ? 0 : lz_fail("no memory");

	for (const char *line = text, *stop; rc == 0 && line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		if (!stop)
			stop = end;
		rc = put_line(to, line, (size_t)(stop - line), left_out);
		if (stop < end)
			putc('\n', to);
	}
	if (to && fclose(to) != 0 && rc == 0)
		rc = lz_fail("no memory");
	if (rc == 0)
		return out;
	free(out);
	return NULL;
}

char *lz_pack_roots(const struct lz_sources *s, size_t *len)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, len);

	for (size_t i = 0; to && i < s->n_roots; i++)
		if (s->roots[i].real && !strchr(s->roots[i].given, '\n'))
			fprintf(to, "%s\n", s->roots[i].given);
	if (to && fclose(to) == 0)
		return text;
	free(text);
	lz_fail("no memory");
	return NULL;
}
