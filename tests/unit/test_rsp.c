/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The remote protocol's packets and registers. */
#include "tests/unit/suite.h"

#include <check.h>
#include <cpuid.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lizard/front.h>
#include <replayer/front/regs.h>
#include <replayer/rsp/wire.h>

static int to_server[2], from_server[2];
static struct lz_wire *wire;
static volatile int interrupts;

static void on_interrupt(void *arg)
{
	interrupts++;
}

static void connect_wire(void)
{
	ck_assert_int_eq(pipe(to_server), 0);
	ck_assert_int_eq(pipe(from_server), 0);
	interrupts = 0;
	wire = lz_wire_new(to_server[0], from_server[1], on_interrupt, NULL);
	ck_assert_ptr_nonnull(wire);
}

static void disconnect_wire(void)
{
	lz_wire_free(wire);
	for (int i = 0; i < 2; i++) {
		close(to_server[i]);
		close(from_server[i]);
	}
}

static void put(const char *bytes, size_t len)
{
	ck_assert_int_eq(write(to_server[1], bytes, len), (ssize_t)len);
}

/* Waits for exactly these bytes from the server. */
static void expect(const char *bytes, size_t len)
{
	char got[256];
	size_t n = 0;

	while (n < len) {
		ssize_t k = read(from_server[0], got + n, len - n);

		ck_assert_int_gt(k, 0);
		n += (size_t)k;
	}
	ck_assert_mem_eq(got, bytes, len);
}

static void expect_packet(const char *text, size_t len)
{
	size_t got_len;
	char *got = lz_wire_next(wire, &got_len);

	ck_assert_ptr_nonnull(got);
	ck_assert_uint_eq(got_len, len);
	ck_assert_mem_eq(got, text, len);
	free(got);
}

START_TEST(packets)
{
	put("+$g#67", 6);
	expect_packet("g", 1);
	expect("+", 1);
	put("$X0,2:}\x03}]#d9", 13); /* escapes: 0x23 and 0x7d; the sum is of what is sent */
	expect("-", 1);
	lz_wire_send(wire, "OK", 2);
	expect("$OK#9a", 6);
	put("-", 1); /* once more, please */
	expect("$OK#9a", 6);
	lz_wire_no_ack(wire);
	put("$?#3f$qC#b4", 11);
	expect_packet("?", 1);
	expect_packet("qC", 2);
}
END_TEST

START_TEST(escapes)
{
	char frame[64] = "$X0,2:}\x03}]#";
	unsigned char sum = 0;

	for (char *c = frame + 1; *c != '#'; c++)
		sum += (unsigned char)*c;
	sprintf(frame + strlen(frame), "%02x", sum);
	lz_wire_no_ack(wire);
	put(frame, strlen(frame));
	expect_packet("X0,2:#}", 7);
	lz_wire_send(wire, "a#}*$", 5);
	expect("$a}\x03}]}\n}\x04#", 11);
}
END_TEST

START_TEST(console)
{
	lz_wire_console(wire, "hi\n");
	expect("$O68690a#", 9);
}
END_TEST

START_TEST(interrupt)
{
	lz_wire_no_ack(wire);
	put("\x03", 1); /* no run takes it: the next one must ask */
	put("$vCont;c#a8", 11);
	expect_packet("vCont;c", 7);
	ck_assert(lz_wire_interrupted(wire));
	ck_assert(!lz_wire_interrupted(wire));
	lz_wire_run_begin(wire);
	usleep(100000);
	ck_assert_int_eq(interrupts, 0);
	put("\x03", 1);
	for (int i = 0; i < 100 && !interrupts; i++)
		usleep(20000);
	ck_assert_int_gt(interrupts, 0);
	lz_wire_run_end(wire);
	int n = interrupts;

	usleep(100000);
	ck_assert_int_eq(interrupts, n);
}
END_TEST

START_TEST(echo)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_NONBLOCK), 0);
	usleep(50000); /* by now the reader waits for nothing but the peer */
	lz_wire_echo(wire, fds[0]);
	lz_wire_run_begin(wire);
	ck_assert_int_eq(write(fds[1], "ab", 2), 2);
	expect("$O6162#", 7);
	ck_assert_int_eq(write(fds[1], "c", 1), 1);
	lz_wire_run_end(wire);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

START_TEST(gone)
{
	size_t len;

	put("$g#67$", 6);
	close(to_server[1]);
	to_server[1] = dup(0);
	expect_packet("g", 1);
	ck_assert_ptr_null(lz_wire_next(wire, &len));
}
END_TEST

/* A run ends when the peer goes, whatever else wakes the reader up then. */
START_TEST(gone_in_a_run)
{
	close(to_server[1]);
	to_server[1] = dup(0);
	usleep(50000);
	lz_wire_echo(wire, -1);
	usleep(100000);
	ck_assert_int_eq(interrupts, 0);
	lz_wire_run_begin(wire);
	for (int i = 0; i < 100 && !interrupts; i++)
		usleep(20000);
	ck_assert_int_gt(interrupts, 0);
	lz_wire_run_end(wire);
}
END_TEST

/* Packets that nobody takes: the first ones are kept, then the connection is taken for gone. */
START_TEST(too_many)
{
	static char packet[32768];
	size_t len, all = 0;
	char *got;

	memset(packet, 'x', sizeof packet);
	packet[0] = '$';
	memcpy(packet + sizeof packet - 3, "#00", 3);
	lz_wire_no_ack(wire);
	ck_assert_int_eq(fcntl(to_server[1], F_SETFL, O_NONBLOCK), 0);
	/* more than is kept, by less than what fits into the pipe */
	for (size_t sent = 0, full = 0; sent < (4 << 20) + 65536 && full < 60000;) {
		const size_t at = sent % sizeof packet;
		const ssize_t n = write(to_server[1], packet + at, sizeof packet - at);

		full = n < 0 ? full + 1 : 0;
		if (n < 0)
			usleep(1000);
		else
			sent += (size_t)n;
	}
	for (; (got = lz_wire_next(wire, &len)); all += len)
		free(got);
	ck_assert_uint_gt(all, 1 << 20);
	ck_assert_uint_le(all, 4 << 20);
}
END_TEST

START_TEST(too_long)
{
	size_t len;
	char *much = malloc(3 * LZ_WIRE_PACKET_MAX);

	memset(much, 'x', 3 * LZ_WIRE_PACKET_MAX);
	much[0] = '$';
	for (size_t at = 0; at < 3 * LZ_WIRE_PACKET_MAX - 65536; at += 4096)
		put(much + at, 4096);
	ck_assert_ptr_null(lz_wire_next(wire, &len));
	free(much);
}
END_TEST

START_TEST(hex)
{
	char bytes[4];
	char *text = lz_hex("\x00\xff\x1a", 3);

	ck_assert_str_eq(text, "00ff1a");
	ck_assert_uint_eq(lz_unhex(text, 6, bytes, 4), 3);
	ck_assert_mem_eq(bytes, "\x00\xff\x1a", 3);
	ck_assert_uint_eq(lz_unhex("12zz", 4, bytes, 4), 1);
	ck_assert_uint_eq(lz_unhex("1", 1, bytes, 4), 0);
	ck_assert_uint_eq(lz_unhex("010203", 6, bytes, 2), 2);
	free(text);
}
END_TEST

static size_t find(const struct lz_regmap *m, const char *name)
{
	char want[64];
	size_t nr = 0;
	const char *at = lz_regmap_xml(m);

	snprintf(want, sizeof want, "<reg name=\"%s\" ", name);
	while ((at = strstr(at, "<reg "))) {
		if (strncmp(at, want, strlen(want)) == 0)
			return nr;
		nr++;
		at++;
	}
	return SIZE_MAX;
}

/* Every register keeps what is written to it, and no other changes. */
static void check_all(const struct lz_regmap *m, struct lz_regfile *f)
{
	size_t ftag = find(m, "ftag"), fop = find(m, "fop"), fctrl = find(m, "fctrl");
	size_t fioff = find(m, "fioff"), foseg = find(m, "foseg");

	for (size_t nr = 0; nr < lz_regmap_count(m); nr++) {
		uint8_t in[LZ_REG_MAX], out[LZ_REG_MAX];
		static struct lz_regfile before;

		before = *f;
		if (nr == ftag || nr == fop)
			continue;
		for (size_t k = 0; k < sizeof in; k++)
			in[k] = (uint8_t)(nr * 7 + k + 1);
		if (fctrl <= nr && nr <= foseg && nr != fioff)
			in[2] = in[3] = 0; /* 16 bits shown as 32 */
		size_t size = lz_reg_set(m, f, nr, in);

		ck_assert_uint_gt(size, 0);
		ck_assert_uint_eq(lz_reg_get(m, f, nr, out), size);
		ck_assert_mem_eq(in, out, size);
		for (size_t other = 0; other < lz_regmap_count(m); other++) {
			uint8_t was[LZ_REG_MAX], is[LZ_REG_MAX];

			if (other == nr || other == ftag)
				continue;
			size = lz_reg_get(m, &before, other, was);
			lz_reg_get(m, f, other, is);
			ck_assert_mem_eq(was, is, size);
		}
	}
}

START_TEST(registers)
{
	struct lz_regfile f = {.xstate_len = 576};
	unsigned a, b, c, d;

	struct lz_regmap *m = lz_regmap_new(f.xstate, f.xstate_len);

	ck_assert_uint_eq(find(m, "rip"), LZ_REG_RIP);
	ck_assert_uint_eq(find(m, "rsp"), LZ_REG_RSP);
	ck_assert_uint_eq(find(m, "rbp"), LZ_REG_RBP);
	ck_assert_uint_ne(find(m, "orig_rax"), SIZE_MAX);
	ck_assert_uint_eq(find(m, "ymm0h"), SIZE_MAX);
	check_all(m, &f);
	lz_regmap_free(m);

	/* All that this processor has. */
	__cpuid_count(0xd, 0, a, b, c, d);
	f.xstate_len = c <= sizeof f.xstate ? c : sizeof f.xstate;
	memset(f.xstate, 0, sizeof f.xstate);
	uint64_t xcr0 = (uint64_t)d << 32 | a;

	memcpy(f.xstate + 464, &xcr0, 8);
	m = lz_regmap_new(f.xstate, f.xstate_len);
	ck_assert_int_eq(find(m, "ymm0h") != SIZE_MAX, (xcr0 >> 2 & 1) != 0);
	ck_assert_int_eq(find(m, "zmm31h") != SIZE_MAX, (xcr0 >> 5 & 7) == 7);
	check_all(m, &f);
	lz_regmap_free(m);

	/* A size that does not go with the features. */
	m = lz_regmap_new(f.xstate, 576);
	ck_assert_uint_eq(find(m, "ymm0h"), SIZE_MAX);
	lz_regmap_free(m);
}
END_TEST

START_TEST(tags)
{
	struct lz_regfile f = {.xstate_len = 576};
	struct lz_regmap *m = lz_regmap_new(f.xstate, f.xstate_len);
	uint32_t tags;

	lz_reg_get(m, &f, find(m, "ftag"), &tags);
	ck_assert_uint_eq(tags, 0xffff); /* all empty */
	f.xstate[3] = 0x38;              /* top of stack: 7 */
	f.xstate[4] = 0x80;              /* physical 7 in use */
	f.xstate[32 + 7] = 0x80;         /* st0 = 1.0 */
	f.xstate[32 + 8] = 0xff;
	f.xstate[32 + 9] = 0x3f;
	lz_reg_get(m, &f, find(m, "ftag"), &tags);
	ck_assert_uint_eq(tags, 0x3fff); /* valid */
	lz_reg_set(m, &f, find(m, "ftag"), &tags);
	ck_assert_uint_eq(f.xstate[4], 0x80);
	lz_regmap_free(m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rsp");
	TCase *w = tcase_create("wire"), *r = tcase_create("registers");

	tcase_add_checked_fixture(w, connect_wire, disconnect_wire);
	tcase_add_test(w, packets);
	tcase_add_test(w, escapes);
	tcase_add_test(w, console);
	tcase_add_test(w, interrupt);
	tcase_add_test(w, echo);
	tcase_add_test(w, gone);
	tcase_add_test(w, gone_in_a_run);
	tcase_add_test(w, too_many);
	tcase_add_test(w, too_long);
	tcase_add_test(r, hex);
	tcase_add_test(r, registers);
	tcase_add_test(r, tags);
	suite_add_tcase(s, w);
	suite_add_tcase(s, r);
	return run_suite(s);
}
