/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code as the program's file has it: what was changed for recording (lizard/randinsn.h,
 * lizard/widen.h) is not shown. */
#include "replayer/front/inside.h"

#include <lizard/randinsn.h>
#include <lizard/widen.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What of the N bytes at ADDR is shown by mapping V. */
static void disarm_mapping(struct lz_front *f, const struct lz_vma *v, uint64_t addr,
                           uint8_t *bytes, size_t n)
{
	uint64_t from = addr > v->start ? addr : v->start;
	uint64_t to = addr + n < v->end ? addr + n : v->end;

	if (from >= to || !(v->prot & PROT_EXEC) || v->file == LZ_NO_FILE)
		return;
	char *copy = lz_reader_copy(f->reader, v->file);
	int fd = copy ? open(copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;

	free(copy);
	if (fd < 0)
		return;
	lz_insn_disarm(bytes + (from - addr), to - from, fd, v->offset + (from - v->start));
	lz_widen_hide(bytes + (from - addr), to - from, fd, v->offset + (from - v->start));
	close(fd);
}

void lz_front_disarm(struct lz_front *f, uint64_t addr, void *bytes, size_t n)
{
	struct lz_vma *v;
	uint32_t count;

	if ((!lz_insn_maybe_armed(bytes, n) && !memchr(bytes, LZ_ADD_WIDE, n)) ||
	    lz_session_vmas(f->s, &v, &count) < 0)
		return;
	for (uint32_t i = 0; i < count; i++)
		disarm_mapping(f, &v[i], addr, bytes, n);
	free(v);
}
