/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code with markers: in a function that has some, most instructions are arrived at once between
 * two markers, for whoever comes into the function anew writes one. Where functions are, the
 * symbols of the file say; nothing is read before somebody asks. */
#include "tracer/code/code.h"

#include <common/base/array.h>
#include <common/cfg/symbol_ranges.h>
#include <common/process/arrive_once.h>
#include <common/process/pointer_here.h>

#include <fcntl.h>
#include <gelf.h>
#include <lizard/error.h>
#include <lizard/widen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ANSWERS = 4096,         /* that are kept */
	FUNCTION_MOST = 1 << 20 /* bytes; of a larger one nothing is known */
};

enum markers { NOT_SOUGHT, MARKED, UNMARKED };

/* The functions of one file, by offsets in the file. */
struct file {
	uint32_t number;
	struct lz_cfg_range *fn;
	uint8_t *marked; /* enum markers, of each function */
	size_t n;
};

/* Of the one process that is traced. */
static struct {
	struct file *files;
	size_t n, room;
	bool any; /* answer */
	struct answer {
		uint64_t at, map_id;
		bool once, marked, pointer;
	} kept[ANSWERS];
} known;

void lz_marked_forget(void)
{
	for (size_t i = 0; i < known.n; i++) {
		free(known.files[i].fn);
		free(known.files[i].marked);
	}
	free(known.files);
	known.files = NULL;
	known.n = known.room = 0;
	/* else its pages need not even exist */
	if (known.any)
		memset(known.kept, 0, sizeof(known.kept));
	known.any = false;
}

/* ---- functions of a file ---- */

/* The offset in the file of link-time address ADDR; UINT64_MAX: it is not in the file. */
static uint64_t offset_of(Elf *elf, uint64_t addr)
{
	GElf_Phdr ph;
	size_t n = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && addr >= ph.p_vaddr &&
		    addr - ph.p_vaddr < ph.p_filesz)
			return addr - ph.p_vaddr + ph.p_offset;
	return UINT64_MAX;
}

static int by_start(const void *pa, const void *pb)
{
	const struct lz_cfg_range *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Link-time addresses become offsets in the file; what has none is left out. */
static void to_offsets(struct file *f, Elf *elf)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct lz_cfg_range r = f->fn[i];
		const uint64_t at = offset_of(elf, r.start);

		if (at != UINT64_MAX)
			f->fn[n++] = (struct lz_cfg_range){at, at + (r.end - r.start)};
	}
	f->n = n;
	if (n)
		qsort(f->fn, n, sizeof(*f->fn), by_start);
}

static int read_functions(struct lz_tracer *t, struct file *f)
{
	int fd = lz_writer_file_open(t->w, f->number), ret = 0;
	Elf *elf = NULL;

	if (fd < 0)
		return -1;
	elf_version(EV_CURRENT);
	if ((elf = elf_begin(fd, ELF_C_READ_MMAP, NULL)) && elf_kind(elf) == ELF_K_ELF &&
	    (ret = lz_symbol_ranges(elf, &f->fn, &f->n)) == 0)
		to_offsets(f, elf);
	if (elf)
		elf_end(elf);
	close(fd);
	if (ret == 0 && !(f->marked = calloc(f->n + 1, 1)))
		ret = lz_fail("out of memory for the functions of a file");
	return ret;
}

static struct file *file_of(struct lz_tracer *t, uint32_t number)
{
	for (size_t i = 0; i < known.n; i++)
		if (known.files[i].number == number)
			return &known.files[i];
	if (lz_reserve(known.files, known.room, known.n + 1) < 0)
		return NULL;
	struct file *f = &known.files[known.n++];
	*f = (struct file){.number = number};
	if (read_functions(t, f) < 0) {
		lz_debug("the functions of file %u are not known: %s", number, lz_error());
		f->n = 0;
	}
	return f;
}

/* ---- markers of a function ---- */

static bool has_marker(struct lz_tracer *t, uint64_t start, uint64_t len)
{
	uint8_t *code = len <= FUNCTION_MOST ? malloc(len) : NULL;
	bool has =
	    code && lz_proc_read(&t->p, start, code, len) == 0 && lz_widen_next(code, len, 0) < len;

	free(code);
	return has;
}

/* Is the instruction at AT in a function that has markers? */
static bool is_marked(struct lz_tracer *t, uint64_t at)
{
	const ptrdiff_t i = lz_vmas_find(&t->vmas, at);
	const struct lz_vma *v = i < 0 ? NULL : &t->vmas.a[i].v;
	struct file *f = v && v->file != LZ_NO_FILE ? file_of(t, v->file) : NULL;

	if (!f)
		return false;
	const uint64_t bias = v->start - v->offset; /* file offset to address */
	const size_t fn = lz_range_of(f->fn, f->n, at - bias);
	if (fn == f->n)
		return false;
	if (f->marked[fn] == NOT_SOUGHT)
		f->marked[fn] =
		    has_marker(t, f->fn[fn].start + bias, f->fn[fn].end - f->fn[fn].start)
		        ? MARKED
		        : UNMARKED;
	return f->marked[fn] == MARKED;
}

static size_t read_code(void *arg, uint64_t addr, void *buf, size_t len)
{
	const struct lz_tracer *t = arg;

	return lz_proc_read_some(&t->p, addr, buf, len);
}

static const struct answer *answer(struct lz_tracer *t, uint64_t at)
{
	struct answer *a = &known.kept[(at ^ at >> 12) % ANSWERS];

	known.any = true;
	if (a->at != at || a->map_id != t->map_id)
		*a = (struct answer){at, t->map_id, lz_arrives_once(read_code, t, at),
		                     is_marked(t, at), lz_pointer_here(read_code, t, at)};
	return a;
}

bool lz_marked_once(struct lz_tracer *t, uint64_t at)
{
	const struct answer *a = answer(t, at);

	return a->marked && a->once;
}

bool lz_marked_pointer(struct lz_tracer *t, uint64_t at)
{
	const struct answer *a = answer(t, at);

	return a->marked && a->pointer;
}

bool lz_in_loop(struct lz_tracer *t, uint64_t at)
{
	return !answer(t, at)->once;
}
