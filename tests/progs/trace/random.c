/* Random numbers from the processor, in all widths; in a child, too. Says first what cpuid says. */
#include <cpuid.h>
#include <immintrin.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int other(void);

__attribute__((target("rdrnd,rdseed"))) static unsigned long long draw(void)
{
	unsigned long long wide = 0;
	unsigned word = 0;
	unsigned short half = 0;

	_rdrand64_step(&wide);
	_rdseed32_step(&word);
	_rdrand16_step(&half);
	return wide ^ word ^ half;
}

int main(void)
{
	unsigned a, b, c, d, e;
	int status, seen;

	__cpuid(1, a, b, c, d);
	__cpuid_count(7, 0, a, e, b, d);
	seen = (c >> 30 & 1) + (e >> 18 & 1);
	printf("%d\n", seen);
	for (int i = 0; i < 3 && seen == 2; i++)
		printf("%llx\n", draw());
	fflush(stdout);
	if (fork() == 0)
		_exit(seen == 2 && draw() != draw() ? 7 : 8);
	wait(&status);
	printf("%d %d\n", WEXITSTATUS(status), other());
	return 0;
}
