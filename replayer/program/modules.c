/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <unistd.h>
#include <common/base/array.h>
#include <lizard/error.h>
#include "replayer/program/elf_syms.h"
#include "replayer/program/modules.h"

struct lz_modules {
	struct lz_reader *reader;
	struct lz_module *mod;
	size_t n, cap;
	char **paths; /* by file index, NULL = not yet known */
	uint32_t n_paths;
	uint64_t *calls; /* stream offsets of the loader's system calls */
	size_t n_calls, cap_calls;
	struct lz_delivery *deliveries;
	size_t n_deliveries, cap_deliveries;
	struct lz_handler_return *returns;
	size_t n_returns, cap_returns;
};

/* Where the program was, if it is still the one that was recorded; else "", which opens nothing. */
static char *original(const struct lz_file *f)
{
	char *id = f->path && f->build_id && *f->build_id ? lz_build_id(f->path) : NULL;
	bool same = id && !strcmp(id, f->build_id);

	free(id);
	return strdup(same ? f->path : "");
}

static const char *file_path(struct lz_modules *m, uint32_t file)
{
	const struct lz_file *f;

	if (file >= m->n_paths)
		return NULL;
	if (m->paths[file])
		return m->paths[file];
	f = lz_reader_file(m->reader, file);
	if (!f)
		return NULL;
	m->paths[file] = *f->copy && !f->hollow ? lz_reader_copy(m->reader, file) : original(f);
	return m->paths[file];
}

/* Link-time address of the byte at file OFFSET, which an executable segment must hold. */
static int segment_address(const char *path, uint64_t offset, uint64_t *addr)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), found = 0;
	Elf *elf;
	size_t n = 0;

	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && !elf_getphdrnum(elf, &n)) {
		for (size_t i = 0; i < n && !found; i++) {
			GElf_Phdr ph;

			if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD)
				continue;
			if (!(ph.p_flags & PF_X) || offset < (ph.p_offset & ~(LZ_PAGE - 1ull)) ||
			    offset >= ph.p_offset + ph.p_filesz)
				continue;
			*addr = ph.p_vaddr - ph.p_offset + offset;
			found = 1;
		}
	}
	if (elf)
		elf_end(elf);
	close(fd);
	return found;
}

static int is_interpreter(const struct lz_file *f)
{
	const char *base = f && f->path ? strrchr(f->path, '/') : NULL;

	return base && (!strncmp(base, "/ld-", 4) || !strncmp(base, "/ld.so", 6));
}

static void end_overlapping(struct lz_modules *m, uint64_t start, uint64_t end, uint64_t event,
                            uint64_t marker)
{
	for (size_t i = 0; i < m->n; i++) {
		struct lz_module *mod = &m->mod[i];

		if (mod->to_event == UINT64_MAX && mod->start < end && start < mod->end) {
			mod->to_event = event;
			mod->to_marker = marker;
		}
	}
}

static int add(struct lz_modules *m, uint32_t file, uint64_t start, uint64_t len, uint64_t offset,
               uint64_t event, uint64_t marker)
{
	const char *path = file_path(m, file);
	uint64_t addr;

	if (!path || !segment_address(path, offset, &addr))
		return 0;
	if (lz_reserve(m->mod, m->cap, m->n + 1) < 0)
		return lz_fail("out of memory for the table of mapped files");
	m->mod[m->n++] = (struct lz_module){
	    .start = start,
	    .end = start + len,
	    .bias = start - addr,
	    .from_event = event,
	    .to_event = UINT64_MAX,
	    .from_marker = marker,
	    .to_marker = UINT64_MAX,
	    .file = file,
	    .path = path,
	    .interpreter = is_interpreter(lz_reader_file(m->reader, file)),
	};
	return 0;
}

static int add_vmas(struct lz_modules *m, const struct lz_checkpoint *c, uint64_t event,
                    uint64_t marker)
{
	for (uint32_t i = 0; i < c->n_vmas; i++) {
		const struct lz_vma *v = &c->vmas[i];

		if (v->file != LZ_NO_FILE && (v->prot & PROT_EXEC) &&
		    add(m, v->file, v->start, v->end - v->start, v->offset, event, marker))
			return -1;
	}
	return 0;
}

static int apply(struct lz_modules *m, const struct lz_event *ev)
{
	for (uint32_t i = 0; i < ev->n_ops; i++) {
		const struct lz_map_op *op = &ev->ops[i];

		if (op->op == LZ_MAP || op->op == LZ_UNMAP)
			end_overlapping(m, op->addr, op->addr + op->len, ev->index + 1, ev->marker);
		if (op->op == LZ_MAP && op->file != LZ_NO_FILE && (op->prot & PROT_EXEC) &&
		    add(m, op->file, op->addr, op->len, op->offset, ev->index + 1, ev->marker))
			return -1;
	}
	if (ev->flags & LZ_EVF_REBASE) {
		uint32_t c = lz_reader_checkpoint_before(m->reader, ev->index + 1, ev->marker);
		const struct lz_checkpoint *ck = lz_reader_checkpoint(m->reader, c);

		end_overlapping(m, 0, UINT64_MAX, ev->index + 1, ev->marker);
		if (ck && add_vmas(m, ck, ev->index + 1, ev->marker))
			return -1;
	}
	return 0;
}

/* Notes a system call of the loader's. */
static int note_call(struct lz_modules *m, const struct lz_event *ev)
{
	bool loader = false;

	if (ev->kind != LZ_EV_SYSCALL || (m->n_calls && m->calls[m->n_calls - 1] == ev->marker))
		return 0;
	for (size_t i = 0; i < m->n && !loader; i++)
		loader = m->mod[i].interpreter && m->mod[i].to_event == UINT64_MAX &&
		         ev->ip >= m->mod[i].start && ev->ip < m->mod[i].end;
	if (!loader)
		return 0;
	if (lz_reserve(m->calls, m->cap_calls, m->n_calls + 1) < 0)
		return lz_fail("out of memory for the table of mapped files");
	m->calls[m->n_calls++] = ev->marker;
	return 0;
}

static int note_signal(struct lz_modules *m, const struct lz_event *ev)
{
	if (ev->kind != LZ_EV_SIGNAL || !ev->has_regs)
		return 0;
	if (lz_reserve(m->deliveries, m->cap_deliveries, m->n_deliveries + 1) < 0)
		return lz_fail("out of memory for the table of signals");
	m->deliveries[m->n_deliveries++] =
	    (struct lz_delivery){ev->marker, ev->ip, ev->regs.rip, ev->index};
	return 0;
}

static int note_return(struct lz_modules *m, const struct lz_event *ev)
{
	if (ev->kind != LZ_EV_SYSCALL || ev->nr != SYS_rt_sigreturn || !ev->has_regs)
		return 0;
	if (lz_reserve(m->returns, m->cap_returns, m->n_returns + 1) < 0)
		return lz_fail("out of memory for the table of signals");
	m->returns[m->n_returns++] =
	    (struct lz_handler_return){ev->marker, ev->regs.rip, ev->index};
	return 0;
}

static int read_history(struct lz_modules *m)
{
	uint64_t n = lz_reader_n_events(m->reader), i = 0;

	if (lz_reader_n_checkpoints(m->reader)) {
		const struct lz_checkpoint *c = lz_reader_checkpoint(m->reader, 0);

		if (!c || add_vmas(m, c, 0, 0))
			return -1;
		i = c->pos.event;
	}
	for (; (i = lz_reader_event_telling(m->reader, i)) < n; i++) {
		const struct lz_event *ev = lz_reader_event(m->reader, i);

		if (!ev)
			return -1;
		if (note_call(m, ev) || note_signal(m, ev) || note_return(m, ev))
			return -1;
		if ((ev->n_ops || (ev->flags & LZ_EVF_REBASE)) && apply(m, ev))
			return -1;
	}
	return 0;
}

struct lz_modules *lz_modules_new(struct lz_reader *r)
{
	struct lz_modules *m = calloc(1, sizeof(*m));

	if (!m)
		goto no_memory;
	m->reader = r;
	m->n_paths = lz_reader_n_files(r);
	m->paths = calloc(m->n_paths + 1, sizeof(*m->paths));
	if (!m->paths)
		goto no_memory;
	if (read_history(m)) {
		lz_modules_free(m);
		return NULL;
	}
	return m;
no_memory:
	lz_fail("out of memory for the table of mapped files");
	lz_modules_free(m);
	return NULL;
}

void lz_modules_free(struct lz_modules *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++) {
		lz_cfg_close(m->mod[i].cfg);
		lz_lines_close(m->mod[i].lines);
		free(m->mod[i].jumps);
	}
	for (uint32_t i = 0; m->paths && i < m->n_paths; i++)
		free(m->paths[i]);
	free(m->paths);
	free(m->calls);
	free(m->deliveries);
	free(m->returns);
	free(m->mod);
	free(m);
}

size_t lz_modules_count(const struct lz_modules *m)
{
	return m->n;
}

struct lz_module *lz_modules_get(struct lz_modules *m, size_t i)
{
	return i < m->n ? &m->mod[i] : NULL;
}

struct lz_module *lz_modules_at(struct lz_modules *m, uint64_t addr, uint64_t event)
{
	for (size_t i = m->n; i-- > 0;) {
		struct lz_module *mod = &m->mod[i];

		if (addr >= mod->start && addr < mod->end && event >= mod->from_event &&
		    event < mod->to_event)
			return mod;
	}
	return NULL;
}

/* The first instance of the same file owns what was read from it. */
static struct lz_module *owner(struct lz_modules *m, struct lz_module *mod)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->mod[i].file == mod->file)
			return &m->mod[i];
	return mod;
}

struct lz_cfg *lz_module_cfg(struct lz_modules *m, struct lz_module *mod)
{
	struct lz_module *o = owner(m, mod);

	if (!o->tried_cfg) {
		o->tried_cfg = true;
		o->cfg = lz_cfg_open(o->path);
	}
	return o->cfg;
}

struct lz_lines *lz_module_lines(struct lz_modules *m, struct lz_module *mod)
{
	struct lz_module *o = owner(m, mod);

	if (!o->tried_lines) {
		const struct lz_file *f = lz_reader_file(m->reader, o->file);

		o->tried_lines = true;
		o->lines = lz_lines_open(o->path, f && f->path ? f->path : o->path);
	}
	return o->lines;
}

const struct lz_long_jump *lz_module_long_jumps(struct lz_modules *m, struct lz_module *mod,
                                                size_t *n)
{
	struct lz_module *o = owner(m, mod);

	if (!o->tried_jumps) {
		o->tried_jumps = true;
		o->jumps = calloc(LZ_LONG_JUMPS_MAX, sizeof(*o->jumps));
		o->n_jumps = o->jumps ? lz_probes_long_jumps(o->path, o->jumps) : 0;
	}
	*n = o->n_jumps;
	return o->jumps;
}

const uint64_t *lz_modules_loader_calls(const struct lz_modules *m, size_t *n)
{
	*n = m->n_calls;
	return m->calls;
}

const struct lz_delivery *lz_modules_deliveries(const struct lz_modules *m, size_t *n)
{
	*n = m->n_deliveries;
	return m->deliveries;
}

const struct lz_handler_return *lz_modules_handler_returns(const struct lz_modules *m, size_t *n)
{
	*n = m->n_returns;
	return m->returns;
}

bool lz_modules_hook(struct lz_modules *m, uint64_t addr, uint64_t event)
{
	struct lz_module *mod = lz_modules_at(m, addr, event), *o;

	if (!mod || !mod->interpreter)
		return false;
	o = owner(m, mod);
	if (!o->tried_hook) {
		o->tried_hook = true;
		o->hook = lz_elf_dynamic_symbol(o->path, "_dl_debug_state");
	}
	return o->hook && o->hook + mod->bias == addr;
}
