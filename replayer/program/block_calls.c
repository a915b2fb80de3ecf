/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/program/block_calls.h"

#include <Zydis/Zydis.h>
#include <common/base/cleanup.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>

enum { LARGEST = 1 << 20 }; /* bytes of a block; more of it is not looked at */

struct block {
	struct lz_modules *m;
	struct lz_module *mod;
	struct lz_cfg *cfg;
	struct lz_lines *lines;
	const struct lz_cfg_func *callee;
};

/* ---- code ---- */

static bool file_offset(Elf *elf, uint64_t addr, uint64_t len, uint64_t *offset)
{
	size_t n = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && addr >= p.p_vaddr &&
		    p.p_filesz >= len && addr - p.p_vaddr <= p.p_filesz - len) {
			*offset = p.p_offset + (addr - p.p_vaddr);
			return true;
		}
	return false;
}

/* malloced; NULL: it cannot be had. */
static uint8_t *read_code(const char *path, uint64_t addr, uint64_t len)
{
	lz_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	lz_auto_free uint8_t *code = malloc(len + 1);
	uint64_t offset;

	elf_version(EV_CURRENT);
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	const bool known = elf && file_offset(elf, addr, len, &offset);
	elf_end(elf);
	if (!known || !code || pread(fd, code, len, (off_t)offset) != (ssize_t)len)
		return NULL;
	return lz_keep(code);
}

/* ---- calls ---- */

static bool is_direct(const ZydisDecodedInstruction *in)
{
	return in->raw.imm[0].size && in->raw.imm[0].is_relative;
}

static uint64_t start_of(const struct block *b, uint64_t addr)
{
	struct lz_range r;

	return lz_lines_function(b->lines, addr, &r) ? r.start : addr;
}

/* Of a function with markers it is known what it enters. */
static bool has_markers(const struct block *b, uint64_t start)
{
	size_t left;
	struct lz_range r;
	const struct lz_cfg_site *site = lz_cfg_sites_from(b->cfg, start, &left);

	return lz_lines_function(b->lines, start, &r) && left && site->addr < r.end;
}

static enum lz_block_call kind_of(const struct block *b, const ZydisDecodedInstruction *in,
                                  uint64_t pc)
{
	if (in->meta.category != ZYDIS_CATEGORY_CALL)
		return LZ_CALLS_NOT;
	if (!is_direct(in))
		return LZ_CALLS_INDIRECT;
	const uint64_t start = start_of(b, pc + in->length + (uint64_t)in->raw.imm[0].value.s);
	if (start == start_of(b, b->callee->entry))
		return LZ_CALLS_DIRECT;
	return has_markers(b, start) ? LZ_CALLS_NOT : LZ_CALLS_FOREIGN;
}

static enum lz_block_call look_at(const struct block *b, uint64_t from, uint64_t to)
{
	const uint64_t len = to - from < LARGEST ? to - from : LARGEST;
	lz_auto_free uint8_t *code = read_code(b->mod->path, from, len);
	enum lz_block_call surest = LZ_CALLS_NOT;
	ZydisDecodedInstruction in;
	ZydisDecoder d;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint64_t at = 0; code && at < len; at += in.length) {
		if (!ZYAN_SUCCESS(
		        ZydisDecoderDecodeInstruction(&d, NULL, code + at, len - at, &in)))
			break;
		const enum lz_block_call kind = kind_of(b, &in, from + at);
		if (kind > surest)
			surest = kind;
	}
	return surest;
}

enum lz_block_call lz_block_calls(struct lz_modules *m, struct lz_module *mod,
                                  const struct lz_cfg_func *f, uint32_t node,
                                  const struct lz_cfg_func *callee)
{
	struct block b = {.m = m,
	                  .mod = mod,
	                  .cfg = lz_module_cfg(m, mod),
	                  .lines = lz_module_lines(m, mod),
	                  .callee = callee};
	enum lz_block_call surest = LZ_CALLS_NOT;
	size_t n = 0;
	const struct lz_cfg_label *label = b.cfg ? lz_cfg_labels(b.cfg, &n) : NULL;

	for (size_t i = 0; b.lines && i < n; i++) {
		struct lz_range r;

		if (label[i].block != node || lz_cfg_func(b.cfg, label[i].func) != f ||
		    !lz_lines_function(b.lines, label[i].addr, &r))
			continue;
		const uint64_t next = i + 1 < n ? label[i + 1].addr : r.end;
		const enum lz_block_call kind =
		    look_at(&b, label[i].addr, next < r.end ? next : r.end);
		if (kind > surest)
			surest = kind;
	}
	return surest;
}
