/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmds/dump.h>
#include <common/base/text.h>
#include <common/base/print.h>
#include <lizard/error.h>
#include <lizard/syscalls.h>

static const char *kind_name(unsigned kind)
{
	static const char *const name[] = {"?",      "syscall", "signal", "insn",
	                                   "switch", "exit",    "shared"};

	return name[kind < sizeof(name) / sizeof(*name) ? kind : 0];
}

static const char *op_name(unsigned op)
{
	static const char *const name[] = {"?", "map", "unmap", "protect", "remap", "zero"};

	return name[op < sizeof(name) / sizeof(*name) ? op : 0];
}

static const struct {
	uint32_t flag;
	const char *name;
} flag_names[] = {{LZ_EVF_REBASE, "rebase"},         {LZ_EVF_SPIN, "spin"},
                  {LZ_EVF_FATAL, "fatal"},           {LZ_EVF_SYNC, "sync"},
                  {LZ_EVF_IGNORED, "ignored"},       {LZ_EVF_IN_CALL, "in-call"},
                  {LZ_EVF_THREAD_END, "thread-end"}, {LZ_EVF_THREAD_BORN, "thread-born"}};
enum { N_FLAGS = sizeof(flag_names) / sizeof(*flag_names) };

/* ---- text ---- */

static void print_bytes(const uint8_t *p, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		bool quoted = p[i] == '\\' || p[i] == '"';

		if (isprint(p[i]))
			lz_print(stdout, quoted ? "\\%c" : "%c", p[i]);
		else
			printf("\\x%02x", p[i]);
	}
}

static void print_number(uint64_t v)
{
	printf(v < 10000 ? "%" PRIu64 : "0x%" PRIx64, v);
}

static void print_call(const struct lz_event *ev)
{
	const struct lz_syscall *row = lz_syscall(ev->nr);
	unsigned n = row && row->n_args <= 6 ? row->n_args : 6;

	lz_print(stdout, "%s(", lz_call_name(ev->nr, ev->args));
	for (unsigned i = 0; i < n; i++) {
		if (i)
			printf(", ");
		print_number(ev->args[i]);
	}
	printf(")");
}

static void print_syscall(const struct lz_event *ev)
{
	print_call(ev);
	printf(" = ");
	if (ev->result < 0 && ev->result > -4096 && strerrorname_np((int)-ev->result))
		lz_print(stdout, "-%s", strerrorname_np((int)-ev->result));
	else
		print_number((uint64_t)ev->result);
	if (ev->flags & LZ_EVF_THREAD_BORN)
		printf(", thread %u", ev->next);
}

static void print_what(const struct lz_event *ev)
{
	char buf[LZ_TEXT];

	switch (ev->kind) {
	case LZ_EV_SYSCALL: print_syscall(ev); break;
	case LZ_EV_SIGNAL:
		lz_print(stdout, "signal %u (%s)", ev->signo, lz_text_signal((int)ev->signo, buf));
		break;
	case LZ_EV_SWITCH:
		printf("switch to thread %u", ev->next);
		if (ev->flags & LZ_EVF_IN_CALL) {
			printf(", inside ");
			print_call(ev);
		}
		break;
	case LZ_EV_INSN: lz_print(stdout, "%s", lz_insn_name(ev->insn)); break;
	case LZ_EV_EXIT: lz_print(stdout, "exit: %s", lz_text_status((int)ev->status, buf)); break;
	default: lz_print(stdout, "%s", kind_name(ev->kind));
	}
	for (int i = 0; i < N_FLAGS; i++)
		if (ev->flags & flag_names[i].flag)
			lz_print(stdout, " %s", flag_names[i].name);
	if (ev->has_state)
		printf(" state %016" PRIx64, ev->state);
	if (ev->has_pages)
		printf(" and %u pages", ev->n_pages);
}

static void print_effects(const struct lz_dump *d, const struct lz_event *ev)
{
	if (ev->has_regs)
		printf(" -> ip 0x%llx", ev->regs.rip);
	for (uint32_t i = 0; i < ev->n_ops; i++) {
		const struct lz_map_op *o = &ev->ops[i];

		lz_print(stdout, " {%s 0x%" PRIx64 "+0x%" PRIx64, op_name(o->op), o->addr, o->len);
		if (o->op == LZ_REMAP)
			printf(" from 0x%" PRIx64 "+0x%" PRIx64, o->old_addr, o->old_len);
		if (o->op == LZ_MAP || o->op == LZ_PROTECT)
			printf(" prot %u", o->prot);
		if (o->op == LZ_MAP && o->file != LZ_NO_FILE)
			printf(" file %u at 0x%" PRIx64, o->file, o->offset);
		printf("}");
	}
	for (uint32_t i = 0; i < ev->n_writes; i++) {
		printf(" [%" PRIu64 " bytes at 0x%" PRIx64, ev->writes[i].len, ev->writes[i].addr);
		if (d->bytes) {
			printf(" \"");
			print_bytes(ev->writes[i].bytes, ev->writes[i].len);
			printf("\"");
		}
		printf("]");
	}
}

static int print_text(const struct lz_dump *d, const struct lz_event *ev)
{
	printf("event %" PRIu64 "  thread %u  marker %" PRIu64 "  ip 0x%" PRIx64 "  %.6f s  ",
	       ev->index, ev->tid, ev->marker, ev->ip, (double)ev->time_ns / 1e9);
	print_what(ev);
	print_effects(d, ev);
	putchar('\n');
	return 0;
}

/* ---- JSON ---- */

static void set_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static json_t *hex_bytes(const uint8_t *p, uint64_t n)
{
	static const char digit[] = "0123456789abcdef";
	char *text = malloc(2 * n + 1);
	json_t *v;

	if (!text)
		return NULL;
	for (uint64_t i = 0; i < n; i++) {
		text[2 * i] = digit[p[i] >> 4];
		text[2 * i + 1] = digit[p[i] & 15];
	}
	v = json_stringn(text, 2 * n);
	free(text);
	return v;
}

static json_t *writes_json(const struct lz_dump *d, const struct lz_event *ev)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < ev->n_writes; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "addr", lz_json_hex(ev->writes[i].addr));
		set_int(o, "len", ev->writes[i].len);
		if (d->bytes)
			json_object_set_new(o, "bytes",
			                    hex_bytes(ev->writes[i].bytes, ev->writes[i].len));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *ops_json(const struct lz_event *ev)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < ev->n_ops; i++) {
		const struct lz_map_op *p = &ev->ops[i];
		json_t *o = json_object();

		json_object_set_new(o, "op", json_string(op_name(p->op)));
		json_object_set_new(o, "addr", lz_json_hex(p->addr));
		json_object_set_new(o, "len", lz_json_hex(p->len));
		set_int(o, "prot", p->prot);
		set_int(o, "flags", p->flags);
		if (p->file != LZ_NO_FILE) {
			set_int(o, "file", p->file);
			json_object_set_new(o, "offset", lz_json_hex(p->offset));
		}
		if (p->op == LZ_REMAP) {
			json_object_set_new(o, "old_addr", lz_json_hex(p->old_addr));
			json_object_set_new(o, "old_len", lz_json_hex(p->old_len));
		}
		json_array_append_new(list, o);
	}
	return list;
}

static void set_call(json_t *o, const struct lz_event *ev)
{
	json_t *list = json_array();

	set_int(o, "nr", ev->nr);
	json_object_set_new(o, "name", json_string(lz_call_name(ev->nr, ev->args)));
	for (int i = 0; i < 6; i++)
		json_array_append_new(list, lz_json_hex(ev->args[i]));
	json_object_set_new(o, "args", list);
}

static void set_what(json_t *o, const struct lz_event *ev)
{
	switch (ev->kind) {
	case LZ_EV_SYSCALL:
		set_call(o, ev);
		json_object_set_new(o, "result", json_integer(ev->result));
		if (ev->has_taken)
			json_object_set_new(o, "taken", lz_json_hex(ev->taken));
		if (ev->flags & LZ_EVF_THREAD_BORN)
			set_int(o, "next", ev->next);
		break;
	case LZ_EV_SWITCH:
		set_int(o, "next", ev->next);
		if (ev->flags & LZ_EVF_IN_CALL)
			set_call(o, ev);
		break;
	case LZ_EV_SIGNAL: set_int(o, "signo", ev->signo); break;
	case LZ_EV_INSN: json_object_set_new(o, "insn", json_string(lz_insn_name(ev->insn))); break;
	case LZ_EV_EXIT: lz_json_status(o, (int)ev->status); break;
	}
}

static json_t *pages_json(const struct lz_event *ev)
{
	json_t *list = json_array();

	for (uint32_t k = 0; k < ev->n_pages; k++)
		json_array_append_new(list, lz_json_hex(ev->pages[k].addr));
	return list;
}

static int print_json(const struct lz_dump *d, const struct lz_event *ev)
{
	json_t *o = json_object(), *flags = json_array();

	json_object_set_new(o, "part", json_string("event"));
	set_int(o, "index", ev->index);
	json_object_set_new(o, "kind", json_string(kind_name(ev->kind)));
	set_int(o, "tid", ev->tid);
	set_int(o, "number", ev->number);
	set_int(o, "marker", ev->marker);
	json_object_set_new(o, "ip", lz_json_hex(ev->ip));
	set_int(o, "time_ns", ev->time_ns);
	set_int(o, "map_id", ev->map_id);
	for (int i = 0; i < N_FLAGS; i++)
		if (ev->flags & flag_names[i].flag)
			json_array_append_new(flags, json_string(flag_names[i].name));
	json_object_set_new(o, "flags", flags);
	set_what(o, ev);
	if (ev->has_state)
		json_object_set_new(o, "state", lz_json_hex(ev->state));
	if (ev->has_pages)
		json_object_set_new(o, "pages", pages_json(ev));
	if (ev->has_regs)
		json_object_set_new(o, "new_ip", lz_json_hex(ev->regs.rip));
	json_object_set_new(o, "writes", writes_json(d, ev));
	json_object_set_new(o, "ops", ops_json(ev));
	return lz_json_print(o);
}

int lz_dump_events(struct lz_dump *d)
{
	for (uint64_t i = lz_reader_first_event(d->r);
	     i < lz_reader_n_events(d->r) && d->lines < d->limit; i++, d->lines++) {
		const struct lz_event *ev = lz_reader_event(d->r, i);

		if (!ev || (d->json ? print_json(d, ev) : print_text(d, ev)) < 0)
			return -1;
		if (ferror(stdout))
			return 0; /* said at the end */
	}
	return 0;
}
