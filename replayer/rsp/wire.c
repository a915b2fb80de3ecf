/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packet framing: see rsp_wire.h. */
#include "replayer/rsp/wire.h"

#include <common/base/cleanup.h>
#include <common/base/clock.h>
#include <common/base/thread.h>
#include <lizard/error.h>
#include <lizard/text.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct packet {
	struct packet *next;
	size_t len;
	char bytes[];
};

enum { WAKE_END, WAKE_ECHO }; /* bytes in `wake` */

struct lz_wire {
	int in, out, wake[2];
	_Atomic int echo;
	struct lz_text_stream echoed;
	pthread_t reader;
	pthread_mutex_t lock, run; /* the second one: a run does not end while it is held */
	pthread_cond_t more;
	struct packet *first, **last;
	size_t waiting; /* bytes of those */
	bool closed;
	_Atomic bool acks, running, pending;
	_Atomic uint64_t asked; /* milliseconds: when the interrupt came */
	char *sent;             /* the last frame, in case the peer asks for it again */
	size_t sent_len;
	/* the reader's parser */
	enum { IDLE, PAYLOAD, SUM1, SUM2 } state;
	char *buf;
	size_t len;
	unsigned char sum;
	int want; /* the sum that the packet claims, -1: none */
	void (*interrupt)(void *);
	void *arg;
};

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return lz_fail_errno("writing to the debugger");
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

static int hex_digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

size_t lz_unhex(const char *hex, size_t hex_len, void *bytes, size_t max)
{
	unsigned char *out = bytes;
	size_t n = 0;

	while (n < max && 2 * n + 1 < hex_len) {
		int hi = hex_digit(hex[2 * n]), lo = hex_digit(hex[2 * n + 1]);

		if (hi < 0 || lo < 0)
			break;
		out[n++] = (unsigned char)(hi << 4 | lo);
	}
	return n;
}

char *lz_hex(const void *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *b = bytes;
	char *text = malloc(2 * len + 1);

	if (!text)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		text[2 * i] = digits[b[i] >> 4];
		text[2 * i + 1] = digits[b[i] & 15];
	}
	text[2 * len] = 0;
	return text;
}

/* In place; returns the new length. */
static size_t unescape(char *p, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (p[i] == '}' && i + 1 < len)
			p[n++] = p[++i] ^ 0x20;
		else
			p[n++] = p[i];
	return n;
}

/* An interrupt may meet a run that just ends; if the next one begins this soon after it, GDB has
 * gone on by itself (a breakpoint's condition was false), and the user still wants it stopped. */
enum { STALE_MS = 1000 };

/* A debugger waits for its answers. Whoever does not must not fill the memory. */
enum { WAITING_MAX = 4 << 20 };

static int append(struct lz_wire *w, struct packet *p)
{
	pthread_mutex_lock(&w->lock);
	bool room = w->waiting + p->len <= WAITING_MAX;

	if (room) {
		*w->last = p;
		w->last = &p->next;
		w->waiting += p->len + sizeof *p;
		pthread_cond_signal(&w->more);
	}
	pthread_mutex_unlock(&w->lock);
	return room ? 0 : -1;
}

static int enqueue(struct lz_wire *w)
{
	struct packet *p = malloc(sizeof *p + w->len + 1);

	if (!p)
		return lz_fail("out of memory for a packet");
	p->next = NULL;
	p->len = unescape(w->buf, w->len);
	memcpy(p->bytes, w->buf, p->len);
	p->bytes[p->len] = 0;
	if (append(w, p) == 0)
		return 0;
	free(p);
	return lz_fail("the debugger sends more than it waits for");
}

static int resend(struct lz_wire *w)
{
	pthread_mutex_lock(&w->lock);
	int rc = w->sent ? write_all(w->out, w->sent, w->sent_len) : 0;
	pthread_mutex_unlock(&w->lock);
	return rc;
}

static int packet_done(struct lz_wire *w)
{
	bool good = w->sum == w->want;

	w->state = IDLE;
	if (w->acks && write_all(w->out, good ? "+" : "-", 1) < 0)
		return -1;
	return good || !w->acks ? enqueue(w) : 0;
}

static int idle_byte(struct lz_wire *w, unsigned char c)
{
	if (c == '$') {
		w->state = PAYLOAD;
		w->len = 0;
		w->sum = 0;
	} else if (c == 3) {
		w->asked = lz_now() / 1000000;
		w->pending = true;
	} else if (c == '-' && w->acks) {
		return resend(w);
	}
	return 0;
}

static int take_byte(struct lz_wire *w, unsigned char c)
{
	switch (w->state) {
	case IDLE: return idle_byte(w, c);
	case PAYLOAD:
		if (c == '#') {
			w->state = SUM1;
			return 0;
		}
		if (w->len >= 2 * LZ_WIRE_PACKET_MAX)
			return lz_fail("a packet of the debugger is too long");
		w->buf[w->len++] = (char)c;
		w->sum += c;
		return 0;
	case SUM1:
		w->want = hex_digit(c) * 16;
		w->state = SUM2;
		return 0;
	case SUM2:
		/* What is no digit is no sum. */
		w->want = w->want < 0 || hex_digit(c) < 0 ? -1 : w->want + hex_digit(c);
		return packet_done(w);
	}
	return 0;
}

static void finish(struct lz_wire *w)
{
	pthread_mutex_lock(&w->lock);
	w->closed = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
}

/* Woken up: to end, or because there is something new to wait for? */
static bool is_over(struct lz_wire *w)
{
	char why = WAKE_END;

	return read(w->wake[0], &why, 1) != 1 || why == WAKE_END;
}

/* If there is a run. */
static bool interrupt_run(struct lz_wire *w)
{
	pthread_mutex_lock(&w->run);
	bool running = w->running;

	if (running)
		w->interrupt(w->arg);
	pthread_mutex_unlock(&w->run);
	return running;
}

/* The peer is gone: a run in progress is of no use to anybody. Nor is one that begins later. */
static void stop_run(struct lz_wire *w)
{
	struct pollfd stop = {.fd = w->wake[0], .events = POLLIN};

	finish(w);
	for (;;) {
		int woken = poll(&stop, 1, 50);

		if (woken > 0 && is_over(w))
			break;
		if (woken == 0)
			interrupt_run(w);
	}
}

/* Everything that the program has written so far. */
static void pass_echo(struct lz_wire *w)
{
	char text[4096], *shown;
	ssize_t n;

	while (w->echo >= 0 && (n = read(w->echo, text, sizeof text)) > 0) {
		shown = lz_text_stream(&w->echoed, text, (size_t)n, true);
		if (shown)
			lz_wire_console(w, shown);
		free(shown);
	}
}

/* While an interrupt or the program's output waits for a run to begin. */
enum { POLL_MS = 10 };

/* Once for each byte. */
static void pass_interrupt(struct lz_wire *w)
{
	if (w->pending && interrupt_run(w))
		w->pending = false;
}

static void wait_input(struct lz_wire *w, struct pollfd fds[3])
{
	fds[0] = (struct pollfd){.fd = w->in, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = w->wake[0], .events = POLLIN};
	fds[2] = (struct pollfd){.fd = w->running ? w->echo : -1, .events = POLLIN};
	poll(fds, 3, w->pending || w->echo >= 0 ? POLL_MS : -1);
	pass_interrupt(w);
	if (fds[2].revents) {
		pthread_mutex_lock(&w->run);
		if (w->running)
			pass_echo(w);
		pthread_mutex_unlock(&w->run);
	}
}

static void *read_ahead(void *arg)
{
	struct lz_wire *w = arg;
	struct pollfd fds[3];

	for (;;) {
		wait_input(w, fds);
		if (fds[1].revents && is_over(w))
			break;
		if (!fds[0].revents)
			continue;
		unsigned char chunk[65536];
		ssize_t k = read(w->in, chunk, sizeof chunk);

		if (k < 0 && errno == EINTR)
			continue;
		int rc = k <= 0 ? -1 : 0;

		for (ssize_t i = 0; i < k && rc == 0; i++)
			rc = take_byte(w, chunk[i]);
		pass_interrupt(w);
		if (rc < 0) {
			stop_run(w);
			break;
		}
	}
	return NULL;
}

struct lz_wire *lz_wire_new(int in, int out, void (*interrupt)(void *arg), void *arg)
{
	struct lz_wire *w = calloc(1, sizeof *w);

	if (!w || !(w->buf = malloc(2 * LZ_WIRE_PACKET_MAX)) || pipe(w->wake) < 0) {
		lz_fail_errno("setting up the connection");
		if (w)
			free(w->buf);
		free(w);
		return NULL;
	}
	w->in = in;
	w->out = out;
	w->acks = true;
	w->last = &w->first;
	w->echo = -1;
	pthread_mutex_init(&w->lock, NULL);
	pthread_mutex_init(&w->run, NULL);
	pthread_cond_init(&w->more, NULL);
	w->interrupt = interrupt;
	w->arg = arg;
	if (lz_thread_start(&w->reader, "lizard-reader", read_ahead, w) == 0)
		return w;
	close(w->wake[0]);
	close(w->wake[1]);
	free(w->buf);
	free(w);
	return NULL;
}

void lz_wire_free(struct lz_wire *w)
{
	if (!w)
		return;
	if (write(w->wake[1], &(char){WAKE_END}, 1) == 1)
		pthread_join(w->reader, NULL);
	for (struct packet *p = w->first, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	close(w->wake[0]);
	close(w->wake[1]);
	free(w->sent);
	free(w->buf);
	free(w);
}

char *lz_wire_next(struct lz_wire *w, size_t *len)
{
	pthread_mutex_lock(&w->lock);
	while (!w->first && !w->closed)
		pthread_cond_wait(&w->more, &w->lock);
	struct packet *p = w->first;

	if (p) {
		w->first = p->next;
		w->waiting -= p->len + sizeof *p;
		if (!w->first)
			w->last = &w->first;
	}
	pthread_mutex_unlock(&w->lock);
	if (!p)
		return NULL;
	*len = p->len;
	memmove((char *)p, p->bytes, p->len + 1);
	return (char *)p;
}

int lz_wire_send(struct lz_wire *w, const char *payload, size_t len)
{
	char *frame = malloc(2 * len + 5);
	unsigned char sum = 0;
	size_t n = 1;

	if (!frame)
		return lz_fail("out of memory for a reply");
	frame[0] = '$';
	for (size_t i = 0; i < len; i++) {
		char c = payload[i];

		if (c == '#' || c == '$' || c == '}' || c == '*') {
			frame[n++] = '}';
			sum += '}';
			c ^= 0x20;
		}
		frame[n++] = c;
		sum += (unsigned char)c;
	}
	n += (size_t)sprintf(frame + n, "#%02x", sum);
	pthread_mutex_lock(&w->lock);
	free(w->sent);
	w->sent = frame;
	w->sent_len = n;
	int rc = write_all(w->out, frame, n);
	pthread_mutex_unlock(&w->lock);
	return rc;
}

int lz_wire_console(struct lz_wire *w, const char *text)
{
	size_t len = strlen(text);
	lz_auto_free char *hex = lz_hex(text, len), *payload = malloc(2 * len + 2);

	if (!hex || !payload)
		return -1;
	payload[0] = 'O';
	memcpy(payload + 1, hex, 2 * len);
	return lz_wire_send(w, payload, 2 * len + 1);
}

void lz_wire_echo(struct lz_wire *w, int fd)
{
	w->echo = fd;
	if (write(w->wake[1], &(char){WAKE_ECHO}, 1) != 1)
		lz_debug("the program's output is shown late");
}

void lz_wire_no_ack(struct lz_wire *w)
{
	w->acks = false;
}

void lz_wire_run_begin(struct lz_wire *w)
{
	w->running = true;
}

void lz_wire_run_end(struct lz_wire *w)
{
	pthread_mutex_lock(&w->run);
	pass_echo(w);
	w->running = false;
	pthread_mutex_unlock(&w->run);
}

bool lz_wire_interrupted(struct lz_wire *w)
{
	return atomic_exchange(&w->pending, false) && lz_now() / 1000000 - w->asked < STALE_MS;
}
