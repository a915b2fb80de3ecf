/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intel SDM volume 2: RDRAND is 0F C7 /6, RDSEED 0F C7 /7, both with a register; MOV to DR6, DR7 is
 * 0F 23 /6, /7. */
#include <immintrin.h>
#include <string.h>
#include <unistd.h>
#include <lizard/randinsn.h>

bool lz_rand_decode(const uint8_t *code, size_t len, bool armed, struct lz_rand_insn *in)
{
	uint8_t opcode = armed ? LZ_RAND_ARMED : LZ_RAND_OPCODE, rex = 0;
	size_t i = 0;

	in->bits = 32;
	if (i < len && code[i] == 0x66)
		in->bits = 16, i++;
	if (i < len && (code[i] & 0xf0) == 0x40)
		rex = code[i++];
	if (i + 3 > len || code[i] != 0x0f || code[i + 1] != opcode || code[i + 2] < 0xf0)
		return false;
	if (rex & 8)
		in->bits = 64;
	in->at = (uint8_t)(i + 1);
	in->len = (uint8_t)(i + 3);
	in->reg = (uint8_t)((code[i + 2] & 7) | (rex & 1) << 3);
	in->seed = code[i + 2] & 8;
	return true;
}

static unsigned long long *reg_of(struct user_regs_struct *r, uint8_t reg)
{
	unsigned long long *const regs[16] = {&r->rax, &r->rcx, &r->rdx, &r->rbx, &r->rsp, &r->rbp,
	                                      &r->rsi, &r->rdi, &r->r8,  &r->r9,  &r->r10, &r->r11,
	                                      &r->r12, &r->r13, &r->r14, &r->r15};

	return regs[reg & 15];
}

__attribute__((target("rdrnd,rdseed"))) static bool draw(bool seed, unsigned long long *value)
{
	return seed ? _rdseed64_step(value) : _rdrand64_step(value);
}

void lz_rand_do(const struct lz_rand_insn *in, struct user_regs_struct *r)
{
	enum { CF = 1, PF = 4, AF = 16, ZF = 64, SF = 128, OF = 2048 };
	unsigned long long value = 0, *to = reg_of(r, in->reg);
	bool ok = draw(in->seed, &value);

	if (!ok)
		value = 0;
	if (in->bits == 16)
		*to = (*to & ~0xffffULL) | (value & 0xffff);
	else
		*to = in->bits == 32 ? (uint32_t)value : value;
	r->eflags &= ~(unsigned long long)(CF | PF | AF | ZF | SF | OF);
	r->eflags |= ok ? CF : 0;
	r->rip += in->len;
}

bool lz_insn_maybe_armed(const uint8_t *code, size_t len)
{
	if (memchr(code, LZ_RAND_ARMED, len))
		return true;
	for (const uint8_t *at = code;
	     len && (at = memchr(at, LZ_CPUID_ARMED, (size_t)(code + len - at))); at++)
		if (at == code || at[-1] == 0x0f)
			return true;
	return false;
}

/* Puts ORIGINAL back where it is in FILE and ARMED in the code. */
static void disarm(uint8_t *code, size_t len, uint8_t armed, uint8_t original, int file,
                   uint64_t offset)
{
	uint8_t *at = code, was;

	for (; len && (at = memchr(at, armed, (size_t)(code + len - at))); at++) {
		if (armed == LZ_CPUID_ARMED && at > code && at[-1] != 0x0f)
			continue;
		if (pread(file, &was, 1, (off_t)(offset + (uint64_t)(at - code))) == 1 &&
		    was == original)
			*at = original;
	}
}

void lz_insn_disarm(uint8_t *code, size_t len, int file, uint64_t offset)
{
	disarm(code, len, LZ_RAND_ARMED, LZ_RAND_OPCODE, file, offset);
	disarm(code, len, LZ_CPUID_ARMED, LZ_CPUID_OPCODE, file, offset);
}
