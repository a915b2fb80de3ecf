/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes below this one, by /proc. As a subreaper we get those that lose their parent. */
#include "tests/forge/watch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST = 1 << 16 };

struct process {
	pid_t pid, parent;
	bool below, busy;
	uint64_t ticks;
};
static struct process all[MOST];

static bool read_one(const char *pid, struct process *p)
{
	unsigned long user, system;
	char path[300], text[1024], state;
	int parent;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = 0;
	const char *end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state,
	                   &parent, &user, &system) != 4)
		return false;
	*p = (struct process){
	    .pid = atoi(pid), .parent = parent, .busy = state == 'R', .ticks = user + system};
	return state != 'Z' && state != 'X';
}

static int read_all(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (d && n < MOST && (e = readdir(d)))
		n += e->d_name[0] >= '1' && e->d_name[0] <= '9' && read_one(e->d_name, &all[n]);
	if (d)
		closedir(d);
	return n;
}

static bool is_below(int n, pid_t pid)
{
	for (int i = 0; i < n; i++)
		if (all[i].pid == pid)
			return all[i].below;
	return pid == getpid();
}

/* Until no more are found: a parent may stand behind its child. */
static int find_below(void)
{
	int n = read_all();
	bool again = true;

	while (again) {
		again = false;
		for (int i = 0; i < n; i++) {
			if (all[i].below || all[i].pid == getpid() ||
			    !(all[i].parent == getpid() || is_below(n, all[i].parent)))
				continue;
			all[i].below = again = true;
		}
	}
	return n;
}

int watch_each_below(void (*fn)(void *arg, pid_t pid), void *arg)
{
	int n = find_below(), found = 0;

	for (int i = 0; i < n; i++) {
		if (!all[i].below)
			continue;
		fn(arg, all[i].pid);
		found++;
	}
	return found;
}

uint64_t watch_cpu_ms(bool *busy)
{
	int n = find_below();
	uint64_t ticks = 0;
	struct rusage u;

	*busy = false;
	for (int i = 0; i < n; i++) {
		ticks += all[i].below ? all[i].ticks : 0;
		*busy |= all[i].below && all[i].busy;
	}
	getrusage(RUSAGE_CHILDREN, &u);
	return ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK) +
	       (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
}
