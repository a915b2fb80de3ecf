/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resume packets and stop replies: see rsp_int.h. */
#include "replayer/rsp/inside.h"

#include <lizard/error.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* GDB numbers signals in its own way (its include/gdb/signals.def). Index: Linux signal. */
static const uint8_t gdb_signals[32] = {0,  1,  2,  3,  4,  5,  6,  10, 8,  9,  30,
                                        11, 31, 13, 14, 15, 0,  20, 19, 17, 18, 21,
                                        22, 16, 24, 25, 26, 27, 28, 23, 32, 12};
enum { GDB_SIGRT33 = 45, GDB_SIGRT32 = 77, GDB_SIGRT64 = 78, GDB_UNKNOWN = 143 };

static int signal_to_gdb(int signo)
{
	if (signo == 32)
		return GDB_SIGRT32;
	if (signo == 64)
		return GDB_SIGRT64;
	if (signo >= 33 && signo < 64)
		return GDB_SIGRT33 + signo - 33;
	if (signo > 0 && signo < 32 && gdb_signals[signo])
		return gdb_signals[signo];
	return GDB_UNKNOWN;
}

int lz_rsp_signal_from(const struct lz_rsp *p, int gdb)
{
	if (p->lldb)
		return gdb < 64 ? gdb : 0;
	for (int i = 1; i < 64; i++)
		if (signal_to_gdb(i) == gdb)
			return i;
	return 0;
}

int lz_rsp_signal(const struct lz_rsp *p)
{
	const struct lz_front_stop *stop = &p->stop;

	return stop->why == LZ_SHOWN_SIGNAL && stop->signo && !p->lldb ? signal_to_gdb(stop->signo)
	                                                               : stop->signo;
}

static void print_program(FILE *to, const char *path)
{
	char *hex = lz_hex((const uint8_t *)path, strlen(path));

	fprintf(to, "exec:%s;", hex ? hex : "");
	free(hex);
}

static void print_reason(struct lz_rsp *p, FILE *to, const struct lz_front_stop *stop)
{
	static const char *const kinds[] = {"swbreak", "hwbreak", "watch", "rwatch", "awatch"};

	switch (stop->why) {
	case LZ_SHOWN_SIGNAL: break;
	case LZ_SHOWN_BREAK: fprintf(to, "%s:;", kinds[stop->kind]); break;
	case LZ_SHOWN_WATCH:
		fprintf(to, "%s:%lx;", kinds[stop->kind], (unsigned long)stop->addr);
		break;
	case LZ_SHOWN_CALL_ENTRY: fprintf(to, "syscall_entry:%lx;", (unsigned long)stop->nr); break;
	case LZ_SHOWN_CALL_RETURN:
		fprintf(to, "syscall_return:%lx;", (unsigned long)stop->nr);
		break;
	case LZ_SHOWN_EXEC: print_program(to, lz_front_program(p->front)); break;
	case LZ_SHOWN_BEGIN: fputs("replaylog:begin;", to); break;
	case LZ_SHOWN_END: fputs("replaylog:end;", to); break;
	}
}

void lz_rsp_print_register(struct lz_rsp *p, FILE *to, size_t nr)
{
	uint8_t bytes[LZ_REG_MAX];
	size_t n = lz_front_register(p->front, nr, bytes);
	char *hex = n ? lz_hex(bytes, n) : NULL;

	if (hex)
		fprintf(to, "%02zx:%s;", nr, hex);
	free(hex);
}

/* What only LLDB is told. */
static void print_for_lldb(struct lz_rsp *p, FILE *to)
{
	lz_rsp_print_threads(p, to);
	if (p->moved && lz_rsp_libraries_changed(p))
		fputs("library:;", to);
	if (lz_rsp_wants_reason(p))
		lz_rsp_print_reason(p, to);
}

static void print_stop(struct lz_rsp *p, FILE *to)
{
	fprintf(to, "T%02x", lz_rsp_signal(p));
	lz_rsp_print_register(p, to, LZ_REG_RBP);
	lz_rsp_print_register(p, to, LZ_REG_RSP);
	lz_rsp_print_register(p, to, LZ_REG_RIP);
	fputs("thread:", to);
	lz_rsp_print_id(p, to, lz_front_tid(p->front));
	fputc(';', to);
	if (p->lldb)
		print_for_lldb(p, to);
	if (!p->lldb || !p->moved)
		print_reason(p, to, &p->stop);
}

int lz_rsp_last_stop(struct lz_rsp *p)
{
	lz_front_select(p->front, 0);
	p->general = 0; /* GDB takes the stop's thread for the one of Hg */
	memset(&p->asked_for, 0, sizeof p->asked_for);
	return lz_rsp_print(p, print_stop);
}

static void take_stop(struct lz_rsp *p)
{
	lz_front_stop(p->front, &p->stop);
	if (p->stop.why == LZ_SHOWN_EXEC && !p->exec_events && !p->lldb)
		lz_front_stop(p->front, &p->stop);
}

int lz_rsp_stop_packet(struct lz_rsp *p)
{
	take_stop(p);
	return lz_rsp_last_stop(p);
}

static int send_stop(struct lz_rsp *p)
{
	char *note = lz_front_note(p->front);

	take_stop(p);
	lz_rsp_take_note(p, NULL);
	if (note && lz_rsp_wants_reason(p)) {
		lz_rsp_take_note(p, note);
	} else {
		if (note)
			lz_wire_console(p->wire, note);
		free(note);
	}
	return lz_rsp_last_stop(p);
}

/* One action; false: not understood. */
static bool parse_action(const char *action, struct lz_front_resume *r, char **end)
{
	*end = (char *)action + 1;
	switch (action[0]) {
	case 'S':
	case 'C': strtoul(action + 1, end, 16); /* a signal: the recording has its own */
	}
	switch (action[0]) {
	case 's':
	case 'S': r->how = LZ_RESUME_STEP; return true;
	case 'c':
	case 'C': r->how = LZ_RESUME_CONTINUE; return true;
	case 'r':
		r->how = LZ_RESUME_RANGE;
		r->start = strtoull(action + 1, end, 16);
		if (**end != ',')
			return false;
		r->end = strtoull(*end + 1, end, 16);
		return true;
	}
	return false;
}

/* vCont: the thread that steps if one does; it is alone if no action is for the others. */
static bool parse_vcont(const char *text, struct lz_front_resume *r)
{
	bool others = false, known = false;

	while (*text == ';') {
		struct lz_front_resume one = {0};
		char *end;

		if (!parse_action(text + 1, &one, &end))
			return known;
		if (*end == ':')
			one.tid = lz_rsp_parse_id(end + 1, &end);
		if (!known || (r->how == LZ_RESUME_CONTINUE && one.how != LZ_RESUME_CONTINUE))
			*r = one;
		others |= !one.tid || (known && one.tid != r->tid);
		known = true;
		text = end;
	}
	r->alone = !others && r->how == LZ_RESUME_STEP;
	return known;
}

/* False: not understood. */
static bool parse(struct lz_rsp *p, const char *packet, struct lz_front_resume *r)
{
	char *end;

	memset(r, 0, sizeof *r);
	if (strncmp(packet, "vCont", 5) == 0)
		return parse_vcont(packet + 5, r);
	r->tid = p->resumed ? p->resumed : lz_rsp_chosen_thread(p);
	if (packet[0] != 'b')
		return parse_action(packet, r, &end);
	r->direction = LZ_BACKWARD;
	r->how = packet[1] == 's' ? LZ_RESUME_STEP : LZ_RESUME_CONTINUE;
	return packet[1] == 's' || packet[1] == 'c';
}

int lz_rsp_resume_packet(struct lz_rsp *p, const char *packet)
{
	struct lz_front_resume r;

	if (!parse(p, packet, &r))
		return lz_rsp_reply(p, "%s", "");
	if (!r.tid && r.how == LZ_RESUME_CONTINUE)
		r.tid = lz_rsp_chosen_thread(p);
	lz_rsp_turn_resume(p, &r);
	if (lz_wire_interrupted(p->wire)) {
		lz_front_not_resumed(p->front);
	} else {
		lz_wire_run_begin(p->wire);
		lz_front_resume(p->front, &r);
		lz_wire_run_end(p->wire);
	}
	return send_stop(p);
}
