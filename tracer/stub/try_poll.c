/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: asks which descriptors are ready, without waiting; or waits for that in a way
 * that changes nothing. */
#include "tracer/stub/patience.h"
#include "tracer/stub/try.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>

enum {
	EVENT = 12, /* bytes of a struct epoll_event */
	TIME = 16,
	SETS = 3,
	SET_BITS = 1024
};

INLINE bool read_mask(struct patience *w, uint64_t at, uint64_t len)
{
	w->masked = at;
	return !at || (len == LZ_MASK_LEN && (*(const volatile uint64_t *)at, true));
}

/* Is it over with this result? */
INLINE bool is_over(const struct patience *w, int64_t result)
{
	return result > 0 || (!result && w->none && !w->masked);
}

INLINE void set_limit(struct attempt *t, const struct patience *w)
{
	t->p->left[0] = w->limit[0];
	t->p->left[1] = w->limit[1];
}

/* What is left of the time at AT is told, or not, as the thread's personality says. */
INLINE bool may_tell(const struct attempt *t, const struct patience *w, uint64_t at)
{
	return !t->p->sticky || !at || w->none;
}

/* May it be waited for descriptors instead? With a mask a signal may be due, also where it does not
 * wait. */
INLINE bool may_wait(const struct attempt *t, const struct patience *w)
{
	return t->p->may_wait && (!w->none || w->masked);
}

/* A copy of the time at AT, with what is left of it: the call has taken no time at all, but some. */
INLINE void spend(const struct patience *w, uint64_t *time, uint64_t at)
{
	if (!at)
		return;
	copy((uint8_t *)time, at, TIME);
	if (w->none)
		return;
	if (!time[1])
		time[0]--;
	time[1] = (time[1] ? time[1] : w->fraction) - 1;
}

/* Where the time cannot be written, the kernel is to say so: before anything has been waited for. */
INLINE void touch_time(uint64_t at)
{
	if (at)
		copy((uint8_t *)at, at, TIME);
}

/* The same copy behind a wait. */
INLINE void note_left(const struct attempt *t, const struct patience *w, uint64_t *time,
                      uint64_t at)
{
	if (!at)
		return;
	time[0] = (uint64_t)t->p->left[0];
	time[1] = (uint64_t)t->p->left[1] / (BILLION / w->fraction);
}

/* To the program. It is the first that it gets: what it has in memory for reading only ends here. */
INLINE void tell_time(const struct patience *w, const uint64_t *time, uint64_t at)
{
	if (at && !w->none)
		copy((uint8_t *)at, (uint64_t)time, TIME);
}

/* The events go where the program has them when it is over: a call that waits has stored none. */
PART uint32_t poll_copied(struct attempt *t, const struct patience *w, uint64_t time_at)
{
	const uint64_t at = t->args[0], n = t->args[1], len = n * sizeof(struct pollfd);
	volatile struct pollfd *to = (volatile struct pollfd *)at;

	if (n > LZ_TRY_MOST / sizeof(struct pollfd) - 2 || !may_tell(t, w, time_at))
		return LZ_STOP;
	if (n)
		add(t, at, len);
	if (time_at)
		add(t, time_at, TIME);
	struct pollfd *const p = (struct pollfd *)bytes_of(t);
	uint64_t *const time = (uint64_t *)(p + n);
	copy((uint8_t *)p, at, len);
	spend(w, time, time_at);
	int64_t result = lz_try_call(SYS_poll, (uint64_t)p, n, 0, 0, 0, 0);
	bool waited = false;
	if (!result && may_wait(t, w)) {
		touch_time(time_at);
		set_limit(t, w);
		result = lz_stub_wait(t->p, (uint64_t)p, n, w->masked);
		note_left(t, w, time, time_at);
		waited = result >= 0;
	}
	if (!waited && !is_over(w, result))
		return LZ_STOP;
	tell_time(w, time, time_at);
	for (uint64_t i = 0; i < n; i++)
		to[i].revents = p[i].revents;
	return lz_finish(t, result, len + (time_at ? TIME : 0));
}

uint32_t lz_try_poll(struct attempt *t)
{
	struct patience w;

	set_patience(&w, (int32_t)t->args[2]);
	return poll_copied(t, &w, 0);
}

uint32_t lz_try_poll_masked(struct attempt *t)
{
	struct patience w;

	set_patience(&w, -1);
	if (!read_time(&w, t->args[2], BILLION) || !read_mask(&w, t->args[3], t->args[4]))
		return LZ_STOP;
	return poll_copied(t, &w, t->args[2]);
}

/* The program's sets to BYTES; the length of all. */
PART uint64_t copy_sets(const struct attempt *t, uint8_t *bytes, uint64_t len, uint64_t *set)
{
	uint64_t n = 0;

	for (int i = 0; i < SETS; i++) {
		set[i] = t->args[1 + i] ? (uint64_t)bytes + n : 0;
		if (!set[i] || !len)
			continue;
		copy(bytes + n, t->args[1 + i], len);
		n += len;
	}
	return n;
}

/* The same for sets of descriptors. */
PART uint32_t select_copied(struct attempt *t, const struct patience *w, uint64_t mask)
{
	const uint64_t len = (t->args[0] + 63) / 64 * 8, time_at = t->args[4];
	uint64_t set[SETS], no_time[2];

	if (!may_tell(t, w, time_at))
		return LZ_STOP;
	no_time[0] = no_time[1] = 0;
	for (int i = 0; i < SETS; i++)
		if (t->args[1 + i] && len)
			add(t, t->args[1 + i], len);
	const uint64_t n_sets = *t->n;
	if (time_at)
		add(t, time_at, TIME);
	uint8_t *const bytes = bytes_of(t);
	const uint64_t n = copy_sets(t, bytes, len, set);
	uint64_t *const time = (uint64_t *)(bytes + n);
	spend(w, time, time_at);
	int64_t result =
	    lz_try_call(SYS_select, t->args[0], set[0], set[1], set[2], (uint64_t)no_time, 0);
	bool waited = false;
	if (!result && may_wait(t, w)) {
		copy_sets(t, bytes, len, set); /* they are empty */
		touch_time(time_at);
		set_limit(t, w);
		result = lz_stub_wait_sets(t->p, t->args[0], set, mask);
		note_left(t, w, time, time_at);
		waited = result >= 0;
	}
	if (!waited && !is_over(w, result))
		return LZ_STOP;
	tell_time(w, time, time_at);
	for (uint64_t i = 0; i < n_sets; i++)
		copy((uint8_t *)t->piece[i].addr, (uint64_t)bytes + i * len, len);
	return lz_finish(t, result, n + (time_at ? TIME : 0));
}

uint32_t lz_try_select(struct attempt *t)
{
	struct patience w;

	set_patience(&w, -1);
	if (t->args[0] > SET_BITS || !read_time(&w, t->args[4], MILLION))
		return LZ_STOP;
	return select_copied(t, &w, 0);
}

uint32_t lz_try_select_masked(struct attempt *t)
{
	const volatile uint64_t *mask = (const volatile uint64_t *)t->args[5];
	struct patience w;

	set_patience(&w, -1);
	if (t->args[0] > SET_BITS || !read_time(&w, t->args[4], BILLION) ||
	    (mask && !read_mask(&w, mask[0], mask[1])))
		return LZ_STOP;
	return select_copied(t, &w, w.masked ? t->args[5] : 0);
}

/* Whether there are any can be waited for, too. */
INLINE int64_t wait_for_any(struct attempt *t, const struct patience *w)
{
	struct pollfd p;

	p.fd = (int)t->args[0];
	p.events = POLLIN;
	p.revents = 0;
	return t->n_waits++ == MOST_WAITS ? -EAGAIN
	                                  : lz_stub_wait(t->p, (uint64_t)&p, 1, w->masked);
}

uint32_t lz_try_epoll(struct attempt *t)
{
	const uint64_t room = t->args[2];
	struct patience w;

	set_patience(&w, (int32_t)t->args[3]);
	if (!room || room > INT32_MAX / EVENT ||
	    (t->regs[0] == SYS_epoll_pwait2 && !read_time(&w, t->args[3], BILLION)) ||
	    (t->regs[0] != SYS_epoll_wait && !read_mask(&w, t->args[4], t->args[5])))
		return LZ_STOP;
	/* what does not fit comes the next time */
	const uint64_t most = least(room, LZ_TRY_MOST / EVENT);
	int64_t result, ready;
	set_limit(t, &w);
	do {
		result = lz_try_call(SYS_epoll_wait, t->args[0], t->args[1], most, 0, 0, 0);
		ready = !result && may_wait(t, &w) ? wait_for_any(t, &w) : -EAGAIN;
	} while (ready > 0);
	/* 0: its time is over */
	if (ready && !is_over(&w, result))
		return LZ_STOP;
	add(t, t->args[1], (uint64_t)result * EVENT);
	return lz_finish_with_pieces(t, result);
}
