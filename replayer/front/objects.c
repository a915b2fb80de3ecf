/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The auxiliary vector and siginfo. */
#include "replayer/front/inside.h"

#include <lizard/error.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { AUXV_SEARCH_MAX = 8 << 20 };

/* Number of words from ADDR up to and with a zero word; 0 if there is none. */
static size_t words_to_null(struct lz_front *f, uint64_t addr)
{
	uint64_t chunk[512];
	size_t n = 0;

	while (n * 8 < AUXV_SEARCH_MAX) {
		size_t got = lz_session_read(f->s, addr + n * 8, chunk, sizeof chunk) / 8;

		for (size_t i = 0; i < got; i++)
			if (chunk[i] == 0)
				return n + i + 1;
		if (got == 0)
			return 0;
		n += got;
	}
	return 0;
}

static int copy_auxv(struct lz_front *f, struct lz_front_program *p, uint64_t addr)
{
	Elf64_auxv_t entries[128];
	size_t n = lz_session_read(f->s, addr, entries, sizeof entries) / sizeof entries[0];

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

/* From the stack that the kernel made: argc, argv, envp, then the vector. */
int lz_front_find_auxv(struct lz_front *f, struct lz_front_program *p)
{
	uint64_t sp = p->stack_start, argc = 0;

	if (lz_session_read(f->s, sp, &argc, 8) != 8 || argc > AUXV_SEARCH_MAX / 8)
		return lz_fail("no arguments on the first stack");
	uint64_t envp = sp + 8 * (argc + 2);
	size_t n = words_to_null(f, envp);

	if (!n)
		return lz_fail("no end of the environment on the first stack");
	return copy_auxv(f, p, envp + 8 * n);
}

uint64_t lz_front_auxv_value(struct lz_front *f, uint64_t type)
{
	size_t len;
	const Elf64_auxv_t *v = lz_front_auxv(f, &len);

	for (size_t i = 0; v && i < len / sizeof *v; i++)
		if (v[i].a_type == type)
			return v[i].a_un.a_val;
	return 0;
}

bool lz_front_is_vdso(struct lz_front *f, const struct lz_vma *v)
{
	return v->file == LZ_NO_FILE && v->prot & PROT_EXEC &&
	       v->start == lz_front_auxv_value(f, AT_SYSINFO_EHDR);
}

enum { SIGINFO_SEARCH_MAX = 100000 }; /* events */

const void *lz_front_siginfo(struct lz_front *f, size_t *len)
{
	const struct lz_event *ev = lz_session_next_event(f->s);
	struct lz_pos pos;

	uint32_t tid = lz_front_chosen(f);

	*len = sizeof ev->siginfo;
	if (ev && ev->kind == LZ_EV_SIGNAL && f->stop.reason == LZ_STOP_SIGNAL && ev->tid == tid)
		return ev->siginfo;
	lz_session_present(f->s, &pos);
	uint64_t stop = lz_reader_first_event(f->reader);

	if (pos.event > stop + SIGINFO_SEARCH_MAX)
		stop = pos.event - SIGINFO_SEARCH_MAX;

	for (uint64_t i = pos.event; i > stop; i--) {
		ev = lz_reader_event(f->reader, i - 1);
		if (ev && ev->kind == LZ_EV_SIGNAL && ev->tid == tid)
			return ev->siginfo;
	}
	return NULL;
}
