/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A value that stays in a register over 3200 instructions, in a stretch of 27,000 without markers. */
int main(void)
{
	long got;

	__asm__ volatile("mov $12000, %%ecx\n"
	                 "1: dec %%ecx\n"
	                 "jnz 1b\n"
	                 "mov $77, %%edx\n"
	                 "mov $100, %%ecx\n"
	                 "2: .rept 30\n"
	                 "nop\n"
	                 ".endr\n"
	                 "dec %%ecx\n"
	                 "jnz 2b\n"
	                 "mov %%rdx, %0\n"
	                 : "=r"(got)
	                 :
	                 : "rcx", "rdx", "cc");
	return got != 77;
}
