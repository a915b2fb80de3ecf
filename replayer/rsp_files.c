/* vFile: the debugger reads files of the recorded program's world: /proc/PID of the recording, the
 * recording's copies of mapped files, and, where allowed, the host's. */
#include "replayer/rsp_int.h"

#include <lizard/error.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct lz_rsp_file {
	int fd; /* -1: the text below */
	char *text;
	size_t len;
	bool open;
};

/* errno values of the File-I/O protocol (manual, "Errno Values"), which are Linux's for these. */
enum { F_ENOENT = 2, F_EBADF = 9, F_EINVAL = 22, F_EMFILE = 24, F_ENOSYS = 88, MAX_FILES = 64 };

static int fail(struct lz_rsp *p, int err)
{
	return lz_rsp_reply(p, "F-1,%x", (unsigned)err);
}

/* "F SIZE ; BYTES" */
static int give(struct lz_rsp *p, const void *bytes, size_t len)
{
	char *reply = malloc(len + 32);

	if (!reply)
		return fail(p, F_EINVAL);
	int n = sprintf(reply, "F%zx;", len);

	memcpy(reply + n, bytes, len);
	int rc = lz_wire_send(p->wire, reply, (size_t)n + len);

	free(reply);
	return rc;
}

/* The part of PATH behind /proc/PID/ or /proc/PID/task/TID/; NULL if it is another path. */
static const char *proc_name(struct lz_rsp *p, const char *path)
{
	unsigned pid, tid;
	int at = 0;

	if (sscanf(path, "/proc/%u/task/%u/%n", &pid, &tid, &at) == 2 && at)
		return pid == p->pid ? path + at : NULL;
	at = 0;
	if (sscanf(path, "/proc/%u/%n", &pid, &at) == 1 && at)
		return pid == p->pid ? path + at : NULL;
	return NULL;
}

static int open_copy(struct lz_rsp *p, const char *path)
{
	char *copy = lz_reader_copy_of(p->reader, path);
	int fd = copy ? open(copy, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;

	free(copy);
	return fd;
}

static int open_path(struct lz_rsp *p, const char *path, struct lz_rsp_file *f)
{
	const char *proc = proc_name(p, path);
	struct stat st;

	f->fd = -1;
	f->text = NULL;
	if (proc) {
		f->text = lz_rsp_proc_file(p, proc, &f->len);
		return f->text ? 0 : -1;
	}
	f->fd = open_copy(p, path);
	if (f->fd < 0 && p->o->host_files)
		f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0)
		return -1;
	if (fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode))
		return 0;
	close(f->fd);
	return -1;
}

static int vopen(struct lz_rsp *p, const char *args, size_t len)
{
	const char *comma = strchr(args, ',');
	char path[4096];

	if (!p->files)
		p->files = calloc(MAX_FILES, sizeof *p->files);
	if (!p->files || !comma)
		return fail(p, F_EINVAL);
	path[lz_unhex(args, (size_t)(comma - args), path, sizeof path - 1)] = 0;
	for (unsigned i = 0; i < MAX_FILES; i++) {
		if (p->files[i].open)
			continue;
		if (open_path(p, path, &p->files[i]) < 0)
			return fail(p, F_ENOENT);
		p->files[i].open = true;
		return lz_rsp_reply(p, "F%x", i + 3);
	}
	return fail(p, F_EMFILE);
}

static struct lz_rsp_file *file_of(struct lz_rsp *p, const char *args, char **end)
{
	unsigned long fd = strtoul(args, end, 16);

	if (!p->files || fd < 3 || fd >= MAX_FILES + 3 || !p->files[fd - 3].open)
		return NULL;
	return &p->files[fd - 3];
}

static void close_file(struct lz_rsp_file *f)
{
	if (f->open && f->fd >= 0)
		close(f->fd);
	free(f->text);
	memset(f, 0, sizeof *f);
}

static int vclose(struct lz_rsp *p, const char *args)
{
	char *end;
	struct lz_rsp_file *f = file_of(p, args, &end);

	if (!f)
		return fail(p, F_EBADF);
	close_file(f);
	return lz_rsp_reply(p, "F0");
}

static int vpread(struct lz_rsp *p, const char *args)
{
	char *end;
	struct lz_rsp_file *f = file_of(p, args, &end);

	if (!f || *end != ',')
		return fail(p, F_EBADF);
	size_t count = strtoull(end + 1, &end, 16);
	uint64_t offset = *end == ',' ? strtoull(end + 1, &end, 16) : 0;

	if (count > LZ_WIRE_PACKET_MAX / 2)
		count = LZ_WIRE_PACKET_MAX / 2;
	if (f->fd < 0) {
		if (offset > f->len)
			offset = f->len;
		return give(p, f->text + offset, count < f->len - offset ? count : f->len - offset);
	}
	char *buf = malloc(count + 1);
	ssize_t n = buf ? pread(f->fd, buf, count, (off_t)offset) : -1;
	int rc = n < 0 ? fail(p, F_EINVAL) : give(p, buf, (size_t)n);

	free(buf);
	return rc;
}

static void put32(uint8_t *at, uint64_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void put64(uint8_t *at, uint64_t v)
{
	put32(at, v >> 32);
	put32(at + 4, v);
}

/* struct stat of the protocol: big-endian, 64 bytes. */
static int vfstat(struct lz_rsp *p, const char *args)
{
	char *end;
	struct lz_rsp_file *f = file_of(p, args, &end);
	struct stat st = {.st_mode = S_IFREG | 0444, .st_nlink = 1};
	uint8_t out[64] = {0};

	if (!f || (f->fd >= 0 && fstat(f->fd, &st) < 0))
		return fail(p, F_EBADF);
	if (f->fd < 0)
		st.st_size = (off_t)f->len;
	put32(out, st.st_dev);
	put32(out + 4, st.st_ino);
	put32(out + 8, st.st_mode);
	put32(out + 12, st.st_nlink);
	put64(out + 28, (uint64_t)st.st_size);
	put64(out + 36, (uint64_t)st.st_blksize);
	put64(out + 44, (uint64_t)st.st_blocks);
	put32(out + 52, (uint64_t)st.st_atime);
	put32(out + 56, (uint64_t)st.st_mtime);
	put32(out + 60, (uint64_t)st.st_ctime);
	return give(p, out, sizeof out);
}

static int vreadlink(struct lz_rsp *p, const char *args, size_t len)
{
	char path[4096], target[4096];

	path[lz_unhex(args, len, path, sizeof path - 1)] = 0;
	const char *proc = proc_name(p, path);
	const char *to = proc ? lz_rsp_proc_link(p, proc) : NULL;

	if (to)
		return give(p, to, strlen(to));
	if (proc || !p->o->host_files)
		return fail(p, F_ENOENT);
	ssize_t n = readlink(path, target, sizeof target);

	return n < 0 ? fail(p, F_ENOENT) : give(p, target, (size_t)n);
}

int lz_rsp_vfile(struct lz_rsp *p, const char *packet, size_t len)
{
	const char *colon = strchr(packet, ':');
	const char *args = colon ? colon + 1 : packet + len;
	size_t left = len - (size_t)(args - packet);

	if (strncmp(packet, "setfs:", 6) == 0)
		return lz_rsp_reply(p, "F0");
	if (strncmp(packet, "open:", 5) == 0)
		return vopen(p, args, left);
	if (strncmp(packet, "close:", 6) == 0)
		return vclose(p, args);
	if (strncmp(packet, "pread:", 6) == 0)
		return vpread(p, args);
	if (strncmp(packet, "fstat:", 6) == 0)
		return vfstat(p, args);
	if (strncmp(packet, "readlink:", 9) == 0)
		return vreadlink(p, args, left);
	return lz_rsp_reply(p, "%s", "");
}

void lz_rsp_files_close(struct lz_rsp *p)
{
	for (unsigned i = 0; p->files && i < MAX_FILES; i++)
		close_file(&p->files[i]);
	free(p->files);
	p->files = NULL;
}
