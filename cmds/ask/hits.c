/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard hits: when control was at a line, read from the recorded control flow. */
#include <cmds/ask/asking.h>
#include <cmds/base/cmds.h>
#include <cmds/base/gdb_find.h>
#include <common/base/array.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <replayer/answers/hits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *to)
{
	fprintf(to,
	        "usage: lizard hits [options] RECORDING FILE:LINE|FUNCTION|*ADDRESS\n\n"
	        "Lists each time control came to a line, a function or an instruction, as a\n"
	        "breakpoint there would count: number, function, line, position. Nothing is run:\n"
	        "the answer is read from the recorded control flow. `jump_forward POSITION` in\n"
	        "lizard-gdb goes there. Exit status: 0; 1 also if the markers leave open whether\n"
	        "control came there, which is said.\n\n"
	        "  -c, --count             print their number only\n"
	        "      --first             the first one\n"
	        "      --last              the last one\n"
	        "      --nth N             number N\n"
	        "      --limit N           at most N lines (default: all)\n" LZ_ASKING_HELP);
}

struct wishes {
	struct lz_asking asking;
	bool count, last;
	uint64_t nth, limit;
};

struct numbered {
	struct lz_hit hit;
	uint64_t found; /* in which order */
};

/* Those that may be printed: the first ones, or the last one. */
struct kept {
	const struct wishes *w;
	struct numbered *v;
	size_t n, room;
	uint64_t found, most;
};

static bool is_before(const struct numbered *x, const struct numbered *y)
{
	if (x->hit.offset != y->hit.offset)
		return x->hit.offset < y->hit.offset;
	return x->found < y->found;
}

static int in_order(const void *a, const void *b)
{
	return is_before(a, b) ? -1 : is_before(b, a);
}

static void cut(struct kept *k)
{
	if (k->n)
		qsort(k->v, k->n, sizeof(*k->v), in_order);
	k->n = k->n < k->most ? k->n : (size_t)k->most;
}

/* They come in the order in which they are known: those of a call before those of its caller. */
static int keep(void *arg, const struct lz_hit *hit)
{
	enum { MOST = 4000000 };
	struct kept *k = arg;
	const struct numbered one = {*hit, ++k->found};

	if (k->w->last) {
		if (k->n == 0 && lz_reserve(k->v, k->room, 1) < 0)
			return -1;
		if (k->n == 0 || is_before(&k->v[0], &one))
			k->v[0] = one;
		k->n = 1;
		return 0;
	}
	if (k->most < MOST / 2 && k->n >= 2 * k->most)
		cut(k);
	if (k->n == MOST)
		return lz_fail("more than %d hits: ask about a piece (--from, --to), for the "
		               "first ones (--limit), or for their number (--count)",
		               MOST);
	if (lz_reserve(k->v, k->room, k->n + 1) < 0)
		return -1;
	k->v[k->n++] = one;
	return 0;
}

/* ---- printing ---- */

struct described {
	const char *function, *file;
	uint32_t line;
	bool exact;
	char position[LZ_POS_TEXT], address[24];
};

static void describe(struct lz_asking *asking, const struct lz_places *p, const struct lz_hit *hit,
                     struct described *d)
{
	struct lz_asked *a = &asking->asked;
	const struct lz_place *place = &p->v[hit->place];
	const struct lz_fn *fn = lz_stream_fn(a->stream, place->fn);
	struct lz_lines *l = lz_module_lines(a->modules, fn->mod);
	const struct lz_sal sal =
	    l ? lz_lines_find(l, place->addr - fn->mod->bias) : (struct lz_sal){0};

	*d = (struct described){
	    .function = lz_asking_name(asking, place->fn), .file = sal.file, .line = sal.line};
	snprintf(d->address, sizeof(d->address), "0x%" PRIx64, place->addr);
	d->exact = lz_hit_position(a, p, hit, d->position);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int print_json(const struct lz_asked *a, const struct described *d, const struct lz_hit *hit,
                      uint64_t number)
{
	json_t *o = json_object();

	json_object_set_new(o, "number", json_integer((json_int_t)number));
	json_object_set_new(o, "function", lz_json_text(d->function));
	json_object_set_new(o, "file", d->file ? lz_json_text(d->file) : json_null());
	json_object_set_new(o, "line", d->line ? json_integer(d->line) : json_null());
	json_object_set_new(o, "address", json_string(d->address));
	json_object_set_new(o, "thread", json_integer(lz_asked_tid(a, hit->thread)));
	json_object_set_new(o, "position", json_string(d->position));
	json_object_set_new(o, "exact", json_boolean(d->exact));
	return lz_json_print(o);
}

static int print_one(struct wishes *w, const struct lz_places *p, const struct lz_hit *hit,
                     uint64_t number)
{
	struct lz_asked *a = &w->asking.asked;
	struct described d;

	describe(&w->asking, p, hit, &d);
	if (w->asking.json)
		return print_json(a, &d, hit, number);
	lz_print(stdout, "%8" PRIu64 "  %s at ", number, d.function);
	if (d.file && d.line)
		lz_print(stdout, "%s:%u  %s\n", base_name(d.file), d.line, d.position);
	else
		lz_print(stdout, "%s  %s\n", d.address, d.position);
	return 0;
}

static int print_number(const struct wishes *w, uint64_t n, uint64_t unknown)
{
	if (!w->asking.json) {
		printf("%" PRIu64 "\n", n);
		return 0;
	}
	json_t *o = json_object();
	json_object_set_new(o, "hits", json_integer((json_int_t)n));
	json_object_set_new(o, "unknown", json_integer((json_int_t)unknown));
	return lz_json_print(o);
}

/* ---- the question ---- */

static int list(struct wishes *w, const struct lz_places *p, uint64_t *unknown)
{
	struct kept k = {.w = w, .most = w->nth && w->nth < w->limit ? w->nth : w->limit};
	int rc = lz_hits_each(&w->asking.asked, p, keep, &k, unknown);

	if (!w->last)
		cut(&k);
	if (rc == 0 && w->nth > k.n)
		rc = lz_fail("there is no number %" PRIu64 ": control came there %" PRIu64 "%s",
		             w->nth, k.found, k.found == 1 ? " time" : " times");
	for (size_t i = w->nth ? w->nth - 1 : 0; rc == 0 && i < k.n; i++)
		rc = print_one(w, p, &k.v[i].hit, w->last ? k.found : i + 1);
	free(k.v);
	return rc;
}

static int count(struct wishes *w, const struct lz_places *p, uint64_t *unknown)
{
	uint64_t n;

	if (lz_hits_count(&w->asking.asked, p, &n, unknown) < 0)
		return -1;
	return print_number(w, n, *unknown);
}

static int count_none(void *arg)
{
	const struct wishes *w = arg;

	return w->count ? print_number(w, 0, 0) : 1;
}

static void tell_about(const struct lz_places *p, const char *text)
{
	const char *colon = strrchr(text, ':');

	if (p->line && colon && strtoul(colon + 1, NULL, 10) != p->line)
		lz_warn("%s has no code of its own: this is about line %u", text, p->line);
	if (p->n_foreign)
		lz_warn("%zu of %zu places of %s are in code that lizard-cc did not compile: it is "
		        "not known how often control was there",
		        p->n_foreign, p->n + p->n_foreign, text);
}

/* The places of a line are those at which the user's GDB has its breakpoints. */
static void follow_gdb(const char *text)
{
	const unsigned major = *text != '*' && strchr(text, ':') ? lz_gdb_major() : 0;

	if (major)
		lz_lines_follow_gdb(major);
}

static int ask(void *arg, char **words)
{
	struct wishes *w = arg;
	const char *text = words[0];
	struct lz_places p;
	uint64_t unknown = 0;

	follow_gdb(text);
	if (lz_places_find(&w->asking.asked, text, &p) < 0)
		return -1;
	tell_about(&p, text);
	int rc = w->count ? count(w, &p, &unknown) : list(w, &p, &unknown);
	lz_places_free(&p);
	if (rc == 0 && unknown)
		return lz_fail("%" PRIu64 " times more the markers do not tell whether control "
		               "came there: a breakpoint in lizard-gdb does",
		               unknown);
	return rc;
}

static int parse_option(void *arg, int opt)
{
	struct wishes *w = arg;

	switch (opt) {
	case 'c': w->count = true; return 0;
	case '1': w->nth = 1; return 0;
	case 'Z': w->last = true; return 0;
	case 'n':
		if (lz_asking_number("--nth", optarg, &w->nth) < 0)
			return -1;
		return w->nth ? 0 : lz_fail("--nth counts from 1");
	case 'N': return lz_asking_number("--limit", optarg, &w->limit);
	default: return 1;
	}
}

static bool is_usable(const void *arg, int n)
{
	const struct wishes *w = arg;

	return n == 2 && w->count + w->last + (w->nth > 0) <= 1;
}

int lz_cmd_hits(int argc, char **argv)
{
	static const struct option options[] = {LZ_ASKING_OPTIONS,
	                                        {"count", no_argument, NULL, 'c'},
	                                        {"first", no_argument, NULL, '1'},
	                                        {"last", no_argument, NULL, 'Z'},
	                                        {"nth", required_argument, NULL, 'n'},
	                                        {"limit", required_argument, NULL, 'N'},
	                                        {0}};
	struct wishes w = {.limit = UINT64_MAX};
	const struct lz_asking_command c = {
	    usage, LZ_ASKING_LETTERS "c", options, parse_option, &w, is_usable, ask, count_none};

	return lz_asking_main(&w.asking, argc, argv, &c);
}
