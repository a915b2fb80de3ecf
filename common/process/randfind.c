/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a program has rdrand and rdseed, cpuid, rdtsc or rdtscp: at the boundaries of instructions that the block
 * labels or the unwind rules tell. The dynamic linker's xsavec: what follows it tells. */
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <Zydis/Zydis.h>
#include <common/base/array.h>
#include <lizard/cfg.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <lizard/xsavec.h>

enum { RDTSC = 0x31, RDTSCP = 0x01, RDTSCP_LAST = 0xf9 };

/* 0F and OPCODE are in all of them. */
struct kind {
	uint8_t opcode;
	/* May they be, with what follows? */
	bool (*maybe)(const uint8_t *opcode);
	/* Is one at CODE? *AT: where OPCODE is. */
	bool (*is)(const uint8_t *code, size_t len, uint8_t *at);
	/* That tells enough, if no prefix is before it: nothing else begins so. */
	bool sure;
};

struct find {
	const struct kind *kind;
	struct lz_cfg *cfg;
	Dwarf_CFI *cfi;
	const char *path;
	uint64_t *sites;
	size_t n;
	/* of the present section */
	const uint8_t *code;
	uint64_t addr, size, offset;
};

/* Is one of ours at AT, if control comes from FROM? 2: the code between makes no sense. */
static int is_insn_from(const struct find *f, uint64_t from, uint64_t at)
{
	ZydisDecodedInstruction other;
	ZydisDecoder decoder;
	uint8_t opcode;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint64_t pc = from; pc <= at;) {
		const uint8_t *code = f->code + (pc - f->addr);
		size_t len = f->addr + f->size - pc;

		if (f->kind->is(code, len, &opcode) && pc + opcode == at)
			return 1;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, len, &other)))
			return 2;
		pc += other.length;
	}
	return 0;
}

/* Where the unwind rules that hold at AT begin; 0: there are none. */
static uint64_t rules_from(const struct find *f, uint64_t at)
{
	Dwarf_Addr start = 0;
	Dwarf_Frame *frame;

	if (!f->cfi || dwarf_cfi_addrframe(f->cfi, at, &frame) != 0)
		return 0;
	dwarf_frame_info(frame, &start, NULL, NULL);
	free(frame);
	return start >= f->addr && start <= at ? start : 0;
}

/* Is there an instruction at AT, and is it one of ours? 1 yes, 0 no, 2: cannot be told. */
static int is_insn(const struct find *f, uint64_t at)
{
	uint8_t opcode;

	if (f->kind->sure) {
		const uint64_t i = at - f->addr - 1;
		const bool has_prefix = i && (f->code[i - 1] & 0xf0) == 0x40;

		return !has_prefix && f->kind->is(f->code + i, f->size - i, &opcode);
	}
	const struct lz_cfg_label *label = lz_cfg_label_before(f->cfg, at);
	uint64_t from = label && label->addr >= f->addr ? label->addr : rules_from(f, at);

	return from ? is_insn_from(f, from, at) : 2;
}

static int add(struct find *f, uint64_t offset)
{
	if (lz_extend(f->sites, f->n) < 0)
		return lz_fail_in("the instructions of %s", f->path);
	f->sites[f->n++] = offset;
	return 0;
}

/* The present section. 0, 1: not for sure, -1. */
static int search(struct find *f)
{
	const uint8_t *end = f->code + f->size, *op = f->code + 1;

	for (; end - op > 1 && (op = memchr(op, f->kind->opcode, (size_t)(end - op - 1))); op++) {
		uint64_t at = (uint64_t)(op - f->code);

		if (op[-1] != 0x0f || !f->kind->maybe(op))
			continue;
		if (!f->kind->sure && !f->cfg && !(f->cfg = lz_cfg_open(f->path)))
			return -1;
		int is = is_insn(f, f->addr + at);

		if (is == 2)
			return 1;
		if (is && add(f, f->offset + at) < 0)
			return -1;
	}
	return 0;
}

static int search_elf(struct find *f, Elf *elf)
{
	Elf_Scn *scn = NULL;
	int ret = 0;

	while (ret == 0 && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
		    sh.sh_type != SHT_PROGBITS || !(data = elf_rawdata(scn, NULL)) || !data->d_buf)
			continue;
		f->code = data->d_buf;
		f->addr = sh.sh_addr;
		f->size = data->d_size;
		f->offset = sh.sh_offset;
		ret = search(f);
	}
	return ret;
}

static bool is_code(Elf *elf, uint64_t offset)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_EXECINSTR &&
		    sh.sh_type == SHT_PROGBITS && offset - sh.sh_offset < sh.sh_size)
			return true;
	return false;
}

/* What no section tells of, between two offsets. 0, or 1: it may have one. */
static int search_untold(const struct kind *k, Elf *elf, uint64_t from, uint64_t end)
{
	size_t size = 0;
	const uint8_t *file = (const uint8_t *)elf_rawfile(elf, &size), *op;

	if (!file || end > size || from >= end)
		return !file || from < end;
	for (op = file + from + 1; file + end - op > 1; op++) {
		op = memchr(op, k->opcode, (size_t)(file + end - op - 1));
		if (!op)
			break;
		if (op[-1] == 0x0f && k->maybe(op) && !is_code(elf, (uint64_t)(op - file)))
			return 1;
	}
	return 0;
}

static int search_segments(const struct kind *k, Elf *elf)
{
	GElf_Phdr ph;
	size_t n = 0;
	int ret = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; ret == 0 && i < n; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && ph.p_flags & PF_X)
			ret = search_untold(k, elf, ph.p_offset, ph.p_offset + ph.p_filesz);
	return ret;
}

static bool maybe_any(const uint8_t *opcode)
{
	(void)opcode;
	return true;
}

static bool maybe_random(const uint8_t *opcode)
{
	return opcode[1] >= 0xf0;
}

static bool is_random(const uint8_t *code, size_t len, uint8_t *at)
{
	struct lz_rand_insn in;
	bool is = lz_rand_decode(code, len, false, &in);

	*at = in.at;
	return is;
}

/* Does what has been saved there come back? xrstor is 0F AE /5, with the same operand. */
static bool is_xsavec(const uint8_t *code, size_t len, uint8_t *at)
{
	enum { NEAR = 256 };
	uint8_t restore[LZ_XSAVEC_MAX];
	struct lz_xsavec in;

	if (!lz_xsavec_decode(code, len, false, &in))
		return false;
	*at = in.at;
	memcpy(restore, code, in.len);
	restore[1] = 0xae;
	restore[2] = (uint8_t)((code[2] & ~0x38) | 5 << 3);
	return memmem(code, len < NEAR ? len : NEAR, restore, in.len) != NULL;
}

static bool is_cpuid(const uint8_t *code, size_t len, uint8_t *at)
{
	*at = 1;
	return len > 1 && code[0] == 0x0f && code[1] == LZ_CPUID_OPCODE;
}

static bool is_rdtsc(const uint8_t *code, size_t len, uint8_t *at)
{
	*at = 1;
	return len > 1 && code[0] == 0x0f && code[1] == RDTSC;
}

static bool maybe_rdtscp(const uint8_t *opcode)
{
	return opcode[1] == RDTSCP_LAST;
}

static bool is_rdtscp(const uint8_t *code, size_t len, uint8_t *at)
{
	*at = 1;
	return len > 2 && code[0] == 0x0f && code[1] == RDTSCP && maybe_rdtscp(code + 1);
}

static const struct kind kinds[LZ_INSNS_KINDS] = {
    [LZ_INSNS_RANDOM] = {LZ_RAND_OPCODE, maybe_random, is_random},
    [LZ_INSNS_CPUID] = {LZ_CPUID_OPCODE, maybe_any, is_cpuid},
    [LZ_INSNS_XSAVEC] = {LZ_RAND_OPCODE, maybe_any, is_xsavec, .sure = true},
    [LZ_INSNS_RDTSC] = {RDTSC, maybe_any, is_rdtsc},
    [LZ_INSNS_RDTSCP] = {RDTSCP, maybe_rdtscp, is_rdtscp},
};

int lz_insn_find(enum lz_insns_kind kind, const char *path, uint64_t **sites, size_t *n)
{
	struct find f = {.kind = &kinds[kind], .path = path};
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 1;
	Elf *elf = NULL;

	*sites = NULL;
	*n = 0;
	if (fd < 0)
		return lz_fail_errno("%s", path);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		f.cfi = dwarf_getcfi_elf(elf);
		ret = search_elf(&f, elf);
		if (ret == 0 && !f.kind->sure)
			ret = search_segments(f.kind, elf);
		dwarf_cfi_end(f.cfi);
	}
	elf_end(elf);
	close(fd);
	if (f.cfg)
		lz_cfg_close(f.cfg);
	if (ret) {
		free(f.sites);
		return ret;
	}
	*sites = f.sites;
	*n = f.n;
	return 0;
}
