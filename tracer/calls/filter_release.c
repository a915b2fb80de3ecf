/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's filters, where it goes on without this tracer. */
#include "tracer/calls/filter.h"
#include "tracer/filters/bpf.h"
#include "tracer/filters/filters.h"

#include <errno.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* ---- to the kernel ---- */

struct program { /* struct sock_fprog, with its code */
	uint64_t n, at;
	struct sock_filter code[LZ_BPF_MOST];
};

/* Where C has room for that which the kernel only reads: in our own pages, or, where another program
 * has just begun, below its stack. */
static uint64_t room_for(const struct lz_tracer *t, struct lz_proc *c, uint64_t len)
{
	const uint64_t at = t->meta.stub_addr + LZ_STUB_SCRATCH;
	struct user_regs_struct r;
	uint8_t byte;

	if (lz_proc_read_some(c, at, &byte, 1) == 1)
		return at;
	return lz_proc_regs(c, &r) < 0 ? 0 : (r.rsp - len - 1024) & ~15ULL;
}

static int install(struct lz_proc *c, const struct lz_filter *f, uint64_t at, int64_t *ret)
{
	if (f->by_prctl)
		return lz_proc_syscall(c, ret, SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, at,
		                       0, 0, 0);
	return lz_proc_syscall(c, ret, SYS_seccomp, SECCOMP_SET_MODE_FILTER, f->flags, at, 0, 0, 0);
}

static int give(const struct lz_tracer *t, const struct lz_filter *f, struct lz_proc *c)
{
	const uint64_t len = offsetof(struct program, code) + f->n * sizeof(f->code[0]);
	const uint64_t at = room_for(t, c, len);
	int64_t ret, none;

	struct program *p = malloc(sizeof(*p));
	if (!p)
		return lz_fail("out of memory for a filter of system calls");
	p->n = f->n;
	p->at = at + offsetof(struct program, code);
	memcpy(p->code, f->code, f->n * sizeof(f->code[0]));
	int done = lz_proc_write(c, at, p, len);
	free(p);
	if (done < 0 || install(c, f, at, &ret) < 0)
		return -1;
	/* It has lost the privilege by which it had installed it. */
	if (ret == -EACCES &&
	    (lz_proc_syscall(c, &none, SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0) < 0 ||
	     install(c, f, at, &ret) < 0))
		return -1;
	return ret < 0 ? lz_fail("the program's filter of system calls is refused: %s",
	                         strerror((int)-ret))
	               : 0;
}

/* The first one first. */
static int give_all(const struct lz_tracer *t, const struct lz_filter *f, struct lz_proc *c)
{
	if (!f)
		return 0;
	return give_all(t, f->before, c) < 0 ? -1 : give(t, f, c);
}

int lz_filters_release(const struct lz_tracer *t, const struct lz_thread *th, struct lz_proc *c)
{
	int64_t ret;

	if (th->no_new_privs &&
	    lz_proc_syscall(c, &ret, SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0) < 0)
		return -1;
	if (th->strict)
		return lz_proc_syscall(c, &ret, SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0,
		                       0, 0, 0);
	return give_all(t, th->filter, c);
}

/* ---- to the next tracer ---- */

struct head { /* of each filter, the first one first; then one without instructions */
	uint32_t n, flags;
	bool by_prctl, strict, no_new_privs;
};

static int send_all(int fd, const void *bytes, size_t len)
{
	for (const char *at = bytes; len;) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return lz_fail_errno("cannot hand the program's filters over");
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int send_each(const struct lz_filter *f, int fd)
{
	if (!f)
		return 0;
	const struct head h = {.n = f->n, .flags = f->flags, .by_prctl = f->by_prctl};

	return send_each(f->before, fd) < 0 || send_all(fd, &h, sizeof(h)) < 0 ||
	               send_all(fd, f->code, f->n * sizeof(f->code[0])) < 0
	           ? -1
	           : 0;
}

int lz_filters_send(const struct lz_thread *th, int fd)
{
	const struct head end = {.strict = th->strict, .no_new_privs = th->no_new_privs};

	return send_each(th->filter, fd) < 0 ? -1 : send_all(fd, &end, sizeof(end));
}

static int take(int fd, void *bytes, size_t len)
{
	ssize_t n;

	do
		n = recv(fd, bytes, len, MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? 0 : lz_fail("the program's filters have not been handed over");
}

int lz_filters_take(struct lz_thread *th, int fd)
{
	struct head h;

	for (;;) {
		if (take(fd, &h, sizeof(h)) < 0)
			return -1;
		if (!h.n)
			break;
		struct lz_filter *f = h.n <= LZ_BPF_MOST ? lz_filter_new(h.n) : NULL;
		if (!f || take(fd, f->code, h.n * sizeof(f->code[0])) < 0 ||
		    !lz_bpf_valid(f->code, h.n)) {
			lz_filter_drop(f);
			return lz_fail_in("taking the program's filters");
		}
		f->flags = h.flags;
		f->by_prctl = h.by_prctl;
		f->before = th->filter;
		th->filter = f;
	}
	th->strict = h.strict;
	th->no_new_privs = h.no_new_privs;
	return 0;
}
