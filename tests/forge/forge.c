/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forges a recording:
 *
 *   forge IN OUT SEED         a few fields have other values, by the seed
 *   forge IN OUT write CODE   machine code is written over replay's stub; CODE: see payload.c
 *   forge IN OUT ring CODE    a marker buffer is where replay's stub is, and markers are code
 *   forge IN OUT meta CODE    the same the other way round: meta puts the stub there
 *   forge IN OUT move         replay's stub is moved away
 *
 * OUT is a copy of the recording IN, put together by the project's own encoders, with right
 * checksums. Values are chosen for what they could do: the page of replay's stub, marker buffers,
 * the kernel's addresses, lengths that wrap, machine code that makes system calls. Prints one line
 * that says what was changed. */
#include "tests/forge/forge.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/recording/parts.h>
#include <lizard/error.h>
#include <tests/fuzz/random.h>

uint32_t pick(uint32_t n)
{
	return n ? rnd() % n : 0;
}

/* ---- notes ---- */

static char notes[4096];
static size_t kept;

void note(const char *fmt, ...)
{
	size_t used = strlen(notes);
	va_list ap;

	if (used && used + 2 < sizeof(notes)) {
		memcpy(notes + used, "; ", 3);
		used += 2;
	}
	va_start(ap, fmt);
	vsnprintf(notes + used, sizeof(notes) - used, fmt, ap);
	va_end(ap);
}

void forget_notes(void)
{
	notes[kept] = 0;
}

/* What texts are changed to is not for terminals. */
static void print_notes(const char *where)
{
	for (char *p = notes; *p; p++)
		if (*p < ' ')
			*p = '?';
	printf("%s%s\n", where, notes);
}

/* ---- the copy ---- */

static const char *from, *to;

/* Files are links: whoever changes one makes it anew. */
static int copy_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s%s", to, path + strlen(from));
	if (type == FTW_D)
		return mkdir(name, 0700);
	return type == FTW_F ? link(path, name) : 0;
}

/* The recording itself, or one of the processes that were followed. */
static const char *process_pick(void)
{
	static char name[300] = ".";
	struct dirent **v = NULL;
	int n = scandir("processes", &v, NULL, alphasort);
	uint32_t which = pick(n > 0 ? (uint32_t)n + 1 : 1);

	for (int i = 0; i < n; i++) {
		if ((uint32_t)i == which && v[i]->d_name[0] != '.')
			snprintf(name, sizeof(name), "processes/%s", v[i]->d_name);
		free(v[i]);
	}
	free(v);
	return name;
}

uint32_t part_each(const char *name, bool (*fn)(const char *part, const void *arg), const void *arg)
{
	struct dirent **v = NULL;
	int n = scandir(".", &v, NULL, alphasort);
	uint32_t done = 0;

	for (int i = 0; i < n; i++) {
		if (lz_part_of(v[i]->d_name, name) >= 0)
			done += fn(v[i]->d_name, arg);
		free(v[i]);
	}
	free(v);
	return done;
}

static char picked[LZ_PART_NAME];

/* Each of those that there are has the same chance. */
static bool maybe_pick(const char *part, const void *arg)
{
	static uint32_t seen;

	seen = *picked ? seen + 1 : 1;
	if (!pick(seen))
		snprintf(picked, sizeof(picked), "%s", part);
	return true;
}

const char *part_pick(const char *name)
{
	*picked = 0;
	return part_each(name, maybe_pick, NULL) ? picked : NULL;
}

/* ---- what is forged ---- */

static const struct {
	unsigned weight;
	bool (*forge)(void);
} kinds[] = {
    {50, forge_event},  {28, forge_checkpoint}, {10, forge_meta}, {6, forge_file},
    {4, forge_markers}, {2, forge_header},      {2, forge_ring},
};

static bool forge_one(void)
{
	uint32_t all = 0, at, i = 0;

	for (uint32_t k = 0; k < N_OF(kinds); k++)
		all += kinds[k].weight;
	for (at = pick(all); at >= kinds[i].weight; i++)
		at -= kinds[i].weight;
	kept = strlen(notes);
	return kinds[i].forge();
}

static int fail(const char *what)
{
	fprintf(stderr, "forge: %s: %s\n", what, errno ? strerror(errno) : lz_error());
	return 1;
}

/* Mostly one thing: a second one may end replay before the first is met. */
static bool forge_by_chance(void)
{
	uint32_t n = 1 + pick(2) * pick(3), done = 0;

	for (uint32_t tries = 0; done < n && tries < 100; tries++)
		done += forge_one();
	return done;
}

static bool forge_named(const char *how, const char *code)
{
	const struct payload *p = code ? payload_named(code) : NULL;

	if (!strcmp(how, "move"))
		return event_moves_stub();
	return p && (!strcmp(how, "write")  ? event_writes(p)
	             : !strcmp(how, "ring") ? ring_over_stub(p)
	                                    : meta_over_ring(p));
}

int main(int argc, char **argv)
{
	enum { FILES = 16 };

	if (argc < 4) {
		fprintf(stderr, "usage: forge IN OUT SEED|write CODE|ring CODE|meta CODE|move\n");
		return 2;
	}
	from = argv[1];
	to = argv[2];
	bool by_chance = argv[3][0] >= '0' && argv[3][0] <= '9';
	seed(strtoull(argv[3], NULL, 10));
	if (nftw(from, copy_one, FILES, FTW_PHYS) || chdir(to) < 0)
		return fail(to);
	const char *process = by_chance ? process_pick() : ".";
	if (chdir(process) < 0 || !world_read())
		return fail(process);
	if (!(by_chance ? forge_by_chance() : forge_named(argv[3], argv[4])))
		return fail("nothing to forge");
	char where[320] = "";
	if (strcmp(process, "."))
		snprintf(where, sizeof(where), "%s: ", process);
	print_notes(where);
	return 0;
}
