/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packets about memory, registers and breakpoints: see rsp_int.h. */
#include "replayer/rsp/inside.h"

#include <common/base/cleanup.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int error(struct lz_rsp *p)
{
	return lz_rsp_error(p, "this cannot be read, or is no such packet");
}

static int done(struct lz_rsp *p, int rc)
{
	return rc < 0 ? lz_rsp_error(p, lz_error()) : lz_rsp_reply(p, "OK");
}

static int write_memory(struct lz_rsp *p, uint64_t addr, const void *bytes, size_t len)
{
	return done(p, lz_front_write(p->front, addr, bytes, len));
}

/* As bytes behind a `b`. */
static int read_binary(struct lz_rsp *p, uint64_t addr, size_t len)
{
	if (len > LZ_WIRE_PACKET_MAX / 2)
		len = LZ_WIRE_PACKET_MAX / 2;
	lz_auto_free char *reply = malloc(len + 1);
	size_t n = reply ? lz_front_read(p->front, addr, reply + 1, len) : 0;

	if (!reply || (len && !n))
		return error(p);
	reply[0] = 'b';
	return lz_wire_send(p->wire, reply, n + 1);
}

static int read_memory(struct lz_rsp *p, uint64_t addr, size_t len)
{
	if (len > LZ_WIRE_PACKET_MAX / 2)
		len = LZ_WIRE_PACKET_MAX / 2;
	lz_auto_free uint8_t *buf = malloc(len + 1);
	size_t n = buf ? lz_front_read(p->front, addr, buf, len) : 0;
	lz_auto_free char *hex = n ? lz_hex(buf, n) : NULL;

	if (hex)
		return lz_wire_send(p->wire, hex, 2 * n);
	return len ? error(p) : lz_rsp_reply(p, "%s", "");
}

int lz_rsp_memory_packet(struct lz_rsp *p, const char *packet, size_t len)
{
	char *end;
	uint64_t addr = strtoull(packet + 1, &end, 16);

	if (*end != ',')
		return error(p);
	size_t want = strtoull(end + 1, &end, 16);

	if (packet[0] == 'x')
		return read_binary(p, addr, want);
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
	lz_auto_free uint8_t *bytes = malloc(want + 1);

	if (!bytes || lz_unhex(end, have, bytes, want) != want)
		return error(p);
	return write_memory(p, addr, bytes, want);
}

static int send_registers(struct lz_rsp *p, const uint8_t *bytes, size_t n)
{
	lz_auto_free char *hex = n ? lz_hex(bytes, n) : NULL;

	return hex ? lz_wire_send(p->wire, hex, 2 * n) : error(p);
}

static int read_all_registers(struct lz_rsp *p)
{
	size_t count = lz_front_n_registers(p->front), n = 0;
	lz_auto_free uint8_t *all = malloc((count + 1) * LZ_REG_MAX);

	for (size_t i = 0; all && i < count; i++)
		n += lz_front_register(p->front, i, all + n);
	return send_registers(p, all, n);
}

static int read_register(struct lz_rsp *p, size_t nr)
{
	uint8_t bytes[LZ_REG_MAX];

	return send_registers(p, bytes, lz_front_register(p->front, nr, bytes));
}

static int write_all_registers(struct lz_rsp *p, const char *hex, size_t len)
{
	uint8_t bytes[LZ_REG_MAX];
	size_t count = lz_front_n_registers(p->front), size = 0;
	lz_auto_free size_t *nrs = calloc(count, sizeof *nrs);
	lz_auto_free uint8_t *all = calloc(count + 1, LZ_REG_MAX);
	int rc = -1;

	for (size_t i = 0; nrs && i < count; i++) {
		nrs[i] = i;
		size += lz_front_register(p->front, i, bytes);
	}
	if (nrs && all && size && lz_unhex(hex, len, all, size) == size)
		rc = lz_front_set_registers(p->front, nrs, count, all);
	return done(p, rc);
}

static int write_register(struct lz_rsp *p, const char *packet, size_t len)
{
	uint8_t bytes[LZ_REG_MAX] = {0};
	char *end;
	size_t nr = strtoul(packet + 1, &end, 16);

	if (*end != '=')
		return error(p);
	lz_unhex(end + 1, len - (size_t)(end + 1 - packet), bytes, sizeof bytes);
	return done(p, lz_front_set_registers(p->front, &nr, 1, bytes));
}

int lz_rsp_register_packet(struct lz_rsp *p, const char *packet, size_t len)
{
	if (lz_rsp_select_suffix(p, packet) < 0)
		return lz_rsp_error(p, "there is no such thread");
	switch (packet[0]) {
	case 'g': return read_all_registers(p);
	case 'G': return write_all_registers(p, packet + 1, len - 1);
	case 'p': return read_register(p, strtoul(packet + 1, NULL, 16));
	default: return write_register(p, packet, len);
	}
}

enum { CONDITIONS_MAX = 256 };

/* TEXT: ";XLEN,CODEXLEN,CODE...", in hexadecimal digits; the codes go to BYTES. Without any if it is
 * anything else. */
static size_t parse_conditions(const char *text, uint8_t *bytes, struct lz_front_condition *c)
{
	size_t n = 0;

	if (text[0] != ';' || text[1] != 'X')
		return 0;
	for (text++; *text == 'X'; n++) {
		char *code;
		size_t len = strtoul(text + 1, &code, 16);
		size_t left = strlen(code);

		if (n == CONDITIONS_MAX || *code != ',' || len > left / 2 ||
		    lz_unhex(code + 1, 2 * len, bytes, len) != len)
			return 0;
		c[n] = (struct lz_front_condition){bytes, len};
		bytes += len;
		text = code + 1 + 2 * len;
	}
	return *text && *text != ';' ? 0 : n;
}

static int insert_break(struct lz_rsp *p, enum lz_front_kind kind, uint64_t addr, const char *text)
{
	struct lz_front_condition conditions[CONDITIONS_MAX];
	lz_auto_free uint8_t *bytes = malloc(strlen(text) + 1);

	if (!bytes)
		return error(p);
	size_t n = parse_conditions(text, bytes, conditions);

	return done(p, lz_front_insert_if(p->front, kind, addr, conditions, n));
}

int lz_rsp_break_packet(struct lz_rsp *p, const char *packet)
{
	int kind = packet[1] - '0';
	uint64_t addr, len = 0;
	char *end;

	if (kind < LZ_BREAK_SOFT || kind > LZ_WATCH_ACCESS || packet[2] != ',')
		return lz_rsp_reply(p, "%s", "");
	addr = strtoull(packet + 3, &end, 16);
	if (*end == ',')
		len = strtoull(end + 1, &end, 16);
	if (lz_rsp_spare(p, packet[0], (enum lz_front_kind)kind, addr))
		return lz_rsp_reply(p, "OK");
	if (kind < LZ_WATCH_WRITE)
		len = 1;
	if (packet[0] == 'Z' && kind < LZ_WATCH_WRITE)
		return insert_break(p, (enum lz_front_kind)kind, addr, end);
	if (packet[0] == 'Z')
		return done(p, lz_front_insert(p->front, (enum lz_front_kind)kind, addr, len));
	lz_front_remove(p->front, (enum lz_front_kind)kind, addr, len);
	return lz_rsp_reply(p, "OK");
}

enum { CAUGHT_MAX = 512 };

int lz_rsp_catch_packet(struct lz_rsp *p, const char *args)
{
	uint32_t nrs[CAUGHT_MAX];
	size_t n = 0;

	if (args[0] != '1') {
		lz_front_catch_none(p->front);
		return lz_rsp_reply(p, "OK");
	}
	for (args++; *args == ';' && n < CAUGHT_MAX;) {
		char *end;
		unsigned long nr = strtoul(args + 1, &end, 16);

		if (end != args + 1)
			nrs[n++] = (uint32_t)nr;
		args = end;
	}
	lz_front_catch(p->front, nrs, n);
	return lz_rsp_reply(p, "OK");
}

int lz_rsp_monitor(struct lz_rsp *p, const char *hex, size_t len)
{
	lz_auto_free char *text = calloc(1, len / 2 + 1);

	if (!text)
		return error(p);
	lz_unhex(hex, len, text, len / 2);
	if (strcmp(text, "backward") == 0) {
		lz_rsp_turn(p);
		return lz_rsp_reply(p, "OK");
	}
	lz_auto_free char *answer = lz_front_monitor(p->front, text);

	if (p->lldb && answer) /* it shows only what is printed meanwhile */
		return *answer && lz_wire_console(p->wire, answer) < 0 ? error(p)
		                                                       : lz_rsp_reply(p, "OK");
	lz_auto_free char *out = answer && *answer ? lz_hex(answer, strlen(answer)) : NULL;

	if (out)
		return lz_wire_send(p->wire, out, strlen(out));
	return done(p, answer && !*answer ? 0 : -1);
}
