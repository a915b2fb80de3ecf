/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is to be known about the program, its run and its machine: the recording's meta data. */
#include "tracer/code/code.h"
#include "tracer/run/run.h"
#include "tracer/state/machine.h"

#include <common/base/secrets.h>
#include <inttypes.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static char *read_link(const char *path)
{
	char buf[4096];
	ssize_t n = readlink(path, buf, sizeof(buf) - 1);

	return n < 0 ? strdup("") : strndup(buf, (size_t)n);
}

static char **copy_list(char **v)
{
	size_t n = 0;

	while (v[n])
		n++;
	char **copy = calloc(n + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++)
		copy[i] = strdup(v[i]);
	return copy;
}

/* Without the value if it looks secret. */
static char *masked(const char *variable)
{
	char *out = NULL;

	if (!lz_env_is_secret(variable))
		return strdup(variable);
	return asprintf(&out, "%.*s=%s", (int)strcspn(variable, "="), variable, LZ_ENV_LEFT_OUT) < 0
	           ? NULL
	           : out;
}

static char **copy_env(char **v, bool all)
{
	char **copy = copy_list(v);

	for (size_t i = 0; copy && !all && copy[i]; i++) {
		free(copy[i]);
		copy[i] = masked(v[i]);
	}
	return copy;
}

/* Processor features as the program can see them: cpuid's, and what the kernel has enabled. */
static char *features(void)
{
	char *all = NULL;
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	if (asprintf(&all, "%s xcr0=%#" PRIx64, lz_machine()->flags, (uint64_t)high << 32 | low) <
	    0)
		all = NULL;
	return all;
}

/* The path that was asked for if it is the executed file itself; a script's interpreter
 * otherwise. */
static char *program_path(const char *exe, const char *argv0)
{
	struct stat a, b;
	char *dir, *path = NULL;

	if (!strchr(argv0, '/') || stat(exe, &a) < 0 || stat(argv0, &b) < 0 ||
	    a.st_ino != b.st_ino || a.st_dev != b.st_dev)
		return read_link(exe);
	if (argv0[0] == '/')
		return strdup(argv0);
	dir = getcwd(NULL, 0);
	if (!dir || asprintf(&path, "%s/%s", dir, argv0 + (strncmp(argv0, "./", 2) ? 0 : 2)) < 0)
		path = NULL;
	free(dir);
	return path;
}

int lz_describe(struct lz_tracer *t, char **argv, char **envp, char *cwd)
{
	struct lz_meta *m = &t->meta;
	struct utsname u;
	char path[64];

	uname(&u);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)t->p.pid);
	m->version = 1;
	m->state = LZ_REC_INCOMPLETE;
	m->program = program_path(path, argv[0] ? argv[0] : "");
	m->build_id = lz_build_id(path);
	if (!m->build_id)
		m->build_id = strdup("");
	m->cwd = cwd;
	if (!m->cwd)
		m->cwd = strdup("");
	m->argv = copy_list(argv);
	m->envp = copy_env(envp, t->opt->all_env);
	m->host = strdup(u.nodename);
	m->kernel = strdup(u.release);
	m->cpu = strdup(lz_machine()->model);
	m->features = features();
	/* a recording that follows an exec may begin on another CPU than the first one */
	t->borrowed.home = t->borrowed.cpu;
	m->cpu_number = (uint32_t)t->borrowed.home;
	m->tid = t->tid;
	m->cpuid = lz_cpuid_collect();
	m->flow = strdup((const char *const[]){"auto", "full", "hash"}[t->opt->flow]);
	m->chaos_seed = t->opt->chaos_seed;
	m->start_time = (uint64_t)time(NULL);
	m->exit_status = -1;
	if (!m->program || !m->argv || !m->envp || !m->host || !m->kernel || !m->flow || !m->cpuid)
		return lz_fail("out of memory");
	return 0;
}
