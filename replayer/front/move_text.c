/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moves as text:
 *
 *   seek here | start | end | N% | time T | event N | POSITION | THREAD:MARKER
 *   jump forward|backward [any] ADDRESS...    of the present thread, or of any
 *   back-step [N]    back-next [N]    undo [N]    redo [N]
 *   access backward|forward|here s|l|t ADDRESS LENGTH [from POSITION] [by START END] [frame ENTRY SP [NAME]]
 *   origin memory ADDRESS LENGTH [frame ENTRY SP [NAME]] | register NAME BYTE LENGTH | branch
 *   origin allocation ADDRESS from POSITION RETURN...
 *   origin block ADDRESS               that of the heap: nothing moves
 *   origin event N [BYTE LENGTH]      to right before it; bytes that it takes */
#include "replayer/front/inside.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int parse_number(const char *text, uint64_t *n)
{
	*n = 0;
	for (const char *p = text; *p; p++) {
		if (*p == ',')
			continue;
		if (*p < '0' || *p > '9')
			return lz_fail("'%s' is not a number", text);
		if (*n > UINT64_MAX / 10 - 1)
			return lz_fail("%s is far behind the end of the recording", text);
		*n = *n * 10 + (uint64_t)(*p - '0');
	}
	return 0;
}

static int parse_percent(const char *text, double *percent)
{
	char *end;

	*percent = strtod(text, &end);
	if (strcmp(end, "%") != 0 || !(*percent >= 0 && *percent <= 100))
		return lz_fail("'%s' is not a percentage from 0%% to 100%%", text);
	return 0;
}

static bool begins(const char **text, const char *with)
{
	size_t n = strlen(with);

	if (strncmp(*text, with, n) != 0)
		return false;
	*text += n;
	return true;
}

int lz_front_move_to(struct lz_front_move *m, const char *where)
{
	memset(m, 0, sizeof *m);
	if (strcmp(where, "here") == 0) {
		m->kind = LZ_MOVE_HERE;
		return 0;
	}
	if (strcmp(where, "start") == 0) {
		m->kind = LZ_MOVE_START;
		return 0;
	}
	if (strcmp(where, "end") == 0) {
		m->kind = LZ_MOVE_END;
		return 0;
	}
	if (begins(&where, "event ")) {
		m->kind = LZ_MOVE_EVENT;
		return parse_number(where, &m->n);
	}
	if (begins(&where, "time ")) {
		m->kind = LZ_MOVE_TIME;
		return parse_number(where, &m->n);
	}
	if (strchr(where, '%')) {
		m->kind = LZ_MOVE_PERCENT;
		return parse_percent(where, &m->percent);
	}
	if (lz_instant_parse(where, &m->pos) == 0) {
		m->kind = LZ_MOVE_TIME;
		m->n = m->pos.marker;
		return 0;
	}
	m->kind = LZ_MOVE_POSITION;
	return lz_pos_parse(where, &m->pos);
}

static int parse_addresses(const char *text, struct lz_front_move *m)
{
	char *end;

	for (; *text; text = end) {
		if (m->n_addrs == LZ_JUMP_ADDRS_MAX)
			return lz_fail("a jump takes at most %d addresses", LZ_JUMP_ADDRS_MAX);
		m->addrs[m->n_addrs++] = strtoull(text, &end, 16);
		if (end == text)
			return lz_fail("'%s' is not an address", text);
		while (*end == ' ')
			end++;
	}
	return 0;
}

static int parse_jump(const char *text, struct lz_front_move *m)
{
	m->kind = LZ_MOVE_JUMP;
	m->direction = LZ_FORWARD;
	if (begins(&text, "backward "))
		m->direction = LZ_BACKWARD;
	else if (!begins(&text, "forward "))
		return lz_fail("jump forward|backward ADDRESS...");
	m->any_thread = begins(&text, "any ");
	return parse_addresses(text, m);
}

static int parse_times(const char *count, enum lz_front_move_kind kind, struct lz_front_move *m)
{
	m->kind = kind;
	m->n = 1;
	begins(&count, " ");
	return *count ? parse_number(count, &m->n) : 0;
}

static void parse_frame(const char *text, struct lz_front_move *m)
{
	unsigned long entry, sp;
	int at = 0;

	if (sscanf(text, "frame %lx %lx %n", &entry, &sp, &at) != 2)
		return;
	m->entry = entry;
	m->sp = sp;
	if (at && strlen(text + at) < sizeof m->local)
		strcpy(m->local, text + at);
}

static void parse_code(const char **text, struct lz_front_move *m)
{
	unsigned long start, end;
	int at = 0;

	if (sscanf(*text, "by %lx %lx %n", &start, &end, &at) != 2)
		return;
	m->code_start = start;
	m->code_end = end;
	*text += at;
}

/* "here" is forwards, too: what comes next here counts. */
static int parse_access(const char *text, struct lz_front_move *m)
{
	char kind, from[LZ_POS_TEXT];
	unsigned long addr, len;
	int at = 0;

	m->kind = LZ_MOVE_ACCESS;
	m->here = begins(&text, "here ");
	m->direction = m->here || begins(&text, "forward ") ? LZ_FORWARD : LZ_BACKWARD;
	begins(&text, "backward ");
	if (sscanf(text, "%c %lx %lu %n", &kind, &addr, &len, &at) < 3 || !strchr("slt", kind))
		return lz_fail("access backward|forward|here s|l|t ADDRESS LENGTH");
	m->access = kind;
	m->addr = addr;
	m->len = len;
	text += at;
	if (sscanf(text, "from %127s %n", from, &at) == 1) {
		if (lz_pos_parse(from, &m->pos) < 0)
			return -1;
		text += at;
	}
	parse_code(&text, m);
	parse_frame(text, m);
	return 0;
}

static int parse_block(const char *text, struct lz_front_move *m)
{
	unsigned long addr;

	if (sscanf(text, "%lx", &addr) != 1)
		return lz_fail("origin block ADDRESS");
	m->of = LZ_OF_BLOCK;
	m->addr = addr;
	return 0;
}

static int parse_allocation(const char *text, struct lz_front_move *m)
{
	char from[LZ_POS_TEXT];
	unsigned long addr;
	int at = 0;

	if (sscanf(text, "%lx from %127s %n", &addr, from, &at) != 2)
		return lz_fail("origin allocation ADDRESS from POSITION RETURN...");
	m->of = LZ_OF_ALLOCATION;
	m->addr = addr;
	return lz_pos_parse(from, &m->pos) < 0 ? -1 : parse_addresses(text + at, m);
}

static int parse_origin(const char *text, struct lz_front_move *m)
{
	unsigned long event, addr = 0, len = 0;
	int at = 0;

	m->kind = LZ_MOVE_ORIGIN;
	if (strcmp(text, "branch") == 0)
		return 0;
	if (begins(&text, "allocation "))
		return parse_allocation(text, m);
	if (begins(&text, "block "))
		return parse_block(text, m);
	if (sscanf(text, "event %lu %lu %lu", &event, &addr, &len) >= 1) {
		m->of = LZ_OF_EVENT;
		m->n = event;
	} else if (sscanf(text, "memory %lx %lu %n", &addr, &len, &at) == 2)
		parse_frame(text + at, m);
	else if (sscanf(text, "register %15s %lu %lu", m->reg, &addr, &len) != 3)
		return lz_fail(
		    "origin memory ADDRESS LENGTH | register NAME BYTE LENGTH | branch | "
		    "event N [BYTE LENGTH] | allocation ADDRESS from POSITION RETURN...");
	m->addr = addr;
	m->len = len;
	return 0;
}

int lz_front_move_parse(const char *text, struct lz_front_move *m)
{
	memset(m, 0, sizeof *m);
	if (begins(&text, "seek "))
		return lz_front_move_to(m, text);
	if (begins(&text, "jump "))
		return parse_jump(text, m);
	if (begins(&text, "access "))
		return parse_access(text, m);
	if (begins(&text, "origin "))
		return parse_origin(text, m);
	if (begins(&text, "back-step"))
		return parse_times(text, LZ_MOVE_BACK_STEP, m);
	if (begins(&text, "back-next"))
		return parse_times(text, LZ_MOVE_BACK_NEXT, m);
	if (begins(&text, "undo"))
		return parse_times(text, LZ_MOVE_UNDO, m);
	if (begins(&text, "redo"))
		return parse_times(text, LZ_MOVE_REDO, m);
	return lz_fail("unknown move '%s'", text);
}
