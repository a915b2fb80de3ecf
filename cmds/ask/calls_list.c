/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of `lizard calls`. */
#include <cmds/ask/calls_list.h>
#include <common/base/array.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <replayer/answers/activations.h>
#include <replayer/answers/visits.h>
#include <stdlib.h>
#include <string.h>

/* ---- one of them ---- */

/* SEEN: what a visit has seen of it, or NULL. */
static int print_json(const struct lz_asked *a, const struct lz_activation *one, json_t *seen)
{
	const uint32_t tid = lz_asked_tid(a, one->thread);
	char text[LZ_INSTANT_TEXT];
	json_t *o = json_object();

	json_object_set_new(o, "number", json_integer((json_int_t)one->number));
	json_object_set_new(o, "function", lz_json_text(lz_asked_name(a, one->fn)));
	json_object_set_new(o, "thread", json_integer(tid));
	json_object_set_new(
	    o, "caller",
	    one->caller == LZ_FN_NONE ? json_null() : lz_json_text(lz_asked_name(a, one->caller)));
	json_object_set_new(o, "depth", json_integer(one->depth));
	json_object_set_new(o, "from", json_string(lz_asked_instant(tid, one->from, text)));
	json_object_set_new(o, "to", json_string(lz_asked_instant(tid, one->to, text)));
	json_object_set_new(o, "length", json_integer((json_int_t)(one->to - one->from)));
	json_object_set_new(o, "ended", json_string(lz_ended_name(one->ended)));
	if (seen)
		json_object_update_missing(o, seen);
	return lz_json_print(o);
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* " (n=5, s=0x... "text")" */
static void print_arguments(const json_t *seen)
{
	const char *error = text_of(seen, "error");
	json_t *one;
	size_t i;

	fputs(" (", stdout);
	if (error)
		lz_print(stdout, "<%s>", error);
	json_array_foreach(json_object_get(seen, "args"), i, one)
	{
		const char *name = text_of(one, "name"), *value = text_of(one, "value");
		lz_print(stdout, "%s%s=%s", i ? ", " : "", name ? name : "?", value ? value : "?");
	}
	fputs(")", stdout);
}

static void print_text(const struct lz_asked *a, const struct lz_activation *one,
                       const json_t *seen)
{
	const uint32_t tid = lz_asked_tid(a, one->thread);
	const char *value = text_of(seen, "value");
	char from[LZ_INSTANT_TEXT], to[LZ_INSTANT_TEXT];

	lz_print(stdout, "%8" PRIu64 "  %s", one->number, lz_asked_short_name(a, one->fn));
	if (seen)
		print_arguments(seen);
	lz_print(stdout, "  from %s  depth %u  %s to %s  length %" PRIu64 "  %s%s%s\n",
	         lz_asked_short_name(a, one->caller), one->depth,
	         lz_asked_instant(tid, one->from, from), lz_asked_instant(tid, one->to, to),
	         one->to - one->from, lz_ended_name(one->ended), value ? " " : "",
	         value ? value : "");
}

/* Printed at once: more may take long. */
static int print_one(void *arg, const struct lz_activation *one, json_t *seen)
{
	const struct lz_calls_list *l = arg;
	int rc = 0;

	if (l->asking.json)
		rc = print_json(&l->asking.asked, one, seen);
	else
		print_text(&l->asking.asked, one, seen);
	if (seen && fflush(stdout) != 0)
		return lz_fail_errno("the answer cannot be written");
	return rc;
}

/* ---- which of them ---- */

/* Those that are printed: all, the first ones, or the longest ones. */
struct kept {
	const struct lz_calls_list *l;
	struct lz_activation *v;
	size_t n, room;
	uint64_t most;
};

static bool is_longer(const struct lz_activation *x, const struct lz_activation *y)
{
	const uint64_t m = x->to - x->from, n = y->to - y->from;

	return m != n ? m > n : x->number < y->number;
}

static int by_length(const void *a, const void *b)
{
	return is_longer(a, b) ? -1 : is_longer(b, a);
}

static int by_number(const void *a, const void *b)
{
	const struct lz_activation *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static void cut(struct kept *k)
{
	if (k->n)
		qsort(k->v, k->n, sizeof(*k->v), k->l->longest ? by_length : by_number);
	k->n = k->n < k->most ? k->n : (size_t)k->most;
}

/* Sorted now and then: so each costs the logarithm of their number. */
static int keep(void *arg, const struct lz_activation *one)
{
	enum { MOST = 4000000 };
	struct kept *k = arg;

	const uint64_t at = k->l->at;

	if (at != UINT64_MAX && (one->from > at || one->to < at))
		return 0;
	if (at == UINT64_MAX && !k->l->longest && one->number > k->most)
		return 0;
	if (k->most < MOST / 2 && k->n >= 2 * k->most)
		cut(k);
	if (k->n == MOST)
		return lz_fail("more than %d calls: ask about a piece (--from, --to), for the "
		               "first ones (--limit), or for their number (--count)",
		               MOST);
	if (lz_reserve(k->v, k->room, k->n + 1) < 0)
		return -1;
	k->v[k->n++] = *one;
	return 0;
}

int lz_calls_list(struct lz_calls_list *l, const uint8_t *wanted)
{
	struct kept k = {.l = l, .most = l->limit};

	if (l->longest && l->longest < k.most)
		k.most = l->longest;
	int rc = lz_activations_ended(&l->asking.asked, wanted, keep, &k);
	cut(&k);
	if (rc == 0 && l->values)
		rc = lz_visits(&l->asking.asked, k.v, k.n, print_one, l);
	for (size_t i = 0; rc == 0 && !l->values && i < k.n; i++)
		rc = print_one(l, &k.v[i], NULL);
	free(k.v);
	return rc;
}
