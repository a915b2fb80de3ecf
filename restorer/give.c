/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "restorer/give.h"
#include "restorer/share.h"

#include <lizard/error.h>
#include <lizard/recording.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* A message with one descriptor: what the sender and the kernel, for the receiver, fill in. */
struct letter {
	struct msghdr head;
	struct iovec part;
	char byte;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
};

/* As it is at address AT of the process that reads it. */
static void address(struct letter *l, uint64_t at)
{
	*l = (struct letter){.head = {.msg_iovlen = 1, .msg_controllen = sizeof l->control}};
	l->head.msg_iov = (struct iovec *)(uintptr_t)(at + offsetof(struct letter, part));
	l->head.msg_control = (void *)(uintptr_t)(at + offsetof(struct letter, control));
	l->part = (struct iovec){(void *)(uintptr_t)(at + offsetof(struct letter, byte)), 1};
}

static int send_it(int socket, int fd)
{
	struct letter l;

	address(&l, (uint64_t)(uintptr_t)&l);
	l.control.head = (struct cmsghdr){
	    .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
	memcpy(CMSG_DATA(&l.control.head), &fd, sizeof fd);
	return sendmsg(socket, &l.head, MSG_NOSIGNAL | MSG_DONTWAIT) == 1
	           ? 0
	           : lz_fail_errno("cannot hand a file to the replay process");
}

/* The stub's second page; by a raw call, since it is the stub's. */
static int protect(struct lz_proc *p, int prot)
{
	int64_t result;

	if (lz_proc_syscall_own(p, &result, SYS_mprotect, p->stub->start + LZ_PAGE, LZ_PAGE,
	                        (uint64_t)prot) < 0)
		return -1;
	return result
	           ? lz_fail("the replay stub cannot protect its page: %s", strerror((int)-result))
	           : 0;
}

static int take(struct lz_proc *p, int64_t *to)
{
	const uint64_t at = p->stub->start + LZ_PAGE;
	struct letter l;
	int64_t result;
	int fd;

	address(&l, at);
	if (lz_proc_write_own(p, at, &l, sizeof l) < 0 ||
	    lz_proc_syscall(p, &result, SYS_recvmsg, LZ_STUB_SOCKET, at,
	                    MSG_CMSG_CLOEXEC | MSG_DONTWAIT, 0, 0, 0) < 0)
		return -1;
	if (result != 1)
		return lz_fail("the replay process cannot take a file: %s",
		               result < 0 ? strerror((int)-result) : "no message");
	if (lz_proc_read(p, at, &l, sizeof l) < 0)
		return -1;
	if (l.head.msg_controllen < CMSG_LEN(sizeof fd) || l.control.head.cmsg_type != SCM_RIGHTS)
		return lz_fail("the replay process cannot take a file: it has no descriptor left");
	memcpy(&fd, CMSG_DATA(&l.control.head), sizeof fd);
	*to = fd;
	return 0;
}

int lz_give(struct lz_proc *p, int fd, int64_t *to)
{
	if (!p->stub->taking && protect(p, PROT_READ | PROT_WRITE) < 0)
		return -1;
	p->stub->taking = true;
	return send_it(p->stub->socket, fd) < 0 ? -1 : take(p, to);
}

int lz_give_end(struct lz_proc *p)
{
	if (!p->stub->taking)
		return 0;
	p->stub->taking = false;
	return protect(p, PROT_NONE);
}
