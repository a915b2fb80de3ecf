/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's memory: pages that change, mappings that others share, output of calls under
 * way. */
#ifndef LIZARD_TRACER_MEMORY_H
#define LIZARD_TRACER_MEMORY_H

#include "tracer/state/tracer.h"

/* blocked_writes.c */
void lz_blocked_drop(struct lz_thread *th);
/* Makes PAGE, read at ADDR, what it is without the output of calls under way. */
void lz_blocked_show(const struct lz_tracer *t, uint64_t addr, uint8_t *page);
/* The pages that these calls write count as changed. */
int lz_blocked_mark(struct lz_tracer *t);
/* May a call under way have stored there? */
bool lz_blocked_overlaps(const struct lz_tracer *t, uint64_t addr, uint64_t len);

/* map_op.c */
/* A is mapped from now on, for replay and for us. */
int lz_map_op(struct lz_tracer *t, const struct lz_area *a);

/* [FROM, TO) of A is as it was when it was mapped, for replay. */
int lz_map_emptied(struct lz_tracer *t, const struct lz_area *a, uint64_t from, uint64_t to);

/* objects.c */
/* What A maps is the file behind our descriptor FD (if it is a plain one), a segment. */
int lz_map_file(struct lz_tracer *t, struct lz_area *a, int fd, const char *path, uint64_t offset);
/* The same without a descriptor. 0: A is shared, or there is no copy yet of what it maps. */
int lz_map_known(struct lz_tracer *t, struct lz_area *a, const struct stat *st, uint64_t offset);
/* A is mapped of a file that is mapped already: the copy is to have it, if the file is there. */
int lz_map_more(struct lz_tracer *t, const struct lz_area *a);
/* Shared memory without a name that is mapped at ADDR becomes an object, in all areas that map
 * it. */
int lz_map_nameless(struct lz_tracer *t, uint64_t addr);
/* Area A is E, of a file that cannot be opened any more: what it holds is read from the program. */
int lz_map_gone(struct lz_tracer *t, struct lz_area *a, const struct lz_maps_entry *e);
int lz_map_segment(struct lz_tracer *t, struct lz_area *a, int id);
bool lz_is_segment(const struct lz_tracer *t, uint32_t object);
void lz_shared_free(struct lz_tracer *t);

/* pages.c */
/* After each execve. UFFD: what the program's call lz_dirty_call() has given, or an error. */
struct lz_pages *lz_pages_new(struct lz_tracer *t, int64_t uffd);
struct lz_proc_call lz_dirty_call(void);
void lz_pages_free(struct lz_pages *g);
/* Stores there are tracked from now on. */
void lz_pages_track(struct lz_tracer *t, uint64_t start, uint64_t end);
/* A mapping appeared or lost its contents: track it. */
int lz_pages_changed(struct lz_tracer *t, uint64_t start, uint64_t end);
/* Collects pages that have changed since the last call; whoever is done with them lets their
 * contents be remembered. */
int lz_pages_collect(struct lz_tracer *t, bool whole, struct lz_page_set *set);
int lz_pages_done(struct lz_tracer *t, struct lz_page_set *set, bool whole);

/* pages_watch.c */
/* Writes are not tracked: all pages are compared, also those that the program cannot write. */
bool lz_pages_compared(const struct lz_tracer *t);
/* Between these two another process writes into the memory: *set gets what it changed. Not a
 * collection: what changed still counts for the next one. */
int lz_pages_watch(struct lz_tracer *t);
int lz_pages_watched(struct lz_tracer *t, struct lz_page_set *set);
void lz_pages_forget(struct lz_tracer *t, struct lz_page_set *set);

/* written_pages.c */
/* Gives what the program may have written to since this was asked last, by address. 1; 0: it is not
 * known, or would take too long. */
int lz_pages_written(struct lz_tracer *t, struct lz_page_sums *to);

/* pages_check.c */
int lz_pages_check(struct lz_tracer *t);

/* sharedmem.c */
/* A new mapping, known to t->vmas and to the event: adds what it holds that replay would not
 * know. */
int lz_shared_mapped(struct lz_tracer *t, const struct lz_area *a);
/* A is another mapping of what its object is. */
int lz_shared_again(struct lz_tracer *t, struct lz_area *a);
/* A, made of a mapping of a file, is new behind its end. */
int lz_shared_grown(struct lz_tracer *t, struct lz_area *a);
/* The same of a mapping of memory that has no file. */
int lz_shared_lengthened(struct lz_tracer *t, struct lz_area *a);
/* Adds to the event what is in [FROM, TO). */
int lz_shared_log(struct lz_tracer *t, uint64_t from, uint64_t to);
/* Compares memory that others may store to with what was logged last, and adds what differs to
 * the event. */
int lz_shared_sync(struct lz_tracer *t);
/* Nobody else has stored there since: what is there now is what replay has. */
int lz_shared_refresh(struct lz_tracer *t);
/* May others write there at any time? Then only what has just been compared is known. */
bool lz_shared_by_others(const struct lz_tracer *t);
/* The program goes on, the comparison does not hold any more. */
void lz_shared_unsettle(struct lz_tracer *t);
/* Makes PAGE, read at ADDR, what it was at the comparison, if that holds. */
void lz_shared_show(const struct lz_tracer *t, uint64_t addr, uint8_t *page);
void lz_shared_forget(struct lz_tracer *t); /* a new address space */

/* dirty.c */
/* Is the page at ADDR the program's own, not its file's? */
bool lz_dirty_owned(const struct lz_tracer *t, uint64_t addr);
/* Calls FN, with T, for the pages of [START, END) that are. */
int lz_dirty_each_own(struct lz_tracer *t, uint64_t start, uint64_t end,
                      int (*fn)(void *t, uint64_t addr));

/* alias.c */
/* What is mapped more than once is given its numbers where that is not known yet: all of a new
 * image, without an event; what can be written to from now on. */
int lz_alias_find_all(struct lz_tracer *t);
int lz_alias_writable(struct lz_tracer *t, uint64_t start, uint64_t end);
/* Shared mappings with the number have come or gone: checkpoints look at the private ones that
 * show the same. */
int lz_alias_recheck(struct lz_tracer *t, uint32_t number);
/* Is A a private mapping that at ADDR shows what a shared one of the object does, until it is
 * stored to? */
bool lz_alias_shows(const struct lz_tracer *t, const struct lz_area *a, uint64_t addr);

/* unrecorded_children.c */
/* PID is a child of the program that is not recorded. */
void lz_unrecorded_born(struct lz_tracer *t, pid_t pid);
/* From time to time: those that store to what the program shares with them are named. */
int lz_unrecorded_look(struct lz_tracer *t);
/* At most MS, in which lz_unrecorded_look() is due again. */
long lz_unrecorded_timer(const struct lz_tracer *t, long ms);

/* shared_with_others.c */
/* What is mapped shared, and descriptors, have been inherited or passed on. */
void lz_share_with_others(struct lz_tracer *t);

/* guarded.c */
/* The program goes on, and makes no call that a lease would disturb. How many mappings have one then? */
unsigned lz_guards_take(struct lz_tracer *t);
/* Does somebody wait for one? */
bool lz_guards_wanted(const struct lz_tracer *t);
/* Those are given back, for good: from now on there are stops. */
void lz_guards_give(struct lz_tracer *t);
/* All are given back, for a while. */
void lz_guards_end(struct lz_tracer *t);

/* outside_writers.c */
/* At the program's end, a last look for other processes. */
int lz_outside_end(struct lz_tracer *t);
/* When it was last looked whether processes outside of the run have what this one shares, in ns, for the tracer
 * of its child; 0: then that one has to look. */
uint64_t lz_outside_looked(const struct lz_tracer *t);
/* In that tracer: a child that is soon over need not be looked for once more. */
void lz_outside_looked_for(struct lz_tracer *t, uint64_t when);

#endif
