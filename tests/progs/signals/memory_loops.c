/* Loops without markers whose registers and stack are the same in many rounds: what tells the rounds
 * apart is in memory. */
#include <stdint.h>

uint64_t counter, left;
static volatile unsigned char table[64];

void counts(uint64_t rounds)
{
	left = rounds;
	__asm__ volatile("1: incq counter(%%rip)\n\tdecq left(%%rip)\n\tjnz 1b" ::: "cc", "memory");
}

/* A table that changes and changes back. */
uint64_t tables(uint64_t rounds)
{
	static volatile uint64_t sum;

	while (rounds--)
		for (int k = 0; k < 64; k++) {
			table[k] ^= 0xff;
			sum += table[k * 5 % 64];
			counter++;
		}
	return sum;
}
