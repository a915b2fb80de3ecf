/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several mappings can be of: files and System V segments, by identity. An area names one
 * by its index. */
#ifndef LIZARD_TRACER_OBJECTS_H
#define LIZARD_TRACER_OBJECTS_H

#include "tracer/state/tracer.h"

#include <common/process/pagemap.h>
#include <signal.h>
#include <sys/stat.h>

enum { LZ_FDS = 1024, LZ_UNRECORDED_MOST = 16 };
enum lz_fd_state { LZ_FD_UNKNOWN, LZ_FD_OTHER, LZ_FD_MAPPED };

/* Why nobody stores to a file that is mapped only to be read: guarded.c. REFUSED: somebody may, for good. */
enum lz_guard { LZ_GUARD_NONE, LZ_GUARD_REFUSED, LZ_GUARD_BELIEVED, LZ_GUARD_LEASE };

struct lz_object {
	dev_t dev;
	ino_t ino;
	char *path;              /* for messages */
	bool segment;            /* of System V shared memory: ino is its id */
	bool nameless;           /* a segment that is not of System V, mapped without a file */
	uint64_t size;           /* of a file, as last seen */
	uint32_t file;           /* its copy, index in the file table */
	struct lz_extent copied; /* what the copy has */
	uint64_t file_end;       /* size of the copy, in whole pages */
	bool stale;    /* may have changed since it was copied, though it has the same time */
	bool again;    /* the mapping being made has such an older copy */
	bool watched;  /* others than plain stores to one mapping may change it: compare */
	bool unseen;   /* has changed before it was watched */
	bool any_time; /* not only while another process of the run has the shared memory lock */
	bool shared;   /* has been mapped shared */
	bool own;      /* the program has had it open for writing: lz_program_writes() */
	/* Somebody else has got what it takes to store there: shared_with_others.c. */
	bool with_others;
	bool named; /* the user has been told of others */
	/* Nobody can store there any more; how often that was so; when it is asked for, in ns. A gap of 0:
	 * it is not. unwatched.c */
	bool over;
	uint32_t n_over;
	uint64_t next_ask, ask_gap;
	enum lz_guard guard;
	int inotify;   /* watch descriptor, 0: none, -1: cannot be had */
	uint32_t told; /* what it tells has happened */
	/* A segment's mappings, in all processes, when the program made or lost one. */
	uint64_t attached;
	/* At these offsets pages of private mappings have been logged: replay has other ones than the copy. */
	struct lz_pagemap logged;
	/* Ours, of what is mapped shared, has large holes or has lost its name: to find its holes, and who has it too; -1: none.
	 * Opened with the program's mapping: later, inotify would tell us of ourselves. */
	int fd;
};

struct lz_identity {
	dev_t dev;
	ino_t ino;
};

/* A child that is not recorded: unrecorded_children.c. */
struct lz_unrecorded_child {
	pid_t pid;
	uint32_t gap_ms;
	uint64_t born, looked; /* ns */
};

struct lz_shared {
	uint8_t fd[LZ_FDS];       /* enum lz_fd_state */
	struct lz_object *object; /* index 0 is nobody */
	uint32_t n_objects;
	uint32_t n_shared;            /* of these have been mapped shared */
	struct lz_pagemap seen;       /* shared pages as last logged */
	struct lz_resident *resident; /* resident.c */
	size_t n_resident, resident_room;
	bool resident_needless;       /* what is mapped can be opened */
	uint32_t n_open;              /* objects with a descriptor */
	bool unseen;                  /* one of them has changed before it was watched */
	bool segments;                /* there is one among the objects */
	bool watching;                /* something may change at any time */
	bool settled;                 /* seen is what memory was at the present event */
	bool anonymous;               /* memory without a name is watched, too */
	bool anonymous_named;         /* and the user has been told */
	int inotify;                  /* -1: none */
	uint64_t next_look, look_gap; /* ns: outside_writers.c */
	uint64_t looked;              /* when, last */
	bool looked_by_parent;        /* it was the parent's tracer */
	struct lz_unrecorded_child unrecorded[LZ_UNRECORDED_MOST];
	size_t n_unrecorded;
	struct lz_identity
	    *with_others; /* files of which others have got a descriptor to write to */
	size_t n_with_others;
	bool all_with_others; /* or which those are is not known */
};

/* objects.c */
struct lz_shared *lz_shared_of(struct lz_tracer *t); /* made if need be; NULL: out of memory */
/* The object of index I; NULL for 0. */
struct lz_object *lz_object(const struct lz_tracer *t, uint32_t i);
bool lz_object_is_mapped(const struct lz_tracer *t, uint32_t i);
/* The index of the object with this identity, 0 if there is none. */
uint32_t lz_object_of(const struct lz_tracer *t, dev_t dev, ino_t ino, bool segment);
/* Has the file still the name that is known? *st is then its state. */
bool lz_object_named(const struct lz_object *o, struct stat *st);
/* The same, or its state is known by our descriptor. */
bool lz_object_stat(const struct lz_object *o, struct stat *st);
/* Is it the file behind the program's descriptor FD that is mapped somewhere? *st is then its
 * state. */
uint32_t lz_object_of_fd(struct lz_tracer *t, int fd, struct stat *st);

/* It may change at any time from now on. */
void lz_object_watch(struct lz_shared *s, struct lz_object *o);
/* What is not mapped any more needs no descriptor. */
void lz_objects_close(struct lz_tracer *t);

/* sharedmem.c */
/* lz_shared_log() of what an object's bytes from W.from up to W.to are mapped at. */
struct lz_written {
	uint64_t from, to;
};
int lz_shared_log_object(struct lz_tracer *t, uint32_t object, struct lz_written w);
/* A file has another size now. */
int lz_shared_resize(struct lz_tracer *t, uint32_t object, uint64_t size);
/* Another process has written to a file: adds to the event what private mappings of it now show. */
int lz_private_changed(struct lz_tracer *t, uint32_t object);

/* shared_log.c */
int lz_shared_log_bytes(struct lz_tracer *t, uint64_t addr, const uint8_t *bytes, uint64_t len);
/* For replay that has zeroes there: a page of zeroes is left out without ZEROES. */
int lz_shared_log_page(struct lz_tracer *t, uint64_t addr, bool zeroes);
typedef int lz_shared_page_fn(struct lz_tracer *t, uint64_t addr, const uint8_t *page, void *arg);
/* Calls FN for each page of the area that can be read and is no hole; for a hole if HELD has such a
 * page, or our copy of the file has something there. */
int lz_shared_each_page(struct lz_tracer *t, const struct lz_area *a, const struct lz_pagemap *held,
                        lz_shared_page_fn *fn, void *arg);

/* shared_sync.c */
void lz_shared_unsee(struct lz_shared *s);
/* What was logged last of an object's pages will not be what replay has there. */
void lz_shared_unsure(struct lz_tracer *t, uint32_t object);

/* unwatched.c: files that somebody could change, and nobody can any more */
/* It may be over soon. */
void lz_unwatch_soon(struct lz_object *o);
/* Before a comparison: is it over of any, or is one not mapped any more? */
bool lz_unwatch_due(struct lz_tracer *t);
/* Behind it: those are not compared any more. */
void lz_unwatch(struct lz_tracer *t);

/* alias.c */
/* Gives the mappings of OBJECT a number if it is mapped more than once, and logs that. */
int lz_alias_find(struct lz_tracer *t, uint32_t object, bool log);
/* Area A gets the number, 0: none, and is of no file then. */
void lz_alias_number(struct lz_area *a, uint32_t number);

/* outside_writers.c: who else has it? */
void lz_outside_watch(struct lz_tracer *t, struct lz_object *o);
/* Has somebody else certainly got it open for writing? False, too, if the program itself has, as then
 * nobody can tell. */
bool lz_outside_has(const struct lz_tracer *t, struct lz_object *o);
/* After a system call. CHANGED: the object that it has written to, 0 if none. */
int lz_outside_call(struct lz_tracer *t, uint32_t changed);
/* Object O, NULL: memory without a name, is named once as others have it, too; TEXT says how. A child
 * could be recorded as well; where others are, it may be one of those. */
enum lz_outsider { LZ_OUTSIDER, LZ_OUTSIDER_CHILD, LZ_OUTSIDER_OR_OF_RUN };
int lz_outside_tell(struct lz_tracer *t, struct lz_object *o, const char *text,
                    enum lz_outsider who);
/* Who has it mapped is looked for again before long. */
void lz_outside_look_soon(struct lz_shared *s);
/* PID, a child that is not recorded: 1 if it has what the program shares, and has not touched it
 * yet; 0: it has not, or has been named. */
int lz_outside_child(struct lz_tracer *t, pid_t pid);

/* outside_notes.c: who writes and opens files that are mapped? */
/* A file that is mapped shared is told of from now on; */
void lz_outside_take_note(struct lz_tracer *t, struct lz_object *o);
/* one that is mapped privately: only that it is written. */
void lz_outside_watch_private(struct lz_tracer *t, struct lz_object *o);
/* What has been told since. CHANGED: the object that the call itself has written to, 0 if none. */
int lz_outside_notes(struct lz_tracer *t, uint32_t changed);
/* LZ_WAKE has come: inotify may have something to tell. */
extern volatile sig_atomic_t lz_notes_wanted;
/* Is there anything? */
bool lz_outside_news(const struct lz_tracer *t);

/* open_for_writing.c */
/* May somebody have this file, which is mapped, open for writing now? Who only had is told of by
 * inotify. */
bool lz_open_for_writing(const struct lz_object *o);
/* inotify has told that it was opened: may that have been for writing? If that is closed again, inotify tells
 * so, too. */
bool lz_opened_for_writing(const struct lz_object *o);
/* Has anybody, who may be the program itself, certainly got it open for writing? */
bool lz_surely_open_for_writing(const struct lz_object *o);
/* Can nobody store there before it is opened once more? */
bool lz_surely_unwritten(const struct lz_object *o);
/* Does the kernel say so of this file? */
bool lz_opens_are_known(const struct lz_object *o);
/* Is it the system's file, which is replaced by another one, or written by calls? */
bool lz_only_root_writes(const struct lz_object *o);

/* guarded.c */
/* Is all that is mapped shared of files to which nobody stores, or somebody waits until he may? */
bool lz_shared_guarded(const struct lz_tracer *t);

/* notes_fd.c */
/* A new descriptor for inotify; -1: it cannot be had. */
int lz_notes_open(void);
/* Closes it without waiting; -1: nothing to do. */
void lz_notes_close(int fd);

/* unrecorded_children.c */
bool lz_unrecorded_has(const struct lz_tracer *t, pid_t pid);
/* Has PID had to do with these pages? */
bool lz_unrecorded_touched(pid_t pid, uint64_t start, uint64_t end);

/* shared_with_others.c */
/* May who has it, too, store there? What is mapped to read only, of a file on a disk, others
 * seldom write: then they are noticed (outside_writers.c). */
bool lz_is_common(const struct lz_tracer *t, const struct lz_area *a);
/* May a child, or who was sent a descriptor, store there without being noticed? */
bool lz_is_shared_with_others(const struct lz_tracer *t, const struct lz_area *a);
/* Has a descriptor to write to this file been inherited or sent? */
bool lz_was_shared_with_others(const struct lz_shared *s, dev_t dev, ino_t ino);
/* Has the program itself this file, which is mapped, open for writing, or had it? */
bool lz_program_writes(const struct lz_tracer *t, struct lz_object *o);
void lz_shared_with_others_forget(struct lz_shared *s);

#endif
