/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/call_code.h>
#include <string.h>
#include <sys/syscall.h>

/* How to load the arguments' registers: mov, and its operand of 64 bits. */
static const uint8_t mov[6][2] = {
    {0x48, 0xbf}, /* rdi */
    {0x48, 0xbe}, /* rsi */
    {0x48, 0xba}, /* rdx */
    {0x49, 0xba}, /* r10 */
    {0x49, 0xb8}, /* r8 */
    {0x49, 0xb9}  /* r9 */
};

/* mov, from rax */
static const uint8_t keep[LZ_RESULTS_AT_ONCE][3] = {
    {0x49, 0x89, 0xc4}, /* r12 */
    {0x49, 0x89, 0xc5}, /* r13 */
    {0x49, 0x89, 0xc6}, /* r14 */
    {0x49, 0x89, 0xc7}, /* r15 */
    {0x48, 0x89, 0xc3}, /* rbx */
    {0x48, 0x89, 0xc5}  /* rbp */
};

enum {
	CALL = 5 + 6 * 10 + 2, /* bytes of one */
	SKIP = 5,              /* of what leaves one out */
	KEEP = 3
};
_Static_assert((LZ_CALLS_AT_ONCE + 1) * (CALL + SKIP + KEEP) + 1 <= LZ_CALL_CODE_MOST,
               "all have room");

static size_t put(uint8_t *code, const void *bytes, size_t n)
{
	memcpy(code, bytes, n);
	return n;
}

static size_t put_call(uint8_t *code, const struct lz_proc_call *c)
{
	const uint32_t nr = (uint32_t)c->nr;
	size_t n = put(code, "\xb8", 1); /* mov, eax */

	n += put(code + n, &nr, sizeof(nr));
	for (int i = 0; i < 6; i++) {
		n += put(code + n, mov[i], sizeof(mov[i]));
		n += put(code + n, &c->args[i], sizeof(c->args[i]));
	}
	return n + put(code + n, "\x0f\x05", 2);
}

/* test rax, rax; js */
static size_t put_skip(uint8_t *code)
{
	const uint8_t skip[SKIP] = {0x48, 0x85, 0xc0, 0x78, CALL};

	return put(code, skip, sizeof(skip));
}

size_t lz_call_code_fits(const struct lz_proc_call *c, size_t n)
{
	size_t told = 0, i = 0;

	while (i < n && i < LZ_CALLS_AT_ONCE && (c[i].untold || told < LZ_RESULTS_AT_ONCE))
		told += !c[i++].untold;
	return i;
}

size_t lz_call_code(const struct lz_proc_call *c, size_t n, uint8_t code[LZ_CALL_CODE_MOST])
{
	static const struct lz_proc_call getpid = {.nr = SYS_getpid};
	size_t len = 0, told = 0;

	for (size_t i = 0; i < n; i++) {
		if (i && c[i].if_done)
			len += put_skip(code + len);
		len += put_call(code + len, &c[i]);
		if (!c[i].untold && told < LZ_RESULTS_AT_ONCE)
			len += put(code + len, keep[told++], KEEP);
	}
	/* one that nothing leaves out, and behind which nothing is kept */
	len += put_call(code + len, &getpid);
	return len + put(code + len, "\xcc", 1);
}

void lz_call_code_results(const struct user_regs_struct *r, struct lz_proc_call *c, size_t n)
{
	const uint64_t kept[LZ_RESULTS_AT_ONCE] = {r->r12, r->r13, r->r14, r->r15, r->rbx, r->rbp};
	size_t told = 0;

	for (size_t i = 0; i < n && told < LZ_RESULTS_AT_ONCE; i++)
		if (!c[i].untold)
			c[i].result = (int64_t)kept[told++];
}
