/* The floor: among recorded processes that share memory only the one that has it runs code of its own. So what others store
 * there changes between two instants of a process that its recording names: it has had the floor in one piece. A process
 * leaves the floor when it sleeps in a call, and at the end of a slice if others wait for it. */
#ifndef LIZARD_TRACER_FLOOR_H
#define LIZARD_TRACER_FLOOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct lz_area;
struct lz_tracer;
struct lz_floor_page;

enum { LZ_FLOOR_FD = 3 }; /* of all tracers but the first */

struct lz_floor {
	struct lz_floor_page *page; /* common to all tracers of a run; NULL: nobody is followed */
	int fd;
	bool held;
	bool news;      /* somebody has had it since shared memory was compared */
	uint64_t since; /* ns */
};

/* The first tracer makes it, the others get its descriptor. */
int lz_floor_make(struct lz_floor *f);
int lz_floor_map(struct lz_floor *f, int fd);
void lz_floor_free(struct lz_floor *f);

/* Is PID a tracer of the same run? */
bool lz_floor_common(const struct lz_floor *f, pid_t pid);
/* May others of the run store to what is mapped there? */
bool lz_floor_for(const struct lz_tracer *t, const struct lz_area *a);
/* Has the process memory that others of the run may store to? */
bool lz_floor_needed(const struct lz_tracer *t);
/* Waits for it, if it is needed and not there. */
int lz_floor_enter(struct lz_tracer *t);
void lz_floor_leave(struct lz_tracer *t);
/* Do others wait for longer than GRACE ns after the slice? */
bool lz_floor_due(const struct lz_tracer *t, uint64_t grace);
/* At an instant: lets others have it, and logs what they have stored. */
int lz_floor_yield(struct lz_tracer *t);
/* At an instant: logs what others have stored while they had it. */
int lz_floor_log(struct lz_tracer *t);
/* Is all that can store there of this run, and nothing new? */
bool lz_floor_quiet(const struct lz_tracer *t);

#endif
