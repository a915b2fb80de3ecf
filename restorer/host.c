/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Can this machine re-execute what was recorded on another one? */
#include <lizard/restore.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names in the flags line of /proc/cpuinfo that programs can use; the other ones are the
 * kernel's. */
static const char *const instructions[] = {
    "3dnow",  "abm",      "adx",       "aes",    "amx",     "avx",   "bmi",    "clflushopt",
    "clwb",   "cldemote", "cx16",      "erms",   "f16c",    "fma",   "fsgs",   "fsrm",
    "gfni",   "lahf_lm",  "mmx",       "movbe",  "movdi",   "pclmu", "popcnt", "pku",
    "pni",    "rdpid",    "serialize", "sha_ni", "sse",     "ssse3", "tbm",    "vaes",
    "vpclmu", "waitpkg",  "xop",       "xsave",  "xgetbv1", "fxsr",  "cmov",   "cx8"};

static bool matters(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
		size_t n = strlen(instructions[i]);
		if (n <= len && memcmp(name, instructions[i], n) == 0)
			return true;
	}
	return false;
}

static bool has_word(const char *list, const char *word, size_t len)
{
	for (const char *p = list; (p = strstr(p, word)); p += len)
		if ((p == list || p[-1] == ' ') && (p[len] == ' ' || !p[len]))
			return true;
	return false;
}

size_t lz_features_missing(const char *recorded, const char *here, char *out, size_t room)
{
	char word[64];
	size_t n = 0, used = 0;

	if (room)
		*out = 0;
	for (const char *p = recorded; *p;) {
		size_t len = strcspn(p, " ");
		if (len && len < sizeof word && matters(p, len)) {
			memcpy(word, p, len);
			word[len] = 0;
			if (!has_word(here, word, len)) {
				n++;
				if (used + len + 2 < room)
					used += (size_t)snprintf(out + used, room - used, "%s%s",
					                         used ? " " : "", word);
			}
		}
		p += len + strspn(p + len, " ");
	}
	return n;
}

/* The flags of the first processor; malloced, NULL if they cannot be found. */
static char *host_flags(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *flags = NULL;
	size_t room = 0;

	while (f && !flags && getline(&line, &room, f) > 0) {
		if (strncmp(line, "flags", 5) || !strchr(line, ':'))
			continue;
		line[strcspn(line, "\n")] = 0;
		flags = strdup(strchr(line, ':') + 1);
	}
	free(line);
	if (f)
		fclose(f);
	return flags;
}

int lz_host_check(const struct lz_meta *m)
{
	char missing[512];
	char *here = m->features && *m->features ? host_flags() : NULL;
	int ret = 0;

	if (here && lz_features_missing(m->features, here, missing, sizeof missing))
		ret = lz_fail(
		    "the recording was made on %s (%s), whose instruction sets this machine "
		    "lacks: %s",
		    m->host ? m->host : "another machine", m->cpu ? m->cpu : "?", missing);
	free(here);
	return ret;
}
