/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packets about threads: see rsp_int.h. */
#include "replayer/front/xml.h"
#include "replayer/rsp/inside.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

void lz_rsp_print_id(struct lz_rsp *p, FILE *to, uint32_t tid)
{
	if (p->multiprocess)
		fprintf(to, "p%x.%x", lz_rsp_pid(p), tid);
	else
		fprintf(to, "%x", tid);
}

uint32_t lz_rsp_parse_id(const char *text, char **end)
{
	if (*text == 'p') {
		strtoul(text + 1, end, 16);
		if (**end != '.')
			return 0;
		text = *end + 1;
	}
	if (*text == '-') {
		strtoul(text + 1, end, 16);
		return 0;
	}
	return (uint32_t)strtoul(text, end, 16);
}

bool lz_rsp_has_thread(struct lz_rsp *p, uint32_t tid)
{
	struct lz_front_thread *t;
	bool found = false;
	uint32_t n;

	if (lz_front_threads(p->front, &t, &n) < 0)
		return false;
	for (uint32_t i = 0; i < n; i++)
		found |= t[i].tid == tid;
	free(t);
	return found;
}

/*
 * The thread that is meant where the packet says "any": GDB's command `thread N` asks whether N is there. Looking at a
 * thread (Hg) says nothing: `info threads` does it with all of them, and `thread apply` asks for several.
 */
uint32_t lz_rsp_chosen_thread(struct lz_rsp *p)
{
	return p->asked_for.several ? 0 : p->asked_for.tid;
}

static void ask_for(struct lz_rsp *p, uint32_t tid)
{
	p->asked_for.several |= p->asked_for.tid && p->asked_for.tid != tid;
	p->asked_for.tid = tid;
}

int lz_rsp_select_suffix(struct lz_rsp *p, const char *packet)
{
	const char *suffix = p->lldb ? strstr(packet, ";thread:") : NULL;
	char *end;

	if (!suffix)
		return 0;
	uint32_t tid = lz_rsp_parse_id(suffix + strlen(";thread:"), &end);

	return tid && !lz_rsp_has_thread(p, tid) ? -1 : lz_front_select(p->front, tid);
}

int lz_rsp_thread_packet(struct lz_rsp *p, const char *packet)
{
	bool alive = packet[0] == 'T';
	char *end;
	uint32_t tid = lz_rsp_parse_id(packet + (alive ? 1 : 2), &end);

	if (tid && !lz_rsp_has_thread(p, tid))
		return lz_rsp_reply(p, "E01");
	if (alive) {
		ask_for(p, tid);
		return lz_rsp_reply(p, tid ? "OK" : "E01");
	}
	if (packet[1] == 'c')
		p->resumed = tid;
	if (packet[1] != 'g')
		return lz_rsp_reply(p, "OK");
	p->general = tid;
	return lz_rsp_reply(p, lz_front_select(p->front, tid) < 0 ? "E01" : "OK");
}

static void print_current(struct lz_rsp *p, FILE *to)
{
	fputs("QC", to);
	lz_rsp_print_id(p, to, p->general ? p->general : lz_front_tid(p->front));
}

int lz_rsp_current_thread(struct lz_rsp *p)
{
	return lz_rsp_print(p, print_current);
}

static void print_list(struct lz_rsp *p, FILE *to)
{
	struct lz_front_thread *t;
	uint32_t n;

	if (lz_front_threads(p->front, &t, &n) < 0) {
		fputc('l', to);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		fputc(i ? ',' : 'm', to);
		lz_rsp_print_id(p, to, t[i].tid);
	}
	free(t);
}

int lz_rsp_thread_list(struct lz_rsp *p)
{
	return lz_rsp_print(p, print_list);
}

static void print_xml(struct lz_rsp *p, FILE *to, const struct lz_front_thread *t)
{
	fputs("<thread id=\"", to);
	lz_rsp_print_id(p, to, t->tid);
	fputs("\" name=\"", to);
	lz_put_xml(to, t->name);
	fputs("\">", to);
	if (t->fresh)
		fputs("has not run yet", to);
	fputs("</thread>\n", to);
}

char *lz_rsp_threads_xml(struct lz_rsp *p, size_t *len)
{
	struct lz_front_thread *t;
	char *text = NULL;
	uint32_t n;
	FILE *to;

	if (lz_front_threads(p->front, &t, &n) < 0)
		return NULL;
	to = open_memstream(&text, len);
	if (to) {
		fputs("<?xml version=\"1.0\"?>\n<threads>\n", to);
		for (uint32_t i = 0; i < n; i++)
			print_xml(p, to, &t[i]);
		fputs("</threads>\n", to);
		fclose(to);
	}
	free(t);
	return text;
}

int lz_rsp_tls_address(struct lz_rsp *p, const char *args)
{
	char *end;
	uint32_t tid = lz_rsp_parse_id(args, &end);
	uint64_t offset, link_map, addr;

	if (*end != ',')
		return lz_rsp_reply(p, "E01");
	offset = strtoull(end + 1, &end, 16);
	link_map = *end == ',' ? strtoull(end + 1, NULL, 16) : 0;
	if (lz_front_tls(p->front, tid, link_map, offset, &addr) < 0)
		return lz_rsp_reply(p, "E.%s", lz_error());
	return lz_rsp_reply(p, "%lx", (unsigned long)addr);
}
