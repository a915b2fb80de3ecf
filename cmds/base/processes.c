/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmds/base/processes.h>
#include <common/base/cleanup.h>
#include <common/recording/recdir.h>
#include <lizard/error.h>

static uint32_t pid_of(const struct lz_entry *e)
{
	return e->bad ? 0 : e->meta.tid;
}

static int by_start(const void *a, const void *b)
{
	const struct lz_entry *x = a, *y = b;

	if (x->meta.start_time != y->meta.start_time)
		return x->meta.start_time < y->meta.start_time ? -1 : 1;
	if (x->meta.parent == y->meta.parent && x->meta.parent_event != y->meta.parent_event)
		return x->meta.parent_event < y->meta.parent_event ? -1 : 1;
	return strverscmp(x->name, y->name);
}

/* Moves V[I], and behind it its descendants among what is left in V, to OUT. */
static void place(struct lz_processes *out, struct lz_entry *v, bool *placed, size_t n, size_t i,
                  unsigned depth)
{
	placed[i] = true;
	out->depth[out->n] = depth;
	out->v[out->n++] = v[i];
	for (size_t k = 0; k < n; k++)
		if (!placed[k] && pid_of(&v[i]) && v[k].meta.parent == pid_of(&v[i]))
			place(out, v, placed, n, k, depth + 1);
}

static int order(struct lz_processes *p, struct lz_entry *v, size_t n)
{
	bool *placed = calloc(n, sizeof(*placed));

	p->v = calloc(n, sizeof(*p->v));
	p->depth = calloc(n, sizeof(*p->depth));
	if (!placed || !p->v || !p->depth) {
		free(placed);
		return lz_fail("no memory");
	}
	if (n > 1)
		qsort(v + 1, n - 1, sizeof(*v), by_start);
	for (size_t i = 0; i < n; i++)
		if (!placed[i])
			place(p, v, placed, n, i, 0);
	free(placed);
	return 0;
}

/* What a link leads to is another recording's. */
static int check_folders(const char *recording)
{
	lz_auto_close int fd = open(recording, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? lz_fail_errno("cannot open it") : lz_recdir_check(fd);

	return rc < 0 ? lz_fail_in("%s", recording) : 0;
}

/* The recording and those below its `processes`. */
static int read_all(struct lz_catalog *c, const char *recording)
{
	char *below = NULL;
	int rc = check_folders(recording);

	if (rc == 0 && asprintf(&below, "%s/processes", recording) < 0)
		return lz_fail("no memory");
	if (rc == 0)
		rc = lz_catalog_add(c, recording);
	if (rc == 0)
		rc = lz_catalog_add_all(c, below);
	for (size_t i = 1; rc == 0 && i < c->n; i++)
		rc = check_folders(c->v[i].path);
	free(below);
	return rc;
}

int lz_processes_read(struct lz_processes *p, const char *recording)
{
	struct lz_catalog c = {.no_sizes = true};
	int rc;

	*p = (struct lz_processes){0};
	rc = read_all(&c, recording);
	if (rc == 0)
		rc = order(p, c.v, c.n);
	if (rc == 0)
		c.n = 0; /* its entries are P's now */
	lz_catalog_free(&c);
	if (rc < 0)
		lz_processes_free(p);
	return rc;
}

/* The others are in the first one's folder. */
void lz_processes_measure(struct lz_processes *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct lz_entry *e = &p->v[i], *first = &p->v[0];

		e->bytes = lz_recording_bytes(e->path);
		if (i)
			first->bytes -= e->bytes < first->bytes ? e->bytes : first->bytes;
	}
}

void lz_processes_free(struct lz_processes *p)
{
	for (size_t i = 0; i < p->n; i++)
		lz_entry_free(&p->v[i]);
	free(p->v);
	free(p->depth);
	*p = (struct lz_processes){0};
}

/* By the name of its recording, which for the first one is its id; or by its program. */
static bool is_called(const struct lz_processes *p, size_t i, const char *what)
{
	const struct lz_entry *e = &p->v[i];
	const char *slash = e->bad ? NULL : strrchr(e->meta.program, '/');
	char pid[16];

	if (e->bad)
		return false;
	snprintf(pid, sizeof(pid), "%u", e->meta.tid);
	if (strcmp(i ? e->name : pid, what) == 0)
		return true;
	return strcmp(what, e->meta.program) == 0 ||
	       strcmp(what, slash ? slash + 1 : e->meta.program) == 0;
}

/* What those are called that are called WHAT, or all; for messages. */
static void list_names(const struct lz_processes *p, const char *what, char *text, size_t room)
{
	size_t at = 0;

	for (size_t i = 0; i < p->n && at + 32 < room; i++) {
		char pid[16];

		if (what && !is_called(p, i, what))
			continue;
		snprintf(pid, sizeof(pid), "%u", pid_of(&p->v[i]));
		at += (size_t)snprintf(text + at, room - at, "%s%.24s", at ? ", " : "",
		                       i ? p->v[i].name : pid);
	}
}

char *lz_process_find(const char *recording, const char *what)
{
	struct lz_processes p;
	char names[400] = "", *found = NULL;
	size_t n = 0;

	if (lz_processes_read(&p, recording) < 0)
		return NULL;
	for (size_t i = 0; i < p.n; i++) {
		if (!is_called(&p, i, what))
			continue;
		n++;
		free(found);
		found = strdup(p.v[i].path);
	}
	list_names(&p, n ? what : NULL, names, sizeof(names));
	lz_processes_free(&p);
	if (n == 1)
		return found;
	free(found);
	if (n)
		lz_fail("%zu processes are called %s: %s; say which (`lizard ps` shows them)", n,
		        what, names);
	else
		lz_fail("no process %s is in %s; there are %s (`lizard ps` shows them)", what,
		        recording, names);
	return NULL;
}
