/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call stack that a forked process's recording begins with, against the one that the parent's
 * markers give at the fork. */
#include "tests/unit/suite.h"

#include <check.h>
#include <lizard/error.h>
#include <replayer/stream/inside.h>
#include <replayer/stream/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arguments on the stack make plain calls of the tail calls of wide() and wider(), with a return
 * address behind the caller's last marker. */
static const char source[] = "#include <sys/wait.h>\n"
                             "#include <unistd.h>\n"
                             "#define F __attribute__((noipa)) static\n"
                             "static volatile int sink;\n"
                             "F int wide(int a, int b, int c, int d, int e, int f, int g, int h)\n"
                             "{\n"
                             "	if (fork())\n"
                             "		wait(NULL);\n"
                             "	return sink + a + b + c + d + e + f + g + h;\n"
                             "}\n"
                             "F int gone(int a)\n"
                             "{\n"
                             "	return wide(a, 2, 3, 4, 5, 6, 7, 8);\n"
                             "}\n"
                             "F int inner(int a)\n"
                             "{\n"
                             "	if (a > 3)\n"
                             "		return gone(a);\n"
                             "	return gone(a + 1) + 1;\n"
                             "}\n"
                             "F int wider(int a, int b, int c, int d, int e, int f, int g, int h)\n"
                             "{\n"
                             "	return inner(a) + b + c + d + e + f + g + h;\n"
                             "}\n"
                             "F int also_gone(int a)\n"
                             "{\n"
                             "	return wider(a, 2, 3, 4, 5, 6, 7, 8);\n"
                             "}\n"
                             "int main(void)\n"
                             "{\n"
                             "	return !also_gone(1);\n"
                             "}\n";

struct opened {
	struct lz_reader *r;
	struct lz_turns turns;
	struct lz_stream_threads threads;
	struct lz_modules *modules;
	struct lz_stream *stream;
};

static char dir[256];
static struct opened parent, child;

static void run_command(const char *fmt)
{
	const char *bin = getenv("LIZARD_BIN") ?: "build/bin";
	char command[1200];

	snprintf(command, sizeof(command), fmt, dir, bin);
	ck_assert_int_eq(system(command), 0);
}

static void open_recording(struct opened *o, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	o->r = lz_reader_open(path);
	ck_assert_msg(o->r != NULL, "%s", lz_error());
	ck_assert_int_eq(lz_turns_read(&o->turns, o->r), 0);
	ck_assert_int_eq(lz_stream_threads_init(&o->threads, &o->turns), 0);
	o->modules = lz_modules_new(o->r);
	o->stream = lz_stream_new(o->r, o->modules, &o->threads);
	ck_assert_msg(o->stream != NULL, "%s", lz_error());
}

static void close_recording(struct opened *o)
{
	lz_stream_free(o->stream);
	lz_modules_free(o->modules);
	lz_stream_threads_free(&o->threads);
	lz_turns_free(&o->turns);
	lz_reader_close(o->r);
}

static void make(void)
{
	char path[300];
	FILE *f;

	snprintf(dir, sizeof(dir), "%s/begin-XXXXXX", getenv("LIZARD_TMP") ?: "/tmp");
	ck_assert(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/prog.c", dir);
	f = fopen(path, "w");
	ck_assert(f && fputs(source, f) >= 0 && fclose(f) == 0);
	run_command("cd %s && %s/lizard-cc -O2 -g prog.c -o prog");
	run_command("cd %s && %s/lizard-trace -q --follow all -o rec ./prog");
	run_command("cd %s/rec && mv processes/[0-9]* ../child # %s");
	open_recording(&parent, "rec");
	open_recording(&child, "child");
}

static void unmake(void)
{
	close_recording(&parent);
	close_recording(&child);
	run_command("rm -rf '%s' # %s");
}

static const char *name_of(const struct lz_stream *s, const struct lz_act *a)
{
	return a->fn == LZ_FN_NONE ? "none" : s->fns[a->fn].f->name;
}

static void set_tail(const char *name, enum lz_tail kind)
{
	for (size_t i = 0; i < child.stream->n_fns; i++)
		if (!strcmp(child.stream->fns[i].f->name, name))
			child.stream->fns[i].tail = kind;
}

/* The parent's stack when it forks. */
static struct lz_decoder *at_fork(void)
{
	uint64_t marker = UINT64_MAX;

	for (uint64_t i = 0; i < lz_reader_n_events(parent.r); i++) {
		const struct lz_event *ev = lz_reader_event(parent.r, i);

		if (ev->kind == LZ_EV_SYSCALL && ev->result == lz_reader_meta(child.r)->tid)
			marker = ev->marker;
		if (marker != UINT64_MAX)
			break;
	}
	ck_assert_uint_ne(marker, UINT64_MAX);
	return lz_stream_stack(parent.stream, marker, 0);
}

static struct lz_decoder *begun(void)
{
	struct lz_decoder *d = &child.stream->own.d;

	ck_assert_msg(lz_stream_begin(child.stream, d) == 0, "%s", lz_error());
	return d;
}

START_TEST(as_the_parents)
{
	const struct lz_decoder *p = at_fork(), *c = begun();
	uint64_t first = lz_reader_first_marker(child.r);

	ck_assert_uint_eq(p->n, 4);
	ck_assert_uint_eq(c->n, p->n);
	for (size_t i = 0; i < p->n; i++) {
		ck_assert_str_eq(name_of(child.stream, &c->acts[i]),
		                 name_of(parent.stream, &p->acts[i]));
		ck_assert_uint_eq(c->acts[i].entry, p->acts[i].entry);
		ck_assert_uint_eq(c->acts[i].limit, p->acts[i].limit);
		ck_assert_uint_eq(c->acts[i].tail, 0);
		ck_assert_uint_eq(c->acts[i].inherited, i + 1);
		ck_assert_uint_eq(c->acts[i].enter, first);
		ck_assert_uint_eq(c->acts[i].last_at, first);
	}
	ck_assert_int_eq(lz_stream_decode(child.stream, 0, UINT64_MAX, NULL, NULL, NULL), 0);
	ck_assert_uint_eq(c->n, 0); /* all of them have returned */
	ck_assert_uint_eq(lz_stream_oddities(child.stream), 0);
}
END_TEST

/* A function whose tail calls return still runs behind one, and one of both kinds may. */
START_TEST(behind_a_tail_call)
{
	static const char *const names[] = {"main", "also_gone", "wider", "inner", "gone", "wide"};
	static const uint32_t tails[] = {0, 2, 0, 0, 0, 0};
	const struct lz_decoder *c;

	set_tail("also_gone", LZ_TAIL_EITHER);
	set_tail("inner", LZ_TAIL_EITHER); /* stands in front of its last marker */
	set_tail("gone", LZ_TAIL_RETURNS);
	c = begun();
	ck_assert_uint_eq(c->n, 6);
	for (size_t i = 0; i < c->n; i++) {
		ck_assert_str_eq(name_of(child.stream, &c->acts[i]), names[i]);
		ck_assert_uint_eq(c->acts[i].tail, tails[i]);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("begin");
	TCase *t = tcase_create("begin");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, make, unmake);
	tcase_add_test(t, as_the_parents);
	tcase_add_test(t, behind_a_tail_call);
	suite_add_tcase(s, t);
	return run_suite(s);
}
