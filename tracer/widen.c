/* Makes the markers' adds wide, so that the pointer does not go round in 64 KiB as it does in a sink: lizard/widen.h. */
#include "tracer/objects.h"

#include <lizard/error.h>
#include <lizard/widen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is known of a file. A process that is forked off records its own, and has it from its parent. */
struct known {
	struct known *next;
	dev_t dev;
	ino_t ino;
	int ret; /* of lz_widen_find() */
	uint64_t *sites;
	size_t n;
};

static struct known *files;

static const struct known *look_into(int fd)
{
	struct known *k;
	struct stat st;
	char path[64];

	if (fstat(fd, &st) < 0) {
		lz_fail_errno("the copy of a mapped file");
		return NULL;
	}
	for (k = files; k; k = k->next)
		if (k->dev == st.st_dev && k->ino == st.st_ino)
			return k;
	k = calloc(1, sizeof(*k));
	if (!k) {
		lz_fail("out of memory");
		return NULL;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*k = (struct known){.next = files, .dev = st.st_dev, .ino = st.st_ino};
	k->ret = lz_widen_find(path, &k->sites, &k->n);
	files = k;
	return k;
}

/* What mapping V shows of the file that K is about. */
static int widen(struct lz_tracer *t, const struct lz_vma *v, const struct known *k)
{
	static const uint8_t wide = LZ_ADD_WIDE;
	struct lz_places here = {0};
	int ret = 0;

	for (size_t i = 0; i < k->n && ret == 0; i++) {
		uint64_t at = v->start + (k->sites[i] - v->offset);

		if (k->sites[i] < v->offset || k->sites[i] - v->offset >= v->end - v->start)
			continue;
		if (lz_places_add(&here, at) < 0 || lz_places_add(&t->armed.add, at) < 0 ||
		    lz_build_write(t, at, &wide, 1) < 0)
			ret = -1;
	}
	if (ret == 0 && here.n) {
		lz_places_put(&here, &t->p, wide);
		ret = lz_pages_changed(t, v->start, v->end);
	}
	free(here.at);
	return ret;
}

int lz_wide_mapped(struct lz_tracer *t, const struct lz_area *a)
{
	const struct lz_vma *v = &a->v;
	const struct lz_object *o = lz_object(t, a->object);

	if (!t->s.mem || !(v->prot & PROT_EXEC) || v->file == LZ_NO_FILE)
		return 0;
	int fd = lz_writer_file_open(t->w, v->file);
	const struct known *k = fd < 0 ? NULL : look_into(fd);

	if (fd >= 0)
		close(fd);
	if (!k)
		return -1;
	if (k->ret == 0 && !(v->flags & MAP_SHARED))
		return widen(t, v, k);
	if (k->ret == 0 && k->n == 0)
		return 0;
	if (k->ret == 0)
		lz_fail("it is mapped shared");
	return lz_fail_in("the markers in %s cannot be followed", o ? o->path : "the program");
}

int lz_wide_hello(struct lz_tracer *t)
{
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area a = t->vmas.a[i];

		if (lz_wide_mapped(t, &a) < 0)
			return -1;
	}
	return 0;
}
