/* Reads the time-stamp counter. */
#include <stdint.h>
#include <x86intrin.h>

uint64_t library_counter(void)
{
	return __rdtsc();
}
