/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a call writes is what its structures and vectors said before it: no device or socket is needed
 * for that. */
#include "tests/unit/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <scsi/sg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"

enum { DXFER_UNKNOWN = -5 }; /* of the kernel's own header */

static struct lz_tracer t;
static struct lz_thread thread;
static uint8_t memory[4096]; /* the program's */

static void begin(void)
{
	t.cur = &thread;
	t.p = (struct lz_proc){.pid = getpid(), .mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC)};
	ck_assert_int_ge(t.p.mem, 0);
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)(i * 7);
}

static void enter_call(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                       uint64_t f)
{
	thread.call = (struct lz_call){.nr = nr, .args = {a, b, c, d, e, f}, .row = lz_syscall(nr)};
	ck_assert_int_eq(lz_capture_prepare(&t), 0);
	memset(&t.b.ev, 0, sizeof(t.b.ev));
	t.b.used = 0;
}

static void enter(uint64_t at)
{
	enter_call(SYS_ioctl, 3, SG_IO, at, 0, 0, 0);
}

static bool has(const void *at, uint64_t len)
{
	for (uint32_t i = 0; i < t.b.ev.n_writes; i++)
		if (t.b.writes[i].addr == (uintptr_t)at && t.b.writes[i].len == len)
			return true;
	return false;
}

static bool begins(const void *at)
{
	bool found = false;

	for (uint32_t i = 0; i < t.b.ev.n_writes; i++)
		found |= t.b.writes[i].addr == (uintptr_t)at;
	return found;
}

/* The header, its vector and the sense bytes lie in what the device writes. */
static struct sg_io_hdr *header(int direction, unsigned n_io)
{
	struct sg_io_hdr *h = (struct sg_io_hdr *)(memory + 64);
	struct iovec *io = (struct iovec *)(memory + 256);

	io[0] = (struct iovec){memory, 600};
	io[1] = (struct iovec){memory + 2000, 100};
	*h = (struct sg_io_hdr){.interface_id = 'S',
	                        .dxfer_direction = direction,
	                        .iovec_count = (unsigned short)n_io,
	                        .dxfer_len = 650,
	                        .dxferp = n_io ? (void *)io : memory,
	                        .mx_sb_len = 32,
	                        .sbp = memory + 3000};
	return h;
}

START_TEST(overwritten)
{
	struct sg_io_hdr *h = header(SG_DXFER_FROM_DEV, 2);

	enter((uintptr_t)h);
	memset(memory, 0xee, 600);
	ck_assert_int_eq(lz_capture(&t, 0), 0);
	ck_assert(has(h, sizeof(*h)) && has(memory + 3000, 32));
	ck_assert(has(memory, 600) && has(memory + 2000, 50));
	/* without a vector; and which way is not said */
	h = header(DXFER_UNKNOWN, 0);
	enter((uintptr_t)h);
	memset(memory, 0xee, 650);
	ck_assert_int_eq(lz_capture(&t, 0), 0);
	ck_assert(has(memory, 650));
}
END_TEST

START_TEST(to_the_device)
{
	struct sg_io_hdr *h = header(SG_DXFER_TO_DEV, 2);

	enter((uintptr_t)h);
	ck_assert_int_eq(lz_capture(&t, 0), 0);
	ck_assert(has(h, sizeof(*h)) && t.b.ev.n_writes == 2);
}
END_TEST

/* A call whose structure cannot be read notes nothing, and adds nothing of the one before. */
START_TEST(unreadable)
{
	enter((uintptr_t)header(SG_DXFER_FROM_DEV, 2));
	enter(16);
	ck_assert_int_eq(lz_capture(&t, 0), 0);
	ck_assert_uint_eq(t.b.ev.n_writes, 0);
}
END_TEST

/* The structure tells of two places, and is longer than what either needs. */
START_TEST(two_places)
{
	enum { QUERY = 0xc0686611 };
	uint64_t *q = (uint64_t *)(memory + 64);
	uint32_t *sizes = (uint32_t *)(q + 10);

	sizes[0] = 20;
	sizes[1] = 16;
	q[11] = (uintptr_t)memory + 1000;
	q[12] = (uintptr_t)memory + 2000;
	enter_call(SYS_ioctl, 3, QUERY, (uintptr_t)q, 0, 0, 0);
	ck_assert_int_eq(lz_capture(&t, 0), 0);
	ck_assert(has(q, 104) && has(memory + 1000, 20) && has(memory + 2000, 16));
}
END_TEST

/* ---- messages ---- */

/* Some may have been stored if the length of an address is no length, and not if there was none to come. */
START_TEST(invalid)
{
	uint32_t *len = (uint32_t *)(memory + 64);

	*len = UINT32_MAX;
	enter_call(SYS_recvfrom, 3, (uintptr_t)memory + 100, 300, 0, (uintptr_t)memory + 1000,
	           (uintptr_t)len);
	ck_assert_int_eq(lz_capture(&t, -EINVAL), 0);
	ck_assert(has(memory + 100, 300) && has(memory + 1000, sizeof(struct sockaddr_storage)));
	enter_call(SYS_recvfrom, 3, (uintptr_t)memory + 100, 300, MSG_OOB, 0, 0);
	ck_assert_int_eq(lz_capture(&t, -EINVAL), 0);
	ck_assert_uint_eq(t.b.ev.n_writes, 0);
	enter_call(SYS_recvfrom, 3, (uintptr_t)memory + 100, 300, 0, 0, 0);
	ck_assert_int_eq(lz_capture(&t, -EINVAL), 0);
	ck_assert_uint_eq(t.b.ev.n_writes, 0);
}
END_TEST

/* Two headers and their vectors behind each other, as most programs have them. */
static struct mmsghdr *two_messages(void)
{
	struct mmsghdr *m = (struct mmsghdr *)(memory + 64);
	struct iovec *io = (struct iovec *)(memory + 256);

	for (int i = 0; i < 2; i++) {
		io[i] = (struct iovec){memory + 1000 + i * 500, 300};
		m[i] = (struct mmsghdr){{.msg_iov = &io[i], .msg_iovlen = 1}, 0};
	}
	return m;
}

static void enter_recvmmsg(int fd, struct mmsghdr *m)
{
	enter_call(SYS_recvmmsg, (uint64_t)fd, (uintptr_t)m, 2, 0, 0, 0);
}

/* Whatever number the descriptor has. */
START_TEST(any_descriptor)
{
	for (int fd = 0; fd < 4; fd++) {
		struct mmsghdr *m = two_messages();

		enter_recvmmsg(fd, m);
		m[0].msg_len = 100;
		m[1].msg_len = 50;
		ck_assert_int_eq(lz_capture(&t, 2), 0);
		ck_assert(has(memory + 1000, 100) && has(memory + 1500, 50));
	}
}
END_TEST

/* A bad pointer in a later message changes nothing for those before; and what nobody has filled is not
 * recorded. */
START_TEST(bad_later)
{
	struct mmsghdr *m = two_messages();

	m[1].msg_hdr.msg_iov->iov_base = (void *)16;
	enter_recvmmsg(-1, m);
	m[0].msg_len = 100;
	ck_assert_int_eq(lz_capture(&t, 1), 0);
	ck_assert(has(memory + 1000, 100));
	m = two_messages();
	enter_recvmmsg(-1, m);
	m[0].msg_len = 100;
	ck_assert_int_eq(lz_capture(&t, 1), 0);
	ck_assert(has(memory + 1000, 100) && !has(memory + 1500, 300));
}
END_TEST

/* More than are noted before; their vectors lie backwards, so that none can be read with another one. */
START_TEST(many)
{
	enum { N = 200 };
	static struct mmsghdr m[N];
	static struct iovec io[N];
	static uint8_t to[N][8];

	for (int i = 0; i < N; i++) {
		io[N - 1 - i] = (struct iovec){to[i], 8};
		m[i] = (struct mmsghdr){{.msg_iov = &io[N - 1 - i], .msg_iovlen = 1}, 0};
	}
	enter_call(SYS_recvmmsg, (uint64_t)-1, (uintptr_t)m, N, 0, 0, 0);
	for (int i = 0; i < N - 1; i++)
		m[i].msg_len = 1 + (unsigned)i % 8;
	ck_assert_int_eq(lz_capture(&t, N - 1), 0);
	for (int i = 0; i < N - 1; i++)
		ck_assert(has(to[i], m[i].msg_len));
	ck_assert(!begins(to[N - 1]));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vectors");
	TCase *c = tcase_create("requests");

	tcase_add_checked_fixture(c, begin, NULL);
	tcase_add_test(c, overwritten);
	tcase_add_test(c, to_the_device);
	tcase_add_test(c, unreadable);
	tcase_add_test(c, two_places);
	suite_add_tcase(s, c);
	c = tcase_create("messages");
	tcase_add_checked_fixture(c, begin, NULL);
	tcase_add_test(c, any_descriptor);
	tcase_add_test(c, invalid);
	tcase_add_test(c, bad_later);
	tcase_add_test(c, many);
	suite_add_tcase(s, c);
	return run_suite(s);
}
