/* A part of the program that may not be instrumented. */
#include <immintrin.h>

__attribute__((target("rdrnd"))) static int draw(void)
{
	unsigned long long v;

	return _rdrand64_step(&v);
}

#ifdef BARE
__asm__(".text\n"
        "bare: rdrand %eax\n"
        "ret\n");
#endif
#ifdef BARE_CPUID
__asm__(".text\n"
        "cpuid\n"
        "ret\n");
#endif

int other(void)
{
	int (*volatile f)(void) = draw;

#ifdef CALL
	return f();
#else
	return f == 0;
#endif
}
