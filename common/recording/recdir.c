/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <common/base/cleanup.h>
#include <common/recording/recdir.h>
#include <common/base/shell.h>
#include <lizard/error.h>
#include <lizard/recording.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *lz_home(void)
{
	const char *e = getenv("HOME");

	if (e && *e)
		return e;
	const struct passwd *user = getpwuid(geteuid());
	if (user && user->pw_dir && *user->pw_dir == '/')
		return user->pw_dir;
	lz_fail("there is no home directory: HOME is not set, and user %u has none",
	        (unsigned)geteuid());
	return NULL;
}

static const char *home_of_recordings(void)
{
	const char *home = lz_home();

	if (!home)
		lz_fail("%s; set LIZARD_TRACE_DIR, or name the recording's directory "
		        "(lizard-trace -o DIR)",
		        lz_error());
	return home;
}

char *lz_recordings_dir(void)
{
	const char *e, *below = "lizard";
	char *dir;

	if ((e = getenv("LIZARD_TRACE_DIR")) && *e) {
		dir = strdup(e);
	} else {
		if (!(e = getenv("XDG_DATA_HOME")) || *e != '/') {
			below = ".local/share/lizard";
			e = home_of_recordings();
		}
		if (!e)
			return NULL;
		dir = asprintf(&dir, "%s/%s", e, below) < 0 ? NULL : dir;
	}
	if (!dir)
		lz_fail("no memory");
	return dir;
}

int lz_make_dirs(const char *path)
{
	char *copy = strdup(path);
	int rc = 0;

	if (!copy)
		return lz_fail("no memory");
	for (char *p = copy + 1; !rc && p[-1]; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = 0;
		if (mkdir(copy, 0700) < 0 && errno != EEXIST)
			rc = lz_fail_errno("cannot make the directory %s", copy);
		*p = c;
		if (!c)
			break;
	}
	free(copy);
	return rc;
}

static bool is_empty_dir(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	bool empty = d;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			empty = false;
	if (d)
		closedir(d);
	return empty;
}

int lz_recdir_make(const char *dir)
{
	if (mkdir(dir, 0700) == 0)
		return 0;
	if (errno != EEXIST)
		return lz_fail_errno("cannot make the directory %s", dir);
	if (!is_empty_dir(dir))
		return lz_fail(
		    "%s exists and is not an empty directory: name another, or remove it", dir);
	return 0;
}

int lz_recdir_check(int dirfd)
{
	static const char *const folders[] = {"files", "processes", LZ_INDEX_FOLDER};
	struct stat st;

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (fstatat(dirfd, folders[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    !S_ISDIR(st.st_mode))
			return lz_fail("its `%s` is not a directory", folders[i]);
	return 0;
}

/* The number of a directory entry `PROG-N`, 0 if it is none. */
static unsigned long number_of(const char *name, const char *prog)
{
	size_t n = strlen(prog);
	char *end;
	unsigned long v;

	if (strncmp(name, prog, n) || name[n] != '-' || name[n + 1] < '0' || name[n + 1] > '9')
		return 0;
	v = strtoul(name + n + 1, &end, 10);
	return *end ? 0 : v;
}

unsigned long lz_recdir_highest(const char *dir, const char *prog)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	unsigned long max = 0;

	while (d && (e = readdir(d))) {
		unsigned long v = number_of(e->d_name, prog);

		max = v > max ? v : max;
	}
	if (d)
		closedir(d);
	return max;
}

/* N of the PROG-N that PROG-latest leads to; 0: of none. */
static unsigned long number_of_latest(const char *dir, const char *prog)
{
	lz_auto_free char *link = NULL;
	char name[NAME_MAX + 1];
	ssize_t n = asprintf(&link, "%s/%s-latest", dir, prog);

	n = n < 0 ? -1 : readlink(link, name, sizeof(name) - 1);
	name[n < 0 ? 0 : n] = 0;
	return number_of(name, prog);
}

/* Makes PROG-N. 1; 0: it is there; -1. */
static int make_numbered(const char *dir, const char *prog, unsigned long n, char **path)
{
	if (asprintf(path, "%s/%s-%lu", dir, prog, n) < 0) {
		*path = NULL;
		return lz_fail("no memory");
	}
	if (mkdir(*path, 0700) == 0)
		return 1;
	int rc = errno == EEXIST ? 0 : lz_fail_errno("cannot make the directory %s", *path);
	free(*path);
	*path = NULL;
	return rc;
}

/* Where there are ten thousand recordings, to read all their names takes as long as to record a
 * short program. So the one behind the latest is tried first. */
static int make_next(const char *dir, const char *prog, char **path)
{
	unsigned long latest = number_of_latest(dir, prog);
	int made = latest ? make_numbered(dir, prog, latest + 1, path) : 0;

	for (unsigned long n = made ? 0 : lz_recdir_highest(dir, prog) + 1; made == 0; n++)
		made = make_numbered(dir, prog, n, path);
	return made;
}

/* The directory of all recordings, and those above it. */
static int make_all(const char *dir)
{
	if (access(dir, F_OK) == 0)
		return 0;
	lz_auto_free char *above = strndup(dir, (size_t)(base_name(dir) - dir));
	if (!above)
		return lz_fail("no memory");
	if (lz_make_dirs(above) < 0)
		return -1;
	return lz_make_spread(dir) == 0 || errno == EEXIST
	           ? 0
	           : lz_fail_errno("cannot make the directory %s", dir);
}

char *lz_recdir_next(const char *program)
{
	lz_auto_free char *dir = lz_recordings_dir();
	char *path = NULL;

	if (!dir || make_all(dir) < 0 || make_next(dir, base_name(program), &path) < 0)
		return NULL;
	return path;
}

int lz_recdir_latest(const char *dir, const char *program)
{
	const char *name = base_name(dir);
	char *link = NULL, *tmp = NULL;
	int rc = 0;

	if (asprintf(&link, "%.*s%s-latest", (int)(name - dir), dir, base_name(program)) < 0)
		link = NULL;
	if (asprintf(&tmp, "%.*s.%s-latest.%d", (int)(name - dir), dir, base_name(program),
	             (int)getpid()) < 0)
		tmp = NULL;
	if (!link || !tmp) {
		rc = lz_fail("no memory");
	} else {
		unlink(tmp);
		if (symlink(name, tmp) < 0 || rename(tmp, link) < 0)
			rc = lz_fail_errno("cannot make the link %s", link);
	}
	free(link);
	free(tmp);
	return rc;
}

static bool is_recording(const char *dir)
{
	lz_auto_free char *meta = NULL;
	struct stat st;

	if (asprintf(&meta, "%s/meta", dir) < 0)
		return false;
	/* one that may not be read is one, and whoever opens it will say so */
	return access(meta, F_OK) == 0 ||
	       (errno == EACCES && stat(dir, &st) == 0 && S_ISDIR(st.st_mode));
}

bool lz_recording_busy(const char *dir)
{
	lz_auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static char *try_below(const char *dir, const char *name, const char *suffix)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s%s", dir, name, suffix) < 0)
		return NULL;
	if (is_recording(path))
		return path;
	free(path);
	return NULL;
}

/* PATH without links: PROG-latest may come to mean another recording while this one is open. */
static char *resolved(char *path)
{
	char *real = path ? realpath(path, NULL) : NULL;

	if (path && !real)
		lz_fail_errno("%s", path);
	free(path);
	return real;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* There is none of WHAT, which may be a program. */
static void not_found(const char *what, const char *dir)
{
	lz_auto_free char *word = lz_shell_word(what);

	if (is_program(what) && word)
		lz_fail("%s has never been recorded (there is no %s-latest in %s); record it "
		        "first: lizard-trace %s%s",
		        what, base_name(what), dir, strchr(what, '/') ? "" : "./", word);
	else
		lz_fail("no recording `%s`: neither a directory with a file `meta`, nor in %s a "
		        "recording %s or %s-latest; `lizard ls` lists what there is",
		        what, dir, base_name(what), base_name(what));
}

/* The latest of the program's name. If WHAT is a file, one of that program, if there is one. */
static char *find_program(const char *dir, const char *what)
{
	struct stat st;
	bool is_file = stat(what, &st) == 0 && S_ISREG(st.st_mode);
	char *path = is_file ? lz_recdir_match(dir, what) : NULL;

	if (path || !*base_name(what))
		return path;
	path = resolved(try_below(dir, base_name(what), "-latest"));
	if (path && is_file)
		lz_recdir_tell_other(path, what);
	return path;
}

char *lz_recording_find(const char *what)
{
	char *dir, *path = NULL;

	if (is_recording(what))
		return resolved(strdup(what));
	dir = lz_recordings_dir();
	if (!dir)
		return NULL;
	if (!strchr(what, '/'))
		path = try_below(dir, what, "");
	if (!path)
		path = find_program(dir, what);
	if (!path)
		not_found(what, dir);
	free(dir);
	return resolved(path);
}
