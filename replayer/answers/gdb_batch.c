/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/answers/gdb_batch.h"

#include <fcntl.h>
#include <lizard/error.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { LONGEST_REASON = 500 };

void lz_gdb_batch(const char *dir, const char *command, const int *kept, int n, int said)
{
	const char *const argv[] = {
	    "lizard-gdb", "-e",    dir, "-nx", "-batch", "-iex", "set debuginfod enabled off",
	    "-ex",        command, NULL};
	int null = open("/dev/null", O_RDWR);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (int i = 0; i < n; i++)
		fcntl(kept[i], F_SETFD, 0);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(said, STDERR_FILENO) < 0)
		_exit(127);
	execv("/proc/self/exe", (char **)argv);
	_exit(127);
}

FILE *lz_gdb_batch_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r+");

	if (!f)
		lz_fail_errno("no memory for what GDB tells");
	if (!f && fd >= 0)
		close(fd);
	return f;
}

/* A stock GDB says so behind the server, which has said why it ends. */
static bool is_lost_connection(const char *line)
{
	static const char prefix[] = "lizard-gdb: ";

	if (strncmp(line, prefix, strlen(prefix)) == 0)
		line += strlen(prefix);
	return strncmp(line, "Remote communication error", 26) == 0 ||
	       strncmp(line, "Remote connection closed", 24) == 0;
}

char *lz_gdb_batch_reason(FILE *said)
{
	char *line = NULL, *last = NULL;
	size_t room = 0;

	rewind(said);
	while (getline(&line, &room, said) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (!*line || (last && is_lost_connection(line)))
			continue;
		free(last);
		last = strndup(line, LONGEST_REASON);
	}
	free(line);
	return last;
}
