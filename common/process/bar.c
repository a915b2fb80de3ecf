/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Syscall user dispatch: the kernel looks at a byte in the stub. */
#include <lizard/proc.h>

#include <linux/prctl.h>

int lz_proc_bar(const struct lz_proc *p, bool on)
{
	const uint8_t byte = on ? SYSCALL_DISPATCH_FILTER_BLOCK : SYSCALL_DISPATCH_FILTER_ALLOW;

	if (!p->stub || p->stub->barred == on)
		return 0;
	if (lz_proc_write_own(p, p->stub->barred_byte, &byte, 1) < 0)
		return -1;
	p->stub->barred = on;
	return 0;
}
