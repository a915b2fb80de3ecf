/* The server's loop and its general queries: see rsp.h. */
#include "replayer/rsp_int.h"

#include <lizard/error.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int lz_rsp_reply(struct lz_rsp *p, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return lz_fail("out of memory for a reply");
	int rc = lz_wire_send(p->wire, text, (size_t)n);

	free(text);
	return rc;
}

void lz_rsp_note(struct lz_rsp *p, const char *fmt, ...)
{
	char *text, *all;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (asprintf(&all, "%s%s\n", p->note ? p->note : "", text) >= 0) {
		free(p->note);
		p->note = all;
	}
	free(text);
}

const struct lz_regfile *lz_rsp_regs(struct lz_rsp *p)
{
	struct lz_regfile *f = &p->regs;
	int rc;

	if (p->regs_valid)
		return f;
	f->xstate_len = sizeof f->xstate;
	if (p->div)
		rc = lz_diversion_regs(p->div, &f->gpr) |
		     lz_diversion_xstate(p->div, f->xstate, &f->xstate_len);
	else
		rc = lz_session_regs(p->s, &f->gpr) |
		     lz_session_xstate(p->s, f->xstate, &f->xstate_len);
	if (rc < 0)
		return NULL;
	p->regs_valid = true;
	return f;
}

size_t lz_rsp_read(struct lz_rsp *p, uint64_t addr, void *buf, size_t len)
{
	if (p->div)
		return lz_diversion_read(p->div, addr, buf, len);
	return lz_session_read(p->s, addr, buf, len);
}

static int supported(struct lz_rsp *p, const char *packet)
{
	p->multiprocess = strstr(packet, "multiprocess+") != NULL;
	return lz_rsp_reply(
	    p,
	    "PacketSize=%x;QStartNoAckMode+;ReverseStep+;ReverseContinue+;vContSupported+;"
	    "swbreak+;hwbreak+;multiprocess%c;QPassSignals+;QCatchSyscalls+;qXfer:features:read+;"
	    "qXfer:auxv:read+;qXfer:exec-file:read+;qXfer:siginfo:read+;qXfer:threads:read+;"
	    "QNonStop-;no-resumed-",
	    LZ_WIRE_PACKET_MAX, p->multiprocess ? '+' : '-');
}

static int thread_id(struct lz_rsp *p, const char *before)
{
	struct lz_pos pos;

	lz_session_where(p->s, &pos);
	if (p->multiprocess)
		return lz_rsp_reply(p, "%sp%x.%x", before, p->pid, pos.tid);
	return lz_rsp_reply(p, "%s%x", before, pos.tid);
}

static int pass_signals(struct lz_rsp *p, const char *list)
{
	p->pass_signals = 0;
	while (*list) {
		char *end;
		int signo = lz_rsp_signal_from_gdb((int)strtoul(list, &end, 16));

		if (signo > 0)
			p->pass_signals |= 1ull << signo;
		if (end == list)
			break;
		list = *end ? end + 1 : end;
	}
	return lz_rsp_reply(p, "OK");
}

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static int query(struct lz_rsp *p, const char *q, size_t len)
{
	if (starts(q, "qSupported"))
		return supported(p, q);
	if (starts(q, "qXfer:"))
		return lz_rsp_xfer(p, q);
	if (starts(q, "qRcmd,"))
		return lz_rsp_monitor(p, q + 6, len - 6);
	if (starts(q, "qAttached"))
		return lz_rsp_reply(p, "1");
	if (starts(q, "qSymbol"))
		return lz_rsp_reply(p, "OK");
	if (strcmp(q, "qC") == 0)
		return thread_id(p, "QC");
	if (strcmp(q, "qfThreadInfo") == 0)
		return thread_id(p, "m");
	if (strcmp(q, "qsThreadInfo") == 0)
		return lz_rsp_reply(p, "l");
	return lz_rsp_reply(p, "%s", "");
}

static int set(struct lz_rsp *p, const char *q)
{
	if (strcmp(q, "QStartNoAckMode") == 0) {
		int rc = lz_rsp_reply(p, "OK");

		lz_wire_no_ack(p->wire);
		return rc;
	}
	if (starts(q, "QPassSignals:"))
		return pass_signals(p, q + 13);
	if (starts(q, "QCatchSyscalls:"))
		return lz_rsp_catch_packet(p, q + 15);
	return lz_rsp_reply(p, "%s", "");
}

static int verbose(struct lz_rsp *p, const char *v, size_t len)
{
	if (strcmp(v, "vCont?") == 0)
		return lz_rsp_reply(p, "vCont;c;C;s;S;t;r");
	if (starts(v, "vCont;"))
		return lz_rsp_resume_packet(p, v);
	if (starts(v, "vFile:"))
		return lz_rsp_vfile(p, v + 6, len - 6);
	if (starts(v, "vKill")) {
		p->done = true;
		return lz_rsp_reply(p, "OK");
	}
	return lz_rsp_reply(p, "%s", "");
}

static int detach(struct lz_rsp *p)
{
	p->done = p->disconnected = true;
	return lz_rsp_reply(p, "OK");
}

static int dispatch(struct lz_rsp *p, const char *packet, size_t len)
{
	switch (packet[0]) {
	case '?': return lz_rsp_stop_packet(p);
	case 'c':
	case 'C':
	case 's':
	case 'S':
	case 'b': return lz_rsp_resume_packet(p, packet);
	case 'g':
	case 'G':
	case 'p':
	case 'P': return lz_rsp_register_packet(p, packet, len);
	case 'm':
	case 'M':
	case 'X': return lz_rsp_memory_packet(p, packet, len);
	case 'Z':
	case 'z': return lz_rsp_break_packet(p, packet);
	case 'H':
	case 'T':
	case '!': return lz_rsp_reply(p, "OK");
	case 'q': return query(p, packet, len);
	case 'Q': return set(p, packet);
	case 'v': return verbose(p, packet, len);
	case 'D': return detach(p);
	case 'k': p->done = true; return 0;
	}
	return lz_rsp_reply(p, "%s", "");
}

static void interrupt(void *arg)
{
	lz_session_interrupt(arg);
}

static int loop(struct lz_rsp *p)
{
	while (!p->done) {
		size_t len;
		char *packet = lz_wire_next(p->wire, &len);

		if (!packet) {
			p->disconnected = true;
			return 0;
		}
		lz_debug("rsp <- %.200s", packet);
		int rc = dispatch(p, packet, len);

		free(packet);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int set_up(struct lz_rsp *p)
{
	const struct lz_regfile *f = lz_rsp_regs(p);

	if (!f)
		return lz_fail_in("reading the first registers");
	p->map = lz_regmap_new(f->xstate, f->xstate_len);
	if (!p->map)
		return lz_fail("out of memory for the registers' description");
	if (lz_rsp_find_auxv(p) < 0)
		lz_debug("no auxiliary vector: %s", lz_error());
	p->wire = lz_wire_new(p->o->in, p->o->out, interrupt, p->s);
	if (!p->wire)
		return -1;
	lz_wire_echo(p->wire, p->o->echo);
	lz_rsp_first_stop(p);
	return 0;
}

static void clear_breaks(struct lz_rsp *p)
{
	for (size_t i = 0; i < p->n_breaks; i++) {
		struct lz_rsp_break *b = &p->breaks[i];

		if (b->set && b->kind < 2)
			lz_session_unbreak(p->s, b->addr);
		else if (b->set)
			lz_session_unwatch(p->s, b->addr, b->len, "wra"[b->kind - 2]);
	}
	free(p->breaks);
}

int lz_rsp_serve(struct lz_session *s, const struct lz_rsp_options *o)
{
	struct lz_rsp *p = calloc(1, sizeof *p);

	if (!p)
		return lz_fail("out of memory for the server");
	p->s = s;
	p->o = o;
	p->reader = lz_session_reader(s);
	p->pid = lz_reader_meta(p->reader)->tid;
	int rc = set_up(p);

	if (rc == 0)
		rc = loop(p);
	if (o->disconnect)
		*o->disconnect = p->disconnected;
	lz_rsp_undivert(p);
	clear_breaks(p);
	lz_rsp_files_close(p);
	lz_wire_free(p->wire);
	lz_regmap_free(p->map);
	free(p->auxv);
	free(p->armed);
	free(p->note);
	free(p);
	return rc;
}
