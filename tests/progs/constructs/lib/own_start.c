/* A program without C library and with a _start of its own: prints Y and exits with 0. */
static long sys(long n, long a, long b, long c)
{
	long r;
	__asm__ volatile("syscall"
	                 : "=a"(r)
	                 : "a"(n), "D"(a), "S"(b), "d"(c)
	                 : "rcx", "r11", "memory");
	return r;
}
static __thread int counter = 7;
int f(int x)
{
	return x < 2 ? x : f(x - 1) + f(x - 2);
}
__attribute__((force_align_arg_pointer)) void _start(void)
{
	counter += f(15);
	char c = counter == 617 ? 'Y' : 'N';
	sys(1, 1, (long)&c, 1);
	sys(231, counter == 617 ? 0 : 1, 0, 0);
}
