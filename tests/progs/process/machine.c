/* What the machine itself would answer differently each time: counters, clocks, random numbers, cpuid. */
#include "selfcheck.h"
#include <cpuid.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <x86intrin.h>

int main(void)
{
	unsigned a, b, c, d, aux;
	unsigned long long t0 = __rdtsc(), t1, mixed = 0;
	struct timespec ts, last = { 0, 0 };
	struct timeval tv;

	for (int i = 0; i < 200; i++) {
		t1 = __rdtscp(&aux);
		CHECK(t1 > t0);
		mixed = mixed * 31 + t1;
		t0 = t1;
		CHECK(clock_gettime(CLOCK_MONOTONIC, &ts) == 0);
		CHECK(ts.tv_sec > last.tv_sec || ts.tv_nsec >= last.tv_nsec);
		last = ts;
		gettimeofday(&tv, NULL);
		mixed += (unsigned long long)tv.tv_usec + (unsigned long long)time(NULL);
	}
	CHECK(__get_cpuid(0, &a, &b, &c, &d) && a > 0);
	CHECK(__get_cpuid(1, &a, &b, &c, &d));
	mixed += a + b + c + d + (unsigned)sched_getcpu();
	unsigned long r;
	CHECK(getrandom(&r, sizeof r, 0) == sizeof r);
	printf("mixed %llx random %lx\n", mixed, r);
	DONE();
}
