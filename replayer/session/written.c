/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes that a call has written: they are not recorded, but in the program's memory at the call. */
#include "replayer/session/session.h"

#include <lizard/mark.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

bool lz_written_to(const struct lz_event *ev, uint32_t *fd)
{
	if (ev->kind != LZ_EV_SYSCALL || ev->result <= 0 || lz_is_mark(ev->nr, ev->args))
		return false;
	*fd = (uint32_t)ev->args[0];
	switch (ev->nr) {
	case SYS_write:
	case SYS_pwrite64:
	case SYS_sendto:
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2:
	case SYS_sendmsg: return true;
	default: return false;
	}
}

struct passing {
	struct lz_arrival *memory;
	uint64_t left;
	int (*take)(void *arg, uint64_t addr, uint64_t len);
	void *arg;
};

/* LEN bytes at ADDR, as far as they are left. */
static int pass_range(struct passing *p, uint64_t addr, uint64_t len)
{
	const uint64_t n = len < p->left ? len : p->left;

	p->left -= n;
	return n ? p->take(p->arg, addr, n) : 0;
}

static int pass_vectors(struct passing *p, uint64_t addr, uint64_t n)
{
	struct iovec v;
	int rc = 0;

	for (uint64_t i = 0; rc == 0 && i < n && i < UIO_MAXIOV && p->left;
	     i++, addr += sizeof(v)) {
		if (lz_arrival_read(p->memory, addr, &v, sizeof(v)) < sizeof(v))
			return 0;
		rc = pass_range(p, (uint64_t)(uintptr_t)v.iov_base, v.iov_len);
	}
	return rc;
}

int lz_written_ranges(const struct lz_event *ev, struct lz_arrival *memory,
                      int (*take)(void *arg, uint64_t addr, uint64_t len), void *arg)
{
	struct passing p = {memory, (uint64_t)ev->result, take, arg};
	struct msghdr m;

	switch (ev->nr) {
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2: return pass_vectors(&p, ev->args[1], ev->args[2]);
	case SYS_sendmsg:
		if (lz_arrival_read(memory, ev->args[1], &m, sizeof(m)) < sizeof(m))
			return 0;
		return pass_vectors(&p, (uint64_t)(uintptr_t)m.msg_iov, m.msg_iovlen);
	default: return pass_range(&p, ev->args[1], (uint64_t)ev->result);
	}
}

struct reading {
	struct lz_arrival *memory;
	int (*take)(void *arg, const uint8_t *bytes, size_t n);
	void *arg;
};

static int read_range(void *arg, uint64_t addr, uint64_t len)
{
	const struct reading *r = arg;
	uint8_t piece[16384];
	int rc = 0;

	while (rc == 0 && len) {
		uint64_t n = len < sizeof(piece) ? len : sizeof(piece);
		n = lz_arrival_read(r->memory, addr, piece, n);
		if (!n)
			return 0;
		rc = r->take(r->arg, piece, n);
		addr += n;
		len -= n;
	}
	return rc;
}

int lz_written_each(const struct lz_event *ev, struct lz_arrival *memory,
                    int (*take)(void *arg, const uint8_t *bytes, size_t n), void *arg)
{
	struct reading r = {memory, take, arg};

	return lz_written_ranges(ev, memory, read_range, &r);
}
