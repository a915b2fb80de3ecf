/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A new address space, after an execve: what the kernel mapped is tamed and taken stock of. */
#include "tracer/calls/calls.h"
#include "tracer/calls/fast.h"
#include "tracer/calls/rseq.h"
#include "tracer/checkpoint/checkpoint.h"
#include "tracer/code/code.h"
#include "tracer/log/log.h"
#include "tracer/memory/memory.h"
#include "tracer/signals/signals.h"
#include "tracer/state/state.h"

#include <common/process/vdso.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef AT_RSEQ_FEATURE_SIZE
#define AT_RSEQ_FEATURE_SIZE 27
#endif
enum { CS_64 = 0x33 }; /* the kernel's __USER_CS */

static bool is_special(const char *path)
{
	return strncmp(path, "[v", 2) == 0; /* [vdso] [vvar] [vvar_vclock] [vsyscall] */
}

/* ---- a system call instruction to use ---- */

static int find_insn(void *arg, const struct lz_maps_entry *e)
{
	struct lz_proc *p = arg;
	uint8_t buf[16384];

	if (!(e->prot & PROT_EXEC) || is_special(e->path))
		return 0;
	for (uint64_t at = e->start; at < e->end; at += sizeof(buf) - 1) {
		uint64_t want = e->end - at < sizeof(buf) ? e->end - at : sizeof(buf);
		size_t n = lz_proc_read_some(p, at, buf, want);
		const uint8_t *insn = memmem(buf, n, "\x0f\x05", 2);
		if (insn) {
			p->syscall_insn = at + (uint64_t)(insn - buf);
			return 1;
		}
	}
	return 0;
}

static int find_in_code(struct lz_proc *p)
{
	if (lz_proc_maps(p->pid, find_insn, p) < 0)
		return -1;
	return p->syscall_insn ? 0 : lz_fail("no system call instruction found in the program");
}

/* ---- what the kernel has mapped itself ---- */

enum { MOST_SPECIAL = 8 };

struct special {
	struct {
		uint64_t start, end;
		bool data;
	} area[MOST_SPECIAL]; /* [vvar], [vdso] and their like */
	int n;
	uint64_t data; /* where the first one with data begins; 0: there is none */
	uint64_t code; /* the vDSO's; 0: it has none */
	uint64_t ours; /* where ours is then; 0: there is none */
	int64_t uffd;  /* lz_dirty_call()'s result */
};

static int find_special(void *arg, const struct lz_maps_entry *e)
{
	struct special *v = arg;

	if (!is_special(e->path) || strcmp(e->path, "[vsyscall]") == 0)
		return 0;
	if (e->prot & PROT_EXEC)
		v->code = e->start;
	else if (!v->data)
		v->data = e->start;
	if (v->n < MOST_SPECIAL) {
		v->area[v->n].start = e->start;
		v->area[v->n].data = !(e->prot & PROT_EXEC);
		v->area[v->n++].end = e->end;
	}
	return 0;
}

/* The vDSO has one near its beginning; what has been unmapped there is not read. */
static int find_first_syscall(struct lz_proc *p, const struct special *v)
{
	uint8_t buf[2 * LZ_PAGE];
	size_t n = v->code ? lz_proc_read_some(p, v->code, buf, sizeof(buf)) : 0;
	const uint8_t *insn = memmem(buf, n, "\x0f\x05", 2);

	p->syscall_insn = 0;
	p->on_trap = NULL;
	if (!insn)
		return find_in_code(p);
	p->syscall_insn = v->code + (uint64_t)(insn - buf);
	return 0;
}

int lz_find_syscall(struct lz_proc *p)
{
	struct special v = {.n = 0};

	return lz_proc_maps(p->pid, find_special, &v) < 0 ? -1 : find_first_syscall(p, &v);
}

/* The stub's pages: reserved for replay; while recording they hold our system call instruction. */
static int reserve_stub(struct lz_tracer *t, const struct special *v)
{
	static const uint8_t code[] = {0x0f, 0x05, 0xcc};
	struct lz_proc *p = &t->p;
	uint64_t addr = t->meta.stub_addr ? t->meta.stub_addr : LZ_STUB_ADDR;
	int64_t ret = -1;

	/* who hands a process over has found one */
	if (!p->syscall_insn && find_first_syscall(p, v) < 0)
		return -1;
	for (int i = 0; i < 64 && ret < 0; i++) {
		addr += i ? 0x1000000 : 0;
		if (lz_proc_syscall(p, &ret, SYS_mmap, addr, LZ_STUB_LEN, PROT_READ | PROT_EXEC,
		                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~0ULL,
		                    0) < 0)
			return -1;
	}
	if (ret < 0)
		return lz_fail("no room in the program for replay's page: %s", strerror((int)-ret));
	if ((uint64_t)ret != addr)
		return lz_fail("this kernel does not know MAP_FIXED_NOREPLACE (Linux 4.17)");
	p->syscall_insn = addr;
	t->meta.stub_addr = addr;
	t->meta.stub_len = LZ_STUB_LEN;
	return lz_proc_write(p, addr, code, sizeof(code));
}

/* ---- no time without a system call ---- */

/* The pair of KEY at AT, as the program is to see it. */
static int show_auxiliary(struct lz_tracer *t, uint64_t at, uint64_t key, uint64_t value,
                          uint64_t vdso)
{
	const uint64_t ignore = AT_IGNORE, features = LZ_RSEQ_FEATURES;

	if (key == AT_BASE || (key == AT_ENTRY && !t->linker))
		t->linker = value;
	if (key == AT_BASE)
		t->linked = value;
	if (key == AT_RSEQ_FEATURE_SIZE && value > features)
		return lz_proc_write(&t->p, at + 8, &features, 8);
	return key == AT_SYSINFO_EHDR && value != vdso ? lz_proc_write(&t->p, at, &ignore, 8) : 0;
}

/* argc, argv.. 0, envp.. 0, and pairs. The vDSO is hidden if it is not at VDSO. */
static int show_vector(struct lz_tracer *t, uint64_t at, uint64_t vdso)
{
	uint64_t word[512], key = 0;
	bool is_key = true;
	int nulls = -1;

	t->linker = 0;
	t->linked = false;
	for (;;) {
		const size_t n = lz_proc_read_some(&t->p, at, word, sizeof(word)) / sizeof(*word);

		if (!n)
			return lz_fail("the program's stack has no auxiliary vector");
		for (size_t i = 0; i < n; i++, at += sizeof(*word)) {
			if (nulls < 2) {
				nulls += nulls < 0 || word[i] == 0;
				continue;
			}
			if (is_key && word[i] == AT_NULL)
				return 0;
			if (is_key)
				key = word[i];
			else if (show_auxiliary(t, at - sizeof(*word), key, word[i], vdso) < 0)
				return -1;
			is_key = !is_key;
		}
	}
}

/* Data of the vDSO moves to the stub's pages, for code/clock.c; its code, and what has no room there, is
 * unmapped. Where they are sealed all of that is refused. */
static struct lz_proc_call take_away(const struct lz_tracer *t, const struct special *v, int i)
{
	const uint64_t start = v->area[i].start, len = v->area[i].end - start;
	const uint64_t at = LZ_STUB_CLOCK + start - v->data;

	if (!v->area[i].data || start < v->data || at > LZ_STUB_LEN || len > LZ_STUB_LEN - at)
		return (struct lz_proc_call){
		    .nr = SYS_munmap, .args = {start, len}, .untold = true};
	return (struct lz_proc_call){
	    .nr = SYS_mremap,
	    .args = {start, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, t->meta.stub_addr + at},
	    .untold = true};
}

/* Makes all calls at once that say nothing by themselves: the end of the heap; what writes are tracked
 * with; the vDSO and its data are taken away. Ours is mapped where it was, so that what
 * the kernel tells elsewhere is right. */
static int tame(struct lz_tracer *t, struct special *v)
{
	struct lz_proc_call c[LZ_INSN_TRAP_OTHERS] = {
	    {.nr = SYS_brk},
	    lz_dirty_call(),
	    {.nr = SYS_personality, .args = {(uint64_t)LZ_ASK_PERSONALITY}}};
	size_t n = 3;

	_Static_assert(MOST_SPECIAL + 4 <= LZ_INSN_TRAP_OTHERS, "all have room");
	for (int i = 0; i < v->n; i++)
		c[n++] = take_away(t, v, i);
	if (v->code)
		c[n++] = (struct lz_proc_call){
		    .nr = SYS_mmap,
		    .args = {v->code, LZ_PAGE, PROT_READ | PROT_EXEC,
		             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~0ULL}};
	if (lz_insn_trap(t, c, n) < 0)
		return -1;
	lz_counter_allow(false); /* each switch between both would change CR4 else */
	t->brk = (uint64_t)c[0].result;
	v->uffd = c[1].result;
	lz_fast_personality(t, (uint64_t)c[2].result);
	if (!v->code || c[n - 1].result != (int64_t)v->code)
		return 0;
	v->ours = v->code;
	return lz_proc_write(&t->p, v->ours, lz_vdso_image, LZ_PAGE);
}

/* ---- the mappings ---- */

/* PATH, if it is the file that E maps; -1: it is not. */
static int open_if_same(const char *path, const struct lz_maps_entry *e)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == e->inode)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The program may still have a descriptor of it. */
static int open_descriptor(pid_t pid, const struct lz_maps_entry *e)
{
	char path[64 + sizeof(((struct dirent *)0)->d_name)];
	struct dirent *f;
	struct stat st;
	int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *d = opendir(path);
	while (d && fd < 0 && (f = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, f->d_name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == e->inode)
			fd = open_if_same(path, e);
	}
	if (d)
		closedir(d);
	return fd;
}

/* -1: it is gone from its place, as a memfd never had one, and what is in map_files only the
 * privileged may open. */
static int open_mapped(struct lz_tracer *t, const struct lz_maps_entry *e)
{
	char link[64];
	int fd = open_if_same(e->path, e);

	if (fd >= 0)
		return fd;
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)t->p.pid);
	fd = open_if_same(link, e);
	if (fd >= 0)
		return fd;
	snprintf(link, sizeof(link), "/proc/%d/map_files/%llx-%llx", (int)t->p.pid,
	         (unsigned long long)e->start, (unsigned long long)e->end);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? fd : open_descriptor(t->p.pid, e);
}

/* 1: A maps a file of which there is a copy. */
static int map_known(struct lz_tracer *t, const struct lz_maps_entry *e, struct lz_area *a)
{
	struct stat st;

	return stat(e->path, &st) == 0 && st.st_ino == e->inode &&
	               st.st_dev == makedev(e->dev_major, e->dev_minor)
	           ? lz_map_known(t, a, &st, e->offset)
	           : 0;
}

/* Shared memory without a file, inherited by a fork. 1: it is of that kind. */
static int add_shared(struct lz_tracer *t, const struct lz_maps_entry *e, struct lz_area *a)
{
	if (strncmp(e->path, "/SYSV", 5) == 0)
		return lz_map_segment(t, a, (int)e->inode) < 0 ? -1 : 1;
	return strcmp(e->path, "/dev/zero (deleted)") == 0;
}

int lz_area_of(struct lz_tracer *t, const struct lz_maps_entry *e, struct lz_area *a)
{
	int special = 0;

	*a = (struct lz_area){.v = {.start = e->start,
	                            .end = e->end,
	                            .prot = e->prot,
	                            .flags = e->shared ? MAP_SHARED : MAP_PRIVATE,
	                            .file = LZ_NO_FILE}};
	if (strcmp(e->path, "[stack]") == 0) {
		a->v.role = LZ_VMA_STACK;
		a->v.flags |= MAP_GROWSDOWN;
	} else if (strcmp(e->path, "[heap]") == 0) {
		a->v.role = LZ_VMA_HEAP;
	} else if (e->inode && !(special = e->shared ? add_shared(t, e, a) : 0)) {
		int known = map_known(t, e, a);
		if (known)
			return known < 0 ? -1 : 0;
		int fd = open_mapped(t, e);
		int ret = fd < 0 ? lz_map_gone(t, a, e) : lz_map_file(t, a, fd, e->path, e->offset);
		if (fd >= 0)
			close(fd);
		return ret;
	}
	return special < 0 ? -1 : 0;
}

static int add_area(void *arg, const struct lz_maps_entry *e)
{
	struct lz_tracer *t = arg;
	struct lz_area a;

	if (is_special(e->path) || e->start - t->meta.stub_addr < LZ_STUB_LEN)
		return 0;
	t->n_shared += e->shared;
	return lz_area_of(t, e, &a) < 0 ? -1 : lz_vmas_add(&t->vmas, &a);
}

/* Mappings, and their pages from now on. */
static int take_stock(struct lz_tracer *t, int64_t uffd)
{
	lz_vmas_clear(&t->vmas);
	lz_shared_forget(t);
	lz_armed_forget(t);
	lz_marked_forget();
	t->borrowed.undumpable = false;
	memset(t->syscall_at, 0, sizeof(t->syscall_at));
	if (lz_proc_maps(t->p.pid, add_area, t) < 0 || lz_alias_find_all(t) < 0 ||
	    lz_cpuid_arm(t) < 0 || lz_random_arm(t) < 0 || lz_xsavec_arm(t) < 0)
		return -1;
	t->pages = lz_pages_new(t, uffd);
	if (!t->pages)
		return -1;
	for (size_t i = 0; i < t->vmas.n; i++) {
		const struct lz_area *a = &t->vmas.a[i];
		if (a->follows && lz_pages_changed(t, a->v.start, a->v.end) < 0)
			return -1;
	}
	return 0;
}

int lz_check_image(const struct lz_proc *p, struct user_regs_struct *r)
{
	if (lz_proc_regs(p, r) < 0)
		return -1;
	return r->cs == CS_64 ? 0 : lz_fail("32-bit programs are not supported");
}

int lz_new_image(struct lz_tracer *t)
{
	struct special v = {.n = 0};
	struct user_regs_struct r;

	if (lz_check_image(&t->p, &r) < 0)
		return -1;
	lz_tell_privileges(t->p.pid);
	if (lz_proc_maps(t->p.pid, find_special, &v) < 0 || reserve_stub(t, &v) < 0 ||
	    lz_signal_exec(t) < 0 || tame(t, &v) < 0 || show_vector(t, r.rsp, v.ours) < 0 ||
	    take_stock(t, v.uffd) < 0)
		return lz_fail_in("preparing the program");
	lz_cpu_choose(t);
	lz_counter_begin(t);
	t->stack_start = r.rsp;
	if (lz_instant_here(t, &r) < 0 || lz_checkpoint(t, &r, true) < 0)
		return -1;
	/* not before: pages with jumps would be in the checkpoint */
	return lz_fast_image(t) < 0 ? -1 : lz_proc_close_now(&t->p);
}

int lz_forked_image(struct lz_tracer *t, const struct lz_disposition *act)
{
	struct special none = {.n = 0};

	if (lz_signal_init(t) < 0 || tame(t, &none) < 0)
		return lz_fail_in("preparing a child");
	memcpy(t->act, act, sizeof(t->act));
	lz_cpu_choose(t);
	lz_counter_begin(t);
	if (take_stock(t, none.uffd) < 0 || lz_proc_close_now(&t->p) < 0)
		return lz_fail_in("preparing a child");
	return 0;
}
