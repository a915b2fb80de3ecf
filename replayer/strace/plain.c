/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/show.h"

#include <fcntl.h>
#include <inttypes.h>

void lz_show_address(struct lz_show *s, uint64_t addr)
{
	if (addr)
		fprintf(s->to, "%#" PRIx64, addr);
	else
		fputs("NULL", s->to);
}

void lz_show_int(struct lz_show *s, int64_t v)
{
	fprintf(s->to, "%" PRId64, v);
}

void lz_show_unsigned(struct lz_show *s, uint64_t v)
{
	fprintf(s->to, "%" PRIu64, v);
}

void lz_show_hex(struct lz_show *s, uint64_t v)
{
	fprintf(s->to, v ? "%#" PRIx64 : "0", v);
}

void lz_show_mode(struct lz_show *s, uint64_t mode)
{
	fprintf(s->to, "%#03" PRIo64, mode);
}

void lz_show_dirfd(struct lz_show *s, int fd)
{
	if (fd == AT_FDCWD)
		fputs("AT_FDCWD", s->to);
	else
		lz_show_int(s, fd);
}
