/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/show.h"

#include <common/base/print.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

/* ---- modes ---- */

static void show_file_mode(struct lz_show *s, uint32_t mode)
{
	const char *type = lz_name_of("file_type", mode & S_IFMT);
	const uint32_t special = mode & (S_ISUID | S_ISGID | S_ISVTX);

	if (type)
		lz_print(s->to, "%s|", type);
	if (special) {
		lz_show_flags(s, "mode_bits", special);
		fputc('|', s->to);
	}
	lz_show_mode(s, mode & (type ? 0777 : 0xffff) & ~special);
}

static void show_stat(struct lz_show *s, const void *bytes)
{
	const struct stat *st = bytes;

	fputs("{st_mode=", s->to);
	show_file_mode(s, st->st_mode);
	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
		fprintf(s->to, ", st_rdev=makedev(%#x, %#x), ...}", major(st->st_rdev),
		        minor(st->st_rdev));
	else
		fprintf(s->to, ", st_size=%" PRId64 ", ...}", (int64_t)st->st_size);
}

static void show_statx(struct lz_show *s, const void *bytes)
{
	const struct statx *st = bytes;

	fputs("{stx_mask=", s->to);
	lz_show_flags(s, "statx_mask", st->stx_mask);
	fputs(", stx_attributes=", s->to);
	lz_show_hex(s, st->stx_attributes);
	fputs(", stx_mode=", s->to);
	show_file_mode(s, st->stx_mode);
	fprintf(s->to, ", stx_size=%" PRIu64 ", ...}", (uint64_t)st->stx_size);
}

static void show_statfs(struct lz_show *s, const void *bytes)
{
	const struct statfs *f = bytes;

	fprintf(s->to, "{f_type=%#lx, f_bsize=%ld, f_blocks=%lu, f_bfree=%lu, ...}",
	        (unsigned long)f->f_type, (long)f->f_bsize, (unsigned long)f->f_blocks,
	        (unsigned long)f->f_bfree);
}

static void show_offset(struct lz_show *s, const void *bytes)
{
	const int64_t *at = bytes;

	fprintf(s->to, "[%" PRId64 "]", *at);
}

static void show_pair(struct lz_show *s, const void *bytes)
{
	const int *fd = bytes;

	fprintf(s->to, "[%d, %d]", fd[0], fd[1]);
}

const struct lz_shape lz_shapes_files[] = {{"stat", sizeof(struct stat), show_stat},
                                           {"statx", sizeof(struct statx), show_statx},
                                           {"statfs", sizeof(struct statfs), show_statfs},
                                           {"offset", 8, show_offset},
                                           {"pair", 8, show_pair},
                                           {0}};

/* ---- forms ---- */

/* Only a call that may make a file has a mode; its flags are in front of it. */
static void show_open_mode(struct lz_show *s, uint64_t v, unsigned i)
{
	const uint64_t flags = s->ev->args[i - 1];

	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		lz_show_mode(s, (uint32_t)v & 0xffff);
}

static void show_dirents(struct lz_show *s, uint64_t v, unsigned i)
{
	const uint64_t len = s->ev->result > 0 ? (uint64_t)s->ev->result : 0;
	const size_t length_at = 16; /* behind the inode and the offset, in either form */
	uint64_t n = 0;
	uint16_t reclen = 1;

	(void)i;
	lz_show_address(s, v);
	if (lz_show_failed(s))
		return;
	for (uint64_t at = 0; at + length_at < len && reclen; at += reclen, n++)
		if (lz_show_bytes(s, v + at + length_at, &reclen, 2) < 2)
			return;
	lz_print(s->to, " /* %" PRIu64 " entr%s */", n, n == 1 ? "y" : "ies");
}

static void show_lock(struct lz_show *s, uint64_t v)
{
	struct flock f;

	lz_show_taken(s, v, sizeof(f));
	if (lz_show_either(s, v, &f, sizeof(f)) < sizeof(f)) {
		lz_show_address(s, v);
		return;
	}
	fputs("{l_type=", s->to);
	lz_show_name(s, "lock_type", (uint64_t)f.l_type);
	fputs(", l_whence=", s->to);
	lz_show_name(s, "whence", (uint64_t)f.l_whence);
	fprintf(s->to, ", l_start=%" PRId64 ", l_len=%" PRId64, (int64_t)f.l_start,
	        (int64_t)f.l_len);
	if (s->ev->args[1] == F_GETLK || s->ev->args[1] == F_OFD_GETLK)
		fprintf(s->to, ", l_pid=%d", f.l_pid);
	fputc('}', s->to);
}

static void show_fcntl(struct lz_show *s, uint64_t v, unsigned i)
{
	(void)i;
	switch (s->ev->args[1]) {
	case F_GETFD:
	case F_GETFL:
	case F_GETOWN:
	case F_GETSIG:
	case F_GETLEASE:
	case F_GETPIPE_SZ:
	case F_GET_SEALS: return;
	case F_SETFD: lz_show_flags(s, "fd", v); return;
	case F_SETFL: lz_show_flags(s, "open", v); return;
	case F_ADD_SEALS: lz_show_flags(s, "seals", v); return;
	case F_SETLK:
	case F_SETLKW:
	case F_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
	case F_OFD_GETLK: show_lock(s, v); return;
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
	case F_SETOWN:
	case F_SETPIPE_SZ: lz_show_int(s, (int)v); return;
	default: lz_show_hex(s, v);
	}
}

static void show_int_at(struct lz_show *s, uint64_t v)
{
	int n;

	if (lz_show_either(s, v, &n, sizeof(n)) < sizeof(n))
		lz_show_address(s, v);
	else
		fprintf(s->to, "[%d]", n);
}

static void show_window(struct lz_show *s, uint64_t v)
{
	struct winsize w;

	if (lz_show_either(s, v, &w, sizeof(w)) < sizeof(w))
		lz_show_address(s, v);
	else
		fprintf(s->to, "{ws_row=%u, ws_col=%u, ws_xpixel=%u, ws_ypixel=%u}", w.ws_row,
		        w.ws_col, w.ws_xpixel, w.ws_ypixel);
}

static void show_ioctl(struct lz_show *s, uint64_t v, unsigned i)
{
	const bool failed = lz_show_failed(s);

	(void)i;
	switch (s->ev->args[1]) {
	case FIOCLEX:
	case FIONCLEX:
	case TIOCNOTTY:
	case TIOCEXCL: return;
	case TIOCGWINSZ: failed ? lz_show_address(s, v) : show_window(s, v); return;
	case TIOCSWINSZ: show_window(s, v); return;
	case FIONBIO:
	case FIOASYNC:
	case TIOCSPGRP: show_int_at(s, v); return;
	case FIONREAD:
	case TIOCGPGRP:
	case TIOCGSID:
	case TIOCOUTQ: failed ? lz_show_address(s, v) : show_int_at(s, v); return;
	default: lz_show_hex(s, v);
	}
}

/* A place in a file, before the call and after it. */
static void show_moved(struct lz_show *s, uint64_t v, unsigned i)
{
	int64_t before, after;
	const bool begun = v && lz_show_bytes(s, v, &before, sizeof(before)) == sizeof(before);

	(void)i;
	s->out = true;
	const bool ended = v && lz_show_bytes(s, v, &after, sizeof(after)) == sizeof(after);
	if (begun && ended && !lz_show_failed(s))
		fprintf(s->to, "[%" PRId64 "] => [%" PRId64 "]", before, after);
	else if (begun || ended)
		fprintf(s->to, "[%" PRId64 "]", begun ? before : after);
	else
		lz_show_address(s, v);
}

const struct lz_form lz_forms_files[] = {{"openmode", show_open_mode},
                                         {"dirents", show_dirents},
                                         {"dirents32", show_dirents},
                                         {"fcntl", show_fcntl},
                                         {"ioctl", show_ioctl},
                                         {"moved", show_moved},
                                         {0}};
