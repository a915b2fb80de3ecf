/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/origin/origin.h"
#include "replayer/origin/definition.h"
#include "replayer/origin/return_place.h"
#include "replayer/origin/value.h"
#include <lizard/error.h>
#include <stdio.h>
#include <string.h>

/* ---- the instruction that comes next ---- */

static void name_insn(const struct lz_decoded *i, uint64_t at, char *text, size_t room)
{
	ZydisFormatter f;

	if (!ZYAN_SUCCESS(ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_ATT)) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
	        &f, &i->in, i->op, i->in.operand_count_visible, text, room, at, NULL)))
		snprintf(text, room, "?");
}

static bool decode_here(struct lz_session *s, struct user_regs_struct *r, struct lz_decoded *i)
{
	uint8_t code[LZ_INSN_LONGEST];

	*r = *lz_engine_regs(s->e);
	const size_t n = lz_engine_read(s->e, r->rip, code, sizeof code);
	return lz_insn_decode(code, n, i);
}

/* It is answered by the recording, not by the processor. */
static const struct lz_event *event_here(struct lz_session *s)
{
	const struct lz_event *ev = lz_session_next_event(s);

	if (!ev || ev->marker != s->pos.marker)
		return NULL;
	return (ev->kind == LZ_EV_SYSCALL && ev->ip - 2 == s->pos.ip) ||
	               (ev->kind == LZ_EV_INSN && ev->ip == s->pos.ip)
	           ? ev
	           : NULL;
}

static void by_event(struct lz_origin *o, uint64_t event)
{
	o->kind = LZ_ORIGIN_EVENT;
	o->by_event = true;
	o->event = event;
}

static enum lz_origin_kind kind_of(enum lz_source_kind kind)
{
	switch (kind) {
	case LZ_SOURCE_COPY:
	case LZ_SOURCE_KEPT: return LZ_ORIGIN_COPY;
	case LZ_SOURCE_CONSTANT: return LZ_ORIGIN_CONSTANT;
	case LZ_SOURCE_ADDRESS: return LZ_ORIGIN_ADDRESS;
	case LZ_SOURCE_MADE: break;
	}
	return LZ_ORIGIN_MADE;
}

/* The session stands right before it; WAS: what `o->of` held behind it. */
static int look(struct lz_session *s, struct lz_origin *o, const uint8_t *was, size_t n)
{
	const struct lz_event *ev = event_here(s);
	struct user_regs_struct r;
	uint8_t now[LZ_VALUE_MAX];
	struct lz_decoded i;

	if (ev) {
		by_event(o, ev->index);
		return 0;
	}
	if (!decode_here(s, &r, &i))
		return lz_fail("no instruction stands at %#lx", (unsigned long)r.rip);
	name_insn(&i, r.rip, o->insn, sizeof o->insn);
	struct lz_location part = o->of;
	if (!lz_source_writes(&i, &r, &part))
		return lz_fail("the instruction at %#lx is not the one that was looked for",
		               (unsigned long)r.rip);
	/* of what was asked for, the part that is written */
	was += o->of.in_memory ? part.addr - o->of.addr : part.at - o->of.at;
	n = part.len < n ? part.len : n;
	o->of = part;
	lz_source_of(&i, &r, &part, &o->source);
	o->kind = kind_of(o->source.kind);
	if (o->kind != LZ_ORIGIN_COPY)
		return 0;
	const size_t got = lz_value_read(s, &o->source.from, now);
	o->proven = got && memcmp(now, was, got < n ? got : n) == 0;
	return 0;
}

/* ---- to it ---- */

static int in_memory(struct lz_session *s, const struct lz_activation_start *frame,
                     struct lz_origin *o)
{
	struct lz_access_query q = {
	    .direction = LZ_BACKWARD, .kind = 's', .addr = o->of.addr, .len = o->of.len};
	struct lz_accessed a;

	if (frame)
		q.frame = *frame;
	int ret = lz_access_go(s, &q, &a);
	if (ret == LZ_ACCESS_NONE || ret == LZ_ACCESS_FRAME) {
		o->kind = ret == LZ_ACCESS_NONE ? LZ_ORIGIN_BEGIN : LZ_ORIGIN_FRAME;
		return 1;
	}
	if (!ret && a.by_event) {
		by_event(o, a.event);
		return 1;
	}
	return ret;
}

static int in_register(struct lz_session *s, struct lz_origin *o)
{
	struct lz_return_place here;

	lz_session_begin(s);
	if (lz_return_keep(s, &here) < 0)
		return -1;
	s->nested++;
	int ret = o->of.len ? lz_definition_go(s, &o->of) : lz_definition_branch(s);
	s->nested--;
	if (ret && lz_return_to(s, &here) < 0)
		ret = -1;
	lz_return_drop(&here);
	if (ret == LZ_DEFINITION_FAR)
		o->kind = LZ_ORIGIN_FAR;
	return ret == LZ_DEFINITION_INTERRUPTED ? LZ_ACCESS_INTERRUPTED : ret;
}

int lz_origin_go(struct lz_session *s, const struct lz_location *of,
                 const struct lz_activation_start *frame, struct lz_origin *o)
{
	uint8_t was[LZ_VALUE_MAX];

	*o = (struct lz_origin){.of = *of};
	const size_t n = lz_value_read(s, of, was);
	int ret = of->in_memory ? in_memory(s, frame, o) : in_register(s, o);
	if (ret)
		return ret == 1 ? 0 : ret;
	return look(s, o, was, n);
}

int lz_origin_branch(struct lz_session *s, struct lz_origin *o)
{
	struct user_regs_struct r;
	struct lz_decoded i;

	*o = (struct lz_origin){0};
	int ret = in_register(s, o);
	if (ret)
		return ret == 1 ? 0 : ret;
	if (!decode_here(s, &r, &i))
		return lz_fail("no instruction stands at %#lx", (unsigned long)r.rip);
	name_insn(&i, r.rip, o->insn, sizeof o->insn);
	o->kind = LZ_ORIGIN_MADE;
	lz_source_inputs(&i, &r, &o->source);
	return 0;
}
