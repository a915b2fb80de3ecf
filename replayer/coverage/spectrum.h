/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which lines do failing runs come to that passing ones do not? Lines are ranked by how likely they
 * have to do with the failure (spectrum-based fault localisation).
 *
 * Sources: Jones, Harrold and Stasko, "Visualization of Test Information to Assist Fault
 * Localization", ICSE 2002, and Jones and Harrold, "Empirical Evaluation of the Tarantula Automatic
 * Fault-Localization Technique", ASE 2005, for Tarantula; Abreu, Zoeteweij and van Gemund, "On the
 * Accuracy of Spectrum-based Fault Localization", TAIC PART 2007, for Ochiai. */
#ifndef LIZARD_REPLAYER_SPECTRUM_H
#define LIZARD_REPLAYER_SPECTRUM_H

#include "replayer/coverage/coverage.h"

enum lz_formula { LZ_OCHIAI, LZ_TARANTULA };

/* A line, or a way out of a branch of it. */
struct lz_suspect {
	struct lz_source_place at;
	uint32_t to;                         /* as in struct lz_covered_branch */
	uint32_t failed, passed;             /* how many of these runs came to it */
	uint64_t times_failed, times_passed; /* how often, in all of them */
	uint32_t rank;                       /* from 1; equal scores have the same */
	double score;                        /* 0 to 1 */
};

struct lz_spectrum {
	bool branches; /* ranks ways out of branches, not lines */
	struct lz_numbers files, fns;
	uint32_t failed, passed; /* runs */
	struct lz_suspect *v;    /* by place, each once, until they are ranked */
	size_t n, room;
};

/* Zeroes are an empty one, of lines. Adds one run. */
int lz_spectrum_add(struct lz_spectrum *s, const struct lz_coverage *run, bool failed);
/* Once, after all runs: the first is the most suspect. What no failing run came to is
 * dropped. Among equal scores those come first that more failing runs came to. */
void lz_spectrum_rank(struct lz_spectrum *s, enum lz_formula formula);
void lz_spectrum_free(struct lz_spectrum *s);

#endif
