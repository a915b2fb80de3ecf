/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a program has rdrand and rdseed, cpuid, rdtsc or rdtscp, and a dynamic linker the system calls by which it
 * loads files: at the boundaries of instructions that the block labels or the unwind rules tell. The dynamic linker's
 * xsavec: what follows it tells. */
#include <elf.h>
#include <elfutils/libdw.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <Zydis/Zydis.h>
#include <common/base/array.h>
#include <lizard/cfg.h>
#include <lizard/error.h>
#include <lizard/randinsn.h>
#include <lizard/recording.h>
#include <lizard/xsavec.h>

/* A program waits meanwhile: so many instructions are decoded, and what each candidate costs besides. */
enum { PATIENCE = 6000000, CANDIDATE = 200, WAY_MOST = 1 << 16 /* bytes */, RULES_MOST = 64 };

enum { SYSCALL = 0x05, CALLS = 512, RDTSC = 0x31, RDTSCP = 0x01, RDTSCP_LAST = 0xf9 };

/* 0F and OPCODE are in all of them. */
struct kind {
	uint8_t opcode;
	/* May they be, with what follows, of which LEN bytes are known, and BEFORE in front of the 0F? */
	bool (*maybe)(const uint8_t *opcode, size_t before, size_t len);
	/* Is one at CODE? *AT: where OPCODE is. */
	bool (*is)(const uint8_t *code, size_t len, uint8_t *at);
	/* That tells enough, if no prefix is before it: nothing else begins so. */
	bool sure;
	/* Its name, if prefixes do not change what it is; 0. */
	ZydisMnemonic mnemonic;
};

struct find {
	const struct kind *kind;
	struct lz_cfg *cfg;
	Dwarf_CFI *cfi;
	const char *path;
	uint64_t *sites;
	size_t n;
	int64_t patience; /* what is left of it */
	/* of the present section */
	const uint8_t *code;
	uint64_t addr, size, offset;
};

/* Is one of ours at AT, if control comes from FROM? 2: the code between makes no sense, or is
 * too long. */
static int is_insn_from(struct find *f, uint64_t from, uint64_t at)
{
	ZydisDecodedInstruction other;
	ZydisDecoder decoder;
	uint8_t opcode;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint64_t pc = from; pc <= at && f->patience > 0;) {
		const uint8_t *code = f->code + (pc - f->addr);
		size_t len = f->addr + f->size - pc;

		if (f->kind->is(code, len, &opcode) && pc + opcode == at)
			return 1;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, len, &other)))
			return 2;
		pc += other.length;
		f->patience--;
		/* with a prefix that has no meaning */
		if (pc > at && f->kind->mnemonic && other.mnemonic == f->kind->mnemonic)
			return 2;
	}
	return f->patience > 0 ? 0 : 2;
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

/* Ways through the code of one function and what is around it, from BASE on. */
struct ways {
	const struct find *f;
	uint64_t base;
	uint64_t *todo;
	size_t n, room;
	uint8_t seen[WAY_MOST];
};

static void follow(struct ways *w, uint64_t pc)
{
	const struct find *f = w->f;

	if (pc - w->base < WAY_MOST && pc - f->addr < f->size && !w->seen[pc - w->base] &&
	    lz_reserve(w->todo, w->room, w->n + 1) == 0) {
		w->seen[pc - w->base] = 1;
		w->todo[w->n++] = pc;
	}
}

static void follow_behind(struct ways *w, const ZydisDecodedInstruction *in, uint64_t next)
{
	const bool jumps = in->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	                   in->meta.category == ZYDIS_CATEGORY_COND_BR;

	if (jumps && in->raw.imm[0].is_relative)
		follow(w, next + (uint64_t)in->raw.imm[0].value.s);
	if (in->meta.category != ZYDIS_CATEGORY_UNCOND_BR &&
	    in->meta.category != ZYDIS_CATEGORY_RET && in->mnemonic != ZYDIS_MNEMONIC_UD2)
		follow(w, next);
}

/* A function has several rules: where they begin there are instructions. */
static void follow_rules(struct ways *w, uint64_t from)
{
	for (int i = 0; i < RULES_MOST && from; i++, from = rules_from(w->f, from - 1))
		follow(w, from);
}

/* Does control come from FROM, or from rules before it, to AT by jumps that tell where to? Else it may be
 * data. */
static bool is_reached(struct find *f, uint64_t from, uint64_t at)
{
	struct ways *w = calloc(1, sizeof(*w));
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;
	bool is = false;

	if (!w)
		return false;
	w->f = f;
	w->base = from - f->addr < WAY_MOST / 2 ? f->addr : from - WAY_MOST / 2;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (follow_rules(w, from); w->n && !is; f->patience--) {
		const uint64_t pc = w->todo[--w->n];

		is = pc == at;
		if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
		        &decoder, NULL, f->code + (pc - f->addr), f->addr + f->size - pc, &in)))
			follow_behind(w, &in, pc + in.length);
	}
	free(w->todo);
	free(w);
	return is;
}

/* Is there an instruction at AT, and is it one of ours? 1 yes, 0 no, 2: cannot be told. */
static int is_insn(struct find *f, uint64_t at)
{
	uint8_t opcode;

	if (f->kind->sure) {
		const uint64_t i = at - f->addr - 1;
		const bool has_prefix = i && (f->code[i - 1] & 0xf0) == 0x40;

		return !has_prefix && f->kind->is(f->code + i, f->size - i, &opcode);
	}
	const struct lz_cfg_label *label = lz_cfg_label_before(f->cfg, at);
	uint64_t from = label && label->addr >= f->addr ? label->addr : rules_from(f, at);

	const int is = from ? is_insn_from(f, from, at) : 2;
	/* one by one, and by the ways that control takes */
	return is < 2 && f->kind->mnemonic && is_reached(f, from, at - 1) != is ? 2 : is;
}

static int add(struct find *f, uint64_t offset)
{
	if (lz_extend(f->sites, f->n) < 0)
		return lz_fail_in("the instructions of %s", f->path);
	f->sites[f->n++] = offset;
	return 0;
}

/* The first OPCODE from OP up to END behind an 0F; NULL: there is none. Either of the two is frequent in
 * code. */
static const uint8_t *next_pair(const uint8_t *op, const uint8_t *end, uint8_t opcode)
{
	enum { STEP = 16 };
	const __m128i first = _mm_set1_epi8(0x0f), second = _mm_set1_epi8((char)opcode);

	for (; end - op >= STEP; op += STEP) {
		const __m128i before = _mm_loadu_si128((const __m128i *)(op - 1));
		const __m128i here = _mm_loadu_si128((const __m128i *)op);
		const int both = _mm_movemask_epi8(
		    _mm_and_si128(_mm_cmpeq_epi8(before, first), _mm_cmpeq_epi8(here, second)));
		if (both)
			return op + __builtin_ctz((unsigned)both);
	}
	while (op < end && (op[-1] != 0x0f || *op != opcode))
		op++;
	return op < end ? op : NULL;
}

/* The present section. 0, 1: not for sure, -1. */
static int search(struct find *f)
{
	const uint8_t *end = f->code + f->size, *op = f->code + 1;

	for (; op < end && (op = next_pair(op, end, f->kind->opcode)); op++) {
		uint64_t at = (uint64_t)(op - f->code);

		if (!f->kind->maybe(op, at - 1, (size_t)(end - op)))
			continue;
		if ((f->patience -= CANDIDATE) < 0)
			return 1;
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

	if (!file || from > size)
		return 1;
	if (end > size)
		end = size;
	for (op = file + from + 1; op < file + end; op++) {
		op = next_pair(op, file + end, k->opcode);
		if (!op)
			break;
		if (k->maybe(op, (size_t)(op - file) - 1, (size_t)(file + size - op)) &&
		    !is_code(elf, (uint64_t)(op - file)))
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
			ret = search_untold(k, elf, ph.p_offset & ~(LZ_PAGE - 1ULL),
			                    (ph.p_offset + ph.p_filesz + LZ_PAGE - 1) &
			                        ~(LZ_PAGE - 1ULL));
	return ret;
}

static bool maybe_any(const uint8_t *opcode, size_t before, size_t len)
{
	(void)opcode, (void)before, (void)len;
	return true;
}

static bool maybe_random(const uint8_t *opcode, size_t before, size_t len)
{
	(void)before;
	return len > 1 && opcode[1] >= 0xf0;
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

static bool maybe_rdtscp(const uint8_t *opcode, size_t before, size_t len)
{
	(void)before;
	return len > 1 && opcode[1] == RDTSCP_LAST;
}

static bool is_rdtscp(const uint8_t *code, size_t len, uint8_t *at)
{
	*at = 1;
	return len > 2 && code[0] == 0x0f && code[1] == RDTSCP && code[2] == RDTSCP_LAST;
}

static bool loads(uint32_t nr)
{
	static const uint16_t calls[] = {SYS_brk,     SYS_access,     SYS_open,     SYS_openat,
	                                 SYS_fstat,   SYS_newfstatat, SYS_close,    SYS_read,
	                                 SYS_pread64, SYS_mmap,       SYS_mprotect, SYS_munmap};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (nr == calls[i])
			return true;
	return false;
}

/* By the last constant in front of it that eax gets. */
static bool maybe_loading(const uint8_t *opcode, size_t before, size_t len)
{
	enum { MOV_EAX = 0xb8, MOV_LEN = 5, NEAR = 24 };
	static const uint8_t zero[] = {0x31, 0xc0};
	const uint8_t *insn = opcode - 1;
	uint32_t nr;

	(void)len;
	if (before >= sizeof(zero) && !memcmp(insn - sizeof(zero), zero, sizeof(zero)))
		return loads(0);
	for (size_t back = MOV_LEN; back <= before && back <= NEAR; back++) {
		memcpy(&nr, insn - back + 1, sizeof(nr));
		if (insn[-(ptrdiff_t)back] == MOV_EAX && nr < CALLS)
			return loads(nr);
	}
	return false;
}

static bool is_syscall(const uint8_t *code, size_t len, uint8_t *at)
{
	*at = 1;
	return len > 1 && code[0] == 0x0f && code[1] == SYSCALL;
}

static const struct kind kinds[LZ_INSNS_KINDS] = {
    [LZ_INSNS_RANDOM] = {LZ_RAND_OPCODE, maybe_random, is_random},
    [LZ_INSNS_CPUID] = {LZ_CPUID_OPCODE, maybe_any, is_cpuid},
    [LZ_INSNS_XSAVEC] = {LZ_RAND_OPCODE, maybe_any, is_xsavec, .sure = true},
    [LZ_INSNS_RDTSC] = {RDTSC, maybe_any, is_rdtsc, .mnemonic = ZYDIS_MNEMONIC_RDTSC},
    [LZ_INSNS_RDTSCP] = {RDTSCP, maybe_rdtscp, is_rdtscp, .mnemonic = ZYDIS_MNEMONIC_RDTSCP},
    [LZ_INSNS_LOADING] = {SYSCALL, maybe_loading, is_syscall, .mnemonic = ZYDIS_MNEMONIC_SYSCALL},
};

int lz_insn_find(enum lz_insns_kind kind, const char *path, uint64_t **sites, size_t *n)
{
	struct find f = {.kind = &kinds[kind], .path = path, .patience = PATIENCE};
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
