/* Resuming and stop replies: see rsp_int.h. */
#include "replayer/rsp_int.h"

#include <lizard/error.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* GDB numbers signals in its own way (its include/gdb/signals.def). Index: Linux signal. */
static const uint8_t gdb_signals[32] = {0,  1,  2,  3,  4,  5,  6,  10, 8,  9,  30,
                                        11, 31, 13, 14, 15, 0,  20, 19, 17, 18, 21,
                                        22, 16, 24, 25, 26, 27, 28, 23, 32, 12};
enum { GDB_SIGRT33 = 45, GDB_SIGRT32 = 77, GDB_SIGRT64 = 78, GDB_UNKNOWN = 143 };

int lz_rsp_signal_to_gdb(int signo)
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

int lz_rsp_signal_from_gdb(int gdb)
{
	for (int i = 1; i < 64; i++)
		if (lz_rsp_signal_to_gdb(i) == gdb)
			return i;
	return 0;
}

static int kind_at(const struct lz_rsp *p, uint64_t addr)
{
	for (size_t i = 0; i < p->n_breaks; i++)
		if (p->breaks[i].kind < 2 && p->breaks[i].addr == addr)
			return p->breaks[i].kind;
	return -1;
}

static const char *watch_name(char kind)
{
	return kind == 'r' ? "rwatch" : kind == 'a' ? "awatch" : "watch";
}

static bool describe_break(struct lz_rsp *p, char reason[64])
{
	int kind = kind_at(p, lz_rsp_regs(p) ? p->regs.gpr.rip : 0);

	if (kind >= 0)
		snprintf(reason, 64, "%s:;", kind ? "hwbreak" : "swbreak");
	return kind >= 0;
}

/* Signal number and stop reason of the reply. */
static void describe(struct lz_rsp *p, int *signo, char reason[64])
{
	*signo = SIGTRAP;
	reason[0] = 0;
	switch (p->stop.reason) {
	case LZ_STOP_BREAKPOINT:
		if (p->syscall_stop) {
			snprintf(reason, 64, "syscall_%s:%lx;",
			         p->syscall_stop == 'e' ? "entry" : "return",
			         (unsigned long)p->syscall_nr);
			break;
		}
		describe_break(p, reason);
		break;
	case LZ_STOP_WATCH:
		snprintf(reason, 64, "%s:%lx;", watch_name(p->stop.watch_kind),
		         (unsigned long)p->stop.watch_addr);
		break;
	case LZ_STOP_START: snprintf(reason, 64, "replaylog:begin;"); break;
	case LZ_STOP_END: snprintf(reason, 64, "replaylog:end;"); break;
	case LZ_STOP_SIGNAL: *signo = lz_rsp_signal_to_gdb((int)p->stop.signo); break;
	case LZ_STOP_INTERRUPTED: *signo = SIGINT; break;
	case LZ_STOP_TARGET: /* a move or a failure: no signal, or the end of a reverse-stepi */
	case LZ_STOP_DIVERGED:
		*signo = p->moving == 's' ? SIGTRAP : 0;
		if (p->moving == 'c' && describe_break(p, reason))
			*signo = SIGTRAP;
		break;
	case LZ_STOP_STEP: break;
	}
}

static void expedite(struct lz_rsp *p, FILE *to, size_t nr)
{
	uint8_t bytes[LZ_REG_MAX];
	const struct lz_regfile *f = lz_rsp_regs(p);
	size_t n = f ? lz_reg_get(p->map, f, nr, bytes) : 0;
	char *hex = n ? lz_hex(bytes, n) : NULL;

	if (hex)
		fprintf(to, "%02zx:%s;", nr, hex);
	free(hex);
}

static void build_reply(struct lz_rsp *p)
{
	char reason[64];
	int signo;
	struct lz_pos pos;
	FILE *to = fmemopen(p->stop_reply, sizeof p->stop_reply, "w");

	if (!to)
		return;
	lz_session_where(p->s, &pos);
	describe(p, &signo, reason);
	fprintf(to, "T%02x", signo);
	expedite(p, to, LZ_REG_RBP);
	expedite(p, to, LZ_REG_RSP);
	expedite(p, to, LZ_REG_RIP);
	if (p->multiprocess)
		fprintf(to, "thread:p%x.%x;%s", p->pid, pos.tid, reason);
	else
		fprintf(to, "thread:%x;%s", pos.tid, reason);
	fclose(to);
}

static void forget(char **text)
{
	free(*text);
	*text = NULL;
}

int lz_rsp_send_stop(struct lz_rsp *p)
{
	build_reply(p);
	if (p->note && !(p->quiet && p->moving)) {
		lz_wire_console(p->wire, p->note);
		forget(&p->note);
	}
	p->moving = 0;
	return lz_wire_send(p->wire, p->stop_reply, strlen(p->stop_reply));
}

int lz_rsp_stop_packet(struct lz_rsp *p)
{
	build_reply(p);
	return lz_wire_send(p->wire, p->stop_reply, strlen(p->stop_reply));
}

/* The signal that ended the program, if it did. */
static uint32_t fatal_signal(struct lz_rsp *p)
{
	uint64_t n = lz_reader_n_events(p->reader);

	for (uint64_t i = n; i > 0 && i + 3 > n; i--) {
		const struct lz_event *ev = lz_reader_event(p->reader, i - 1);

		if (ev && ev->kind == LZ_EV_SIGNAL && ev->flags & LZ_EVF_FATAL)
			return ev->signo;
	}
	return 0;
}

/* What to answer to the first `?`: at the end the signal that was fatal. */
void lz_rsp_first_stop(struct lz_rsp *p)
{
	uint32_t signo = lz_session_at_end(p->s) ? fatal_signal(p) : 0;

	p->stop.reason = signo ? LZ_STOP_SIGNAL : LZ_STOP_STEP;
	p->stop.signo = signo;
}

static void say_end(struct lz_rsp *p)
{
	int status = lz_reader_meta(p->reader)->exit_status;

	if (lz_reader_damage(p->reader))
		lz_rsp_note(p, "The recording ends here: it was cut (%s).",
		            lz_reader_damage(p->reader));
	else if (status >= 0 && (status & 0x7f))
		lz_rsp_note(p, "The recording ends here: signal %d (%s) ended the program.",
		            status & 0x7f, strsignal(status & 0x7f));
	else if (status >= 0)
		lz_rsp_note(p, "The recording ends here: the program exited with status %d.",
		            status >> 8 & 0xff);
}

/* What was asked for could not be done, or replay went wrong. */
static int failed(struct lz_rsp *p)
{
	p->stop.reason = LZ_STOP_TARGET;
	lz_rsp_note(p, "%s%s", p->moving ? "error: " : "", lz_error());
	return lz_rsp_send_stop(p);
}

static int finish(struct lz_rsp *p, int rc)
{
	lz_wire_run_end(p->wire);
	p->regs_valid = false;
	if (rc < 0)
		return failed(p);
	if (p->stop.reason == LZ_STOP_DIVERGED) {
		const char *what = lz_session_divergence(p->s);

		lz_rsp_note(p, "The replay went another way than the recording: %s",
		            what ? what : lz_error());
	}
	if (p->moving && p->quiet &&
	    (p->stop.reason == LZ_STOP_END || p->stop.reason == LZ_STOP_START))
		lz_rsp_note(p, "history"); /* for a front end that suppresses GDB's own words */
	if (p->stop.reason == LZ_STOP_END && !p->div)
		say_end(p);
	return lz_rsp_send_stop(p);
}

struct resume {
	enum { CONTINUE, STEP, RANGE } how;
	enum lz_direction direction;
	uint64_t start, end;
};

/* False: not understood. */
static bool parse(const char *packet, struct resume *r)
{
	char *end;

	memset(r, 0, sizeof *r);
	if (packet[0] == 'b') {
		r->direction = LZ_BACKWARD;
		r->how = packet[1] == 's' ? STEP : CONTINUE;
		return packet[1] == 's' || packet[1] == 'c';
	}
	if (strncmp(packet, "vCont;", 6) == 0)
		packet += 6;
	switch (packet[0]) {
	case 's':
	case 'S': r->how = STEP; return true;
	case 'c':
	case 'C': r->how = CONTINUE; return true;
	case 'r':
		r->how = RANGE;
		r->start = strtoull(packet + 1, &end, 16);
		if (*end != ',')
			return false;
		r->end = strtoull(end + 1, &end, 16);
		return true;
	}
	return false;
}

static int run(struct lz_rsp *p, const struct resume *r)
{
	switch (r->how) {
	case STEP: return lz_session_step(p->s, r->direction, &p->stop);
	case RANGE: return lz_session_step_range(p->s, r->direction, r->start, r->end, &p->stop);
	default:
		if (p->catching)
			return lz_rsp_run_catching(p, r->direction);
		return lz_session_run(p->s, r->direction, &p->stop);
	}
}

static int move_armed(struct lz_rsp *p, const char *packet)
{
	char *text = p->armed;

	p->armed = NULL;
	p->syscall_stop = 0;
	lz_rsp_undivert(p);
	lz_wire_run_begin(p->wire);
	int rc = lz_rsp_move(p, text);

	free(text);
	p->moving = packet[1];
	return finish(p, rc);
}

int lz_rsp_resume_packet(struct lz_rsp *p, const char *packet)
{
	struct resume r;

	if (!parse(packet, &r))
		return lz_rsp_reply(p, "%s", "");
	if (lz_wire_interrupted(p->wire)) {
		forget(&p->armed);
		p->stop.reason = LZ_STOP_INTERRUPTED;
		return lz_rsp_send_stop(p);
	}
	if (p->armed && r.direction == LZ_BACKWARD)
		return move_armed(p, packet);
	forget(&p->armed);
	forget(&p->note);
	p->syscall_stop = 0;
	enum lz_rsp_fate fate = r.direction == LZ_FORWARD ? lz_rsp_divert_fate(p) : LZ_FATE_MOVE;

	if (fate == LZ_FATE_CALL)
		return finish(p, lz_rsp_divert_run(p, r.how != CONTINUE));
	lz_rsp_undivert(p);
	if (fate == LZ_FATE_REFUSED) {
		p->stop.reason = LZ_STOP_TARGET;
		return lz_rsp_send_stop(p);
	}
	/* While stepping, signals are GDB's business: it steps over their handlers. */
	lz_session_pass_signals(p->s, r.how == CONTINUE ? p->pass_signals : 0);
	lz_rsp_breaks_retry(p);
	memset(&p->stop, 0, sizeof p->stop);
	lz_wire_run_begin(p->wire);
	return finish(p, run(p, &r));
}
