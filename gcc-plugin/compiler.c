/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compiler.h"
#include "cmdline.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LIZARD_PACKAGED
#define GET_PLUGIN "install the package lizard-gcc-%d"
#else
#define GET_PLUGIN "install the package gcc-%d-plugin-dev, and build and install Lizard again"
#endif

/* GCC 10 lacks what the plugin calls. */
enum { OLDEST_GCC = 11 };

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

/* /opt/bin/gcc-14 as the C++ compiler beside it. */
static const char *cxx_of(const char *gcc)
{
	const char *at = strstr(base_of(gcc), "gcc");
	char *gxx;

	if (!at)
		return gcc;
	if (asprintf(&gxx, "%.*sg++%s", (int)(at - gcc), gcc, at + 3) < 0)
		lz_cc_checked(NULL);
	return gxx;
}

static const char *named(const char *what, bool cxx)
{
	char *name = NULL;

	if (is_number(what) && asprintf(&name, "gcc-%s", what) < 0)
		lz_cc_checked(NULL);
	return cxx ? cxx_of(name ? name : what) : name ? name : what;
}

const char *lz_cc_choose(const char *option, const char *self, bool cxx)
{
	static const char own[] = "lizard-";
	const char *wanted = getenv("LIZARD_GCC");
	const char *alias = strncmp(self, own, strlen(own)) ? "" : self + strlen(own);

	if (option)
		return named(option, cxx);
	if (*alias && strcmp(alias, "cc") != 0 && strcmp(alias, "c++") != 0)
		return alias;
	return named(wanted && *wanted ? wanted : "gcc", cxx);
}

/* A link to this program may be called gcc. */
static bool is_other_program(const char *path)
{
	struct stat self, st;

	if (access(path, X_OK) < 0 || stat(path, &st) < 0 || stat("/proc/self/exe", &self) < 0)
		return false;
	return S_ISREG(st.st_mode) && (st.st_dev != self.st_dev || st.st_ino != self.st_ino);
}

char *lz_cc_find(const char *name)
{
	const char *path = getenv("PATH"), *dir = path ? path : "/usr/local/bin:/usr/bin:/bin";
	char *file;

	if (strchr(name, '/'))
		return strdup(name);
	for (size_t n; *dir; dir += n + (dir[n] == ':')) {
		n = strcspn(dir, ":");
		if (asprintf(&file, "%.*s%s%s", (int)n, dir, n ? "/" : "./", name) < 0)
			lz_cc_checked(NULL);
		if (is_other_program(file))
			return file;
		free(file);
	}
	errno = ENOENT;
	return NULL;
}

static void ask_version(const char *path, const int *fds)
{
	dup2(fds[1], STDOUT_FILENO);
	close(fds[0]);
	close(fds[1]);
	execl(path, path, "-dumpversion", (char *)NULL);
	_exit(127);
}

/* The major version that the GCC at PATH tells, or 0. */
static int version_of(const char *path)
{
	int fds[2], version = 0;
	FILE *answer;
	pid_t child;

	if (pipe(fds) < 0)
		return 0;
	child = fork();
	if (child == 0)
		ask_version(path, fds);
	close(fds[1]);
	answer = fdopen(fds[0], "r");
	if (!answer || fscanf(answer, "%d", &version) != 1)
		version = 0;
	if (answer)
		fclose(answer);
	else
		close(fds[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return version;
}

char *lz_cc_supported(const char *lib)
{
	char *pattern, *list = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&list, &n);
	glob_t found;

	if (!out || asprintf(&pattern, "%s/gcc-*/lizard_plugin.so", lib) < 0)
		lz_cc_checked(NULL);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			fprintf(out, "%s%d", i ? ", " : "",
			        atoi(found.gl_pathv[i] + strlen(lib) + strlen("/gcc-")));
	globfree(&found);
	fclose(out);
	free(pattern);
	return list;
}

static void say_missing(const char *lib, const char *path, int version)
{
	const char *others = lz_cc_supported(lib);

	if (version < OLDEST_GCC)
		fprintf(stderr, "lizard-cc: error: %s is GCC %d, and Lizard needs GCC %d or newer",
		        path, version, OLDEST_GCC);
	else
		fprintf(stderr,
		        "lizard-cc: error: Lizard has no plugin for GCC %d (%s): " GET_PLUGIN,
		        version, path, version);
	if (*others)
		fprintf(stderr, "; or take another GCC by --gcc=N or LIZARD_GCC=N: %s", others);
	fputc('\n', stderr);
}

char *lz_cc_plugin_dir(const char *lib, const char *path)
{
	int version = version_of(path);
	char *dir, *plugin;
	bool there;

	if (asprintf(&dir, "%s/gcc-%d", lib, version) < 0 ||
	    asprintf(&plugin, "%s/lizard_plugin.so", dir) < 0)
		lz_cc_checked(NULL);
	there = access(plugin, R_OK) == 0;
	free(plugin);
	if (there)
		return dir;
	if (version)
		say_missing(lib, path, version);
	else
		fprintf(stderr, "lizard-cc: error: %s does not say which version of GCC it is\n",
		        path);
	free(dir);
	return NULL;
}
