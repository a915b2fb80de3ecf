/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a value came from, as text:
 *
 *   kind=copy|constant|address|made|event|begin|frame|far|allocated|block|none
 *   insn=mov %eax, -0x4(%rbp)
 *   of=LOCATION                what of it was asked for was put there
 *   from=LOCATION VALUE        of a copy; proven=0 if another value is there
 *   input=LOCATION VALUE       of what was made, one line each
 *   constant=NUMBER            of a constant and an address
 *   call=... event=N           as for an access
 *   byte=N value=BYTES         of what the call gave to memory
 *   fd=N made=EVENT            what made the descriptor that it read from; peer=EVENT what named its
 *                              other end, offset=N of that byte in the file
 *   block=N size=N             of kind=allocated and of kind=block
 *   sent=EVENT BYTE            of a pipe: what wrote it, and which byte of what that took
 *
 * LOCATION: memory ADDRESS LENGTH, or register NAME BYTE LENGTH. VALUE: its bytes. */
#include "replayer/front/inside.h"
#include "replayer/origin/heap.h"
#include "replayer/origin/origin.h"
#include "replayer/origin/sent.h"
#include "replayer/origin/value.h"
#include "replayer/strace/descriptors.h"

#include <common/base/print.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static void print_location(FILE *to, const struct lz_location *l)
{
	if (l->in_memory)
		lz_print(to, "memory %lx %lu", (unsigned long)l->addr, (unsigned long)l->len);
	else
		lz_print(to, "register %s %u %lu", ZydisRegisterGetString(l->reg), l->at,
		         (unsigned long)l->len);
}

static void print_value(FILE *to, struct lz_front *f, const char *key, const struct lz_location *l)
{
	uint8_t v[LZ_VALUE_MAX];
	const size_t n = lz_value_read(f->s, l, v);

	lz_print(to, "%s=", key);
	print_location(to, l);
	lz_print(to, " ");
	for (size_t i = 0; i < n; i++)
		lz_print(to, "%02x", v[i]);
	lz_print(to, "\n");
}

static const char *name_of(enum lz_origin_kind kind)
{
	switch (kind) {
	case LZ_ORIGIN_COPY: return "copy";
	case LZ_ORIGIN_CONSTANT: return "constant";
	case LZ_ORIGIN_ADDRESS: return "address";
	case LZ_ORIGIN_MADE: return "made";
	case LZ_ORIGIN_EVENT: return "event";
	case LZ_ORIGIN_BEGIN: return "begin";
	case LZ_ORIGIN_FRAME: return "frame";
	case LZ_ORIGIN_FAR: break;
	}
	return "far";
}

static void print_given(FILE *to, const uint8_t *bytes, size_t known, size_t len)
{
	lz_print(to, "value=");
	for (size_t i = 0; i < len && i < known && i < LZ_VALUE_MAX; i++)
		lz_print(to, "%02x", bytes[i]);
	lz_print(to, "\n");
}

static bool is_interrupted(void *arg)
{
	struct lz_front *f = arg;

	return lz_session_take_interrupt(f->s);
}

static int print_descriptor(FILE *to, struct lz_front *f, const struct lz_event *ev, uint64_t byte)
{
	const uint32_t fd = (uint32_t)ev->args[0];
	struct lz_descriptor d;

	if (!f->descriptors && !(f->descriptors = lz_descriptors_new(f->reader)))
		return -1;
	int ret = lz_descriptor_read(f->descriptors, ev->index, byte, is_interrupted, f, &d);
	if (ret)
		return ret == LZ_DESCRIPTOR_INTERRUPTED ? LZ_ACCESS_INTERRUPTED : ret < 0 ? -1 : 0;
	lz_print(to, "fd=%u\nmade=%lu\n", fd, (unsigned long)d.made);
	if (d.has_peer)
		lz_print(to, "peer=%lu\n", (unsigned long)d.peer);
	if (d.has_offset)
		lz_print(to, "offset=%lu\n", (unsigned long)d.offset);
	if (d.has_sent)
		lz_print(to, "sent=%lu %lu\n", (unsigned long)d.sent, (unsigned long)d.sent_byte);
	return 0;
}

static int print_event(FILE *to, struct lz_front *f, const struct lz_origin *o)
{
	const struct lz_event *ev = lz_reader_event(f->reader, o->event);

	if (!ev)
		return -1;
	lz_front_print_event(to, f, ev);
	lz_print(to, "event=%lu\n", (unsigned long)o->event);
	uint64_t before = 0;
	for (uint32_t i = 0; o->of.in_memory && i < ev->n_writes; before += ev->writes[i++].len) {
		const uint64_t at = o->of.addr - ev->writes[i].addr;
		if (at >= ev->writes[i].len)
			continue;
		print_given(to, ev->writes[i].bytes + at, ev->writes[i].len - at, o->of.len);
		lz_print(to, "byte=%lu\n", (unsigned long)(before + at));
		return ev->kind == LZ_EV_SYSCALL && ev->result > 0 &&
		               before + at < (uint64_t)ev->result
		           ? print_descriptor(to, f, ev, before + at)
		           : 0;
	}
	return 0;
}

static int tell(struct lz_front *f, const struct lz_origin *o)
{
	size_t len;
	FILE *to = open_memstream(&f->found, &len);
	int ret = 0;

	if (!to)
		return lz_fail("out of memory");
	lz_print(to, "kind=%s\ninsn=%s\n", name_of(o->kind), o->insn);
	if (o->of.len) {
		lz_print(to, "of=");
		print_location(to, &o->of);
		lz_print(to, "\n");
	}
	if (o->kind == LZ_ORIGIN_COPY) {
		print_value(to, f, "from", &o->source.from);
		lz_print(to, "proven=%d\n", o->proven);
	}
	for (unsigned i = 0; o->kind == LZ_ORIGIN_MADE && i < o->source.n_inputs; i++)
		print_value(to, f, "input", &o->source.input[i]);
	if (o->kind == LZ_ORIGIN_CONSTANT || o->kind == LZ_ORIGIN_ADDRESS)
		lz_print(to, "constant=%lu\n", (unsigned long)o->source.constant);
	if (o->by_event)
		ret = print_event(to, f, o);
	fclose(to);
	return ret;
}

static int search(struct lz_front *f, const struct lz_front_move *m, struct lz_origin *o)
{
	const struct lz_activation_start frame = {m->entry, m->sp, *m->local ? m->local : NULL};
	struct lz_location of = {.in_memory = true, .addr = m->addr, .len = m->len};

	if (m->of == LZ_OF_EVENT)
		return lz_origin_sent(f->s, m->n, m->addr, m->len, o);
	if (!m->len)
		return lz_origin_branch(f->s, o);
	if (*m->reg) {
		of = lz_location_of_register(m->reg);
		if (!of.len || m->addr >= 64)
			return lz_fail("there is no register %s to be followed", m->reg);
		of.at += (unsigned)m->addr;
		of.len = m->len;
	}
	return lz_origin_go(f->s, &of, m->entry ? &frame : NULL, o);
}

static int tell_block(struct lz_front *f, const char *kind, const struct lz_block *b)
{
	int n = b ? asprintf(&f->found, "kind=%s\nblock=%lu\nsize=%lu\n", kind,
	                     (unsigned long)b->addr, (unsigned long)b->len)
	          : asprintf(&f->found, "kind=none\n");

	return n < 0 ? lz_fail("out of memory") : 0;
}

static int allocation(struct lz_front *f, const struct lz_front_move *m)
{
	struct lz_allocation_query q = {.addr = m->addr, .from = {m->pos.event, m->pos.marker}};
	struct lz_block b;

	for (; q.n_returns < m->n_addrs && q.n_returns < LZ_RETURNS_MAX; q.n_returns++)
		q.returns[q.n_returns] = m->addrs[q.n_returns];
	int ret = lz_allocation_go(f->s, &q, &b);
	if (ret == LZ_ACCESS_INTERRUPTED)
		return ret;
	return ret < 0 ? -1 : tell_block(f, "allocated", ret ? NULL : &b);
}

static int block(struct lz_front *f, const struct lz_front_move *m)
{
	struct lz_block b;
	int ret = lz_heap_block(f->s, m->addr, &b);

	return ret < 0 ? -1 : tell_block(f, "block", ret ? NULL : &b);
}

static int value(struct lz_front *f, const struct lz_front_move *m)
{
	struct lz_origin o;
	int ret = search(f, m, &o);

	return ret ? ret : tell(f, &o);
}

int lz_front_origin(struct lz_front *f, const struct lz_front_move *m)
{
	free(f->found);
	f->found = NULL;
	int ret = m->of == LZ_OF_ALLOCATION ? allocation(f, m)
	          : m->of == LZ_OF_BLOCK    ? block(f, m)
	                                    : value(f, m);
	if (ret != LZ_ACCESS_INTERRUPTED)
		return ret;
	f->stop.reason = LZ_STOP_INTERRUPTED;
	return 0;
}
