/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard diff: how the differences of two runs are printed. */
#ifndef LIZARD_CMDS_DIFF_H
#define LIZARD_CMDS_DIFF_H

#include <cmds/ask/asking.h>
#include <common/base/text.h>
#include <replayer/compare/differ.h>

struct lz_diff_wishes {
	bool json;
	uint64_t limit, inputs;
};

/* What the programs and the runs do not have in common, then each difference. */
int lz_diff_print(struct lz_differ *d, const struct lz_diff_wishes *w);

/* ---- diff_started.c ---- */
/* What the programs were started with: arguments and variables that are not the same. */
int lz_diff_print_started(const struct lz_differ *d, bool json);
/* False also where the markers do not tell: a crash need not come behind another branch. */
bool lz_diff_same_end(const struct lz_differ *d);
int lz_diff_print_ended(const struct lz_differ *d, bool json);

/* ---- diff_inputs.c ---- */
/* What came from outside and differed before a difference: the last ones. */
struct lz_diff_input {
	char *text[2]; /* NULL: the run has none like the other's */
	uint64_t event[2];
	uint32_t tid[2];
};
struct lz_diff_inputs {
	struct lz_diff_input *v; /* [n], oldest first */
	size_t n, room;
	uint64_t all; /* how many there were; what comes again is one */
};
/* Before difference number INDEX; of the first one, of all threads. */
int lz_diff_inputs_find(struct lz_differ *d, size_t index, uint64_t most,
                        struct lz_diff_inputs *in);
void lz_diff_inputs_free(struct lz_diff_inputs *in);

#endif
