/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dynamic linker, whose code runs before the program's own: it makes most calls of a short program, and
 * reads the clock eight times. */
#include "tracer/code/code.h"

#include <elf.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <stdio.h>
#include <sys/mman.h>

/* As the kernel has told the program. */
static uint64_t linker_of(pid_t pid)
{
	char path[64];
	uint64_t word[2] = {0}, base = 0, entry = 0;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fread(word, sizeof(word), 1, f) == 1) {
		if (word[0] == AT_BASE)
			base = word[1];
		if (word[0] == AT_ENTRY)
			entry = word[1];
	}
	if (f)
		fclose(f);
	return base ? base : entry;
}

/* The linker's code is the first that is mapped behind its base. */
static const struct lz_vma *code_behind(const struct lz_tracer *t, uint64_t base)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_vma *v = &t->vmas.a[i].v;

		if (v->end > base && v->prot & PROT_EXEC)
			return v;
	}
	return NULL;
}

const struct lz_vma *lz_linker_code(struct lz_tracer *t)
{
	if (!t->linker)
		t->linker = linker_of(t->p.pid);
	const struct lz_vma *v = t->linker ? code_behind(t, t->linker) : NULL;

	return v && v->file != LZ_NO_FILE && !(v->flags & MAP_SHARED) ? v : NULL;
}

/* Those of a kind that the file is known to have. */
static int make_sites(struct lz_tracer *t, const struct lz_vma *v, enum lz_insns_kind kind)
{
	const uint64_t *sites;
	size_t n;
	int ret = lz_writer_file_insns(t->w, v->file, kind, &sites, &n);

	if (ret)
		return ret < 0 ? -1 : 0;
	for (size_t i = 0; i < n; i++) {
		const uint64_t offset = sites[i] - 1;

		if (offset >= v->offset && offset - v->offset < v->end - v->start &&
		    lz_detour_make(t, v->start + (offset - v->offset)) < 0)
			return -1;
	}
	return 0;
}

int lz_linker_sites(struct lz_tracer *t)
{
	const struct lz_vma *v = lz_linker_code(t);

	if (!v || make_sites(t, v, LZ_INSNS_LOADING) < 0)
		return v ? -1 : 0;
	if (!lz_segments_readable() || lz_counter_forbidden(t) || !lz_counter_scale(t))
		return 0;
	return make_sites(t, v, LZ_INSNS_RDTSC);
}
