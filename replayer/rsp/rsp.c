/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The server's loop and its general queries: see rsp.h. */
#include "replayer/rsp/inside.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int supported(struct lz_rsp *p, const char *packet)
{
	p->multiprocess = strstr(packet, "multiprocess+") != NULL;
	p->exec_events = strstr(packet, "exec-events+") != NULL;
	return lz_rsp_reply(
	    p,
	    "PacketSize=%x;QStartNoAckMode+;ReverseStep+;ReverseContinue+;vContSupported+;"
	    "swbreak+;hwbreak+;ConditionalBreakpoints+;multiprocess%c;QPassSignals+;QCatchSyscalls+"
	    ";qXfer:features:read+;"
	    "qXfer:auxv:read+;qXfer:exec-file:read+;qXfer:siginfo:read+;qXfer:threads:read+;qXfer:"
	    "libraries-svr4:read+;"
	    "exec-events+;native-signals+;binary-upload+;qEcho+;QNonStop-;no-resumed-",
	    LZ_WIRE_PACKET_MAX, p->multiprocess ? '+' : '-');
}

static int pass_signals(struct lz_rsp *p, const char *list)
{
	uint64_t mask = 0;

	while (*list) {
		char *end;
		int signo = lz_rsp_signal_from(p, (int)strtoul(list, &end, 16));

		if (signo > 0)
			mask |= 1ull << signo;
		if (end == list)
			break;
		list = *end ? end + 1 : end;
	}
	lz_front_pass_signals(p->front, mask);
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
		return lz_rsp_current_thread(p);
	if (starts(q, "qGetTLSAddr:"))
		return lz_rsp_tls_address(p, q + 12);
	if (starts(q, "qMemoryRegionInfo:"))
		return lz_rsp_region(p, q + 18);
	if (starts(q, "qThreadStopInfo"))
		return lz_rsp_thread_stop(p, q + 15);
	if (strcmp(q, "qfThreadInfo") == 0)
		return lz_rsp_thread_list(p);
	if (strcmp(q, "qsThreadInfo") == 0)
		return lz_rsp_reply(p, "l");
	return lz_rsp_identity_query(p, q, len);
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
	if (starts(q, "QSaveRegisterState") || starts(q, "QRestoreRegisterState:"))
		return lz_rsp_kept_packet(p, q);
	return lz_rsp_identity_set(p, q);
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

static int json(struct lz_rsp *p, const char *packet)
{
	if (strcmp(packet, "jThreadsInfo") == 0)
		return lz_rsp_threads_info(p);
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
	case 'X':
	case 'x': return lz_rsp_memory_packet(p, packet, len);
	case 'Z':
	case 'z': return lz_rsp_break_packet(p, packet);
	case 'H':
	case 'T': return lz_rsp_thread_packet(p, packet);
	case '!': return lz_rsp_reply(p, "OK");
	case 'q': return query(p, packet, len);
	case 'Q': return set(p, packet);
	case 'v': return verbose(p, packet, len);
	case '_': return lz_rsp_area_packet(p, packet);
	case 'j': return json(p, packet);
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

static int serve(struct lz_rsp *p, struct lz_session *s)
{
	const struct lz_rsp_options *o = p->o;

	p->front = lz_front_new(s, o->host_files, "lizard serve");
	if (!p->front)
		return -1;
	p->wire = lz_wire_new(o->in, o->out, interrupt, s);
	if (!p->wire)
		return -1;
	lz_wire_echo(p->wire, o->echo);
	return loop(p);
}

int lz_rsp_serve(struct lz_session *s, const struct lz_rsp_options *o)
{
	struct lz_rsp *p = calloc(1, sizeof *p);

	if (!p)
		return lz_fail("out of memory for the server");
	p->o = o;
	int rc = serve(p, s);

	if (o->disconnect)
		*o->disconnect = p->disconnected;
	lz_rsp_files_close(p);
	lz_rsp_kept_free(p);
	free(p->spared);
	free(p->libraries);
	free(p->why);
	lz_wire_free(p->wire);
	if (p->front)
		lz_front_free(p->front);
	free(p);
	return rc;
}
