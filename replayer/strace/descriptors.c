/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calls from the first one on are gone through. What is known of a file ends where another process
 * or a call that is not accounted for may have changed it. An event is read once, however often is
 * asked: those that matter are noted. */
#include "replayer/strace/descriptors.h"
#include <common/base/array.h>
#include <common/base/progress.h>
#include <lizard/error.h>
#include <lizard/syscalls.h>

#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { LOOK_EVERY = 4096 }; /* events */
enum { NONE = -1, MOST_FDS = 1 << 16, MOST_FILES = 1 << 20 };

/* What matters of an event. */
struct call {
	uint64_t index, args[4];
	int64_t result;
	uint32_t nr, flags;
	int fds[2];
	bool has_fds; /* two descriptors that the kernel wrote */
};

/* Bytes on their way from one descriptor to another. */
struct stream {
	uint64_t written, read;
	struct sent {
		uint64_t event, from; /* the first byte's number in the stream */
	} * v;
	size_t n, room;
	bool lost;      /* others may have written or read, too, */
	uint64_t forks; /* as they may since a fork: how many were before it was made */
};

/* An open file, which several descriptors may stand for. */
struct file {
	uint64_t made, peer, offset;
	bool has_peer, has_offset, appends;
	uint64_t forks; /* that were before the offset was known: it is lost with the next */
	int in, out;    /* streams */
};

struct slot {
	int file;
	bool closed_by_exec;
};

struct table {
	struct slot *slots; /* by descriptor */
	size_t n_slots, slots_room;
	struct file *files;
	size_t n_files, files_room;
	struct stream *streams;
	size_t n_streams, streams_room;
	uint64_t forks; /* so far; a child has all descriptors as well */
};

/* ---- the table ---- */

static struct file *file_of(const struct table *t, uint64_t fd)
{
	return (uint32_t)fd < t->n_slots && t->slots[(uint32_t)fd].file != NONE
	           ? &t->files[t->slots[(uint32_t)fd].file]
	           : NULL;
}

static int put(struct table *t, int64_t fd, int file, bool closed_by_exec)
{
	if (fd < 0 || fd >= MOST_FDS)
		return 0;
	if (lz_reserve(t->slots, t->slots_room, (size_t)fd + 1) < 0)
		return -1;
	for (; t->n_slots <= (size_t)fd; t->n_slots++)
		t->slots[t->n_slots].file = NONE;
	t->slots[fd] = (struct slot){file, closed_by_exec};
	return 0;
}

/* A new file, or NONE - 1: no memory, or there were too many. */
static int add_file(struct table *t, uint64_t event, int in, int out)
{
	if (t->n_files == MOST_FILES || lz_reserve(t->files, t->files_room, t->n_files + 1) < 0)
		return NONE - 1;
	t->files[t->n_files] = (struct file){.made = event, .in = in, .out = out};
	return (int)t->n_files++;
}

static int add_stream(struct table *t)
{
	if (lz_reserve(t->streams, t->streams_room, t->n_streams + 1) < 0)
		return NONE - 1;
	t->streams[t->n_streams] = (struct stream){.forks = t->forks};
	return (int)t->n_streams++;
}

static void table_free(struct table *t)
{
	for (size_t i = 0; i < t->n_streams; i++)
		free(t->streams[i].v);
	free(t->streams);
	free(t->files);
	free(t->slots);
}

/* ---- what makes and closes descriptors ---- */

static int made(struct table *t, const struct call *ev, bool closed_by_exec)
{
	const int file = add_file(t, ev->index, NONE, NONE);

	return file < NONE ? -1 : put(t, ev->result, file, closed_by_exec);
}

static int opened(struct table *t, const struct call *ev, uint64_t flags, bool flags_known)
{
	if (made(t, ev, flags & O_CLOEXEC) < 0)
		return -1;
	struct file *f = file_of(t, (uint64_t)ev->result);
	if (f) {
		f->has_offset = true;
		f->forks = t->forks;
		f->appends = !flags_known || flags & O_APPEND;
	}
	return 0;
}

static int copied(struct table *t, uint64_t from, int64_t to, bool closed_by_exec)
{
	const struct file *f = file_of(t, from);

	return put(t, to, f ? (int)(f - t->files) : NONE, closed_by_exec);
}

static int made_pair(struct table *t, const struct call *ev, bool two_ways, bool closed_by_exec)
{
	const int *fds = ev->fds;

	if (!ev->has_fds)
		return 0;
	const int there = add_stream(t), back = two_ways ? add_stream(t) : NONE;
	if (there < NONE || back < NONE)
		return -1;
	const int first = add_file(t, ev->index, there, back);
	const int second = first < NONE ? first : add_file(t, ev->index, back, there);
	return second < NONE || put(t, fds[0], first, closed_by_exec) < 0
	           ? -1
	           : put(t, fds[1], second, closed_by_exec);
}

static int made_sockets(struct table *t, const struct call *ev)
{
	const bool closed_by_exec = ev->args[1] & SOCK_CLOEXEC;

	/* the borders of messages are left to those who know the protocol */
	const bool stream = (ev->args[1] & 0xf) == SOCK_STREAM;
	if (made_pair(t, ev, true, closed_by_exec) < 0)
		return -1;
	if (!stream && t->n_streams >= 2)
		t->streams[t->n_streams - 1].lost = t->streams[t->n_streams - 2].lost = true;
	return 0;
}

static void closed(struct table *t, uint64_t first, uint64_t last)
{
	for (uint64_t fd = first; fd <= last && fd < t->n_slots; fd++)
		t->slots[fd].file = NONE;
}

static void closed_range(struct table *t, const struct call *ev)
{
	const uint64_t first = (uint32_t)ev->args[0], last = (uint32_t)ev->args[1];

	if (!(ev->args[2] & CLOSE_RANGE_CLOEXEC)) {
		closed(t, first, last);
		return;
	}
	for (uint64_t fd = first; fd <= last && fd < t->n_slots; fd++)
		t->slots[fd].closed_by_exec = true;
}

static void execed(struct table *t)
{
	for (size_t fd = 0; fd < t->n_slots; fd++)
		if (t->slots[fd].closed_by_exec)
			t->slots[fd].file = NONE;
}

static int controlled(struct table *t, const struct call *ev)
{
	if (ev->args[1] == F_DUPFD || ev->args[1] == F_DUPFD_CLOEXEC)
		return copied(t, ev->args[0], ev->result, ev->args[1] == F_DUPFD_CLOEXEC);
	if (ev->args[1] == F_SETFD && file_of(t, ev->args[0]))
		t->slots[(uint32_t)ev->args[0]].closed_by_exec = ev->args[2] & FD_CLOEXEC;
	if (ev->args[1] == F_SETFL && file_of(t, ev->args[0]))
		file_of(t, ev->args[0])->appends = ev->args[2] & O_APPEND;
	return 0;
}

/* ---- what goes through them ---- */

static struct stream *stream_of(const struct table *t, int number)
{
	return number == NONE ? NULL : &t->streams[number];
}

static void lose(const struct table *t, uint64_t fd)
{
	struct file *f = file_of(t, fd);

	if (!f)
		return;
	f->has_offset = false;
	if (f->in != NONE)
		stream_of(t, f->in)->lost = true;
	if (f->out != NONE)
		stream_of(t, f->out)->lost = true;
}

static void taken_in(const struct table *t, const struct call *ev)
{
	struct file *f = file_of(t, ev->args[0]);

	if (!f)
		return;
	f->offset += (uint64_t)ev->result;
	if (f->in != NONE)
		stream_of(t, f->in)->read += (uint64_t)ev->result;
}

static int put_out(const struct table *t, const struct call *ev)
{
	struct file *f = file_of(t, ev->args[0]);
	struct stream *s = f ? stream_of(t, f->out) : NULL;

	if (f) {
		f->offset += (uint64_t)ev->result;
		f->has_offset &= !f->appends;
	}
	if (!s)
		return 0;
	if (lz_reserve(s->v, s->room, s->n + 1) < 0)
		return -1;
	s->v[s->n++] = (struct sent){ev->index, s->written};
	s->written += (uint64_t)ev->result;
	return 0;
}

static void sought(const struct table *t, const struct call *ev)
{
	struct file *f = file_of(t, ev->args[0]);

	if (!f)
		return;
	f->offset = (uint64_t)ev->result;
	f->has_offset = true;
	f->forks = t->forks;
}

/* ---- one call after the other ---- */

enum { IGNORED = 1 };

static int transferred(struct table *t, const struct call *ev)
{
	switch (ev->nr) {
	case SYS_read:
	case SYS_readv: taken_in(t, ev); return 0;
	case SYS_recvfrom: ev->args[3] ? lose(t, ev->args[0]) : taken_in(t, ev); return 0;
	case SYS_write:
	case SYS_writev:
	case SYS_sendto: return put_out(t, ev);
	case SYS_lseek: sought(t, ev); return 0;
	case SYS_getdents:
	case SYS_getdents64:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_vmsplice:
	case SYS_preadv2: /* an offset of -1 is the file's own */
	case SYS_pwritev2: lose(t, ev->args[0]); return 0;
	case SYS_sendfile:
	case SYS_tee:
		lose(t, ev->args[0]);
		lose(t, ev->args[1]);
		return 0;
	case SYS_splice:
	case SYS_copy_file_range:
		lose(t, ev->args[0]);
		lose(t, ev->args[2]);
		return 0;
	default: return IGNORED;
	}
}

static int named(struct table *t, const struct call *ev)
{
	switch (ev->nr) {
	case SYS_open: return opened(t, ev, ev->args[1], true);
	case SYS_openat: return opened(t, ev, ev->args[2], true);
	case SYS_creat: return opened(t, ev, 0, true);
	case SYS_openat2: return opened(t, ev, 0, false);
	case SYS_memfd_create: return opened(t, ev, 0, true);
	case SYS_socket: return made(t, ev, ev->args[1] & SOCK_CLOEXEC);
	case SYS_accept:
	case SYS_eventfd:
	case SYS_signalfd:
	case SYS_epoll_create: return made(t, ev, false);
	case SYS_accept4: return made(t, ev, ev->args[3] & SOCK_CLOEXEC);
	case SYS_eventfd2:
	case SYS_timerfd_create: return made(t, ev, ev->args[1] & O_CLOEXEC);
	case SYS_inotify_init: return made(t, ev, false);
	case SYS_inotify_init1:
	case SYS_epoll_create1: return made(t, ev, ev->args[0] & O_CLOEXEC);
	case SYS_pipe: return made_pair(t, ev, false, false);
	case SYS_pipe2: return made_pair(t, ev, false, ev->args[1] & O_CLOEXEC);
	case SYS_socketpair: return made_sockets(t, ev);
	case SYS_dup: return copied(t, ev->args[0], ev->result, false);
	case SYS_dup2:
		return ev->args[0] == ev->args[1] ? 0 : copied(t, ev->args[0], ev->result, false);
	case SYS_dup3: return copied(t, ev->args[0], ev->result, ev->args[2] & O_CLOEXEC);
	case SYS_fcntl: return controlled(t, ev);
	case SYS_close: closed(t, (uint32_t)ev->args[0], (uint32_t)ev->args[0]); return 0;
	case SYS_close_range: closed_range(t, ev); return 0;
	default: return transferred(t, ev);
	}
}

/* A connect() that goes on by itself has named the other end, too. */
static void connected(const struct table *t, const struct call *ev)
{
	enum { IN_PROGRESS = -115 };
	struct file *f = file_of(t, ev->args[0]);

	if (!f || (ev->result != 0 && ev->result != IN_PROGRESS))
		return;
	f->peer = ev->index;
	f->has_peer = true;
}

/* IGNORED: it does not matter. */
static int account(struct table *t, const struct call *ev)
{
	const struct lz_syscall *row = lz_syscall(ev->nr);
	bool matters = ev->nr == SYS_connect;

	if (!row)
		return IGNORED;
	if (row->klass == LZ_SC_FORK && ev->result > 0 && !(ev->flags & LZ_EVF_THREAD_BORN)) {
		t->forks++;
		matters = true;
	}
	if (row->klass == LZ_SC_EXEC && ev->flags & LZ_EVF_REBASE) {
		execed(t);
		matters = true;
	}
	if (ev->nr == SYS_connect)
		connected(t, ev);
	const int ret = ev->result < 0 ? IGNORED : named(t, ev);
	return ret == IGNORED && matters ? 0 : ret;
}

/* ---- what was read ---- */

struct lz_descriptors {
	struct lz_reader *reader;
	struct table now; /* behind all that was read */
	uint64_t read;    /* events */
	struct call *calls;
	size_t n_calls, calls_room;
};

struct lz_descriptors *lz_descriptors_new(struct lz_reader *r)
{
	struct lz_descriptors *k = calloc(1, sizeof *k);

	if (!k)
		lz_fail("out of memory");
	else
		k->reader = r;
	return k;
}

void lz_descriptors_free(struct lz_descriptors *k)
{
	if (!k)
		return;
	table_free(&k->now);
	free(k->calls);
	free(k);
}

static void take_pair(struct call *c, const struct lz_event *ev)
{
	const uint64_t addr = ev->args[ev->nr == SYS_socketpair ? 3 : 0];

	for (uint32_t i = 0; !c->has_fds && i < ev->n_writes; i++)
		if (ev->writes[i].addr == addr && ev->writes[i].len >= sizeof c->fds) {
			memcpy(c->fds, ev->writes[i].bytes, sizeof c->fds);
			c->has_fds = true;
		}
}

static struct call call_of(const struct lz_event *ev)
{
	struct call c = {.index = ev->index,
	                 .result = (int64_t)ev->result,
	                 .nr = (uint32_t)ev->nr,
	                 .flags = ev->flags};

	memcpy(c.args, ev->args, sizeof c.args);
	if (ev->nr == SYS_pipe || ev->nr == SYS_pipe2 || ev->nr == SYS_socketpair)
		take_pair(&c, ev);
	return c;
}

static int read_one(struct lz_descriptors *k)
{
	const struct lz_event *ev = lz_reader_event(k->reader, k->read);

	if (!ev)
		return -1;
	if (ev->kind != LZ_EV_SYSCALL)
		return 0;
	const struct call c = call_of(ev);
	const int ret = account(&k->now, &c);
	if (ret)
		return ret == IGNORED ? 0 : -1;
	if (lz_reserve(k->calls, k->calls_room, k->n_calls + 1) < 0)
		return -1;
	k->calls[k->n_calls++] = c;
	return 0;
}

static int read_up_to(struct lz_descriptors *k, uint64_t index, bool (*ends)(void *arg), void *arg)
{
	const uint64_t from = k->read;
	struct lz_progress p;
	int ret = 0;

	if (index <= from)
		return 0;
	lz_progress_begin(&p, "reading the system calls", index - from);
	for (; !ret && k->read < index; k->read += !ret) {
		if (k->read % LOOK_EVERY == 0) {
			lz_progress_show(&p, k->read - from);
			if (ends(arg)) {
				ret = LZ_DESCRIPTOR_INTERRUPTED;
				break;
			}
		}
		ret = read_one(k);
	}
	lz_progress_end(&p);
	return ret;
}

/* The table before event INDEX, from what was noted. */
static int table_before(const struct lz_descriptors *k, uint64_t index, struct table *t)
{
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < k->n_calls && k->calls[i].index < index; i++)
		ret = account(t, &k->calls[i]);
	return ret < 0 ? -1 : 0;
}

/* ---- the answer ---- */

/* Byte number BYTE of the stream, if this process wrote it. */
static void find_sent(const struct table *t, const struct stream *s, uint64_t byte,
                      struct lz_descriptor *d)
{
	size_t i = s->n;

	while (i && s->v[i - 1].from > byte)
		i--;
	if (s->lost || s->forks != t->forks || !i || byte >= s->written)
		return;
	d->has_sent = true;
	d->sent = s->v[i - 1].event;
	d->sent_byte = byte - s->v[i - 1].from;
}

static bool reads_on(uint64_t nr)
{
	return nr == SYS_read || nr == SYS_readv || nr == SYS_recvfrom;
}

static int tell(const struct table *t, const struct lz_event *ev, uint64_t byte,
                struct lz_descriptor *d)
{
	const struct file *f = file_of(t, ev->args[0]);
	const bool at_own_place = ev->nr == SYS_pread64 || ev->nr == SYS_preadv;

	*d = (struct lz_descriptor){0};
	if (!f || !(reads_on(ev->nr) || at_own_place))
		return 1;
	d->made = f->made;
	d->has_peer = f->has_peer;
	d->peer = f->peer;
	d->has_offset = at_own_place || (f->has_offset && f->forks == t->forks);
	d->offset = (at_own_place ? ev->args[3] : f->offset) + byte;
	if (f->in != NONE)
		find_sent(t, stream_of(t, f->in), stream_of(t, f->in)->read + byte, d);
	return 0;
}

int lz_descriptor_read(struct lz_descriptors *k, uint64_t index, uint64_t byte,
                       bool (*ends)(void *arg), void *arg, struct lz_descriptor *d)
{
	struct table t = {0};
	int ret = read_up_to(k, index, ends, arg);

	if (!ret)
		ret = table_before(k, index, &t);
	const struct lz_event *ev = ret ? NULL : lz_reader_event(k->reader, index);
	if (!ret && !ev)
		ret = -1;
	if (!ret)
		ret = ev->kind == LZ_EV_SYSCALL ? tell(&t, ev, byte, d) : 1;
	table_free(&t);
	return ret;
}
