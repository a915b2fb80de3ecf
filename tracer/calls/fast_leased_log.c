/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads of which the log says from where in a file they were: the recording keeps the bytes once. */
#include "tracer/calls/fast.h"
#include "tracer/log/log.h"

#include <lizard/format.h>
#include <sys/syscall.h>

_Static_assert(LZ_LEASED_MOST <= LZ_KEPT_MOST * LZ_CHUNK_MAX, "a read is kept in so many pieces");

bool lz_may_be_leased(uint64_t nr)
{
	switch (nr) {
	case SYS_read:
	case SYS_pread64:
	case SYS_readv:
	case SYS_preadv:
	case SYS_preadv2: return true;
	}
	return false;
}

/* What is kept, from *KEPT on, SKIP bytes of which are used: LEN bytes more, put into TO. */
static uint32_t take(const struct lz_kept **kept, uint32_t *skip, uint64_t len, struct lz_kept *to)
{
	uint32_t n = 0;

	while (len) {
		const uint32_t left = (*kept)->len - *skip;
		const uint32_t some = left < len ? left : (uint32_t)len;

		to[n++] = (struct lz_kept){(*kept)->chunk, (*kept)->at + *skip, some};
		len -= some;
		*skip = some == left ? 0 : *skip + some;
		*kept += some == left;
	}
	return n;
}

/* Each piece begins at most one more part than what is kept has. */
static int build(struct lz_tracer *t, const struct lz_kept *kept, const struct lz_call_piece *piece,
                 uint32_t n)
{
	static struct lz_kept parts[LZ_KEPT_MOST + LZ_CALL_PIECES_MAX];
	uint32_t skip = 0, used = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t some = take(&kept, &skip, piece[i].len, parts + used);

		if (some && lz_build_kept(t, piece[i].addr, piece[i].len, parts + used, some) < 0)
			return -1;
		used += some;
	}
	return 0;
}

int lz_leased_log(struct lz_tracer *t, const struct lz_call_leased *at,
                  const struct lz_call_piece *piece, uint32_t n)
{
	const uint64_t most = INT64_MAX;
	const struct lz_lease *l = lz_lease_find(t, at->lease);
	const struct lz_kept *kept;
	uint32_t n_kept;
	uint64_t len = 0;

	for (uint32_t i = 0; i < n; i++)
		len += piece[i].len;
	if (!l || at->from > most - len)
		return lz_fast_broken("from where a file was read");
	if (lz_writer_keep(t->w, l->kept, at->from, len, &kept, &n_kept) < 0)
		return -1;
	/* as long as it is ours nobody has changed the file, now or when it was read */
	if (!lz_lease_is_held(l))
		return lz_lease_lost();
	t->fast.leases.n_reads++;
	return build(t, kept, piece, n);
}
