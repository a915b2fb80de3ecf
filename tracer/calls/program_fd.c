/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a descriptor of the program is: a call that would be refused is made all the same where the
 * kernel refuses it because of its descriptor. */
#include "tracer/calls/calls.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool lz_fd_is_open(const struct lz_tracer *t, int fd)
{
	char path[64], line[128];
	uint64_t flags = O_PATH;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)t->p.pid, fd);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "flags: %" SCNo64, &flags) == 1)
			break;
	if (f)
		fclose(f);
	return !(flags & O_PATH);
}

bool lz_fd_is_socket(const struct lz_tracer *t, int fd)
{
	static const char kind[] = "socket:";
	char path[64], link[sizeof(kind)];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)t->p.pid, fd);
	return readlink(path, link, sizeof(link)) > (ssize_t)strlen(kind) &&
	       memcmp(link, kind, strlen(kind)) == 0;
}
