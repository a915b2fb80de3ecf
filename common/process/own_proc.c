/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc of another PID namespace, as after `unshare --pid --fork`: each number there means
 * another process than to ptrace(). */
#include <errno.h>
#include <lizard/error.h>
#include <lizard/proc.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

/* NSpid: one number for each namespace, from that of /proc down to the process's own. */
static bool has_one_number(const char *line)
{
	return strchr(line, '\t') == strrchr(line, '\t');
}

static bool is_ours(void)
{
	char line[512];
	bool ours = true;
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return errno != ENOENT;
	while (fgets(line, sizeof line, f))
		if (strncmp(line, "NSpid:", 6) == 0)
			ours = has_one_number(line);
	fclose(f);
	return ours;
}

static int mount_own(void)
{
	/* what is mounted later elsewhere shows here, too */
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return -1;
	return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

int lz_proc_mine(void)
{
	static _Atomic bool known;

	if (known)
		return 0;
	if (!is_ours() && mount_own() < 0)
		return lz_fail_errno("/proc is of another PID namespace, where other processes "
		                     "have the same numbers, and Lizard cannot mount its own; do "
		                     "that first (unshare --mount-proc, or mount -t proc proc "
		                     "/proc)");
	known = true;
	return 0;
}
