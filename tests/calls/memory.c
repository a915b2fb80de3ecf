/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The address space. */
#include "calls.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, ANON = MAP_PRIVATE | MAP_ANONYMOUS };

static char *pages(int n)
{
	char *p = mmap(NULL, (size_t)n * PAGE, RW, ANON, -1, 0);

	SEE(p != MAP_FAILED);
	memset(p, 'p', (size_t)n * PAGE);
	return p;
}

/* Does a child that touches it die? */
static bool dies(volatile char *p, bool write)
{
	int pid = fork(), status = 0;

	if (pid == 0) {
		if (write)
			*p = 'w';
		_exit(*p == 'p' ? 0 : 1);
	}
	SEE(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status);
}

RECIPE(mmap)
{
	char *p = (char *)OK(mmap, NULL, 2 * PAGE, RW, ANON, -1, 0);
	int fd = file("f", "in the file");

	SEE(all_zero(p, 2 * PAGE));
	p[PAGE] = 1;
	SEE(OK(mmap, p, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == (long)p);
	SEE(!strcmp(p, "in the file") && p[PAGE] == 1);
	char *s = (char *)OK(mmap, NULL, PAGE, RW, MAP_SHARED, fd, 0);
	s[0] = 'I';
	char b = 0;
	SEE(pread(fd, &b, 1, 0) == 1 && b == 'I');
	REFUSES(ENOMEM, mmap, NULL, PAGE, RW, ANON | MAP_HUGETLB, -1, 0);
	REFUSES(EINVAL, mmap, NULL, PAGE, RW, MAP_ANONYMOUS | 8 /* MAP_DROPPABLE */, -1, 0);
}

RECIPE(munmap)
{
	char *p = pages(3);

	SEE(OK(munmap, p + PAGE, PAGE) == 0);
	SEE(p[0] == 'p' && p[2 * PAGE] == 'p' && msync(p + PAGE, PAGE, MS_ASYNC) < 0 &&
	    errno == ENOMEM);
}

RECIPE(mprotect)
{
	char *p = pages(4);

	SEE(OK(mprotect, p, PAGE, PROT_READ) == 0);
	SEE(dies(p, true) && !dies(p + PAGE, false));
	/* It stops at the hole, the page in front of it is done. */
	munmap(p + 2 * PAGE, PAGE);
	FAILS(ENOMEM, mprotect, p + PAGE, 3 * PAGE, PROT_READ);
	SEE(dies(p + PAGE, true) && p[PAGE] == 'p');
	SEE(OK(mprotect, p, 2 * PAGE, RW) == 0);
	p[0] = p[PAGE] = 'q';
}

RECIPE(pkey_mprotect)
{
	char *p = pages(1);

	SEE(OK(pkey_mprotect, p, PAGE, PROT_READ, -1) == 0);
	SEE(dies(p, true));
}

RECIPE(brk)
{
	long end = SYS(brk, 0);

	SEE(OK(brk, end + 10000) == end + 10000);
	memset((char *)end, 'b', 10000);
	SEE(OK(brk, end + 100) == end + 100);
	SEE(((char *)end)[99] == 'b');
}

RECIPE(mremap)
{
	char *p = pages(2), *q = pages(8);

	munmap(q, 8 * PAGE);
	p[PAGE] = 'x';
	char *r = (char *)OK(mremap, p, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q);
	SEE(r == q && r[0] == 'p' && r[PAGE] == 'x' && r[3 * PAGE] == 0);
	/* Parts of different protection: the kernel has two mappings. */
	mprotect(r + PAGE, PAGE, PROT_READ);
	SEE(OK(mremap, r + 2 * PAGE, 2 * PAGE, PAGE, 0) == (long)(r + 2 * PAGE));
	SEE(r[PAGE] == 'x');
	/* Newer kernels move both. */
	p = pages(3);
	munmap(p, 3 * PAGE);
	if (SYS(mremap, r, 3 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p) == (long)p) {
		SEE(p[0] == 'p' && p[PAGE] == 'x' && p[2 * PAGE] == 0 && dies(p + PAGE, true));
		p[0] = p[2 * PAGE] = 'm';
	}
}

RECIPE(madvise)
{
	char *p = pages(4);
	char *s = mmap(NULL, 2 * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 3; i++) {
		SEE(OK(madvise, p, PAGE, MADV_DONTNEED) == 0);
		SEE(p[0] == 0 && p[PAGE] == 'p');
		p[0] = 'q';
	}
	SEE(OK(madvise, p, 2 * PAGE, MADV_WILLNEED) == 0);
	SEE(OK(madvise, p, 0, MADV_DONTNEED) == 0);
	SEE(p[0] == 'q' && p[PAGE] == 'p');
	/* What has been written to a file shows again. */
	enum { LONG = 100000 };
	int fd = file("f", "0123456789");
	SEE(ftruncate(fd, LONG) == 0);
	char *m = mmap(NULL, LONG, RW, MAP_PRIVATE, fd, 0);
	SEE(m[5] == '5' && m[LONG - 1] == 0 && pwrite(fd, "x", 1, 5) == 1);
	m[LONG - 1] = 'm';
	SEE(OK(madvise, m, LONG, MADV_DONTNEED) == 0);
	SEE(m[5] == 'x' && m[LONG - 1] == 0);
	/* A hole does not keep it from the rest. */
	munmap(p + 2 * PAGE, PAGE);
	FAILS(ENOMEM, madvise, p + PAGE, 3 * PAGE, MADV_DONTNEED);
	SEE(p[PAGE] == 0 && p[3 * PAGE] == 0);
	REFUSES(EINVAL, madvise, p, PAGE, MADV_FREE);
	s[0] = 's';
	SEE(OK(madvise, s, PAGE, 9 /* MADV_REMOVE */) == 0);
	SEE(s[0] == 0);
}

REFUSED(process_madvise)

RECIPE(msync)
{
	int fd = file("f", "0123456789");
	char *s = mmap(NULL, PAGE, RW, MAP_SHARED, fd, 0), b = 0;

	s[3] = 'x';
	SEE(OK(msync, s, PAGE, MS_SYNC) == 0);
	SEE(pread(fd, &b, 1, 3) == 1 && b == 'x');
}

RECIPE(mincore)
{
	char *p = pages(3);
	unsigned char *v = out(16);

	SEE(OK(mincore, p, 3 * PAGE, v) == 0);
	SEE(v[0] & v[1] & v[2] & 1 && v[3] == 0xa5);
}

RECIPE(mlock)
{
	SEE(OK(mlock, pages(1), PAGE) == 0);
}

RECIPE(mlock2)
{
	SEE(OK(mlock2, pages(1), PAGE, 1 /* MLOCK_ONFAULT */) == 0);
}

RECIPE(munlock)
{
	SEE(OK(munlock, pages(1), PAGE) == 0);
}

RECIPE(mlockall)
{
	long r = SYS(mlockall, MCL_CURRENT);

	if (r == -ENOMEM || r == -EPERM)
		skip("locked memory is limited");
	SEE(r == 0);
}

RECIPE(munlockall)
{
	SEE(OK(munlockall) == 0);
}

RECIPE(mseal)
{
	char *p = pages(1);

	SEE(OK(mseal, p, PAGE, 0) == 0);
	SEE(munmap(p, PAGE) < 0 && errno == EPERM);
}

RECIPE(mbind)
{
	long r = SYS(mbind, pages(1), PAGE, 0 /* MPOL_DEFAULT */, NULL, 0, 0);

	SEE(r == 0);
}

RECIPE(set_mempolicy)
{
	int mode = -1;

	SEE(OK(set_mempolicy, 4 /* MPOL_LOCAL */, NULL, 0) == 0);
	SEE(syscall(SYS_get_mempolicy, &mode, NULL, 0, 0, 0) == 0 && mode == 4);
}

RECIPE(get_mempolicy)
{
	int *mode = out(4);
	unsigned long *mask = out(128);

	SEE(OK(get_mempolicy, mode, mask, 1024, 0, 0) == 0);
	SEE(*mode == 0);
}

RECIPE(set_mempolicy_home_node)
{
	only_fails("it wants a policy that names nodes");
	FAILS(ENOENT, set_mempolicy_home_node, pages(1), PAGE, 0, 0);
}

RECIPE(migrate_pages)
{
	unsigned long node = 1;

	SEE(OK(migrate_pages, 0, 2, &node, &node) >= 0);
}

RECIPE(move_pages)
{
	char *p = pages(2);
	void *at[2] = {p, p + PAGE};
	int *status = out(8);

	SEE(OK(move_pages, 0, 2, at, NULL, status, 0) == 0);
	SEE(status[0] >= 0 && status[1] >= 0);
}

RECIPE(membarrier)
{
	SEE(OK(membarrier, 0 /* query */, 0, 0) > 0);
}

RECIPE(process_vm_readv)
{
	char *p = pages(1), *b = out(20);
	struct iovec here = {b, 10}, there = {p, 10};

	SEE(OK(process_vm_readv, getpid(), &here, 1, &there, 1, 0) == 10);
	SEE(!memcmp(b, "pppppppppp\xa5", 11));
}

RECIPE(process_vm_writev)
{
	char *b = out(20);
	struct iovec here = {"0123456789", 10}, there[2] = {{b, 4}, {b + 8, 12}};
	int pid = sleeper();

	SEE(OK(process_vm_writev, getpid(), &here, 1, there, 2, 0) == 10);
	SEE(!memcmp(b, "0123\xa5", 5) && !memcmp(b + 8, "456789\xa5", 7));
	/* Another's memory is not ours. */
	memset(b, 'm', 20);
	SEE(OK(process_vm_writev, pid, &here, 1, there, 2, 0) == 10);
	SEE(b[0] == 'm');
	end_child(pid);
}

RECIPE(process_mrelease)
{
	only_fails("a dying process still has its memory for an instant only");
	int pid = sleeper(), fd = (int)syscall(SYS_pidfd_open, pid, 0);

	FAILS(EINVAL, process_mrelease, fd, 0);
	end_child(pid);
}

/* ---- System V shared memory ---- */

static int segment(int size)
{
	int id = shmget(IPC_PRIVATE, (size_t)size, IPC_CREAT | 0600);

	SEE(id >= 0);
	return id;
}

RECIPE(shmget)
{
	int id = OK(shmget, IPC_PRIVATE, 5000, IPC_CREAT | 0600);

	SEE(shmctl(id, IPC_RMID, NULL) == 0);
	REFUSES(ENOMEM, shmget, IPC_PRIVATE, 1 << 21, IPC_CREAT | SHM_HUGETLB | 0600);
}

RECIPE(shmat)
{
	int id = segment(5000), pid;
	char *p = (char *)OK(shmat, id, NULL, 0), *q;

	SEE(all_zero(p, 5000));
	p[10] = 'x';
	/* The second time it is not empty. */
	q = (char *)OK(shmat, id, NULL, SHM_RDONLY);
	SEE(q[10] == 'x');
	p[4999] = 'y';
	getppid();
	SEE(q[4999] == 'y');
	if ((pid = fork()) == 0) {
		p[20] = 'c';
		_exit(0);
	}
	SEE(waitpid(pid, NULL, 0) == pid && p[20] == 'c' && q[20] == 'c');
	shmctl(id, IPC_RMID, NULL);
}

RECIPE(shmdt)
{
	int id = segment(5000);
	char *p = shmat(id, NULL, 0), *q = shmat(id, NULL, 0);

	p[0] = 'x';
	munmap(p + PAGE, PAGE);
	SEE(OK(shmdt, p) == 0);
	SEE(msync(p, PAGE, MS_ASYNC) < 0 && errno == ENOMEM && q[0] == 'x');
	FAILS(EINVAL, shmdt, p);
	shmctl(id, IPC_RMID, NULL);
}

RECIPE(shmctl)
{
	int id = segment(5000);
	struct shmid_ds *d = out(sizeof(*d));

	SEE(OK(shmctl, id, IPC_STAT, d) == 0 && d->shm_segsz == 5000);
	SEE(OK(shmctl, 0, IPC_INFO, out(72)) >= 0);
	SEE(OK(shmctl, 0, SHM_INFO, out(48)) >= 0);
	SEE(OK(shmctl, id, IPC_RMID, NULL) == 0);
}
