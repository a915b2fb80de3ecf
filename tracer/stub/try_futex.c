/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in the program: futexes, without waiting. */
#include "tracer/stub/patience.h"
#include "tracer/stub/try.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

/* As in lz_wait_park(): a time that has begun would begin anew if the call was made later. */
INLINE bool may_stand(const uint64_t *args)
{
	const bool is_instant = ((uint32_t)args[1] & (uint32_t)FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;

	return args[1] & FUTEX_PRIVATE_FLAG && (is_instant ? (uint32_t)args[5] != 0 : !args[3]);
}

/* The word has changed: the call fails at once, which the kernel says. */
INLINE uint32_t futex_wait(struct attempt *t)
{
	uint64_t no_time[2];
	struct patience w;

	no_time[0] = no_time[1] = 0;
	set_patience(&w, -1);
	const bool is_time = read_time(&w, t->args[3], BILLION);
	if (*(const volatile uint32_t *)t->args[0] == (uint32_t)t->args[2]) {
		if (is_time && may_stand(t->args))
			lz_try_hand(t);
		t->p->word_at = t->args[0];
		return LZ_STOP;
	}
	if (!is_time)
		return LZ_STOP;
	const int64_t result = lz_try_call(SYS_futex, t->args[0], t->args[1], t->args[2],
	                                   (uint64_t)no_time, t->args[4], t->args[5]);
	return result == -EAGAIN ? lz_finish_empty(t, result) : LZ_STOP;
}

INLINE uint32_t futex_wake(struct attempt *t)
{
	const int64_t result = make(t->regs);

	return lz_finish_empty(t, result < 0 ? result : lz_wake_parked(t->p, t->args, result));
}

uint32_t lz_try_futex(struct attempt *t)
{
	switch ((uint32_t)t->args[1] & (uint32_t)FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET: return t->args[0] % 4 ? LZ_STOP : futex_wait(t);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET: return futex_wake(t);
	default: return LZ_STOP;
	}
}
