/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last stop, and where each thread stands at it, as LLDB wants to know it. */
#include "replayer/rsp/inside.h"

#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <lizard/error.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const size_t expedited[] = {LZ_REG_RBP, LZ_REG_RSP, LZ_REG_RIP};

/* LLDB goes on by itself where a stop has no reason, and takes a SIGTRAP for its own step. */
static bool is_of_recording(const struct lz_rsp *p)
{
	const struct lz_front_stop *s = &p->stop;

	return s->signo == 0 || p->moved || s->why == LZ_SHOWN_BEGIN || s->why == LZ_SHOWN_END;
}

/* On one line. */
static const char *description(struct lz_rsp *p)
{
	if (p->why)
		return p->why;
	int signo = p->stop.signo;
	const char *name = signo == SIGTRAP || signo == SIGINT ? NULL : sigabbrev_np(signo);

	if (p->stop.why == LZ_SHOWN_SIGNAL && name) {
		snprintf(p->signal, sizeof p->signal, "signal SIG%s", name);
		return p->signal;
	}
	switch (p->stop.why) {
	case LZ_SHOWN_BEGIN: return "the recording begins here";
	case LZ_SHOWN_END: return "the recording ends here";
	case LZ_SHOWN_BREAK: return "at a breakpoint";
	case LZ_SHOWN_WATCH: return "at a change of what is watched";
	default: return "moved in the recording";
	}
}

void lz_rsp_take_note(struct lz_rsp *p, char *note)
{
	free(p->why);
	p->why = NULL;
	if (!note)
		return;
	size_t len = strlen(note);

	while (len && note[len - 1] == '\n')
		note[--len] = 0;
	for (char *c = note; *c; c++)
		if (*c == '\n')
			*c = ' ';
	p->why = note;
}

bool lz_rsp_wants_reason(const struct lz_rsp *p)
{
	return p->lldb && (p->stop.why == LZ_SHOWN_EXEC || is_of_recording(p));
}

void lz_rsp_print_reason(struct lz_rsp *p, FILE *to)
{
	if (p->stop.why == LZ_SHOWN_EXEC) {
		fputs("reason:exec;", to);
		return;
	}
	const char *text = description(p);
	lz_auto_free char *hex = lz_hex(text, strlen(text));

	lz_print(to, "reason:exception;description:%s;", hex ? hex : "");
}

static uint64_t pc_of(struct lz_rsp *p, uint32_t tid)
{
	uint8_t bytes[LZ_REG_MAX] = {0};
	uint64_t pc = 0;

	if (lz_front_select(p->front, tid) == 0)
		lz_front_register(p->front, LZ_REG_RIP, bytes);
	memcpy(&pc, bytes, sizeof pc);
	return pc;
}

void lz_rsp_print_threads(struct lz_rsp *p, FILE *to)
{
	struct lz_front_thread *t;
	uint32_t n;

	if (lz_front_threads(p->front, &t, &n) < 0)
		return;
	fputs("threads:", to);
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			fputc(',', to);
		lz_rsp_print_id(p, to, t[i].tid);
	}
	fputs(";thread-pcs:", to);
	for (uint32_t i = 0; i < n; i++)
		lz_print(to, "%s%lx", i ? "," : "", (unsigned long)pc_of(p, t[i].tid));
	fputc(';', to);
	for (uint32_t i = 0; i < n; i++) {
		lz_auto_free char *hex = t[i].tid == lz_front_tid(p->front)
		                             ? lz_hex(t[i].name, strlen(t[i].name))
		                             : NULL;

		if (hex)
			lz_print(to, "hexname:%s;", hex);
	}
	free(t);
	lz_front_select(p->front, p->general);
}

/* Of the thread that is chosen. */
static json_t *registers(struct lz_rsp *p)
{
	json_t *all = json_object();
	uint8_t bytes[LZ_REG_MAX];
	char nr[16];

	for (size_t i = 0; i < sizeof expedited / sizeof *expedited; i++) {
		size_t n = lz_front_register(p->front, expedited[i], bytes);
		lz_auto_free char *hex = lz_hex(bytes, n);

		snprintf(nr, sizeof nr, "%zu", expedited[i]);
		json_object_set_new(all, nr, json_string(hex ? hex : ""));
	}
	return all;
}

/* Why the thread that stopped did, in the words of LLDB's thread-info packets. */
static void add_reason(struct lz_rsp *p, json_t *thread)
{
	char addr[32];

	if (lz_rsp_wants_reason(p)) {
		bool exec = p->stop.why == LZ_SHOWN_EXEC;

		json_object_set_new(thread, "reason", json_string(exec ? "exec" : "exception"));
		if (!exec)
			json_object_set_new(thread, "description", json_string(description(p)));
	} else if (p->stop.why == LZ_SHOWN_WATCH) {
		snprintf(addr, sizeof addr, "%lu", (unsigned long)p->stop.addr);
		json_object_set_new(thread, "reason", json_string("watchpoint"));
		json_object_set_new(thread, "description", json_string(addr));
	} else if (p->stop.why == LZ_SHOWN_BREAK) {
		json_object_set_new(thread, "reason", json_string("breakpoint"));
	}
	json_object_set_new(thread, "signal", json_integer(lz_rsp_signal(p)));
}

static json_t *one(struct lz_rsp *p, const struct lz_front_thread *t)
{
	json_t *thread = json_object();

	json_object_set_new(thread, "tid", json_integer(t->tid));
	json_object_set_new(thread, "name", json_string(t->name));
	if (t->tid == lz_front_tid(p->front))
		add_reason(p, thread);
	else
		json_object_set_new(thread, "reason", json_string("none"));
	if (lz_front_select(p->front, t->tid) == 0)
		json_object_set_new(thread, "registers", registers(p));
	return thread;
}

int lz_rsp_threads_info(struct lz_rsp *p)
{
	struct lz_front_thread *t;
	json_t *all = json_array();
	uint32_t n;

	if (lz_front_threads(p->front, &t, &n) < 0) {
		json_decref(all);
		return lz_rsp_error(p, lz_error());
	}
	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(all, one(p, &t[i]));
	free(t);
	lz_front_select(p->front, p->general);
	lz_auto_free char *text = json_dumps(all, JSON_COMPACT | JSON_ENSURE_ASCII);

	json_decref(all);
	return text ? lz_wire_send(p->wire, text, strlen(text))
	            : lz_rsp_error(p, "out of memory for a reply");
}

/* T00 and where it stands: it has no reason to stop of its own. */
static int of_other(struct lz_rsp *p, uint32_t tid)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return lz_rsp_error(p, "out of memory for a reply");
	fputs("T00", to);
	for (size_t i = 0; i < sizeof expedited / sizeof *expedited; i++)
		lz_rsp_print_register(p, to, expedited[i]);
	fputs("thread:", to);
	lz_rsp_print_id(p, to, tid);
	fputc(';', to);
	fclose(to);
	lz_front_select(p->front, p->general);
	int rc = lz_wire_send(p->wire, text, len);

	free(text);
	return rc;
}

int lz_rsp_thread_stop(struct lz_rsp *p, const char *args)
{
	char *end;
	uint32_t tid = lz_rsp_parse_id(args, &end);

	if (!tid || !lz_rsp_has_thread(p, tid))
		return lz_rsp_error(p, "there is no such thread");
	if (tid == lz_front_tid(p->front))
		return lz_rsp_last_stop(p);
	if (lz_front_select(p->front, tid) < 0)
		return lz_rsp_error(p, lz_error());
	return of_other(p, tid);
}
