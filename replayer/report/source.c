/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/report/report.h"

#include <common/base/hostfile.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 200 };

/* Around it; tabs within become blanks. malloced. */
static char *without_blanks(char *line)
{
	char *at = line + strspn(line, " \t");

	at[strcspn(at, "\r\n")] = 0;
	for (char *tab = strchr(at, '\t'); tab; tab = strchr(tab, '\t'))
		*tab = ' ';
	return strndup(at, LONGEST);
}

char *lz_report_source(const char *path, unsigned number)
{
	int fd = lz_open_regular(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t n = -1;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	for (unsigned i = 0; i < number && (n = getline(&line, &room, f)) > 0; i++)
		;
	fclose(f);
	if (n <= 0) {
		free(line);
		return NULL;
	}
	char *text = without_blanks(line);
	free(line);
	return text;
}
