/* Moves that GDB has no name for: armed by a monitor command, carried out by the next reverse
 * resume.
 *
 * seek start | end | N% | time T | event N | POSITION jump forward|backward [any] ADDR...    of the
 * present thread, or of any back-step [N]    back-next [N]
 *
 * Where a thread matters it is the one that the resume is of.
 *
 * Only a reverse resume will do, for forward moves too: a forward one GDB would take for its
 * step over a breakpoint, and run on. A reverse-continue is answered without a signal, "Program
 * stopped."; a reverse-stepi as a step, so that the user sees the new place as after `step`. */
#include "replayer/front/inside.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int parse_number(const char *text, uint64_t *n)
{
	*n = 0;
	for (const char *p = text; *p && *p != '%'; p++) {
		if (*p == ',')
			continue;
		if (*p < '0' || *p > '9')
			return lz_fail("'%s' is not a number", text);
		if (*n > UINT64_MAX / 10 - 1)
			return lz_fail("%s is far behind the end of the recording", text);
		*n = *n * 10 + (uint64_t)(*p - '0');
	}
	return 0;
}

static int seek_percent(struct lz_front *f, const char *text)
{
	char *end;
	double percent = strtod(text, &end);
	uint64_t total;

	if (strcmp(end, "%") != 0 || !(percent >= 0 && percent <= 100))
		return lz_fail("'%s' is not a percentage from 0%% to 100%%", text);
	lz_session_time(f->s, &total);
	if (percent >= 100)
		return lz_session_seek_end(f->s);
	return lz_session_seek_time(f->s, (uint64_t)(percent / 100 * (double)total));
}

/* The instant right after N events. */
static int seek_event(struct lz_front *f, const char *text)
{
	uint64_t n;

	if (parse_number(text, &n) < 0)
		return -1;
	if (n == 0 || n == lz_reader_first_event(f->reader))
		return lz_session_seek_start(f->s);
	if (n > lz_reader_n_events(f->reader))
		return lz_fail("the recording has only %lu events",
		               (unsigned long)lz_reader_n_events(f->reader));
	const struct lz_event *ev = lz_reader_event(f->reader, n - 1);

	if (!ev)
		return -1;
	struct lz_pos pos = {.tid = 0, .n = 1, .event = n, .marker = ev->marker, .ip = ev->ip};

	if (ev->has_regs)
		pos.ip = ev->regs.rip;
	return lz_session_seek(f->s, &pos);
}

static int seek(struct lz_front *f, const char *where)
{
	struct lz_pos pos;
	uint64_t time;

	f->stop.reason = LZ_STOP_TARGET;
	if (strcmp(where, "start") == 0)
		return lz_session_seek_start(f->s);
	if (strcmp(where, "end") == 0)
		return lz_session_seek_end(f->s);
	if (strncmp(where, "event ", 6) == 0)
		return seek_event(f, where + 6);
	if (strncmp(where, "time ", 5) == 0)
		return parse_number(where + 5, &time) < 0 ? -1 : lz_session_seek_time(f->s, time);
	if (strchr(where, '%'))
		return seek_percent(f, where);
	if (lz_pos_parse(where, &pos) < 0)
		return -1;
	return lz_session_seek(f->s, &pos);
}

static int jump(struct lz_front *f, const char *args, uint32_t tid)
{
	enum lz_direction d = LZ_FORWARD;
	uint64_t addrs[512];
	size_t n = 0;
	char *end;

	if (strncmp(args, "backward ", 9) == 0)
		d = LZ_BACKWARD;
	else if (strncmp(args, "forward ", 8) != 0)
		return lz_fail("jump forward|backward ADDRESS...");
	args = strchr(args, ' ') + 1;
	if (strncmp(args, "any ", 4) == 0) {
		tid = 0;
		args += 4;
	}
	for (; *args && n < 512; args = end) {
		addrs[n++] = strtoull(args, &end, 16);
		if (end == args)
			return lz_fail("'%s' is not an address", args);
		while (*end == ' ')
			end++;
	}
	if (lz_session_jump(f->s, d, tid, addrs, n, &f->stop) < 0)
		return -1;
	if (f->stop.reason == LZ_STOP_INTERRUPTED)
		lz_front_say(f, "Interrupted.");
	return 0;
}

/* To the last instant of a thread that does not run now: its registers are the same as now. */
static int enter(struct lz_front *f, uint32_t tid)
{
	struct lz_pos pos;
	int rc = lz_session_turn(f->s, tid, LZ_BACKWARD, &pos);

	if (rc > 0)
		return lz_fail("thread %u has not run before", tid);
	return rc < 0 ? -1 : lz_session_seek(f->s, &pos);
}

/* As often as asked; anything but a plain step ends it, as it ends `step 10`. */
static int back(struct lz_front *f, const char *count, uint32_t tid,
                int (*once)(struct lz_session *, struct lz_stop *))
{
	uint64_t n = 1;

	if (*count && parse_number(count, &n) < 0)
		return -1;
	if (n && enter(f, tid) < 0)
		return -1;
	f->stop.reason = LZ_STOP_TARGET;
	for (; n > 0; n--) {
		if (once(f->s, &f->stop) < 0)
			return -1;
		if (f->stop.reason != LZ_STOP_STEP && f->stop.reason != LZ_STOP_TARGET)
			return 0;
	}
	f->stop.reason = LZ_STOP_TARGET; /* answered without a signal */
	return 0;
}

int lz_front_move(struct lz_front *f, const char *text, uint32_t tid)
{
	memset(&f->stop, 0, sizeof f->stop);
	lz_session_pass_signals(f->s, f->pass_signals);
	lz_front_breaks_retry(f);
	if (strncmp(text, "seek ", 5) == 0)
		return seek(f, text + 5);
	if (strncmp(text, "jump ", 5) == 0)
		return jump(f, text + 5, tid);
	if (strncmp(text, "back-step", 9) == 0)
		return back(f, text + 9 + (text[9] == ' '), tid, lz_session_back_step);
	if (strncmp(text, "back-next", 9) == 0)
		return back(f, text + 9 + (text[9] == ' '), tid, lz_session_back_next);
	return lz_fail("unknown move '%s'", text);
}
