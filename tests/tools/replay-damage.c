/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Test tool: a copy of a recording that is well-formed but tells a lie, which replay must notice.
 *
 *   replay-damage FROM TO none             an honest copy
 *   replay-damage FROM TO marker OFFSET    another edge (an existing one-byte marker is changed)
 *   replay-damage FROM TO arg EVENT        another first argument
 *   replay-damage FROM TO nr EVENT         another system call
 *   replay-damage FROM TO state EVENT      another state of the arrival at which it came
 *   replay-damage FROM TO data EVENT       another first byte of what it wrote
 *   replay-damage FROM TO result EVENT     another result
 *   replay-damage FROM TO length EVENT     the first mapping operation is a page longer
 *   replay-damage FROM TO place EVENT      ... is where replay has its stub
 *   replay-damage FROM TO taken EVENT      another checksum of what it took
 *   replay-damage FROM TO more             one more marker at the end
 *   replay-damage FROM TO file N           the number behind "which-way-to-go" in the program's copy
 *   replay-damage FROM TO path FILE NAME   a mapped file was called NAME
 *   replay-damage FROM TO sparse GIB       the program's copy is that much longer, by a hole and one byte
 *   replay-damage FROM TO page CHECKPOINT  one byte of memory
 *   replay-damage FROM TO changed CHECKPOINT  one byte of a page that it lists as changed
 *   replay-damage FROM TO drop CHECKPOINT  a changed page is not listed (the checkpoint is whole)
 *   replay-damage FROM TO reg CHECKPOINT   one register
 *   replay-damage FROM TO xmm CHECKPOINT   one vector register
 *   replay-damage FROM TO next EVENT       a switch to a thread that does not exist
 *   replay-damage FROM TO self EVENT       ... to the one that runs
 *   replay-damage FROM TO goes EVENT       ... after which the thread has another register
 *   replay-damage FROM TO bare EVENT       ... without registers
 *   replay-damage FROM TO tid EVENT        an event of another thread
 *   replay-damage FROM TO alive EVENT      a thread does not end
 *   replay-damage FROM TO waits CHECKPOINT one register of a thread that does not run
 *   replay-damage FROM TO far CHECKPOINT    more markers were written before than there are
 *   replay-damage FROM TO twice CHECKPOINT a thread is there twice
 *   replay-damage FROM TO alone CHECKPOINT all threads but the running one are gone */
#include <lizard/error.h>
#include <lizard/format.h>
#include <lizard/marker.h>
#include <lizard/recording.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct lz_reader *r;
static struct lz_writer *w;
static const char *what, *name;
static uint64_t at;

static bool is(const char *name, uint64_t n)
{
	return strcmp(what, name) == 0 && n == at;
}

/* A copy of the open file with another choice in it. */
static int other_program(int fd)
{
	static char bytes[1 << 24];
	static const char tag[16] = "which-way-to-go";
	ssize_t n = pread(fd, bytes, sizeof bytes, 0);
	char *place = n > 0 ? memmem(bytes, (size_t)n, tag, sizeof tag) : NULL;
	int copy = open(".", O_TMPFILE | O_RDWR, 0600);

	if (!place || copy < 0)
		return -1;
	memcpy(place + sizeof tag, &at, sizeof(int));
	if (write(copy, bytes, (size_t)n) != n)
		return -1;
	close(fd);
	return copy;
}

/* A copy of the open file with a hole behind it. */
static int longer_program(int fd)
{
	int copy = open(".", O_TMPFILE | O_RDWR, 0600);
	off_t size = lseek(fd, 0, SEEK_END), end = size + (off_t)(at << 30);

	if (copy < 0 || pwrite(copy, "x", 1, end) != 1)
		return lz_fail_errno("a file of %lu GiB", (unsigned long)at);
	for (off_t done = 0; done < size;)
		if (copy_file_range(fd, &done, copy, &(off_t){done}, (size_t)(size - done), 0) <= 0)
			return lz_fail_errno("cannot copy the program");
	close(fd);
	return copy;
}

static int copy_files(const char *from)
{
	char path[8192];
	uint32_t index;

	for (uint32_t i = 0; i < lz_reader_n_files(r); i++) {
		const struct lz_file *f = lz_reader_file(r, i);
		snprintf(path, sizeof path, "%s/files/%s", from, f->copy);
		int fd = open(*f->copy ? path : "/dev/null", O_RDONLY);
		if (!strcmp(what, "file") && !strcmp(f->path, lz_reader_meta(r)->program))
			fd = other_program(fd);
		if (!strcmp(what, "sparse") && !strcmp(f->path, lz_reader_meta(r)->program))
			fd = longer_program(fd);
		const char *called = is("path", i) ? name : f->path;
		if (fd < 0 || lz_writer_file(w, called, fd, &index) < 0 || index != i)
			return lz_fail_in("file %s", path);
		close(fd);
	}
	return 0;
}

/* The writer takes no more than a block at once. */
static int write_markers(uint32_t tid, const uint8_t *buf, uint64_t len)
{
	int rc = 0;

	for (uint64_t from = 0, to; rc == 0 && from < len; from = to) {
		for (to = from; to < len && to - from + LZ_MARKER_MAX_SIZE <= LZ_BLOCK_MAX;)
			to += lz_marker_size(buf[to]);
		rc = lz_writer_markers(w, tid, buf + from, to - from);
	}
	return rc;
}

static int copy_markers(uint32_t tid)
{
	uint64_t len = lz_reader_markers_len(r, tid);
	uint8_t *buf = malloc(len + 1);

	if (!buf || lz_reader_markers(r, tid, 0, buf, len) != (int64_t)len)
		return -1;
	for (uint64_t i = 0; i < len; i += lz_marker_size(buf[i])) {
		if (strcmp(what, "marker") || i < at || buf[i] > LZ_EDGE_MAX)
			continue;
		buf[i] = buf[i] == 1 ? 2 : (uint8_t)(buf[i] - 1);
		printf("changed the marker at %lu\n", (unsigned long)i);
		break;
	}
	if (!strcmp(what, "more"))
		buf[len++] = 1;
	int rc = write_markers(tid, buf, len);
	free(buf);
	return rc;
}

static void change_switch(struct lz_event *ev, uint64_t i)
{
	if (is("next", i))
		ev->next += 1000;
	if (is("self", i))
		ev->next = ev->tid;
	if (is("goes", i))
		ev->regs.rbx ^= 4;
	if (is("bare", i))
		ev->has_regs = false;
	if (is("tid", i))
		ev->tid++;
	if (is("alive", i))
		ev->flags &= ~(uint32_t)LZ_EVF_THREAD_END;
}

/* To be freed. */
static struct lz_map_op *change_op(struct lz_event *ev, uint64_t i)
{
	struct lz_map_op *ops;

	if (!ev->n_ops || (!is("length", i) && !is("place", i)))
		return NULL;
	ops = malloc(ev->n_ops * sizeof(*ops));
	memcpy(ops, ev->ops, ev->n_ops * sizeof(*ops));
	if (is("length", i))
		ops->len += LZ_PAGE;
	else
		ops->addr = lz_reader_meta(r)->stub_addr;
	ev->ops = ops;
	return ops;
}

static int copy_events(void)
{
	for (uint64_t i = 0; i < lz_reader_n_events(r); i++) {
		const struct lz_event *ev = lz_reader_event(r, i);
		if (!ev)
			return -1;
		struct lz_event copy = *ev;
		if (is("arg", i))
			copy.args[0]++;
		if (is("state", i))
			copy.state ^= 1;
		if (is("nr", i))
			copy.nr++;
		if (is("result", i))
			copy.result++;
		if (is("taken", i))
			copy.taken++;
		struct lz_map_op *ops = change_op(&copy, i);
		change_switch(&copy, i);
		uint8_t *bytes = NULL;
		struct lz_write first;
		if (is("data", i) && ev->n_writes == 1) {
			first = ev->writes[0];
			bytes = malloc(first.len);
			memcpy(bytes, first.bytes, first.len);
			bytes[0] ^= 1;
			first.bytes = bytes;
			copy.writes = &first;
		}
		if (lz_writer_event(w, &copy) < 0)
			return -1;
		free(bytes);
		free(ops);
	}
	return 0;
}

struct pages {
	uint64_t *addr;
	uint8_t **page;
	uint32_t n;
};

static int add(void *arg, uint64_t addr, const uint8_t *page)
{
	struct pages *p = arg;

	p->addr = realloc(p->addr, (p->n + 1) * sizeof *p->addr);
	p->page = realloc(p->page, (p->n + 1) * sizeof *p->page);
	p->addr[p->n] = addr;
	p->page[p->n] = malloc(LZ_PAGE);
	memcpy(p->page[p->n++], page, LZ_PAGE);
	return 0;
}

/* The pages that CK lists, as the image has them. */
static int add_listed(struct lz_image *im, const struct lz_checkpoint *ck, struct pages *p)
{
	static const uint8_t gone[LZ_PAGE];

	for (uint32_t i = 0; i < ck->n_dirty; i++) {
		const uint8_t *page = lz_image_page(im, ck->dirty[i]);
		if (add(p, ck->dirty[i], page ? page : gone) < 0)
			return -1;
		if (!page) {
			free(p->page[i]);
			p->page[i] = NULL;
		}
	}
	return 0;
}

/* The lie about memory. */
static void change_pages(struct pages *p)
{
	uint32_t k = p->n / 2;

	while (k < p->n && !p->page[k])
		k++;
	if (k >= p->n)
		return;
	if (strcmp(what, "drop")) {
		p->page[k][100] ^= 1;
		return;
	}
	free(p->page[k]);
	p->n--;
	memmove(p->addr + k, p->addr + k + 1, (p->n - k) * sizeof *p->addr);
	memmove(p->page + k, p->page + k + 1, (p->n - k) * sizeof *p->page);
}

/* Whole ones, but as they were recorded for a lie about a changed page. */
static int copy_checkpoint(struct lz_image *im, uint32_t i)
{
	static const uint8_t *const none[1 << 16];
	struct lz_checkpoint *ck = (struct lz_checkpoint *)lz_reader_checkpoint(r, i);
	struct pages p = {0};

	if (!ck || ck->n_dirty > 1 << 16 || lz_image_seek(im, i) < 0)
		return -1;
	bool whole = ck->whole || strcmp(what, "changed");
	if (whole ? lz_image_each(im, add, &p) : add_listed(im, ck, &p))
		return -1;
	struct lz_checkpoint copy = *ck;
	struct lz_thread_state *t = calloc(ck->n_threads, sizeof *t);
	memcpy(t, ck->threads, ck->n_threads * sizeof *t);
	if (is("reg", i))
		t[0].regs.rbx ^= 4;
	if (is("xmm", i))
		t[0].xstate[160] ^= 1;
	if (is("waits", i))
		t[ck->n_threads - 1].regs.rbx ^= 4;
	if (is("twice", i))
		t[ck->n_threads - 1].tid = t[0].tid;
	if (is("far", i))
		copy.pos.marker = t[0].marker = UINT64_MAX - 3;
	if (is("alone", i))
		copy.n_threads = 1;
	if (is("page", i) || is("changed", i) || is("drop", i))
		change_pages(&p);
	copy.whole = whole;
	copy.dirty = p.addr;
	copy.n_dirty = p.n;
	copy.threads = t;
	if (lz_writer_checkpoint(w, &copy, (const uint8_t *const *)p.page, whole ? NULL : none) < 0)
		return -1;
	for (uint32_t k = 0; k < p.n; k++)
		free(p.page[k]);
	free(p.page);
	free(p.addr);
	free(t);
	return 0;
}

static int copy_checkpoints(void)
{
	struct lz_image *im = lz_image_new(r);
	int rc = im ? 0 : -1;

	for (uint32_t i = 0; !rc && i < lz_reader_n_checkpoints(r); i++)
		rc = copy_checkpoint(im, i);
	lz_image_free(im);
	return rc;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	what = argv[3];
	at = argc > 4 ? strtoull(argv[4], NULL, 0) : 0;
	name = argc > 5 ? argv[5] : "";
	r = lz_reader_open(argv[1]);
	w = r ? lz_writer_create(argv[2], lz_reader_meta(r)) : NULL;
	if (!w || copy_files(argv[1]) < 0 ||
	    (lz_reader_n_threads(r) && copy_markers(lz_reader_tid(r, 0)) < 0) ||
	    copy_events() < 0 || copy_checkpoints() < 0 ||
	    lz_writer_finish(w, lz_reader_meta(r)) < 0) {
		printf("FAILED: %s\n", lz_error());
		return 1;
	}
	lz_reader_close(r);
	return 0;
}
