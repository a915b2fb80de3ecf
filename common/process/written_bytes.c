/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <libdeflate.h>
#include <lizard/written_bytes.h>

#include <lizard/proc.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

enum { PIECE = 16 << 10 };

struct sum {
	const struct lz_proc *p;
	bool (*counts)(void *arg, uint64_t addr, uint64_t len);
	void *arg;
	uint64_t left; /* bytes that are to be summed yet */
	uint32_t crc;
};

static bool get(struct sum *s, uint64_t addr, void *to, uint64_t len)
{
	return (!s->counts || s->counts(s->arg, addr, len)) &&
	       lz_proc_read_some(s->p, addr, to, len) == len;
}

static bool add(struct sum *s, uint64_t addr, uint64_t len)
{
	uint8_t bytes[PIECE];

	if (len > s->left)
		len = s->left;
	s->left -= len;
	while (len) {
		uint64_t n = len < PIECE ? len : PIECE;

		if (!get(s, addr, bytes, n))
			return false;
		s->crc = libdeflate_crc32(s->crc, bytes, n);
		addr += n;
		len -= n;
	}
	return true;
}

static bool add_iovecs(struct sum *s, uint64_t addr, uint64_t count)
{
	struct iovec io;

	for (uint64_t i = 0; i < count && s->left; i++, addr += sizeof(io))
		if (!get(s, addr, &io, sizeof(io)) ||
		    !add(s, (uint64_t)(uintptr_t)io.iov_base, io.iov_len))
			return false;
	return true;
}

static bool add_message(struct sum *s, uint64_t addr)
{
	struct msghdr m;

	return get(s, addr, &m, sizeof(m)) &&
	       add_iovecs(s, (uint64_t)(uintptr_t)m.msg_iov, m.msg_iovlen);
}

static bool add_all(struct sum *s, uint64_t nr, const uint64_t *args)
{
	switch (nr) {
	case SYS_write:
	case SYS_pwrite64:
	case SYS_sendto: return add(s, args[1], args[2]);
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2: return add_iovecs(s, args[1], args[2]);
	case SYS_sendmsg: return add_message(s, args[1]);
	}
	return false;
}

bool lz_written_bytes_crc(const struct lz_proc *p, uint64_t nr, const uint64_t *args,
                          int64_t result, bool (*counts)(void *arg, uint64_t addr, uint64_t len),
                          void *arg, uint32_t *crc)
{
	struct sum s = {.p = p, .counts = counts, .arg = arg};

	s.left = result < LZ_WRITTEN_BYTES_MAX ? (uint64_t)result : LZ_WRITTEN_BYTES_MAX;
	if (result <= 0 || !add_all(&s, nr, args) || s.left)
		return false;
	*crc = s.crc;
	return true;
}
