/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code with markers that is mapped shared: to make its adds wide would need a store to the file.
 * What was opened for reading cannot be stored to, so it is mapped privately instead. */
#include "tracer/calls/calls.h"

#include <common/base/cleanup.h>
#include <common/base/filecopy.h>
#include <errno.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <lizard/widen.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CHUNK = 256 << 10 };

static bool has_markers(int fd, uint64_t offset, uint64_t len, uint8_t *code)
{
	for (uint64_t at = 0; at < len; at += CHUNK) {
		ssize_t n = pread(fd, code, CHUNK + LZ_SITE_LEN, (off_t)(offset + at));

		if (n <= 0)
			return false;
		if (lz_widen_next(code, (size_t)n, 0) < (size_t)n)
			return true;
	}
	return false;
}

/* 1; 0: no. */
static int is_marked(const struct lz_tracer *t, int fd, uint64_t offset, uint64_t len)
{
	char path[64];
	struct stat link, st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	if (lstat(path, &link) < 0 || link.st_mode & S_IWUSR || stat(path, &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	lz_auto_close int own = open(path, O_RDONLY | O_CLOEXEC);

	if (own < 0 || !lz_is_elf(own))
		return 0;
	lz_auto_free uint8_t *code = malloc(CHUNK + LZ_SITE_LEN);

	return code ? has_markers(own, offset, len, code) : lz_fail("out of memory");
}

int lz_shared_code_private(struct lz_tracer *t, struct user_regs_struct *r)
{
	struct lz_call *c = &t->cur->call;
	uint64_t type = c->args[3] & MAP_TYPE;

	if (c->forced || (type != MAP_SHARED && type != MAP_SHARED_VALIDATE) ||
	    c->args[3] & MAP_ANONYMOUS || c->args[2] & PROT_WRITE)
		return 0;
	int ret = is_marked(t, (int)c->args[4], c->args[5], c->args[1]);
	if (ret <= 0)
		return ret;
	lz_debug("code with markers is mapped privately");
	c->made_private = true;
	r->r10 = (c->args[3] & ~(uint64_t)MAP_TYPE) | MAP_PRIVATE;
	return lz_proc_set_regs(&t->p, r);
}

bool lz_answer_shared_code(const struct lz_tracer *t, int64_t *result)
{
	const struct lz_call *c = &t->cur->call;

	if ((c->nr != SYS_mprotect && c->nr != SYS_pkey_mprotect) || !(c->args[2] & PROT_WRITE) ||
	    c->args[0] % LZ_PAGE || !c->args[1])
		return false;
	ptrdiff_t i = lz_vmas_find(&t->vmas, c->args[0]);
	*result = -EACCES;
	return i >= 0 && t->vmas.a[i].read_only;
}
