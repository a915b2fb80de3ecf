/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LLDB's packets about memory: what lies where, and memory for its own code and values. */
#include "replayer/rsp/inside.h"

#include <common/base/print.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void print_region(struct lz_rsp *p, FILE *to, const struct lz_front_region *r)
{
	(void)p;
	fprintf(to, "start:%lx;size:%lx;", (unsigned long)r->start,
	        (unsigned long)(r->end - r->start));
	if (!r->mapped)
		return;
	lz_print(to, "permissions:%s%s%s;", r->prot & PROT_READ ? "r" : "",
	         r->prot & PROT_WRITE ? "w" : "", r->prot & PROT_EXEC ? "x" : "");
	char *hex = r->file ? lz_hex(r->file, strlen(r->file)) : NULL;

	if (hex)
		lz_print(to, "name:%s;", hex);
	free(hex);
}

int lz_rsp_region(struct lz_rsp *p, const char *args)
{
	struct lz_front_region r;
	char *end, *text = NULL;
	size_t len;
	uint64_t addr = strtoull(args, &end, 16);

	if (end == args || *end)
		return lz_rsp_error(p, "this is no address");
	if (lz_front_region(p->front, addr, &r) < 0)
		return lz_rsp_error(p, lz_error());
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return lz_rsp_error(p, "out of memory for a reply");
	print_region(p, to, &r);
	fclose(to);
	int rc = lz_wire_send(p->wire, text, len);

	free(text);
	return rc;
}

/* False: it is not only letters of permissions. */
static bool parse_prot(const char *text, int *prot)
{
	*prot = 0;
	for (; *text; text++)
		switch (*text) {
		case 'r': *prot |= PROT_READ; break;
		case 'w': *prot |= PROT_WRITE; break;
		case 'x': *prot |= PROT_EXEC; break;
		default: return false;
		}
	return true;
}

static int allocate(struct lz_rsp *p, const char *args)
{
	uint64_t addr, len;
	char *end;
	int prot;

	len = strtoull(args, &end, 16);
	if (end == args || *end != ',' || !parse_prot(end + 1, &prot))
		return lz_rsp_error(p, "a size and permissions are wanted");
	if (lz_front_allocate(p->front, len, prot, &addr) < 0)
		return lz_rsp_error(p, lz_error());
	return lz_rsp_reply(p, "%lx", (unsigned long)addr);
}

static int deallocate(struct lz_rsp *p, const char *args)
{
	char *end;
	uint64_t addr = strtoull(args, &end, 16);

	if (end == args || *end)
		return lz_rsp_error(p, "this is no address");
	if (lz_front_deallocate(p->front, addr) < 0)
		return lz_rsp_error(p, lz_error());
	return lz_rsp_reply(p, "OK");
}

int lz_rsp_area_packet(struct lz_rsp *p, const char *packet)
{
	switch (packet[1]) {
	case 'M': return allocate(p, packet + 2);
	case 'm': return deallocate(p, packet + 2);
	default: return lz_rsp_reply(p, "%s", "");
	}
}
