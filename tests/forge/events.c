/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of an event. */
#include "tests/forge/forge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define E(member, kind) FIELD(struct lz_event, member, kind)
static const struct field of_all[] = {
    E(kind, SMALL),    E(flags, NUMBER), E(tid, THREAD),     E(number, NUMBER),
    E(marker, NUMBER), E(ip, ADDRESS),   E(time_ns, NUMBER), E(map_id, NUMBER),
};
static const struct field of_call[] = {
    E(nr, NUMBER),       E(args[0], ADDRESS), E(args[1], ADDRESS), E(args[2], ADDRESS),
    E(args[3], ADDRESS), E(args[4], ADDRESS), E(args[5], ADDRESS), E(result, NUMBER),
    E(result, ADDRESS),  E(taken, NUMBER),
};
static const struct field of_switch[] = {E(next, THREAD), E(state, NUMBER)};
static const struct field of_signal[] = {E(signo, NUMBER), E(state, NUMBER)};
static const struct field of_insn[] = {E(insn, SMALL)};
static const struct field of_exit[] = {E(status, NUMBER)};

#define O(member, kind) FIELD(struct lz_map_op, member, kind)
static const struct field of_op[] = {
    O(op, SMALL),
    O(addr, PAGE_ADDRESS),
    O(len, LENGTH),
    O(old_addr, PAGE_ADDRESS),
    O(flags, MAP_FLAGS),
    O(file, FILE_INDEX),
    O(prot, PROT),
    O(old_len, LENGTH),
    O(offset, NUMBER),
    O(addr, PAGE_ADDRESS),
    O(old_addr, PAGE_ADDRESS),
};
#define W(member, kind) FIELD(struct lz_write, member, kind)
static const struct field of_write[] = {W(addr, ADDRESS)};

static bool forge_common(struct lz_event *ev)
{
	field_forge(ev, &of_all[pick(N_OF(of_all))], "event");
	return true;
}

static bool forge_own(struct lz_event *ev)
{
	switch (ev->kind) {
	case LZ_EV_SYSCALL: field_forge(ev, &of_call[pick(N_OF(of_call))], "call"); return true;
	case LZ_EV_SWITCH: field_forge(ev, of_switch, "switch"); return true;
	case LZ_EV_SIGNAL:
		field_forge(ev, of_signal, "signal");
		ev->signo %= 65;
		return true;
	case LZ_EV_INSN: field_forge(ev, of_insn, "insn"); return true;
	case LZ_EV_EXIT: field_forge(ev, of_exit, "exit"); return true;
	default: return false;
	}
}

static bool forge_siginfo(struct lz_event *ev)
{
	uint64_t value = value_number(0);
	uint32_t at = pick(sizeof(ev->siginfo) / 8) * 8;

	if (ev->kind != LZ_EV_SIGNAL)
		return false;
	memcpy(ev->siginfo + at, &value, 8);
	note("siginfo %#llx at %u", (unsigned long long)value, at);
	return true;
}

/* An event that has no registers gets those that the program began with. */
static void give_regs(struct lz_event *ev)
{
	if (ev->has_regs)
		return;
	ev->has_regs = true;
	ev->regs = world.regs;
	ev->regs.rip = ev->ip;
}

static bool forge_regs(struct lz_event *ev)
{
	if (!ev->has_regs && pick(3))
		return false;
	give_regs(ev);
	regs_forge(&ev->regs, "event");
	return true;
}

static bool forge_xstate(struct lz_event *ev)
{
	if (!ev->xstate && pick(4))
		return false;
	ev->xstate = xstate_forge(ev->xstate, &ev->xstate_len);
	return true;
}

struct lz_write *event_add_write(struct lz_event *ev, const void *bytes, uint64_t len)
{
	struct lz_write *v = calloc(ev->n_writes + 1u, sizeof(*v));

	if (ev->n_writes)
		memcpy(v, ev->writes, ev->n_writes * sizeof(*v));
	v[ev->n_writes] = (struct lz_write){.bytes = bytes, .len = len};
	ev->writes = v;
	return &v[ev->n_writes++];
}

static bool forge_write(struct lz_event *ev)
{
	if (!ev->n_writes)
		return false;
	field_forge(&ev->writes[pick(ev->n_writes)], of_write, "write");
	return true;
}

/* Longer, with zeroes behind. */
static bool forge_write_len(struct lz_event *ev)
{
	static const uint64_t lengths[] = {0, 1, LZ_PAGE, LZ_PAGE + 1, 1 << 16, 1 << 20, 64 << 20};

	if (!ev->n_writes)
		return false;
	struct lz_write *w = &ev->writes[pick(ev->n_writes)];
	uint64_t len = lengths[pick(N_OF(lengths))];
	uint8_t *bytes = calloc(1, len + 1);
	if (w->bytes)
		memcpy(bytes, w->bytes, w->len < len ? w->len : len);
	note("write len %llu -> %llu", (unsigned long long)w->len, (unsigned long long)len);
	w->bytes = bytes;
	w->len = len;
	w->n_kept = 0;
	return true;
}

/* Where the recording has the bytes. */
static bool forge_kept(struct lz_event *ev)
{
	static const uint64_t values[] = {0, 1, 1000, 1 << 20, UINT32_MAX, UINT64_MAX};
	const uint64_t value = values[pick(N_OF(values))];

	if (!ev->n_writes)
		return false;
	struct lz_write *w = &ev->writes[pick(ev->n_writes)];
	if (!w->n_kept)
		return false;
	struct lz_kept *kept = calloc(w->n_kept, sizeof(*kept));
	memcpy(kept, w->kept, w->n_kept * sizeof(*kept));
	struct lz_kept *k = &kept[pick(w->n_kept)];
	if (pick(2))
		k->chunk = value;
	else
		k->at = (uint32_t)value;
	note("kept chunk %llu at %u", (unsigned long long)k->chunk, k->at);
	w->kept = kept;
	return true;
}

/* Where a pointer may stand. */
static bool forge_written(struct lz_event *ev)
{
	uint64_t value = value_address();

	if (!ev->n_writes)
		return false;
	struct lz_write *w = &ev->writes[pick(ev->n_writes)];
	uint64_t at = w->len > 8 ? pick((uint32_t)(w->len / 8)) * 8ull : 0;
	uint8_t *bytes = calloc(1, w->len + 8);
	if (w->bytes)
		memcpy(bytes, w->bytes, w->len);
	memcpy(bytes + at, &value, 8);
	note("written %#llx at %llu of %llu", (unsigned long long)value, (unsigned long long)at,
	     (unsigned long long)w->len);
	w->bytes = bytes;
	w->n_kept = 0;
	return true;
}

/* Code at the stub, in a write that may begin before it. */
static struct lz_write *write_stub(struct lz_event *ev, const struct payload *p)
{
	static const uint32_t before[] = {0, 0, 0, 1, 64, LZ_PAGE};
	uint32_t n = before[pick(N_OF(before))];
	size_t len = (size_t)(p->end - p->code);
	uint8_t *bytes = malloc(n + len);

	memset(bytes, NOP, n);
	memcpy(bytes + n, p->code, len);
	struct lz_write *w = event_add_write(ev, bytes, n + len);
	w->addr = world.stub - n;
	return w;
}

/* Code, and control goes to it: by the registers, or as it is where control is already. */
static bool add_code(struct lz_event *ev)
{
	const struct payload *p = payload_pick();
	bool at_stub = pick(2);
	struct lz_write *w = at_stub ? write_stub(ev, p)
	                             : event_add_write(ev, p->code, (uint64_t)(p->end - p->code));

	if (!at_stub)
		w->addr = pick(2) ? ev->ip : value_address();
	note("%s in %llu bytes written to %#llx", p->name, (unsigned long long)w->len,
	     (unsigned long long)w->addr);
	if (pick(3) && (at_stub || !p->is_32_bit))
		return true;
	give_regs(ev);
	ev->regs.rip = w->addr;
	if (p->is_32_bit)
		ev->regs.cs = 0x23;
	note("rip there, cs %#llx", (unsigned long long)ev->regs.cs);
	return true;
}

static bool forge_op(struct lz_event *ev)
{
	if (!ev->n_ops)
		return false;
	field_forge(&ev->ops[pick(ev->n_ops)], &of_op[pick(N_OF(of_op))], "op");
	return true;
}

static bool add_op(struct lz_event *ev)
{
	static const char *const names[] = {"?", "map", "unmap", "protect", "remap", "zero"};
	const uint64_t page = LZ_PAGE;
	struct lz_map_op *v = calloc(ev->n_ops + 1u, sizeof(*v)), *o = &v[ev->n_ops];

	if (ev->n_ops)
		memcpy(v, ev->ops, ev->n_ops * sizeof(*v));
	*o = (struct lz_map_op){.op = (uint8_t)(LZ_MAP + pick(5)),
	                        .addr = value_address() & -page,
	                        .len = pick(4) ? page << pick(2) : value_length(),
	                        .prot = pick(8),
	                        .flags = MAP_PRIVATE | MAP_ANONYMOUS,
	                        .file = LZ_NO_FILE};
	if (o->op == LZ_REMAP) {
		o->old_addr = value_address() & -page;
		o->old_len = pick(4) ? page << pick(2) : value_length();
	}
	note("%s of %#llx+%#llx, old %#llx+%#llx", names[o->op], (unsigned long long)o->addr,
	     (unsigned long long)o->len, (unsigned long long)o->old_addr,
	     (unsigned long long)o->old_len);
	if (!pick(4))
		field_forge(o, &of_op[pick(N_OF(of_op))], "op");
	ev->ops = v;
	ev->n_ops++;
	return true;
}

/* ---- several events ---- */

/* The process goes on in 32-bit code, where it calls getpid. What that is said to have done is done
 * for it by system calls. These are 32-bit ones, too, whose first argument is in rbx, unless Lizard
 * sees to it. */
static void add_32_bit(struct lz_event *ev, struct lz_event *due)
{
	enum { LOW = 0x10000000, PATH = 64, CALL = SYS_getpid };
	static const uint8_t page[] = {[0] = 0xcd, 0x80, 0xeb, 0xfe, [PATH] = 'o',
	                               'w',        'n',  'e',  'd',  0};
	struct lz_map_op *map = calloc(1, sizeof(*map));

	*map = (struct lz_map_op){.op = LZ_MAP,
	                          .addr = LOW,
	                          .len = LZ_PAGE,
	                          .prot = PROT_READ | PROT_WRITE | PROT_EXEC,
	                          .flags = MAP_PRIVATE | MAP_ANONYMOUS,
	                          .file = LZ_NO_FILE};
	ev->ops = map;
	ev->n_ops = 1;
	event_add_write(ev, page, sizeof(page))->addr = LOW;
	ev->has_regs = true;
	ev->regs = (struct user_regs_struct){.rip = LOW,
	                                     .rax = CALL,
	                                     .orig_rax = (uint64_t)-1,
	                                     .rbx = LOW + PATH,
	                                     .rsp = world.regs.rsp,
	                                     .fs_base = world.regs.fs_base,
	                                     .eflags = 0x202,
	                                     .cs = 0x23,
	                                     .ss = 0x2b};
	*due = (struct lz_event){.kind = LZ_EV_SYSCALL,
	                         .tid = ev->kind == LZ_EV_SWITCH ? ev->next : ev->tid,
	                         .marker = ev->marker,
	                         .ip = LOW + 2,
	                         .nr = CALL};
	note("32-bit code, which calls getpid");
	add_op(due);
}

static void change(struct lz_event *ev)
{
	static bool (*const kind[])(struct lz_event *) = {
	    forge_common, forge_own,  forge_siginfo, forge_regs,      forge_xstate,
	    forge_write,  forge_op,   add_code,      forge_write_len, forge_written,
	    forge_kept,   forge_kept, add_code,      add_code,        add_op,
	    add_op,       forge_op,   forge_regs,    forge_siginfo,
	};
	while (!kind[pick(N_OF(kind))](ev))
		;
}

void event_change(struct lz_event *ev, struct lz_event *due)
{
	due->kind = 0;
	if (pick(12))
		change(ev);
	else
		add_32_bit(ev, due);
	if (!pick(3))
		change(ev);
}
