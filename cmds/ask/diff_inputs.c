/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cmds/ask/diff.h>

#include <common/base/array.h>
#include <common/base/print.h>
#include <lizard/error.h>
#include <lizard/syscalls.h>
#include <replayer/compare/inputs.h>
#include <replayer/strace/strace.h>
#include <string.h>

enum { MOST_BYTES = 32, MOST_THREADS = 64, NEAR = 16 };

/* ---- one event ---- */

static void print_call(FILE *to, const struct lz_event *ev, const struct lz_strace_text *t)
{
	lz_print(to, "%s(", lz_call_name(ev->nr, ev->args));
	for (unsigned i = 0; i < t->n; i++)
		lz_print(to, "%s%s", i ? ", " : "", t->args[i]);
	lz_print(to, ") = %s", t->result);
}

/* As strace has it, with what the event itself holds. */
static int print_event(FILE *to, const struct lz_event *ev)
{
	const struct lz_strace_options o = {.string = MOST_BYTES};
	struct lz_strace_text t;

	if (lz_strace_event(&o, ev, &t) < 0)
		return -1;
	if (ev->kind == LZ_EV_SYSCALL)
		print_call(to, ev, &t);
	else
		lz_print(to, "%s", t.signal);
	lz_strace_free(&t);
	return 0;
}

static char *text_of(const struct lz_event *ev)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	int rc = 0;

	if (!to) {
		lz_fail("out of memory");
		return NULL;
	}
	if (ev->kind == LZ_EV_SYSCALL || ev->kind == LZ_EV_SIGNAL)
		rc = print_event(to, ev);
	else if (ev->kind == LZ_EV_INSN)
		lz_print(to, "%s = 0x%llx", lz_insn_name(ev->insn),
		         (unsigned long long)ev->regs.rax);
	else
		fputs("others' stores to shared memory", to);
	fclose(to);
	if (rc < 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- those before a difference ---- */

struct keeping {
	struct lz_diff_inputs *in;
	uint64_t most;
};

static void free_one(struct lz_diff_input *one)
{
	free(one->text[0]);
	free(one->text[1]);
}

/* The last ones stay, and one more. */
static int make_room(struct keeping *k)
{
	struct lz_diff_inputs *in = k->in;

	if (in->n <= k->most)
		return lz_reserve(in->v, in->room, in->n + 1);
	free_one(&in->v[0]);
	memmove(in->v, in->v + 1, --in->n * sizeof(*in->v));
	return 0;
}

static bool is_same_text(const char *x, const char *y)
{
	return x == y || (x && y && !strcmp(x, y));
}

/* One that is as one shortly before, like getpid() in a loop, is kept once: the last. True: it was
 * there. */
static bool drop_same(struct lz_diff_inputs *in)
{
	const struct lz_diff_input *last = &in->v[in->n - 1];

	for (size_t i = in->n > NEAR ? in->n - NEAR : 0; i + 1 < in->n; i++)
		if (is_same_text(in->v[i].text[0], last->text[0]) &&
		    is_same_text(in->v[i].text[1], last->text[1])) {
			free_one(&in->v[i]);
			memmove(&in->v[i], &in->v[i + 1], (--in->n - i) * sizeof(*in->v));
			return true;
		}
	return false;
}

static int keep(void *arg, const struct lz_event *first, const struct lz_event *second)
{
	struct keeping *k = arg;
	const struct lz_event *ev[2] = {first, second};

	if (make_room(k) < 0)
		return -1;
	struct lz_diff_input *one = &k->in->v[k->in->n++];
	*one = (struct lz_diff_input){0};
	for (int i = 0; i < 2; i++) {
		if (!ev[i])
			continue;
		one->event[i] = ev[i]->index;
		one->tid[i] = ev[i]->tid;
		if (!(one->text[i] = text_of(ev[i])))
			return -1;
	}
	k->in->all += !drop_same(k->in);
	return 0;
}

/* Other threads first: those of the thread itself are the nearest, in print too. */
static int find_others(struct lz_differ *d, const struct lz_difference *one, struct lz_inputs *in)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < d->threads.n && i < MOST_THREADS; i++) {
		const struct lz_paired_thread *t = &d->threads.v[i];

		if (t != one->thread && t->thread[0] != LZ_NO_THREAD &&
		    t->thread[1] != LZ_NO_THREAD)
			rc = lz_inputs_compare(in, t);
	}
	return rc;
}

int lz_diff_inputs_find(struct lz_differ *d, size_t index, uint64_t most,
                        struct lz_diff_inputs *found)
{
	const struct lz_difference *one = &d->v[index];
	struct keeping k = {found, most < NEAR ? NEAR : most};
	struct lz_work work;
	struct lz_inputs in = {.a = {d->a[0], d->a[1]},
	                       .from = {one->since[0], one->since[1]},
	                       .to = {one->at[0], one->at[1]},
	                       .work = &work,
	                       .fn = keep,
	                       .arg = &k};
	int rc = 0;

	*found = (struct lz_diff_inputs){0};
	lz_work_begin(&work, "comparing what came from outside",
	              lz_reader_n_events(d->a[0]->reader) + lz_reader_n_events(d->a[1]->reader));
	if (!index)
		rc = find_others(d, one, &in);
	if (rc == 0)
		rc = lz_inputs_compare(&in, one->thread);
	lz_progress_end(&work.progress);
	lz_work_end(&work);
	while (found->n > most) {
		free_one(&found->v[0]);
		memmove(found->v, found->v + 1, --found->n * sizeof(*found->v));
	}
	return rc;
}

void lz_diff_inputs_free(struct lz_diff_inputs *in)
{
	for (size_t i = 0; i < in->n; i++)
		free_one(&in->v[i]);
	free(in->v);
	*in = (struct lz_diff_inputs){0};
}
