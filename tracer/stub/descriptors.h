/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptors in the stub: which calls that make or close one wait for nobody, and what is known of
 * a new one. */
#ifndef LIZARD_TRACER_STUB_DESCRIPTORS_H
#define LIZARD_TRACER_STUB_DESCRIPTORS_H

#include "tracer/stub/stub.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Of our own: no event tells of it. */
INLINE int64_t call4(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register uint64_t r10 __asm__("r10") = d;
	int64_t result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
	                 : "rcx", "r11", "memory");
	return result;
}

INLINE bool writes(uint64_t flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
}

/* What a descriptor of such a file is good for that is opened with FLAGS. 0: not known, or it waits
 * for others. */
INLINE uint8_t good_for(const struct lz_call_page *p, const struct stat *st, uint64_t flags)
{
	enum { NULL_DEVICE = 0x103 };
	const uint32_t type = st->st_mode & S_IFMT;
	bool is_local = false;

	if (type == S_IFDIR)
		return LZ_FD_LIST | LZ_FD_CLOSE;
	if (type == S_IFCHR && st->st_rdev == NULL_DEVICE)
		return LZ_FD_READ | LZ_FD_WRITE | LZ_FD_CLOSE;
	for (int i = 0; i < LZ_LOCAL_DISKS; i++)
		is_local |= p->local[i] == st->st_dev;
	if (type != S_IFREG || !is_local ||
	    p->mapped[lz_mapped_slot(st->st_dev, st->st_ino)] >
	        (writes(flags) ? 0 : LZ_MAPPED_PRIVATE))
		return 0;
	return LZ_FD_READ | LZ_FD_CLOSE | (writes(flags) ? LZ_FD_WRITE : 0);
}

/* Does an open of AT's PATH wait for nobody? Between this look and the open the name may become a
 * FIFO's, if another process has just that in mind. Then all threads wait, not only this one. */
INLINE bool is_safe_open(const struct lz_call_page *p, uint64_t at, uint64_t path, uint64_t flags)
{
	const bool alone = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	struct stat st;

	if (lz_opens_directory(flags))
		return true;
	if ((p->leases || p->guards) && lz_opens_in_spite_of_lease(flags))
		return false;
	int64_t result = call4(SYS_newfstatat, at, path, (uint64_t)&st,
	                       flags & O_NOFOLLOW || alone ? AT_SYMLINK_NOFOLLOW : 0);
	return result == -ENOENT || (result == 0 && good_for(p, &st, flags));
}

/* Does a close of the socket FD wait until all has been sent? */
INLINE bool lingers(const struct lz_call_page *p, uint64_t fd)
{
	uint32_t len = 2 * sizeof(uint32_t), linger[2];
	uint64_t regs[7];

	if (lz_kind_of(p->fd[fd]) < LZ_KIND_UNIX_STREAM)
		return false;
	linger[0] = linger[1] = 1;
	regs[0] = SYS_getsockopt;
	regs[1] = fd;
	regs[2] = SOL_SOCKET;
	regs[3] = SO_LINGER;
	regs[4] = (uint64_t)linger;
	regs[5] = (uint64_t)&len;
	regs[6] = 0;
	return !p->asks || make(regs) != 0 || linger[0];
}

/* Does nobody wait when FD becomes another file's? */
INLINE bool is_safe_target(const struct lz_call_page *p, uint64_t fd)
{
	if (fd < LZ_FAST_FDS && p->fd[fd] & LZ_FD_CLOSE)
		return !lingers(p, fd);
	return call4(SYS_fcntl, fd, F_GETFD, 0, 0) == -EBADF;
}

INLINE bool is_safe(const struct lz_call_page *p, uint8_t rule, const uint64_t *args)
{
	switch (rule) {
	case LZ_RULE_OPEN: return is_safe_open(p, (uint64_t)AT_FDCWD, args[0], args[1]);
	case LZ_RULE_OPENAT: return is_safe_open(p, args[0], args[1], args[2]);
	case LZ_RULE_DUP_TO: return is_safe_target(p, args[1]);
	case LZ_RULE_CLOSE: return !lingers(p, args[0]);
	default: return true;
	}
}

/* Before the call. */
INLINE void forget_fd(struct lz_call_page *p, uint8_t rule, const uint64_t *args)
{
	if (rule == LZ_RULE_CLOSE)
		set_fd(p, (int64_t)args[0], 0);
}

INLINE void note_opened(struct lz_call_page *p, int64_t fd, uint64_t flags)
{
	struct stat st;

	if (fd >= 0)
		set_fd(p, fd,
		       call4(SYS_fstat, (uint64_t)fd, (uint64_t)&st, 0, 0)
		           ? 0
		           : good_for(p, &st, flags));
}

INLINE void set_alone(struct lz_call_page *p, int64_t fd, uint8_t alone)
{
	if (fd >= 0 && fd < LZ_FAST_FDS)
		p->alone[fd] = alone;
}

/* The two may be one. */
INLINE void note_copy(struct lz_call_page *p, uint64_t fd, int64_t result)
{
	const bool known = fd < LZ_FAST_FDS;
	const uint8_t alone = known ? p->alone[fd] : 0;

	set_fd(p, result, known ? p->fd[fd] : 0);
	set_alone(p, result, alone);
}

/* What lz_fast_kind() says of a socket of which nobody has set an option. */
INLINE uint8_t good_for_socket(uint64_t family, uint64_t type, uint64_t protocol)
{
	const bool is_unix = family == AF_UNIX;
	enum lz_fd_kind kind = LZ_KIND_NONE;

	type &= ~(uint64_t)(SOCK_NONBLOCK | SOCK_CLOEXEC);
	if ((!is_unix && family != AF_INET && family != AF_INET6) || protocol)
		return 0;
	if (type == SOCK_STREAM)
		kind = is_unix ? LZ_KIND_UNIX_STREAM : LZ_KIND_STREAM;
	else if (type == SOCK_DGRAM)
		kind = LZ_KIND_DATAGRAM;
	return kind ? (uint8_t)(kind << LZ_FD_KIND_SHIFT) | LZ_FD_CLOSE : 0;
}

/* What is known of the descriptors that the call has made. */
INLINE void note_fd(struct lz_call_page *p, uint8_t rule, const uint64_t *args, int64_t result)
{
	switch (rule) {
	case LZ_RULE_OPEN:
		note_opened(p, result, args[1]);
		set_alone(p, result, 1);
		break;
	case LZ_RULE_OPENAT:
		note_opened(p, result, args[2]);
		set_alone(p, result, 1);
		break;
	case LZ_RULE_FCNTL:
		if (args[1] == F_DUPFD || args[1] == F_DUPFD_CLOEXEC)
			note_copy(p, args[0], result);
		break;
	case LZ_RULE_DUP:
	case LZ_RULE_DUP_TO:
		note_copy(p, args[0], result);
		if (args[0] < LZ_FAST_FDS && !p->fd[args[0]] && result >= 0)
			note_opened(p, result,
			            (uint64_t)call4(SYS_fcntl, (uint64_t)result, F_GETFL, 0, 0));
		break;
	case LZ_RULE_NEW_FD: set_fd(p, result, LZ_FD_CLOSE); break;
	case LZ_RULE_SOCKET: set_fd(p, result, good_for_socket(args[0], args[1], args[2])); break;
	case LZ_RULE_PIPE:
		for (int i = 0; result == 0 && i < 2; i++)
			set_fd(p, ((const int32_t *)args[0])[i], LZ_FD_CLOSE);
		break;
	}
}

#endif
