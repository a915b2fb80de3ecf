/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which source files may be given away with a recording. Debug information is untrusted: it names
 * any file, and any directory as the one of the compilation. docs/SECURITY.md says why these rules
 * are what they are. */
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmds/pack/pack.h"

/* Neither these nor what is below or above them. */
static const char *const no_sources[] = {"/etc",      "/proc",        "/sys",     "/dev",
                                         "/run",      "/boot",        "/var/log", "/var/spool",
                                         "/var/mail", "/var/lib/dpkg"};
/* These hold everything of everybody; what is below them may be sources. */
static const char *const too_wide[] = {
    "/bin", "/home", "/lib",     "/media",     "/mnt",       "/opt", "/root",    "/sbin",   "/srv",
    "/tmp", "/usr",  "/usr/lib", "/usr/local", "/usr/share", "/var", "/var/lib", "/var/tmp"};
#define COUNT(v) (sizeof(v) / sizeof((v)[0]))

/* What of PATH is behind the directory DIR, without the slash; NULL: it is not in there. */
static const char *behind(const char *dir, const char *path)
{
	size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	if (strncmp(dir, path, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	return path[n] ? path + n + 1 : path + n;
}

/* A part of it begins with a dot. */
static bool is_hidden(const char *path)
{
	return path[0] == '.' || strstr(path, "/.");
}

static bool holds(const char *dir, const char *link)
{
	char *real = link ? realpath(link, NULL) : NULL;
	bool yes = real && behind(dir, real);

	free(real);
	return yes;
}

static bool is_home(const char *dir)
{
	const struct passwd *user = getpwuid(geteuid());
	const char *below = behind("/home", dir);

	return holds(dir, getenv("HOME")) || holds(dir, user ? user->pw_dir : NULL) ||
	       (below && !strchr(below, '/'));
}

static bool is_fit(const char *dir)
{
	if (is_hidden(dir) || is_home(dir))
		return false;
	for (size_t i = 0; i < COUNT(no_sources); i++)
		if (behind(dir, no_sources[i]) || behind(no_sources[i], dir))
			return false;
	for (size_t i = 0; i < COUNT(too_wide); i++)
		if (strcmp(dir, too_wide[i]) == 0)
			return false;
	return true;
}

char *lz_compilation_dir(const char *dir)
{
	char *real = dir && dir[0] == '/' ? realpath(dir, NULL) : NULL;

	if (real && is_fit(real))
		return real;
	free(real);
	return NULL;
}

/* By its real name, and before it is opened: to open some files does something. */
static enum lz_source_fate judge(int place, const char *link, const char *root)
{
	char real[PATH_MAX];
	ssize_t n = readlink(link, real, sizeof(real) - 1);
	const char *name;
	struct stat st;

	if (n < 0 || fstat(place, &st) < 0)
		return LZ_SOURCE_UNREADABLE;
	real[n] = 0;
	name = behind(root, real);
	if (!name)
		return LZ_SOURCE_OUTSIDE;
	if (!S_ISREG(st.st_mode))
		return LZ_SOURCE_NO_FILE;
	if (is_hidden(name))
		return LZ_SOURCE_HIDDEN;
	return st.st_mode & S_IROTH ? LZ_SOURCE_PACKED : LZ_SOURCE_PRIVATE;
}

enum lz_source_fate lz_source_check(const char *path, const char *root, int *fd)
{
	int place = open(path, O_PATH | O_CLOEXEC), file = -1;
	enum lz_source_fate fate = LZ_SOURCE_ABSENT;
	char link[40];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	if (place >= 0)
		fate = judge(place, link, root);
	if (fate == LZ_SOURCE_PACKED && (file = open(link, O_RDONLY | O_CLOEXEC)) < 0)
		fate = LZ_SOURCE_UNREADABLE;
	if (place >= 0)
		close(place);
	if (fd)
		*fd = file;
	else if (file >= 0)
		close(file);
	return fate;
}
