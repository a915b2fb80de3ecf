/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/process/call_code.h>
#include <string.h>

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
static const uint8_t keep[LZ_CALLS_AT_ONCE - 1][3] = {
    {0x49, 0x89, 0xc4}, /* r12 */
    {0x49, 0x89, 0xc5}, /* r13 */
    {0x49, 0x89, 0xc6}, /* r14 */
    {0x49, 0x89, 0xc7}, /* r15 */
    {0x48, 0x89, 0xc3}  /* rbx */
};

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

size_t lz_call_code(const struct lz_proc_call *c, size_t n, uint8_t code[LZ_CALL_CODE_MOST])
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		len += put_call(code + len, &c[i]);
		if (i + 1 < n)
			len += put(code + len, keep[i], sizeof(keep[i]));
	}
	return len + put(code + len, "\xcc", 1);
}

int64_t lz_call_code_result(const struct user_regs_struct *r, size_t i, size_t n)
{
	const uint64_t kept[LZ_CALLS_AT_ONCE - 1] = {r->r12, r->r13, r->r14, r->r15, r->rbx};

	return (int64_t)(i + 1 < n ? kept[i] : r->rax);
}
