/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard strace: the recorded system calls and signals, as strace(1) prints them. */
#include <cmds/ask/asking.h>
#include <cmds/base/cmds.h>
#include <common/base/cleanup.h>
#include <common/base/nearest.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <lizard/marker.h>
#include <lizard/syscalls.h>
#include <replayer/answers/event_piece.h>
#include <replayer/strace/strace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void usage(FILE *to)
{
	fprintf(
	    to,
	    "usage: lizard strace [options] RECORDING\n\n"
	    "Prints the recorded system calls, signals and turns of threads as strace prints\n"
	    "them, each with the instant behind it. The recording holds what the kernel wrote.\n"
	    "Strings and structures that the program gave to a call are in its memory only: they\n"
	    "are shown as addresses, or with --inputs, which replays the run.\n\n"
	    "  -i, --inputs            replay, and show what the program gave to calls\n"
	    "  -e, --only NAMES        only calls of these names, with commas between them\n"
	    "  -s, --string N          show N bytes of a string (32)\n"
	    "      --no-positions      without the instants\n"
	    "      --limit N           at most N lines\n" LZ_ASKING_HELP);
}

struct wishes {
	struct lz_asking asking;
	struct lz_strace_options shown;
	const char *only;
	bool inputs, bare;
	uint64_t limit, lines;
	uint64_t next; /* the first event that has not been printed */
};

enum { ENOUGH = -3 }; /* the limit is reached, or nobody reads on */

/* ---- which events ---- */

static bool is_listed(const char *list, const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += n)
		if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

static bool is_call(const struct lz_event *ev)
{
	return ev->kind == LZ_EV_SYSCALL;
}

static bool is_shown(const struct wishes *w, const struct lz_event *ev)
{
	const struct lz_asked *a = &w->asking.asked;

	if (a->tid && ev->tid != a->tid)
		return false;
	/* Lizard's own */
	if (is_call(ev) && lz_hello_version(ev->nr, ev->args))
		return false;
	if (w->only)
		return is_call(ev) && is_listed(w->only, lz_call_name(ev->nr, ev->args));
	return ev->kind != LZ_EV_INSN && ev->kind != LZ_EV_SHARED;
}

/* ---- text ---- */

static void print_call(const struct lz_event *ev, const struct lz_strace_text *t)
{
	enum { COLUMN = 39 };
	int n = (int)strlen(lz_call_name(ev->nr, ev->args)) + 2;

	lz_print(stdout, "%s(", lz_call_name(ev->nr, ev->args));
	for (unsigned i = 0; i < t->n; i++) {
		n += (int)strlen(t->args[i]) + (i ? 2 : 0);
		lz_print(stdout, "%s%s", i ? ", " : "", t->args[i]);
	}
	lz_print(stdout, ")%*s= %s\n", n < COLUMN ? COLUMN - n + 1 : 1, "", t->result);
}

static void print_exit(const struct lz_event *ev)
{
	const int status = (int)ev->status;
	const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;

	if (WIFEXITED(status))
		printf("+++ exited with %d +++\n", WEXITSTATUS(status));
	else if (name)
		lz_print(stdout, "+++ killed by SIG%s%s +++\n", name,
		         WCOREDUMP(status) ? " (core dumped)" : "");
	else
		printf("+++ ended with status %#x +++\n", (unsigned)status);
}

static void print_turn(const struct lz_event *ev, const struct lz_strace_text *t)
{
	if (!(ev->flags & LZ_EVF_IN_CALL)) {
		printf("--- thread %" PRIu32 " runs ---\n", ev->next);
		return;
	}
	lz_print(stdout, "--- thread %" PRIu32 " runs; %" PRIu32 ": %s(", ev->next, ev->tid,
	         lz_call_name(ev->nr, ev->args));
	for (unsigned i = 0; i < t->n; i++)
		lz_print(stdout, "%s%s", i ? ", " : "", t->args[i]);
	printf(" <unfinished ...> ---\n");
}

static void print_text(const struct wishes *w, const struct lz_event *ev,
                       const struct lz_strace_text *t)
{
	char at[LZ_EVENT_INSTANT];

	if (!w->bare)
		lz_print(stdout, "%s  ", lz_event_instant(ev, at));
	switch (ev->kind) {
	case LZ_EV_SYSCALL: print_call(ev, t); break;
	case LZ_EV_SIGNAL: lz_print(stdout, "--- %s ---\n", t->signal); break;
	case LZ_EV_SWITCH: print_turn(ev, t); break;
	default: print_exit(ev);
	}
}

/* ---- JSON ---- */

static void set_call(json_t *o, const struct lz_event *ev, const struct lz_strace_text *t)
{
	json_t *args = json_array();

	json_object_set_new(o, "name", json_string(lz_call_name(ev->nr, ev->args)));
	for (unsigned i = 0; i < t->n; i++)
		json_array_append_new(args, lz_json_text(t->args[i]));
	json_object_set_new(o, "args", args);
	if (ev->kind == LZ_EV_SYSCALL)
		json_object_set_new(o, "result", lz_json_text(t->result));
}

static int print_json(const struct lz_event *ev, const struct lz_strace_text *t)
{
	json_t *o = json_object();
	const char *kind = "exit";
	char at[LZ_EVENT_INSTANT];

	json_object_set_new(o, "event", json_integer((json_int_t)ev->index));
	json_object_set_new(o, "thread", json_integer(ev->tid));
	json_object_set_new(o, "position", json_string(lz_event_instant(ev, at)));
	if (ev->kind == LZ_EV_SYSCALL) {
		kind = "call";
		set_call(o, ev, t);
	} else if (ev->kind == LZ_EV_SIGNAL) {
		kind = "signal";
		json_object_set_new(o, "signal", lz_json_text(t->signal));
	} else if (ev->kind == LZ_EV_SWITCH) {
		kind = "turn";
		json_object_set_new(o, "next", json_integer(ev->next));
		if (ev->flags & LZ_EVF_IN_CALL)
			set_call(o, ev, t);
	} else
		lz_json_status(o, (int)ev->status);
	json_object_set_new(o, "kind", json_string(kind));
	return lz_json_print(o);
}

/* ---- in order ---- */

static int print(struct wishes *w, const struct lz_event *ev, struct lz_arrival *memory)
{
	struct lz_strace_text t;
	int rc = 0;

	if (!is_shown(w, ev))
		return 0;
	if (w->lines++ >= w->limit || ferror(stdout))
		return ENOUGH;
	w->shown.arg = memory;
	struct lz_strace_options o = w->shown;
	if (!memory)
		o.read = NULL;
	if (lz_strace_event(&o, ev, &t) < 0)
		return -1;
	if (w->asking.json)
		rc = print_json(ev, &t);
	else
		print_text(w, ev, &t);
	lz_strace_free(&t);
	return rc;
}

/* Those that were not printed, up to TO, by what the recording holds. */
static int print_up_to(struct wishes *w, uint64_t to)
{
	struct lz_asked *a = &w->asking.asked;
	int rc = 0;

	for (; rc == 0 && w->next < to; w->next++) {
		const struct lz_event *ev = lz_reader_event(a->reader, w->next);
		if (!ev)
			return -1;
		if (!w->inputs && lz_work_done(&a->work, 1) < 0) {
			a->partial = true;
			return 0;
		}
		rc = print(w, ev, NULL);
	}
	return rc;
}

/* ---- with replay ---- */

static size_t read_memory(void *memory, uint64_t addr, void *buf, size_t len)
{
	return lz_arrival_read(memory, addr, buf, len);
}

static bool is_wanted(void *arg, const struct lz_event *ev)
{
	return is_shown(arg, ev) && lz_strace_takes(ev);
}

static int on_event(void *arg, const struct lz_event *ev, struct lz_arrival *memory)
{
	struct wishes *w = arg;
	int rc = print_up_to(w, ev->index);

	if (rc == 0)
		rc = print(w, ev, memory);
	w->next = ev->index + 1;
	return rc;
}

static int look(void *arg)
{
	struct wishes *w = arg;
	struct lz_work *work = &w->asking.asked.work;

	return lz_work_done(work, w->next > work->done ? w->next - work->done : 0);
}

static int replay(struct wishes *w, const struct lz_event_piece *p)
{
	const struct lz_session_options o = {.echo_fd = -1};
	const struct lz_visit v = {.from = p->from,
	                           .to = p->to,
	                           .wants = is_wanted,
	                           .fn = on_event,
	                           .look = look,
	                           .arg = w};
	struct lz_session *s = lz_session_open(lz_reader_dir(w->asking.asked.reader), &o);
	int rc = s ? lz_session_visit(s, &v) : -1;

	lz_session_close(s);
	if (rc == LZ_VISIT_INTERRUPTED)
		w->asking.asked.partial = true;
	return rc;
}

static int ask(void *arg, char **words)
{
	struct wishes *w = arg;
	struct lz_asked *a = &w->asking.asked;
	struct lz_event_piece p;

	(void)words;
	if (lz_event_piece(a, w->asking.from, w->asking.to, &p) < 0)
		return -1;
	w->next = p.from;
	lz_work_begin(&a->work, w->inputs ? "replaying" : "reading events", p.to - p.from);
	int rc = w->inputs ? replay(w, &p) : 0;
	if (rc == 0)
		rc = print_up_to(w, p.to);
	if (!a->partial)
		lz_work_end(&a->work);
	return rc == ENOUGH || a->partial ? 0 : rc;
}

enum { NUMBERS = 1024 };

static bool is_name(const char *name)
{
	/* what has no name is shown by its number */
	if (strncmp(name, "syscall_", strlen("syscall_")) == 0)
		return true;
	if (!strcmp(name, "lizard_mark") || !strcmp(name, "lizard_recording"))
		return true;
	for (uint64_t nr = 0; nr < NUMBERS; nr++)
		if (lz_syscall(nr) && !strcmp(lz_syscall(nr)->name, name))
			return true;
	return false;
}

static int fail_unknown(const char *name)
{
	struct lz_nearest n = {.word = name};

	for (uint64_t nr = 0; nr < NUMBERS; nr++)
		if (lz_syscall(nr))
			lz_nearest_see(&n, lz_syscall(nr)->name);
	return *n.name ? lz_fail("there is no system call `%s`: did you mean %s?", name, n.name)
	               : lz_fail("there is no system call `%s`", name);
}

static int check_names(const char *list)
{
	lz_auto_free char *names = strdup(list);
	char *rest = names;

	if (!names)
		return lz_fail("out of memory");
	for (const char *name; (name = strsep(&rest, ","));) {
		if (!*name)
			return lz_fail("--only takes names with commas between them, not `%s`",
			               list);
		if (!is_name(name))
			return fail_unknown(name);
	}
	return 0;
}

static int parse_option(void *arg, int opt)
{
	struct wishes *w = arg;

	switch (opt) {
	case 'i': w->inputs = true; return 0;
	case 'e': w->only = optarg; return check_names(optarg);
	case 's': return lz_asking_number("--string", optarg, &w->shown.string);
	case 'P': w->bare = true; return 0;
	case 'N': return lz_asking_number("--limit", optarg, &w->limit);
	default: return 1;
	}
}

int lz_cmd_strace(int argc, char **argv)
{
	static const struct option options[] = {LZ_ASKING_OPTIONS,
	                                        {"inputs", no_argument, NULL, 'i'},
	                                        {"only", required_argument, NULL, 'e'},
	                                        {"string", required_argument, NULL, 's'},
	                                        {"no-positions", no_argument, NULL, 'P'},
	                                        {"limit", required_argument, NULL, 'N'},
	                                        {0}};
	struct wishes w = {.shown = {.string = 32, .read = read_memory}, .limit = UINT64_MAX};
	const struct lz_asking_command c = {usage, LZ_ASKING_LETTERS "ie:s:", options, parse_option,
	                                    &w,    lz_asking_alone,           ask,     NULL};

	return lz_asking_main(&w.asking, argc, argv, &c);
}
