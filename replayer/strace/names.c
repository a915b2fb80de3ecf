/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/names.h"
#include "replayer/strace/show.h"

#include <common/base/print.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

static const struct lz_names *table_of(const char *name)
{
	static const struct lz_names *const all[] = {
	    lz_names_files, lz_names_memory, lz_names_process, lz_names_net, lz_names_ioctl};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (const struct lz_names *t = all[i]; t->table; t++)
			if (!strcmp(t->table, name))
				return t;
	return NULL;
}

static const char *find(const struct lz_names *t, uint64_t v)
{
	for (size_t i = 0; t && i < t->n; i++)
		if (t->v[i].value == v)
			return t->v[i].name;
	return NULL;
}

const char *lz_name_of(const char *table, uint64_t v)
{
	return find(table_of(table), v);
}

void lz_show_name(struct lz_show *s, const char *table, uint64_t v)
{
	const char *name = lz_name_of(table, v);

	if (name)
		lz_print(s->to, "%s", name);
	else
		lz_show_hex(s, v);
}

static bool is_flag(const struct lz_names *t, const struct lz_name *n)
{
	return n->value & ~t->mask;
}

void lz_show_flags(struct lz_show *s, const char *table, uint64_t v)
{
	const struct lz_names *t = table_of(table);
	const char *base = t ? find(t, v & t->mask) : NULL;
	bool any = false;

	if (base && (t->mask || !v)) {
		lz_print(s->to, "%s", base);
		v &= ~t->mask;
		any = true;
	}
	for (size_t i = 0; t && i < t->n; i++) {
		const struct lz_name *n = &t->v[i];
		if (!is_flag(t, n) || (v & n->value) != n->value)
			continue;
		lz_print(s->to, "%s%s", any ? "|" : "", n->name);
		v &= ~n->value;
		any = true;
	}
	if (v || !any)
		lz_print(s->to, v ? "%s%#" PRIx64 : "%s%" PRIx64, any ? "|" : "", v);
}

void lz_show_signal(struct lz_show *s, uint64_t signo)
{
	/* glibc keeps two real-time signals for itself; strace counts from the kernel's first */
	enum { FIRST = 32 };
	const char *name = signo < NSIG ? sigabbrev_np((int)signo) : NULL;

	if (name)
		lz_print(s->to, "SIG%s", name);
	else if (signo == FIRST)
		fputs("SIGRTMIN", s->to);
	else if (signo > FIRST && signo < NSIG)
		fprintf(s->to, "SIGRT_%u", (unsigned)signo - FIRST);
	else
		lz_show_int(s, (int)signo);
}

void lz_show_errno(struct lz_show *s, int64_t e)
{
	const char *name = e < INT32_MAX ? strerrorname_np((int)e) : NULL;

	if (name)
		lz_print(s->to, "%s", name);
	else
		lz_show_int(s, e);
}
