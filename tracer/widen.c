/* Makes the markers' adds wide, so that the pointer does not go round in 64 KiB as it does in a sink: lizard/widen.h. */
#include "tracer/objects.h"

#include <lizard/error.h>
#include <lizard/widen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What mapping V shows of the file that has them at SITES. */
static int widen(struct lz_tracer *t, const struct lz_vma *v, const uint64_t *sites, size_t n)
{
	static const uint8_t wide = LZ_ADD_WIDE;
	struct lz_places here = {0};
	int ret = 0;

	for (size_t i = 0; i < n && ret == 0; i++) {
		uint64_t at = v->start + (sites[i] - v->offset);

		if (sites[i] < v->offset || sites[i] - v->offset >= v->end - v->start)
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
	const struct lz_object *o = lz_object(t, a->object);
	const struct lz_vma *v = &a->v;
	uint64_t *sites;
	char path[64];
	size_t n;

	if (!t->s.mem || !(v->prot & PROT_EXEC) || v->file == LZ_NO_FILE)
		return 0;
	int fd = lz_writer_file_open(t->w, v->file);
	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int ret = lz_widen_find(path, &sites, &n);
	close(fd);
	if (ret == 0 && n && v->flags & MAP_SHARED)
		ret = lz_fail("it is mapped shared");
	if (ret)
		lz_fail_in("the markers in %s cannot be followed", o ? o->path : "the program");
	else
		ret = widen(t, v, sites, n);
	free(sites);
	return ret ? -1 : 0;
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
