/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What else there is to a system call that is made without a stop: which arguments it may have, and
 * what it does besides giving a result. For the stub and for the tracer. */
#ifndef LIZARD_TRACER_CALL_RULES_H
#define LIZARD_TRACER_CALL_RULES_H

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <lizard/marker.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define LZ_RULE_FN static inline __attribute__((always_inline))

enum { LZ_MASK_LEN = 8, LZ_SIGACTION_LEN = 32, LZ_SMALL_FILE = 64 << 10 };
enum lz_fast_rule {
	LZ_RULE_NONE,
	LZ_RULE_CLOSE,  /* its first argument is no descriptor any more */
	LZ_RULE_OPEN,   /* open(): a descriptor; a FIFO waits for others */
	LZ_RULE_OPENAT, /* the same with the arguments one further */
	LZ_RULE_FCNTL,  /* some commands */
	LZ_RULE_IOCTL,  /* some requests */
	LZ_RULE_PRCTL,  /* a thread's name */
	LZ_RULE_DUP,    /* a second descriptor of the same */
	LZ_RULE_DUP_TO, /* the same, and what had the number is closed */
	LZ_RULE_PIPE,   /* two descriptors */
	LZ_RULE_NEW_FD, /* one that can be closed without waiting */
	LZ_RULE_SOCKET, /* one that cannot */
	LZ_RULE_CLOCK,  /* the time, which the kernel's vDSO tells as well */
	LZ_RULE_MASK,   /* rt_sigprocmask() */
	LZ_RULE_SIGACTION,
	LZ_RULE_PRLIMIT, /* a limit is asked for, not set */
	LZ_RULE_BRK,     /* the heap grows, or becomes shorter */
	LZ_RULE_MADVISE, /* of plain memory, as struct lz_call_page has it */
	LZ_RULE_MPROTECT,
	LZ_RULE_MUNMAP,
	LZ_RULE_MMAP /* new plain memory, or a small file */
};

/* Those that wait for a lock are not among them. O_ASYNC raises signals. */
LZ_RULE_FN bool lz_allows_fcntl(uint64_t command, uint64_t value)
{
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
	case F_GETFD:
	case F_SETFD:
	case F_GETFL:
	case F_GETLK:
	case F_SETLK:
	case F_OFD_GETLK:
	case F_OFD_SETLK: return true;
	case F_SETFL: return !(value & O_ASYNC);
	default: return false;
	}
}

LZ_RULE_FN bool lz_allows_ioctl(uint64_t request)
{
	switch (request) {
	case TCGETS:
	case TIOCGWINSZ:
	case TIOCGPGRP:
	case FIONREAD:
	case FIONBIO:
	case FIOCLEX:
	case FIONCLEX: return true;
	default: return false;
	}
}

/* A new name is logged as 16 bytes, all of which can be read if they are in one page. */
LZ_RULE_FN bool lz_allows_prctl(uint64_t option, uint64_t name)
{
	return option == PR_GET_NAME || (option == PR_SET_NAME && name % 4096 <= 4096 - 16);
}

LZ_RULE_FN bool lz_allows_socket(uint64_t family)
{
	enum { UNIX = 1, INET = 2, INET6 = 10, NETLINK = 16 };

	return family == UNIX || family == INET || family == INET6 || family == NETLINK;
}

LZ_RULE_FN bool lz_opens_directory(uint64_t flags)
{
	return flags & O_DIRECTORY && (flags & O_ACCMODE) == O_RDONLY &&
	       !(flags & (O_CREAT | O_TRUNC));
}

/* Would a lease of the recorder's not hold it up? One fails instead, the other cuts the file. */
LZ_RULE_FN bool lz_opens_in_spite_of_lease(uint64_t flags)
{
	const bool reads = (flags & O_ACCMODE) == O_RDONLY;

	return reads ? flags & O_TRUNC : flags & O_NONBLOCK;
}

/* O_PATH, and files without a name. */
LZ_RULE_FN bool lz_opens_otherwise(uint64_t flags)
{
	enum { PATH = 010000000, TMPFILE = 020000000 };

	return flags & (PATH | TMPFILE);
}

/* What programs ask for of their heaps. MADV_FREE is refused. The newer ones are not in Debian 12's
 * headers. */
LZ_RULE_FN bool lz_allows_madvise(uint64_t advice)
{
	enum { DONTNEED_LOCKED = 24, COLLAPSE = 25 };

	switch (advice) {
	case MADV_NORMAL:
	case MADV_RANDOM:
	case MADV_SEQUENTIAL:
	case MADV_WILLNEED:
	case MADV_DONTNEED:
	case MADV_HUGEPAGE:
	case MADV_NOHUGEPAGE:
	case MADV_DONTDUMP:
	case MADV_DODUMP:
	case MADV_COLD:
	case MADV_PAGEOUT:
	case MADV_POPULATE_READ:
	case MADV_POPULATE_WRITE:
	case DONTNEED_LOCKED:
	case COLLAPSE: return true;
	default: return false;
	}
}

LZ_RULE_FN bool lz_is_data(uint64_t prot)
{
	return !(prot & ~(uint64_t)(PROT_READ | PROT_WRITE));
}

/* Do these arguments of mmap() map private data of a file where the kernel has room? So much of it is
 * recorded as bytes, as if it had been read. A dynamic linker denies writing. */
LZ_RULE_FN bool lz_maps_small(const uint64_t *args)
{
	return args[1] && args[1] <= LZ_SMALL_FILE && args[2] & PROT_READ && lz_is_data(args[2]) &&
	       (args[3] & ~(uint64_t)(MAP_NORESERVE | MAP_POPULATE)) == MAP_PRIVATE &&
	       !(args[5] % 4096);
}

/* Do these arguments map a file privately, or memory in place of other, as dynamic linkers do? The tracer is told
 * of it before the program goes on. */
LZ_RULE_FN bool lz_maps_at_once(const uint64_t *args)
{
	const uint64_t flags = args[3] & ~(uint64_t)(MAP_NORESERVE | MAP_DENYWRITE);
	const bool file = (flags & ~(uint64_t)MAP_FIXED) == MAP_PRIVATE && !lz_maps_small(args);

	return args[1] && !(args[2] & ~(uint64_t)(PROT_READ | PROT_WRITE | PROT_EXEC)) &&
	       (file || flags == (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED));
}

/* Is it code, or the cache of dynamic linkers? These are copied, once for all recordings. */
LZ_RULE_FN bool lz_is_for_linkers(const uint8_t *bytes, uint64_t n)
{
	const bool elf =
	    n >= 4 && bytes[0] == 0x7f && bytes[1] == 'E' && bytes[2] == 'L' && bytes[3] == 'F';

	return elf || (n >= 8 && bytes[0] == 'g' && bytes[1] == 'l' && bytes[2] == 'i' &&
	               bytes[3] == 'b' && bytes[4] == 'c' && bytes[5] == '-' && bytes[6] == 'l' &&
	               bytes[7] == 'd');
}

LZ_RULE_FN bool lz_allows_mmap(const uint64_t *args)
{
	const uint64_t either = MAP_NORESERVE | MAP_STACK | MAP_POPULATE | MAP_32BIT;

	return lz_maps_small(args) || lz_maps_at_once(args) ||
	       (lz_is_data(args[2]) && (args[3] & ~either) == (MAP_PRIVATE | MAP_ANONYMOUS));
}

/* By the other question for the heap's end a program with markers asks for a buffer. */
LZ_RULE_FN bool lz_allows_brk(const uint64_t *args)
{
	return args[0] || args[5] >> 16 != LZ_HELLO_MAGIC;
}

/* So a dynamic linker denies writing to what it has bound. */
LZ_RULE_FN bool lz_denies_writing(uint8_t rule, const uint64_t *args)
{
	return rule == LZ_RULE_MPROTECT && args[2] == PROT_READ;
}

/* Does it change mappings, or what they hold? */
LZ_RULE_FN bool lz_changes_maps(uint8_t rule)
{
	return rule >= LZ_RULE_BRK && rule <= LZ_RULE_MMAP;
}

/* May it have done a part of its work where it fails? */
LZ_RULE_FN bool lz_fails_midway(uint8_t rule)
{
	return rule == LZ_RULE_MADVISE || rule == LZ_RULE_MPROTECT;
}

LZ_RULE_FN bool lz_fast_allows(uint8_t rule, const uint64_t *args)
{
	const uint64_t from = args[1] < args[2] ? args[1] : args[2];

	switch (rule) {
	case LZ_RULE_OPEN: return !lz_opens_otherwise(args[1]);
	case LZ_RULE_OPENAT: return !lz_opens_otherwise(args[2]);
	case LZ_RULE_FCNTL: return lz_allows_fcntl(args[1], args[2]);
	case LZ_RULE_IOCTL: return lz_allows_ioctl(args[1]);
	case LZ_RULE_PRCTL: return lz_allows_prctl(args[0], args[1]);
	case LZ_RULE_SOCKET: return lz_allows_socket(args[0]);
	case LZ_RULE_MASK: return args[3] == LZ_MASK_LEN;
	case LZ_RULE_PRLIMIT: return !args[2];
	case LZ_RULE_BRK: return lz_allows_brk(args);
	case LZ_RULE_MADVISE: return lz_allows_madvise(args[2]);
	case LZ_RULE_MPROTECT: return lz_is_data(args[2]);
	case LZ_RULE_MMAP: return lz_allows_mmap(args);
	case LZ_RULE_SIGACTION: /* what is written is not what is read before */
		return !from || args[1] + args[2] - 2 * from >= LZ_SIGACTION_LEN;
	default: return true;
	}
}

/* What a call that succeeds writes because of its rule: so many bytes at *AT. */
LZ_RULE_FN uint32_t lz_fast_special(uint8_t rule, const uint64_t *args, uint64_t *at)
{
	enum { FLOCK = 32, TERMIOS = 36, WINSIZE = 8, NUMBER = 4, NAME = 16 };
	const uint64_t what = args[1];

	*at = args[2];
	switch (rule) {
	case LZ_RULE_FCNTL: return what == F_GETLK || what == F_OFD_GETLK ? FLOCK : 0;
	case LZ_RULE_IOCTL:
		return what == TCGETS                          ? TERMIOS
		       : what == TIOCGWINSZ                    ? WINSIZE
		       : what == TIOCGPGRP || what == FIONREAD ? NUMBER
		                                               : 0;
	case LZ_RULE_PRCTL: *at = args[1]; return NAME;
	default: return 0;
	}
}

/* Has a call that ended with RESULT perhaps written a part of its output? The length of an address is
 * looked at when a message has been stored, which may have gone over it. For urgent data (MSG_OOB) programs
 * may ask again and again, and get EINVAL while there are none. */
LZ_RULE_FN bool lz_breaks_off(uint64_t nr, const uint64_t *args, int64_t result)
{
	enum { OOB = 1 }; /* MSG_OOB; its header has names that others use for their own */

	if (result != -EINVAL)
		return result == -EFAULT;
	switch (nr) {
	case SYS_recvfrom: return args[4] && !(args[3] & OOB);
	case SYS_recvmsg: return !(args[2] & OOB);
	case SYS_recvmmsg: return !(args[3] & OOB);
	default: return false;
	}
}

LZ_RULE_FN bool lz_makes_fds(uint8_t rule)
{
	switch (rule) {
	case LZ_RULE_OPEN:
	case LZ_RULE_OPENAT:
	case LZ_RULE_DUP:
	case LZ_RULE_DUP_TO:
	case LZ_RULE_PIPE:
	case LZ_RULE_NEW_FD:
	case LZ_RULE_SOCKET: return true;
	default: return false;
	}
}

/* How many bytes come behind the output: the thread's signal mask, or what is done at a signal. */
LZ_RULE_FN uint32_t lz_fast_note(uint8_t rule, const uint64_t *args, int64_t result)
{
	if (rule == LZ_RULE_MASK)
		return LZ_MASK_LEN;
	return rule == LZ_RULE_SIGACTION && result == 0 && args[1] ? LZ_SIGACTION_LEN : 0;
}

#endif
