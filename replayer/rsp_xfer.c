/* qXfer objects: features, auxv, exec-file, siginfo, threads. */
#include "replayer/rsp_int.h"

#include <lizard/error.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { AUXV_SEARCH_MAX = 8 << 20 };

/* Number of words from ADDR up to and with a zero word; 0 if there is none. */
static size_t words_to_null(struct lz_rsp *p, uint64_t addr)
{
	uint64_t chunk[512];
	size_t n = 0;

	while (n * 8 < AUXV_SEARCH_MAX) {
		size_t got = lz_session_read(p->s, addr + n * 8, chunk, sizeof chunk) / 8;

		for (size_t i = 0; i < got; i++)
			if (chunk[i] == 0)
				return n + i + 1;
		if (got == 0)
			return 0;
		n += got;
	}
	return 0;
}

static int copy_auxv(struct lz_rsp *p, uint64_t addr)
{
	Elf64_auxv_t entries[128];
	size_t n = lz_session_read(p->s, addr, entries, sizeof entries) / sizeof entries[0];

	for (size_t i = 0; i < n; i++)
		if (entries[i].a_type == AT_NULL) {
			p->auxv_len = (i + 1) * sizeof entries[0];
			p->auxv = malloc(p->auxv_len);
			if (!p->auxv)
				return lz_fail("out of memory");
			memcpy(p->auxv, entries, p->auxv_len);
			return 0;
		}
	return lz_fail("no end of the auxiliary vector");
}

/* From the stack that the kernel made: the recording begins at the program's first instruction,
 * with the stack pointer at argc; argv and envp follow, then the vector. */
int lz_rsp_find_auxv(struct lz_rsp *p)
{
	const struct lz_checkpoint *first = lz_reader_checkpoint(p->reader, 0);

	if (!first || first->n_threads == 0)
		return lz_fail("the recording has no first checkpoint");
	uint64_t sp = first->threads[0].regs.rsp, argc = 0;

	if (lz_session_read(p->s, sp, &argc, 8) != 8 || argc > AUXV_SEARCH_MAX / 8)
		return lz_fail("no arguments on the first stack");
	uint64_t envp = sp + 8 * (argc + 2);
	size_t n = words_to_null(p, envp);

	if (!n)
		return lz_fail("no end of the environment on the first stack");
	return copy_auxv(p, envp + 8 * n);
}

/* Bytes OFFSET,LENGTH of an object. */
static int part(struct lz_rsp *p, const char *range, const void *object, size_t size)
{
	char *end;
	size_t offset = strtoull(range, &end, 16);
	size_t length = *end == ',' ? strtoull(end + 1, NULL, 16) : 0;

	if (offset > size)
		offset = size;
	if (length > LZ_WIRE_PACKET_MAX / 2)
		length = LZ_WIRE_PACKET_MAX / 2;
	bool last = length >= size - offset;

	if (last)
		length = size - offset;
	char *reply = malloc(length + 1);

	if (!reply)
		return lz_rsp_reply(p, "E01");
	reply[0] = last ? 'l' : 'm';
	memcpy(reply + 1, (const char *)object + offset, length);
	int rc = lz_wire_send(p->wire, reply, length + 1);

	free(reply);
	return rc;
}

static int threads(struct lz_rsp *p, const char *range)
{
	char xml[512], id[64], name[16];
	struct lz_pos pos;
	const char *program = lz_reader_meta(p->reader)->program;
	const char *slash = strrchr(program, '/');

	lz_session_where(p->s, &pos);
	if (p->multiprocess)
		snprintf(id, sizeof id, "p%x.%x", p->pid, pos.tid);
	else
		snprintf(id, sizeof id, "%x", pos.tid);
	snprintf(name, sizeof name, "%s", slash ? slash + 1 : program);
	for (char *c = name; *c; c++)
		if (strchr("<>&\"", *c))
			*c = '_';
	snprintf(xml, sizeof xml,
	         "<?xml version=\"1.0\"?>\n<threads><thread id=\"%s\" name=\"%s\"/></threads>\n",
	         id, name);
	return part(p, range, xml, strlen(xml));
}

/* The signal that is about to be delivered, else the last one that was. */
static int siginfo(struct lz_rsp *p, const char *range)
{
	const struct lz_event *ev = lz_session_next_event(p->s);
	struct lz_pos pos;

	if (ev && ev->kind == LZ_EV_SIGNAL && p->stop.reason == LZ_STOP_SIGNAL)
		return part(p, range, ev->siginfo, sizeof ev->siginfo);
	lz_session_where(p->s, &pos);
	uint64_t stop = pos.event > 100000 ? pos.event - 100000 : 0;

	for (uint64_t i = pos.event; i > stop; i--) {
		ev = lz_reader_event(p->reader, i - 1);
		if (ev && ev->kind == LZ_EV_SIGNAL)
			return part(p, range, ev->siginfo, sizeof ev->siginfo);
	}
	return lz_rsp_reply(p, "E01");
}

int lz_rsp_xfer(struct lz_rsp *p, const char *packet)
{
	char object[32], annex[64];
	int at = 0;

	if (sscanf(packet, "qXfer:%31[^:]:read:%n", object, &at) != 1 || !at)
		return lz_rsp_reply(p, "%s", "");
	const char *colon = strchr(packet + at, ':');

	if (!colon)
		return lz_rsp_reply(p, "E00");
	snprintf(annex, sizeof annex, "%.*s", (int)(colon - packet - at), packet + at);
	const char *range = colon + 1;

	if (strcmp(object, "features") == 0) {
		const char *xml = lz_regmap_xml(p->map);

		if (strcmp(annex, "target.xml") != 0)
			return lz_rsp_reply(p, "E00");
		return part(p, range, xml, strlen(xml));
	}
	if (strcmp(object, "auxv") == 0)
		return p->auxv ? part(p, range, p->auxv, p->auxv_len) : lz_rsp_reply(p, "E01");
	if (strcmp(object, "exec-file") == 0) {
		const char *program = lz_reader_meta(p->reader)->program;

		return part(p, range, program, strlen(program));
	}
	if (strcmp(object, "threads") == 0)
		return threads(p, range);
	if (strcmp(object, "siginfo") == 0)
		return siginfo(p, range);
	return lz_rsp_reply(p, "%s", "");
}
