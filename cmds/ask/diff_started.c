/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cmds/ask/diff.h>

#include <common/base/print.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int print_one(const char *kind, const char *name, const char *const value[2], bool json)
{
	if (json) {
		json_t *o = json_object();

		json_object_set_new(o, "kind", json_string(kind));
		json_object_set_new(o, "name", lz_json_text(name));
		json_object_set_new(o, "first", value[0] ? lz_json_text(value[0]) : json_null());
		json_object_set_new(o, "second", value[1] ? lz_json_text(value[1]) : json_null());
		return lz_json_print(o);
	}
	lz_print(stdout, "%s %s: ", kind, name);
	for (int i = 0; i < 2; i++)
		lz_print(stdout, value[i] ? "%s%s `%s`" : "%s%s none", i ? ", " : "",
		         i ? "second" : "first", value[i]);
	putchar('\n');
	return 0;
}

/* ---- arguments ---- */

static int print_arguments(char *const *first, char *const *second, bool json)
{
	char number[24];
	int rc = 0;

	for (unsigned i = 0; rc == 0 && (*first || *second); i++) {
		const char *const value[2] = {*first, *second};

		snprintf(number, sizeof(number), "%u", i);
		/* the program's name is none of its inputs */
		if (i && (!*first || !*second || strcmp(*first, *second) != 0))
			rc = print_one("argument", number, value, json);
		first += *first != NULL;
		second += *second != NULL;
	}
	return rc;
}

/* ---- variables ---- */

static size_t name_length(const char *variable)
{
	return strcspn(variable, "=");
}

static const char *value_in(char *const *list, const char *name, size_t n)
{
	for (; *list; list++)
		if (name_length(*list) == n && !strncmp(*list, name, n))
			return (*list)[n] ? *list + n + 1 : "";
	return NULL;
}

/* Those of V that W has not, or with another value. SIDE: V's; of the second only the former, as the
 * latter have been printed. */
static int print_variables(char *const *v, char *const *w, int side, bool json)
{
	int rc = 0;

	for (; rc == 0 && *v; v++) {
		const size_t n = name_length(*v);
		const char *own = (*v)[n] ? *v + n + 1 : "", *other = value_in(w, *v, n);
		const char *const value[2] = {side ? other : own, side ? own : other};
		char *name;

		if (other && (side || !strcmp(own, other)))
			continue;
		if (!(name = strndup(*v, n)))
			return lz_fail("out of memory");
		rc = print_one("variable", name, value, json);
		free(name);
	}
	return rc;
}

int lz_diff_print_started(const struct lz_differ *d, bool json)
{
	const struct lz_meta *first = lz_reader_meta(d->a[0]->reader);
	const struct lz_meta *second = lz_reader_meta(d->a[1]->reader);
	int rc = print_arguments(first->argv, second->argv, json);

	if (rc == 0)
		rc = print_variables(first->envp, second->envp, 0, json);
	if (rc == 0)
		rc = print_variables(second->envp, first->envp, 1, json);
	return rc;
}

/* ---- and how they ended ---- */

bool lz_diff_same_end(const struct lz_differ *d)
{
	const int first = lz_reader_meta(d->a[0]->reader)->exit_status;
	const int second = lz_reader_meta(d->a[1]->reader)->exit_status;

	return first == second || first == -1 || second == -1;
}

int lz_diff_print_ended(const struct lz_differ *d, bool json)
{
	json_t *o = json ? json_object() : NULL;
	char text[2][LZ_TEXT];

	if (json)
		json_object_set_new(o, "kind", json_string("end"));
	for (int i = 0; i < 2; i++) {
		const int status = lz_reader_meta(d->a[i]->reader)->exit_status;

		lz_text_ending(status, text[i]);
		if (!json)
			continue;
		json_t *e = json_object();
		lz_json_status(e, status);
		json_object_set_new(o, i ? "second" : "first", e);
	}
	if (json)
		return lz_json_print(o);
	lz_print(stdout, "end: first %s, second %s\n", text[0], text[1]);
	return 0;
}
