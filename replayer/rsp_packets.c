/* Memory, registers and breakpoints: see rsp_int.h. */
#include "replayer/rsp_int.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int error(struct lz_rsp *p)
{
	return lz_rsp_reply(p, "E01");
}

/* Writes happen in a diversion: the recording is never changed. */
static int write_memory(struct lz_rsp *p, uint64_t addr, const void *bytes, size_t len)
{
	if (len == 0)
		return lz_rsp_reply(p, "OK");
	if (lz_rsp_divert(p) < 0 || lz_diversion_write(p->div, addr, bytes, len) < 0)
		return error(p);
	if (!p->in_call)
		p->div_written = true;
	return lz_rsp_reply(p, "OK");
}

static int read_memory(struct lz_rsp *p, uint64_t addr, size_t len)
{
	if (len > LZ_WIRE_PACKET_MAX / 2)
		len = LZ_WIRE_PACKET_MAX / 2;
	uint8_t *buf = malloc(len + 1);
	size_t n = buf ? lz_rsp_read(p, addr, buf, len) : 0;
	char *hex = n ? lz_hex(buf, n) : NULL;
	int rc;

	if (hex)
		rc = lz_wire_send(p->wire, hex, 2 * n);
	else
		rc = len ? error(p) : lz_rsp_reply(p, "%s", "");
	free(hex);
	free(buf);
	return rc;
}

int lz_rsp_memory_packet(struct lz_rsp *p, const char *packet, size_t len)
{
	char *end;
	uint64_t addr = strtoull(packet + 1, &end, 16);

	if (*end != ',')
		return error(p);
	size_t want = strtoull(end + 1, &end, 16);

	if (packet[0] == 'm')
		return read_memory(p, addr, want);
	if (*end != ':')
		return error(p);
	end++;
	size_t have = len - (size_t)(end - packet);

	if (packet[0] == 'X')
		return have == want ? write_memory(p, addr, end, want) : error(p);
	if (have != 2 * want)
		return error(p);
	uint8_t *bytes = malloc(want + 1);
	int rc = bytes && lz_unhex(end, have, bytes, want) == want
	             ? write_memory(p, addr, bytes, want)
	             : error(p);

	free(bytes);
	return rc;
}

static int read_all_registers(struct lz_rsp *p)
{
	const struct lz_regfile *f = lz_rsp_regs(p);

	if (!f)
		return error(p);
	uint8_t *all = malloc(lz_regmap_size(p->map) + LZ_REG_MAX);
	size_t n = 0;

	for (size_t i = 0; all && i < lz_regmap_count(p->map); i++)
		n += lz_reg_get(p->map, f, i, all + n);
	char *hex = all ? lz_hex(all, n) : NULL;
	int rc = hex ? lz_wire_send(p->wire, hex, 2 * n) : error(p);

	free(hex);
	free(all);
	return rc;
}

static int read_register(struct lz_rsp *p, size_t nr)
{
	const struct lz_regfile *f = lz_rsp_regs(p);
	uint8_t bytes[LZ_REG_MAX];
	size_t n = f ? lz_reg_get(p->map, f, nr, bytes) : 0;
	char *hex = n ? lz_hex(bytes, n) : NULL;
	int rc = hex ? lz_wire_send(p->wire, hex, 2 * n) : error(p);

	free(hex);
	return rc;
}

/* Registers, too, change in a diversion only, and only if they really change. */
static int store_registers(struct lz_rsp *p, const struct lz_regfile *f)
{
	const struct lz_regfile *old = lz_rsp_regs(p);

	if (!old)
		return error(p);
	bool gpr = memcmp(&old->gpr, &f->gpr, sizeof f->gpr) != 0;
	bool x = memcmp(old->xstate, f->xstate, f->xstate_len) != 0;

	if (!gpr && !x)
		return lz_rsp_reply(p, "OK");
	if (lz_rsp_divert(p) < 0)
		return error(p);
	p->regs_valid = false;
	if (gpr && lz_diversion_set_regs(p->div, &f->gpr) < 0)
		return error(p);
	if (x && lz_diversion_set_xstate(p->div, f->xstate, f->xstate_len) < 0)
		return error(p);
	return lz_rsp_reply(p, "OK");
}

static int write_all_registers(struct lz_rsp *p, const char *hex, size_t len)
{
	const struct lz_regfile *old = lz_rsp_regs(p);
	size_t size = lz_regmap_size(p->map), at = 0;
	uint8_t *all = calloc(1, size + LZ_REG_MAX);
	struct lz_regfile *f = malloc(sizeof *f);
	int rc = -1;

	if (old && all && f && lz_unhex(hex, len, all, size) == size) {
		*f = *old;
		for (size_t i = 0; i < lz_regmap_count(p->map); i++)
			at += lz_reg_set(p->map, f, i, all + at);
		rc = store_registers(p, f);
	} else {
		rc = error(p);
	}
	free(all);
	free(f);
	return rc;
}

static int write_register(struct lz_rsp *p, const char *packet, size_t len)
{
	const struct lz_regfile *old = lz_rsp_regs(p);
	uint8_t bytes[LZ_REG_MAX] = {0};
	char *end;
	size_t nr = strtoul(packet + 1, &end, 16);
	struct lz_regfile *f = malloc(sizeof *f);
	int rc;

	if (old && f && *end == '=') {
		*f = *old;
		lz_unhex(end + 1, len - (size_t)(end + 1 - packet), bytes, sizeof bytes);
		rc = lz_reg_set(p->map, f, nr, bytes) ? store_registers(p, f) : error(p);
	} else {
		rc = error(p);
	}
	free(f);
	return rc;
}

int lz_rsp_register_packet(struct lz_rsp *p, const char *packet, size_t len)
{
	switch (packet[0]) {
	case 'g': return read_all_registers(p);
	case 'G': return write_all_registers(p, packet + 1, len - 1);
	case 'p': return read_register(p, strtoul(packet + 1, NULL, 16));
	default: return write_register(p, packet, len);
	}
}

/* Z kinds: 0 software, 1 hardware breakpoint, 2 write, 3 read, 4 access watchpoint. */
static int put(struct lz_rsp *p, const struct lz_rsp_break *b)
{
	if (b->kind < 2)
		return lz_session_break(p->s, b->addr);
	return lz_session_watch(p->s, b->addr, b->len, "wra"[b->kind - 2]);
}

static int insert(struct lz_rsp *p, struct lz_rsp_break b)
{
	struct lz_rsp_break *more = realloc(p->breaks, (p->n_breaks + 1) * sizeof *more);

	if (!more)
		return error(p);
	p->breaks = more;
	b.set = put(p, &b) == 0;
	if (!b.set && b.kind >= 2)
		return error(p);
	p->breaks[p->n_breaks++] = b;
	return lz_rsp_reply(p, "OK");
}

static int take_out(struct lz_rsp *p, struct lz_rsp_break b)
{
	for (size_t i = 0; i < p->n_breaks; i++) {
		struct lz_rsp_break *o = &p->breaks[i];

		if (o->kind != b.kind || o->addr != b.addr || (b.kind >= 2 && o->len != b.len))
			continue;
		if (o->set && b.kind < 2)
			lz_session_unbreak(p->s, b.addr);
		else if (o->set)
			lz_session_unwatch(p->s, b.addr, b.len, "wra"[b.kind - 2]);
		*o = p->breaks[--p->n_breaks];
		break;
	}
	return lz_rsp_reply(p, "OK");
}

int lz_rsp_break_packet(struct lz_rsp *p, const char *packet)
{
	struct lz_rsp_break b = {.kind = packet[1] - '0'};
	char *end;

	if (b.kind < 0 || b.kind > 4 || packet[2] != ',')
		return lz_rsp_reply(p, "%s", "");
	b.addr = strtoull(packet + 3, &end, 16);
	if (*end == ',')
		b.len = strtoull(end + 1, &end, 16);
	return packet[0] == 'Z' ? insert(p, b) : take_out(p, b);
}

void lz_rsp_breaks_retry(struct lz_rsp *p)
{
	for (size_t i = 0; i < p->n_breaks; i++)
		if (!p->breaks[i].set)
			p->breaks[i].set = put(p, &p->breaks[i]) == 0;
}
