/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/show.h"

#include <common/base/print.h>
#include <inttypes.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

static void show_timespec(struct lz_show *s, const void *bytes)
{
	const struct timespec *t = bytes;

	fprintf(s->to, "{tv_sec=%ld, tv_nsec=%ld}", t->tv_sec, t->tv_nsec);
}

static void show_timeval(struct lz_show *s, const void *bytes)
{
	const struct timeval *t = bytes;

	fprintf(s->to, "{tv_sec=%ld, tv_usec=%ld}", t->tv_sec, t->tv_usec);
}

static void show_date(struct lz_show *s, const struct timespec *t)
{
	struct tm tm;
	char text[64];

	if (!gmtime_r(&t->tv_sec, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		return;
	lz_print(s->to, " /* %s", text);
	if (t->tv_nsec)
		fprintf(s->to, ".%09ld", t->tv_nsec);
	fputs("+0000 */", s->to);
}

static void show_special(struct lz_show *s, const struct timespec *t)
{
	if (t->tv_nsec == UTIME_NOW)
		fputs("UTIME_NOW", s->to);
	else if (t->tv_nsec == UTIME_OMIT)
		fputs("UTIME_OMIT", s->to);
	else {
		show_timespec(s, t);
		show_date(s, t);
	}
}

/* Of a file: last access, last change. */
static void show_times(struct lz_show *s, const void *bytes)
{
	const struct timespec *t = bytes;

	fputc('[', s->to);
	show_special(s, &t[0]);
	fputs(", ", s->to);
	show_special(s, &t[1]);
	fputc(']', s->to);
}

static void show_itimerval(struct lz_show *s, const void *bytes)
{
	const struct itimerval *t = bytes;

	fputs("{it_interval=", s->to);
	show_timeval(s, &t->it_interval);
	fputs(", it_value=", s->to);
	show_timeval(s, &t->it_value);
	fputc('}', s->to);
}

static void show_itimerspec(struct lz_show *s, const void *bytes)
{
	const struct itimerspec *t = bytes;

	fputs("{it_interval=", s->to);
	show_timespec(s, &t->it_interval);
	fputs(", it_value=", s->to);
	show_timespec(s, &t->it_value);
	fputc('}', s->to);
}

static void show_rusage(struct lz_show *s, const void *bytes)
{
	const struct rusage *r = bytes;

	fputs("{ru_utime=", s->to);
	show_timeval(s, &r->ru_utime);
	fputs(", ru_stime=", s->to);
	show_timeval(s, &r->ru_stime);
	fputs(", ...}", s->to);
}

static void show_limit(struct lz_show *s, rlim_t v)
{
	enum { KIB = 1024 };

	if (v == RLIM_INFINITY)
		fputs("RLIM64_INFINITY", s->to);
	else if (v > KIB && v % KIB == 0)
		fprintf(s->to, "%" PRIu64 "*1024", (uint64_t)v / KIB);
	else
		lz_show_unsigned(s, v);
}

static void show_rlimit(struct lz_show *s, const void *bytes)
{
	const struct rlimit *r = bytes;

	fputs("{rlim_cur=", s->to);
	show_limit(s, r->rlim_cur);
	fputs(", rlim_max=", s->to);
	show_limit(s, r->rlim_max);
	fputc('}', s->to);
}

const struct lz_shape lz_shapes_times[] = {
    {"timespec", sizeof(struct timespec), show_timespec},
    {"timeval", sizeof(struct timeval), show_timeval},
    {"times2", 2 * sizeof(struct timespec), show_times},
    {"itimerval", sizeof(struct itimerval), show_itimerval},
    {"itimerspec", sizeof(struct itimerspec), show_itimerspec},
    {"rusage", sizeof(struct rusage), show_rusage},
    {"rlimit", sizeof(struct rlimit), show_rlimit},
    {0}};
