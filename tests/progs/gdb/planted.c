/* An origin of each kind, in a function of its own, which keeps what it made in from_NAME.
 * The last link of its chain is what the comment behind says, as a regular expression.
 * PLANTED=value ./planted arg, in a folder of its own: it writes the file numbers. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <alloca.h>

#define ORIGIN(type, name)                                                                         \
	type from_##name;                                                                          \
	__attribute__((noipa)) static void make_##name(void)

struct pair {
	long first, second;
};
struct large {
	long v[12];
};
union both {
	float f;
	uint32_t bits;
};
struct narrow {
	unsigned low : 5, high : 7;
};

static char **arguments;
static int file = -1;
static volatile int one = 1, two = 2, three = 3;
int initial = 77, never;
static int table[4] = {5, 6, 7, 8};
static const int fixed = 88;
static _Thread_local int own = 66;

__attribute__((noipa)) static int pass(int n)
{
	return n;
}
__attribute__((noipa)) static long pass_long(long n)
{
	return n;
}

/* ---- what computes ---- */
ORIGIN(int, sum) { from_sum = pass(one + 41); } /* made by .* of one = 1 */
ORIGIN(int, product) { from_product = pass(two * three); } /* made by .* of .*two = 2 */
ORIGIN(int, quotient) { from_quotient = pass(initial / three); } /* made by .* of .*77 */
ORIGIN(int, shift) { from_shift = pass(three << two); } /* made by .* of .*3 */
ORIGIN(int, negated) { from_negated = pass(-three); } /* made by .* of .*3 */
ORIGIN(int, compared) { from_compared = pass(three > two); } /* made by .* of */
ORIGIN(double, float) { from_float = one + 0.5; } /* made by .* of */
ORIGIN(int, truncated) { double d = three; from_truncated = (int)(d * 2); } /* made by .* of */
ORIGIN(int, added) { static _Atomic int n = 4; atomic_fetch_add(&n, three); from_added = n; } /* made by .* of */

/* ---- constants and addresses ---- */
ORIGIN(int, constant) { int n = 41; from_constant = pass(n); } /* the constant 41 */
ORIGIN(int, zero) { int n = 0; from_zero = pass(n); } /* the constant 0 */
ORIGIN(long, wide) { long n = 0x123456789abc; from_wide = pass_long(n); } /* the constant 20015998343868 */
ORIGIN(int, chosen) { int n; switch (two) { case 1: n = 10; break; case 2: n = 20; break; case 3: n = 17; break; default: n = 40; } from_chosen = pass(n); } /* the constant 20|the initial data of the program's file, section \.rodata */
ORIGIN(char *, address) { from_address = (char *)&table[2]; } /* the address .* of table \+ 8 */
ORIGIN(char *, string) { from_string = "text"; } /* the address 0x */
ORIGIN(void *, function) { void (*f)(void) = make_zero; from_function = f; } /* the address .* of make_zero */
ORIGIN(char *, local) { volatile char here[8]; here[0] = 1; from_local = (char *)here; } /* the address */

/* ---- memory that was not written ---- */
ORIGIN(int, data) { from_data = pass(initial); } /* the initial data of the program's file, section \.data */
ORIGIN(int, rodata) { from_rodata = pass(*(const volatile int *)&fixed); } /* the initial data of the program's file, section \.rodata */
ORIGIN(int, bss) { from_bss = pass(*(volatile int *)&never); } /* never written: zero as the program begins */
ORIGIN(int, unset) { volatile int n[4]; from_unset = pass(n[2]); } /* never written since the function was called: it is not initialized */
ORIGIN(long, fresh) { volatile long *p = malloc(1 << 20); from_fresh = p[1000]; } /* never written since (malloc|calloc) gave it, in a block of \d+ bytes at 0x\w+; its memory is from mmap\( */
ORIGIN(long, small) { volatile long *p = malloc(3000); from_small = p[200]; } /* never written since malloc gave it, in a block of \d+ bytes at 0x\w+; its memory is from (brk|mmap)\( */
ORIGIN(long, regrown) { volatile long *p = realloc(malloc(200000), 1 << 21); from_regrown = p[100000]; } /* never written since realloc gave it, in a block of \d+ bytes at 0x\w+; its memory is from (mmap|mremap)\( */
static volatile long *filled(long n, long with) { volatile long *p = malloc(8 * (size_t)n); for (long i = 0; i < n; i++) p[i] = with; return p; }
ORIGIN(long, reused) { volatile long *p = filled(9, 140), *q; free((void *)p); q = malloc(72); from_reused = q[3]; } /* never written since malloc gave it again, in a block of \d+ bytes at 0x\w+$ */
ORIGIN(long, reused_often) { volatile long *p = filled(9, 141); for (int i = 0; i < 50; i++) { free((void *)p); p = malloc(72); p[0] = i; p[5] = i; } from_reused_often = p[3]; } /* never written since malloc gave it again, in a block of \d+ bytes at 0x\w+$ */
ORIGIN(long, reused_large) { volatile long *p = filled(400, 142), *q; free((void *)p); q = malloc(3200); from_reused_large = q[300]; } /* never written since malloc gave it again, in a block of \d+ bytes at 0x\w+$ */
ORIGIN(long, split) { volatile long *p = filled(600, 143), *q; free((void *)p); p = malloc(1000); q = malloc(1000); p[0] = q[0] = 1; from_split = q[50]; } /* never written since malloc gave it again, in a block of \d+ bytes at 0x\w+$ */
ORIGIN(long, extended_block) { volatile long *p = filled(700, 144); free((void *)p); p = malloc(1000); p = realloc((void *)p, 2000); from_extended_block = p[200]; } /* never written since realloc gave it again, in a block of \d+ bytes at 0x\w+$ */
ORIGIN(long, kept) { volatile long *p = filled(9, 145); p = realloc((void *)p, 60); p = realloc((void *)p, 72); from_kept = p[3]; } /* the constant 145 */
ORIGIN(long, written_again) { volatile long *p = filled(9, 146); free((void *)p); p = malloc(72); p[3] = pass_long(147); from_written_again = p[3]; } /* the constant 147 */
ORIGIN(long, freed) { volatile long *p = filled(9, 148); free((void *)p); from_freed = p[3]; } /* the constant 148 */
ORIGIN(long, at_once) { volatile long *p = malloc(1400); p[3] = 149; from_at_once = p[3]; } /* the constant 149 */
ORIGIN(long, freed_at_once) { volatile long *p = malloc(1400), *q = malloc(1400); q[0] = 1; p[50] = 151; free((void *)p); from_freed_at_once = p[50]; } /* the constant 151 */
ORIGIN(long, given) { volatile long *p = malloc(72); lseek(file, 0, SEEK_SET); if (read(file, (void *)p, 8) != 8) exit(3); p[1] = 2; from_given = p[0]; free((void *)p); } /* from read\( */
static void *reuse(void *arg) { volatile long *p = filled(9, 152), *q; free((void *)p); q = malloc(72); *(long *)arg = q[3]; return NULL; }
ORIGIN(long, thread_reused) { pthread_t t; if (pthread_create(&t, NULL, reuse, &from_thread_reused) || pthread_join(t, NULL)) exit(3); } /* never written since malloc gave it again, in a block of \d+ bytes at 0x\w+$ */
ORIGIN(long, cleared) { volatile long *p = calloc(1 << 20, 1); from_cleared = p[1000]; } /* never written since (malloc|calloc) gave it, in a block of \d+ bytes at 0x\w+; its memory is from mmap\( */
ORIGIN(int, argument) { from_argument = arguments[1][0]; } /* the arguments or the environment */
ORIGIN(char, environment) { from_environment = getenv("PLANTED")[2]; } /* the arguments or the environment */
ORIGIN(int, thread_local) { from_thread_local = pass(*(volatile int *)&own); } /* the initial data of the program's file, section \.tdata */
ORIGIN(int, static_local) { static int n = 12; n += one; from_static_local = n; } /* made by .* of */

/* ---- calls ---- */
ORIGIN(int, read) { int v[2]; lseek(file, 4, SEEK_SET); if (read(file, v, 8) != 8) exit(3); from_read = v[1]; } /* from read\(.*byte 4 of what it gave; descriptor \d+ is of openat\(AT_FDCWD, ".*numbers", .*offset 8$ */
ORIGIN(int, pread) { int v; if (pread(file, &v, 4, 8) != 4) exit(3); from_pread = v; } /* from pread64\(.*openat\(.*offset 8$ */
ORIGIN(int, duplicate) { int v, d = dup(file); lseek(file, 0, SEEK_SET); if (read(d, &v, 4) != 4) exit(3); close(d); from_duplicate = v; } /* from read\(.*openat\(.*offset 0$ */
ORIGIN(int, readv) { int v[2]; struct iovec w[2] = {{v, 4}, {v + 1, 4}}; lseek(file, 0, SEEK_SET); if (readv(file, w, 2) != 8) exit(3); from_readv = v[1]; } /* from readv\(.*byte 4 of what it gave; .*offset 4$ */
ORIGIN(int, pipe) { int p[2], v[3] = {4, pass(5), 6}; if (pipe(p) || write(p[1], v, 12) != 12 || read(p[0], v, 4) != 4 || read(p[0], v, 8) != 8) exit(3); from_pipe = v[0]; } /* the constant 5 */
ORIGIN(int, pipes) { int p[2], a = pass(31), b = pass(32), v; struct iovec w[2] = {{&a, 4}, {&b, 4}}; if (pipe(p) || writev(p[1], w, 2) != 8 || read(p[0], &v, 4) != 4 || read(p[0], &v, 4) != 4) exit(3); from_pipes = v; } /* the constant 32 */
ORIGIN(int, socket) { int s[2], v = pass(9), w; if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) || send(s[0], &v, 4, 0) != 4 || recv(s[1], &w, 4, 0) != 4) exit(3); from_socket = w; } /* the constant 9 */
ORIGIN(int, peer) { int l = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0), v = 9, w; struct sockaddr_in a = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}}; socklen_t n = sizeof a; if (bind(l, (void *)&a, n) || listen(l, 1) || getsockname(l, (void *)&a, &n) || connect(c, (void *)&a, n) || write(accept(l, NULL, NULL), &v, 4) != 4 || read(c, &w, 4) != 4) exit(3); from_peer = w; } /* from read\(.*is of socket\(AF_INET, .* and connect\(.*127\.0\.0\.1 */
ORIGIN(int, child) { int p[2], v = 3, w; if (pipe(p)) exit(3); if (!fork()) { v = write(p[1], &v, 4); _exit(0); } wait(NULL); if (read(p[0], &w, 4) != 4) exit(3); from_child = w; } /* from read\(.*is of pipe2\( */
ORIGIN(int, random) { int v; if (getrandom(&v, 4, 0) != 4) exit(3); from_random = v; } /* from getrandom\( */
ORIGIN(long, size) { struct stat s; if (fstat(file, &s)) exit(3); from_size = s.st_size; } /* from (newfstatat|fstat)\( */
ORIGIN(int, process) { from_process = pass(getpid()); } /* from getpid\( */
ORIGIN(long, returned) { char b[8]; lseek(file, 0, SEEK_SET); from_returned = read(file, b, 3); } /* from read\( */
ORIGIN(long, clock) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); from_clock = t.tv_sec; } /* from clock_gettime\(|made by */

/* ---- copies ---- */
ORIGIN(long, assigned) { struct pair a = {1, pass_long(123)}; volatile struct pair b; b = a; from_assigned = b.second; } /* the constant 123 */
ORIGIN(long, copied) { struct large a, b; a.v[7] = pass_long(124); memcpy(&b, &a, sizeof b); __asm__("" ::: "memory"); from_copied = b.v[7]; } /* the constant 124 */
ORIGIN(int, moved) { int v[40]; v[0] = pass(125); memmove(v + 1, v, 39 * sizeof *v); __asm__("" : : "r"(v) : "memory"); from_moved = v[1]; } /* the constant 125 */
ORIGIN(char, spelled) { char from[32], to[32]; from[0] = (char)pass('q'); memset(from + 1, 'x', 20); from[21] = 0; __asm__("" : : "r"(from) : "memory"); strcpy(to, from); __asm__("" : : "r"(to) : "memory"); from_spelled = to[0]; } /* the constant 113 */
ORIGIN(long, grown) { long *p = malloc(80); p[3] = pass_long(126); p = realloc(p, 400000); from_grown = p[3]; } /* the constant 126 */
ORIGIN(int, stringed) { int a[4] = {1, 2, pass(127), 4}, b[4], *from = a, *to = b; long n = 4; __asm__ volatile("rep movsl" : "+S"(from), "+D"(to), "+c"(n)::"memory"); from_stringed = b[2]; } /* the constant 127 */
ORIGIN(int, filled) { int b[4], *to = b, v = pass(128); long n = 4; __asm__ volatile("rep stosl" : "+D"(to), "+c"(n) : "a"(v) : "memory"); from_filled = b[2]; } /* the constant 128 */
ORIGIN(int, vector) { int a[4] = {1, 2, pass(129), 4}, b[4]; __asm__("" : : "r"(a) : "memory"); __m128i x = _mm_loadu_si128((void *)a); __asm__("" : "+x"(x)); _mm_storeu_si128((void *)b, x); from_vector = b[2]; } /* the constant 129 */
ORIGIN(int, shuffled) { int a[4] = {1, pass(155), 2, 4}, b[4]; __asm__("" : : "r"(a) : "memory"); __m128i x = _mm_shuffle_epi32(_mm_loadu_si128((void *)a), 0x1b); __asm__("" : "+x"(x)); _mm_storeu_si128((void *)b, _mm_unpackhi_epi32(x, x)); from_shuffled = b[1]; } /* the constant 155 */
ORIGIN(double, moved_float) { volatile double a = 2.5, b = a; from_moved_float = b; } /* the initial data of the program's file, section \.rodata */
ORIGIN(int, pushed) { long v = pass(130), w; __asm__ volatile("push %1\n\tpop %0" : "=r"(w) : "r"(v) : "memory"); from_pushed = (int)w; } /* the constant 130 */
ORIGIN(int, exchanged) { int a = pass(131), b = 2; __asm__ volatile("xchg %0, %1" : "+r"(a), "+r"(b)); from_exchanged = b; } /* the constant 131 */
ORIGIN(int, swapped) { static _Atomic int cell; atomic_exchange(&cell, pass(132)); from_swapped = atomic_exchange(&cell, 1); } /* the constant 132 */
ORIGIN(int, conditional) { int a = 1, b = pass(133); __asm__ volatile("cmp %2, %2\n\tcmove %1, %0" : "+r"(a) : "r"(b), "r"(b) : "cc"); from_conditional = a; } /* the constant 133 */
ORIGIN(int, unconditional) { int a = pass(134), b = 1; __asm__ volatile("cmp %2, %2\n\tcmovne %1, %0" : "+r"(a) : "r"(b), "r"(b) : "cc"); from_unconditional = a; } /* the constant 134 */
ORIGIN(long, extended) { volatile signed char c = (signed char)pass(-5); from_extended = c; } /* the constant -5 */
ORIGIN(long, widened) { volatile unsigned short c = (unsigned short)pass(135); from_widened = c; } /* the constant 135 */
ORIGIN(int, united) { volatile union both u; u.bits = (uint32_t)pass(136); from_united = (int)u.bits; } /* the constant 136 */
ORIGIN(int, bits) { volatile struct narrow n = {3, 4}; n.high = (unsigned)pass(99); from_bits = n.high; } /* made by .* of */
ORIGIN(int, allocated) { int *p = alloca(64 * (size_t)one); p[3] = pass(137); __asm__("" : : "r"(p) : "memory"); from_allocated = p[3]; } /* the constant 137 */
ORIGIN(int, variable) { int v[three + 4]; v[5] = pass(138); __asm__("" : : "r"(v) : "memory"); from_variable = v[5]; } /* the constant 138 */

/* ---- calls of functions ---- */
__attribute__((noipa)) static int seventh(int a, int b, int c, int d, int e, int f, int g)
{
	return a + b + c + d + e + f ? g : 0;
}
__attribute__((noipa)) static struct large filled_large(long n)
{
	struct large l = {{0}};

	l.v[5] = n;
	return l;
}
__attribute__((noipa)) static struct pair filled_pair(long n)
{
	return (struct pair){1, n};
}
__attribute__((noipa)) static double passed_double(double d)
{
	return d;
}
__attribute__((noipa)) static int nth(int n, ...)
{
	va_list list;
	int v = 0;

	va_start(list, n);
	while (n--)
		v = va_arg(list, int);
	va_end(list);
	return v;
}
ORIGIN(int, stack) { from_stack = seventh(1, 2, 3, 4, 5, 6, pass(140)); } /* the constant 140 */
ORIGIN(long, hidden) { struct large l = filled_large(141); from_hidden = l.v[5]; } /* the constant 141 */
ORIGIN(long, registers) { struct pair p = filled_pair(142); from_registers = p.second; } /* the constant 142 */
ORIGIN(double, double) { from_double = passed_double(passed_double(*(volatile double *)&from_moved_float)); } /* the initial data of the program's file, section \.rodata */
ORIGIN(int, variadic) { from_variadic = nth(3, 1, 2, pass(143)); } /* the constant 143 */
ORIGIN(int, pointed) { int (*volatile f)(int) = pass; from_pointed = f(144); } /* the constant 144 */
ORIGIN(int, preserved) { register int kept __asm__("rbx") = pass(145); __asm__ volatile("" : "+r"(kept)); pass(1); pass(2); __asm__ volatile("" : "+r"(kept)); from_preserved = kept; } /* the constant 145 */

/* ---- other ways ---- */
static int handed;
static void *other_thread(void *arg)
{
	handed = pass((int)(intptr_t)arg);
	return NULL;
}
ORIGIN(int, thread) { pthread_t t; pthread_create(&t, NULL, other_thread, (void *)150); pthread_join(t, NULL); from_thread = handed; } /* the constant 150 */
static void handler(int s)
{
	handed = pass(s + 100 > 0 ? 151 : 0);
}
ORIGIN(int, signal) { signal(SIGUSR1, handler); raise(SIGUSR1); from_signal = handed; } /* the constant 151 */
static jmp_buf env;
__attribute__((noipa)) static void leap(int n)
{
	longjmp(env, n);
}
ORIGIN(int, jumped) { volatile int n = pass(152); if (!setjmp(env)) leap(1); from_jumped = n; } /* the constant 152 */
ORIGIN(int, landed) { int n = setjmp(env); if (!n) leap(pass(153)); from_landed = n; } /* the constant 153 */
static int smaller(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
ORIGIN(int, sorted) { int v[3] = {9, pass(4), 7}; qsort(v, 3, sizeof *v, smaller); from_sorted = v[0]; } /* the constant 4 */

int main(int argc, char **argv)
{
	int v[3] = {11, 12, 13};

	arguments = argv;
	file = open("numbers", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (argc != 2 || write(file, v, sizeof v) != sizeof v)
		return 2;
	make_sum(); make_product(); make_quotient(); make_shift(); make_negated(); make_compared();
	make_float(); make_truncated(); make_added(); make_constant(); make_zero(); make_wide();
	make_chosen(); make_address(); make_string(); make_function(); make_local(); make_data();
	make_rodata(); make_bss(); make_unset(); make_fresh(); make_small(); make_regrown(); make_cleared(); make_reused(); make_reused_often();
	make_reused_large(); make_split(); make_extended_block(); make_kept(); make_written_again(); make_freed();
	make_at_once(); make_freed_at_once(); make_given(); make_thread_reused(); make_argument();
	make_environment(); make_thread_local(); make_static_local(); make_read(); make_pread();
	make_duplicate(); make_readv(); make_pipe(); make_pipes(); make_socket(); make_peer(); make_child();
	make_random(); make_size(); make_process(); make_returned(); make_clock(); make_assigned();
	make_copied(); make_moved(); make_spelled(); make_grown(); make_stringed(); make_filled();
	make_vector(); make_shuffled(); make_moved_float(); make_pushed(); make_exchanged(); make_swapped();
	make_conditional(); make_unconditional(); make_extended(); make_widened(); make_united();
	make_bits(); make_allocated(); make_variable(); make_stack(); make_hidden(); make_registers();
	make_double(); make_variadic(); make_pointed(); make_preserved(); make_thread();
	make_signal(); make_jumped(); make_landed(); make_sorted();
	return 0; /* CHECK */
}
