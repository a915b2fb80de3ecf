/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard coverage --diff: which lines a failing run came to that passing ones did not. */
#ifndef LIZARD_CMDS_SUSPECTS_H
#define LIZARD_CMDS_SUSPECTS_H

#include <cmds/ask/asking.h>
#include <replayer/coverage/spectrum.h>

struct lz_suspects {
	char **failing; /* recordings, NULL-terminated; malloced */
	size_t n;
	enum lz_formula formula;
	uint64_t top;  /* lines to print; 0: all */
	bool branches; /* ways out of branches, not lines */
};

/* One more failing recording; NAME stays the caller's. */
int lz_suspects_failing(struct lz_suspects *s, char *name);
/* "ochiai" or "tarantula". */
int lz_suspects_formula(struct lz_suspects *s, const char *name);
/* Reads the PASSING recordings, NULL-terminated, and the failing ones, and prints the lines. */
int lz_suspects_tell(const struct lz_suspects *s, struct lz_asking *asking, char **passing);

#endif
