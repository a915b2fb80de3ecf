/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <common/base/array.h>
#include <common/recording/meta.h>
#include <lizard/error.h>
#include <lizard/format.h>

#define FIRST_LINE "lizard-recording "
#define NEXT "meta.tmp"

enum { LONGER = 1024 }; /* by how much a later one may be longer, at least */

enum field_type { TEXT, LIST, U32, U64, INT, TID };

static const struct field {
	const char *key;
	enum field_type type;
	size_t offset;
} fields[] = {
#define F(key, type, member)                                                                       \
	{                                                                                          \
		key, type, offsetof(struct lz_meta, member)                                        \
	}
    F("state", INT, state),
    F("program", TEXT, program),
    F("build-id", TEXT, build_id),
    F("cwd", TEXT, cwd),
    F("arg", LIST, argv),
    F("env", LIST, envp),
    F("host", TEXT, host),
    F("kernel", TEXT, kernel),
    F("cpu", TEXT, cpu),
    F("features", TEXT, features),
    F("cpuid", LIST, cpuid),
    F("cpu-number", U32, cpu_number),
    F("tid", TID, tid),
    F("parent", TID, parent),
    F("parent-event", U64, parent_event),
    F("parent-marker", U64, parent_marker),
    F("became", TEXT, became),
    F("flow", TEXT, flow),
    F("hashed-from", TEXT, hashed_from),
    F("chaos-seed", U64, chaos_seed),
    F("stub-addr", U64, stub_addr),
    F("stub-len", U64, stub_len),
    F("start-time", U64, start_time),
    F("duration-ns", U64, duration_ns),
    F("exit-status", INT, exit_status),
    F("stopped", TEXT, stopped),
    F("outside", LIST, outside),
    F("instrumented", U64, instrumented),
    F("no-debug-info", U64, no_debug),
    F("events", U64, n_events),
    F("marker-bytes", U64, n_markers_bytes),
    F("checkpoints", U64, n_checkpoints),
#undef F
};
enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static void print_text(FILE *f, const char *key, const char *text)
{
	fprintf(f, "%s ", key);
	for (const unsigned char *p = (const unsigned char *)(text ? text : ""); *p; p++) {
		if (*p < 32 || *p == 127 || *p == '\\')
			fprintf(f, "\\x%02x", *p);
		else
			putc_unlocked(*p, f);
	}
	putc_unlocked('\n', f);
}

static void print_field(FILE *f, const struct field *d, const struct lz_meta *m)
{
	const char *at = (const char *)m + d->offset;

	switch (d->type) {
	case TEXT: print_text(f, d->key, *(char *const *)at); break;
	case LIST:
		for (char **s = *(char **const *)at; s && *s; s++)
			print_text(f, d->key, *s);
		break;
	case TID:
	case U32: fprintf(f, "%s %u\n", d->key, *(const uint32_t *)at); break;
	case U64: fprintf(f, "%s %llu\n", d->key, (unsigned long long)*(const uint64_t *)at); break;
	case INT: fprintf(f, "%s %d\n", d->key, *(const int *)at); break;
	}
}

/* Only where it was longer: to give back the rest of what was reserved takes some file systems half
 * a millisecond. */
static int cut(int fd, off_t len)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	return st.st_size > len ? ftruncate(fd, len) : 0;
}

static bool put_in_place(int dirfd)
{
	/* what was there before keeps its room on the disk, for the next one */
	return renameat2(dirfd, NEXT, dirfd, "meta", RENAME_EXCHANGE) == 0 ||
	       renameat(dirfd, NEXT, dirfd, "meta") == 0;
}

int lz_meta_write(int dirfd, const struct lz_meta *m)
{
	/* not O_TRUNC, which would give back what was reserved */
	int fd = openat(dirfd, NEXT, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int bad;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return lz_fail_errno("cannot create the recording's meta file");
	}
	fprintf(f, FIRST_LINE "%u\n", m->version);
	for (int i = 0; i < N_FIELDS; i++)
		print_field(f, &fields[i], m);
	bad = fflush(f) != 0 || ferror(f) || cut(fd, ftello(f)) < 0;
	bad |= fclose(f) != 0;
	if (bad || !put_in_place(dirfd))
		return lz_fail_errno("cannot write the recording's meta file");
	return 0;
}

int lz_meta_ahead(int dirfd)
{
	const char *const names[] = {"meta", NEXT};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int fd = openat(dirfd, names[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		if (fd < 0)
			return lz_fail_errno("cannot create the recording's meta file");
		close(fd);
	}
	return 0;
}

void lz_meta_reserve(int dirfd)
{
	struct stat st;
	int fd = openat(dirfd, NEXT, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	if (fstatat(dirfd, "meta", &st, 0) == 0 && st.st_blksize > 0) {
		off_t room = st.st_size + LONGER + st.st_blksize - 1;

		fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, room - room % st.st_blksize);
	}
	close(fd);
}

void lz_meta_unreserve(int dirfd)
{
	unlinkat(dirfd, NEXT, 0);
}

/* In place; -1 if an escape is broken or stands for the byte 0. */
static int unescape(char *s)
{
	char *out = s;

	for (; *s; s++) {
		char hex[3] = {0};
		char *end;

		if (*s != '\\') {
			*out++ = *s;
			continue;
		}
		if (s[1] != 'x' || !s[2] || !s[3])
			return -1;
		memcpy(hex, s + 2, 2);
		long v = strtol(hex, &end, 16);
		if (*end || v <= 0)
			return -1;
		*out++ = (char)v;
		s += 3;
	}
	*out = 0;
	return 0;
}

/* Behind the last one stands a NULL. */
static int append(char ***list, size_t *n, const char *text)
{
	if (lz_extend(*list, *n + 1) < 0)
		return -1;
	(*list)[*n + 1] = NULL;
	(*list)[*n] = strdup(text);
	return (*list)[*n] ? (++*n, 0) : -1;
}

static int parse_number(const struct field *d, const char *text, void *at)
{
	char *end;
	unsigned long long u;
	long long i;

	errno = 0;
	if (d->type == INT) {
		i = strtoll(text, &end, 10);
		if (errno || *end || end == text || i < INT32_MIN || i > INT32_MAX)
			return -1;
		*(int *)at = (int)i;
		return 0;
	}
	u = strtoull(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || (d->type == U32 && u > UINT32_MAX) ||
	    (d->type == TID && u > LZ_MAX_TID))
		return -1;
	if (d->type != U64)
		*(uint32_t *)at = (uint32_t)u;
	else
		*(uint64_t *)at = u;
	return 0;
}

static int parse_field(const struct field *d, char *text, struct lz_meta *m, size_t *n)
{
	char *at = (char *)m + d->offset;

	if (d->type != TEXT && d->type != LIST)
		return parse_number(d, text, at);
	if (unescape(text) < 0)
		return -1;
	if (d->type == LIST)
		return append((char ***)at, n, text);
	free(*(char **)at);
	*(char **)at = strdup(text);
	return *(char **)at ? 0 : -1;
}

static int parse_line(char *line, unsigned number, struct lz_meta *m, size_t lists[N_FIELDS])
{
	char *text = strchr(line, ' ');

	if (!text)
		return lz_fail("line %u has no value", number);
	*text++ = 0;
	for (int i = 0; i < N_FIELDS; i++)
		if (!strcmp(line, fields[i].key))
			return parse_field(&fields[i], text, m, &lists[i]) < 0
			           ? lz_fail("line %u: the value of `%s` makes no sense", number,
			                     line)
			           : 0;
	return 0;
}

static int parse_version(const char *line, struct lz_meta *m)
{
	char *end;
	unsigned long v;

	if (strncmp(line, FIRST_LINE, strlen(FIRST_LINE)))
		return lz_fail("not a recording: the first line is not `" FIRST_LINE "VERSION`");
	v = strtoul(line + strlen(FIRST_LINE), &end, 10);
	if (*end || v > UINT32_MAX)
		return lz_fail("the version makes no sense");
	m->version = (uint32_t)v;
	if (v < LZ_FORMAT_OLDEST || v > LZ_FORMAT_VERSION)
		return lz_fail(
		    "the recording has format version %lu, this Lizard reads versions %d to %d: "
		    "record again, or use the Lizard it was made with",
		    v, LZ_FORMAT_OLDEST, LZ_FORMAT_VERSION);
	return 0;
}

/* Readers need not look out for missing texts. */
static int fill_in(struct lz_meta *m)
{
	for (int i = 0; i < N_FIELDS; i++) {
		void *at = (char *)m + fields[i].offset;

		if (fields[i].type == TEXT && !*(char **)at && !(*(char **)at = strdup("")))
			return lz_fail("no memory");
		if (fields[i].type == LIST && !*(char ***)at &&
		    !(*(char ***)at = calloc(1, sizeof(char *))))
			return lz_fail("no memory");
	}
	if (m->state != LZ_REC_COMPLETE)
		m->state = LZ_REC_INCOMPLETE;
	return 0;
}

static int parse(char *text, struct lz_meta *m)
{
	size_t lists[N_FIELDS] = {0};
	unsigned number = 0;
	char *line, *next = text;

	m->exit_status = -1;
	while ((line = strsep(&next, "\n"))) {
		number++;
		if (!next && !*line)
			break;
		if (!next)
			return lz_fail("cut in line %u", number);
		if (number == 1 ? parse_version(line, m) < 0
		                : parse_line(line, number, m, lists) < 0)
			return -1;
	}
	if (number < 2)
		return lz_fail("empty");
	return fill_in(m);
}

static char *slurp(int fd)
{
	struct stat st;
	char *text;
	size_t done = 0;
	ssize_t n = 0;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > LZ_MAX_META) {
		lz_fail("not a file of sensible size");
		return NULL;
	}
	text = malloc((size_t)st.st_size + 1);
	while (text && done < (size_t)st.st_size &&
	       (n = read(fd, text + done, (size_t)st.st_size - done)) > 0)
		done += (size_t)n;
	if (!text || n < 0) {
		lz_fail_errno("cannot read");
		free(text);
		return NULL;
	}
	text[done] = 0;
	return text;
}

int lz_meta_read_at(int dirfd, struct lz_meta *m)
{
	int fd = openat(dirfd, "meta", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	char *text;
	int rc;

	memset(m, 0, sizeof(*m));
	if (fd < 0)
		return errno == ENOENT ? lz_fail("not a recording: it has no file `meta`")
		                       : lz_fail_errno("cannot open meta");
	text = slurp(fd);
	close(fd);
	rc = text ? parse(text, m) : -1;
	free(text);
	if (rc < 0) {
		uint32_t version = m->version;

		lz_meta_free(m);
		m->version = version;
		return lz_fail_in("meta");
	}
	return 0;
}

int lz_meta_read(const char *dir, struct lz_meta *m)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	memset(m, 0, sizeof(*m));
	if (fd < 0)
		return lz_fail_errno("cannot open %s", dir);
	rc = lz_meta_read_at(fd, m);
	close(fd);
	return rc < 0 ? lz_fail_in("%s", dir) : 0;
}

static void free_list(char **v)
{
	for (char **s = v; s && *s; s++)
		free(*s);
	free(v);
}

void lz_meta_free(struct lz_meta *m)
{
	for (int i = 0; i < N_FIELDS; i++) {
		void *at = (char *)m + fields[i].offset;

		if (fields[i].type == TEXT)
			free(*(char **)at);
		else if (fields[i].type == LIST)
			free_list(*(char ***)at);
	}
	memset(m, 0, sizeof(*m));
}

bool lz_meta_never_ran(const struct lz_meta *m)
{
	return m->state == LZ_REC_COMPLETE && WIFSIGNALED(m->exit_status) && !m->n_checkpoints &&
	       !m->n_markers_bytes;
}
