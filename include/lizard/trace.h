/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running a program under the tracer: what `lizard trace` does. */
#ifndef LIZARD_TRACE_H
#define LIZARD_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <lizard/recording.h>

enum lz_dirty_method { LZ_DIRTY_AUTO, LZ_DIRTY_SCAN, LZ_DIRTY_COMPARE };

/* Whether system calls are made without a stop where that is possible. */
enum lz_calls { LZ_CALLS_STOP, LZ_CALLS_BUFFER };

struct lz_trace_options {
	char **argv;           /* of the program; argv[0] is searched in PATH */
	const char *dir;       /* of the recording; NULL: the next PROG-N */
	bool aslr;             /* leave address randomization on */
	int64_t checkpoint_ms; /* CPU time between checkpoints; -1 automatic, 0 after every event */
	unsigned full_every;   /* every n-th checkpoint is whole; 0 automatic */
	enum lz_dirty_method dirty;
	/* children to be recorded: NULL none, "all", else a pattern (fnmatch) for their program's
	 * path, if it has a slash, or name */
	const char *follow;
	/* turns of threads by chance, from this seed; 0: in a round, for a slice of time each */
	uint64_t chaos_seed;
	unsigned slice_ms;   /* a thread's turn, if it does not wait for anything; 0: automatic */
	enum lz_flow flow;   /* what is kept of the marker stream */
	uint64_t flow_limit; /* AUTO: bytes of it on disk after which only checksums are kept */
	/* of the recording; 0: any. Then recording ends (looked at twice a second), the program
	 * goes on, */
	uint64_t max_bytes;
	bool keep_last; /* or what was recorded first goes; see lz_writer_keep_last() */
	enum lz_calls calls;
	bool all_env; /* meta has the values of all variables, also of those that look secret */
};

struct lz_trace_result {
	int status;    /* of the program, as waitpid gives it */
	char *dir;     /* of the recording, malloced; NULL: there is none */
	bool complete; /* up to the program's end */
	bool empty;    /* it could not begin: there is nothing to replay in it */
	uint64_t duration_ns, bytes, n_events, marker_bytes;
	uint32_t n_checkpoints;
	uint64_t most_threads; /* at once, of the first process */
	/* With chaos: how many turns ended at a marker or a call, some instructions behind one,
	 * behind an instruction that locks, and behind a call that was gone over. Of the first
	 * process. */
	uint64_t turns_points, turns_steps, turns_locks, turns_calls;
	bool bare;         /* the recording of the first process names no sources */
	bool instrumented; /* there are markers, or could be */
	/* Children that nobody has recorded, without --follow: their ids and programs, as far as
	 * they are known; malloced, NULL: none. */
	unsigned n_unfollowed;
	char *unfollowed;
};

/* Runs and records. 0 with *result set; -1 with lz_error() if the program
 * could not be started or the recording could not be written. Changes the calling process's
 * signal dispositions and affinity: for the main program of a process only. */
int lz_trace(const struct lz_trace_options *opt, struct lz_trace_result *result);

#endif
