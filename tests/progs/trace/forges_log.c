/* Stores into the memory by which the recorder lets it make system calls without a stop: argv[1] is the seed, argv[2] what is
 * forged. It goes on all the same. */
#define _GNU_SOURCE
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As tracer/state/call_page.h has it. */
#include "tracer/state/call_page.h"

/* The mapped file that is as large as that. */
static struct lz_call_page *find(void)
{
	DIR *files = opendir("/proc/self/map_files");
	unsigned long start = 0, end = 0;

	for (struct dirent *e; (e = readdir(files));)
		if (sscanf(e->d_name, "%lx-%lx", &start, &end) == 2 &&
		    end - start == (sizeof(struct lz_call_page) + 4095) / 4096 * 4096) {
			closedir(files);
			return (struct lz_call_page *)start;
		}
	closedir(files);
	return NULL;
}

static void calls(int n)
{
	while (n--)
		getppid();
}

static sigjmp_buf before;
static void go_back(int signo)
{
	siglongjmp(before, signo);
}

/* Where the stub has waited: an instruction that stores by rbx. */
static const uint8_t *behind_wait(const struct lz_call_page *p)
{
	const uint8_t *at = (const uint8_t *)p - LZ_STUB_CODE, insn[] = {0x0f, 0x05, 0xc7, 0x83};

	while (memcmp(at, insn, sizeof(insn)))
		at++;
	return at + 2;
}

/* As if the stub had made a call, and a signal had come, or had found no memory behind it. */
static void made(struct lz_call_page *p, int waited)
{
	static const struct {
		uint64_t nr;
		int64_t result;
	} all[] = {{SYS_exit_group, 0},    {SYS_fork, 77},     {SYS_execve, 0},
	           {SYS_rt_sigreturn, 0},  {60000, 0},         {SYS_write, -512},
	           {SYS_read, -516},       {SYS_accept, -513}, {SYS_wait4, -5000},
	           {SYS_sendto, 1LL << 40}};
	const int which = rand() % 10;
	struct lz_stub_saved *s =
	    (struct lz_stub_saved *)(p->stack + LZ_STUB_STACK - sizeof(struct lz_stub_saved));
	const uint8_t *at = behind_wait(p);

	signal(SIGSEGV, go_back);
	if (sigsetjmp(before, 1))
		return;
	s->rax = all[which].nr;
	p->result = all[which].result;
	p->waits = waited ? LZ_WAITS_INSIDE : LZ_WAITS_NO;
	p->made = !waited;
	p->busy = 1;
	__asm__ volatile("push %%rbx; mov $16, %%ebx; jmp *%1"
	                 :
	                 : "a"(p->result), "r"(at)
	                 : "memory");
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	struct lz_call_page *p;

	srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
	calls(100);
	p = find();
	if (!p) {
		puts("there is none");
		return 3;
	}
	calls(100);
	struct lz_call_record *r = (struct lz_call_record *)p->log;
	if (!strcmp(what, "head"))
		p->head = (uint32_t)rand();
	else if (!strcmp(what, "field"))
		((uint8_t *)r)[rand() % (int)sizeof(*r)] ^= 1 << rand() % 8;
	else if (!strcmp(what, "length"))
		r->len = (uint32_t)rand() & ~7u;
	else if (!strcmp(what, "result")) {
		r->nr = SYS_read;
		r->result = rand();
		r->args[2] = UINT64_MAX;
	} else if (!strcmp(what, "written")) {
		r->nr = SYS_write;
		r->result = rand() % 100;
	} else if (!strcmp(what, "heap")) {
		r->nr = SYS_brk;
		r->args[0] = (uint64_t)rand() << rand() % 48;
		r->result = (int64_t)r->args[0];
	} else if (!strcmp(what, "mapping")) {
		const int nr[] = {SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise};
		/* of the page itself, of the heap, of anything */
		const uint64_t at[] = {(uintptr_t)p, (uintptr_t)sbrk(0) - 4096,
		                       (uint64_t)rand() << 12};
		r->nr = (uint16_t)nr[rand() % 4];
		r->args[0] = at[rand() % 3];
		r->args[1] = (uint64_t)(1 + rand() % 5) << 12;
		r->args[2] = (uint64_t)(rand() % 5);
		r->args[3] = rand() % 2 ? MAP_PRIVATE : MAP_PRIVATE | MAP_ANONYMOUS;
		r->args[5] = 0;
		r->result = r->nr == SYS_mmap ? (int64_t)r->args[0] : 0;
	} else if (!strcmp(what, "unread")) {
		r->nr = SYS_read;
		r->flags = LZ_CALL_UNREAD;
		r->result = rand();
		r->args[2] = UINT64_MAX;
	} else if (!strcmp(what, "waited") || !strcmp(what, "late")) {
		made(p, !strcmp(what, "waited"));
	} else if (!strcmp(what, "part")) {
		/* of a call that takes less, or nothing */
		p->part = 5 + ((uint64_t)rand() << rand() % 40);
	} else if (!strcmp(what, "rules")) {
		for (int i = 0; i < 40; i++)
			((uint8_t *)p->call)[rand() % (int)sizeof(p->call)] ^= 1 << rand() % 8;
		memset(p->fd, 0xff, sizeof(p->fd));
	} else {
		for (int i = 0; i < 400; i++)
			p->log[(unsigned)rand() % (p->head ? p->head : 1)] = (uint8_t)rand();
	}
	calls(20);
	write(1, "well\n", 5);
	calls(50000);
	return 0;
}
