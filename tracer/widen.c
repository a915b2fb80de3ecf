/* Makes the markers' adds wide, so that the pointer does not go round in 64 KiB as it does in a sink: lizard/widen.h. */
#include "tracer/objects.h"

#include <lizard/error.h>
#include <lizard/widen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Those of SITES that CODE, which V shows, has; the program may have put other code there. */
static int widen_code(struct lz_tracer *t, const struct lz_vma *v, const uint8_t *code,
                      const uint64_t *sites, size_t n)
{
	static const uint8_t wide = LZ_ADD_WIDE;

	for (size_t i = 0; i < n; i++) {
		uint64_t off = sites[i] - v->offset, at = v->start + off;

		if (sites[i] < v->offset + LZ_SITE_PREFIX ||
		    off + (LZ_SITE_LEN - LZ_SITE_PREFIX) > v->end - v->start)
			continue;
		const uint8_t *site = code + off - LZ_SITE_PREFIX;
		bool narrow = lz_widen_is_site(site, LZ_ADD_NARROW);

		if (!narrow && !lz_widen_is_site(site, LZ_ADD_WIDE))
			continue;
		if (lz_places_add(&t->armed.add, at) < 0 ||
		    (narrow && lz_build_write(t, at, &wide, 1) < 0))
			return -1;
	}
	return 0;
}

static int widen(struct lz_tracer *t, const struct lz_vma *v, const uint64_t *sites, size_t n)
{
	size_t len = v->end - v->start;
	/* behind the file's end there is nothing */
	uint8_t *code = n ? calloc(1, len) : NULL;

	if (!n)
		return 0;
	if (!code)
		return lz_fail("out of memory for %zu bytes of code", len);
	lz_places_moved(&t->armed.add, v->start, v->end, 0);
	size_t had = t->armed.add.n;
	lz_proc_read_some(&t->p, v->start, code, len);
	int ret = widen_code(t, v, code, sites, n);
	free(code);
	if (ret < 0 || t->armed.add.n == had)
		return ret;
	struct lz_places here = {.at = t->armed.add.at + had, .n = t->armed.add.n - had};
	lz_places_put(&here, &t->p, LZ_ADD_NARROW, LZ_ADD_WIDE);
	return lz_pages_changed(t, v->start, v->end);
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
