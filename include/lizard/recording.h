/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recording on disk: the one module that writes and reads it.
 *
 * DIR/meta            text, `key value` lines; finished by a rename, see state
 * DIR/events          frames of events
 * DIR/markers-TID     frames of the marker stream, which all threads share; TID is the first one's
 * DIR/checkpoints     frames: HEAD (position, registers, mappings, dirty pages)
 *                     and PAGES (their contents, XOR to the one before, RLE)
 * DIR/files/          copies of mapped files
 * DIR/index/          markers that replay has computed again; added by readers
 *
 * Every frame carries lengths, two keys and a CRC-32, so a cut file is valid
 * up to its last whole frame. The grammar stands in include/lizard/format.h.
 *
 * All functions: -1 or NULL with lz_error() set on failure. A recording is
 * untrusted: a reader never crashes, loops or allocates beyond the file's own
 * claims checked against limits in format.h. */
#ifndef LIZARD_RECORDING_H
#define LIZARD_RECORDING_H

#include <lizard/event.h>
#include <lizard/randinsn.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#define LZ_PAGE 4096u

/* More at once are not taken from a recording: they are looked up one by one. */
enum { LZ_MAX_THREADS = 1 << 15 };

/* An instant (docs/design/replay.md, "Positions"). After `event` events have been applied and
 * `marker` bytes of the stream written, the n-th time (from 1) since
 * the later of the two that control of thread tid is at ip, the instruction there not yet
 * executed. A whole rep instruction is one arrival. */
struct lz_pos {
	uint32_t tid, n;
	uint64_t event, marker, ip;
};

struct lz_vma {
	uint64_t start, end;  /* page aligned */
	uint32_t prot, flags; /* PROT_*; MAP_PRIVATE|MAP_SHARED|MAP_GROWSDOWN */
	uint32_t file;        /* index in the file table or LZ_NO_FILE */
	uint32_t role;        /* enum lz_vma_role */
	uint64_t offset;
};
static inline bool lz_vma_has_offset(const struct lz_vma *v)
{
	return v->file != LZ_NO_FILE || lz_flags_object(v->flags);
}
/* A private mapping of a numbered object: what the program has not stored to there shows what the
 * object holds. */
static inline bool lz_vma_follows(const struct lz_vma *v)
{
	return lz_flags_object(v->flags) && !(v->flags & MAP_SHARED);
}
enum lz_vma_role {
	LZ_VMA_PLAIN,
	LZ_VMA_STACK,
	LZ_VMA_HEAP,
	LZ_VMA_BUFFER /* marker buffer: contents come from the marker stream */
};

struct lz_file {
	char *path;     /* in the traced program's view */
	char *copy;     /* name below files/ ("" = not kept) */
	char *build_id; /* hex, "" if none */
	uint64_t size;
	uint32_t crc; /* CRC-32 of the copy */
	/* From the reader: */
	char *damage; /* why the copy is not used, or NULL */
	bool hollow;  /* a program's file, nearly all of which is holes: not to be read as one */
};

enum lz_thread_flags {
	LZ_THREAD_IN_CALL = 1, /* inside a system call whose event is still to come */
	LZ_THREAD_FRESH = 2    /* has not run yet */
};

struct lz_thread_state {
	uint32_t tid;
	uint32_t flags; /* enum lz_thread_flags */
	struct user_regs_struct regs;
	uint8_t *xstate;
	uint32_t xstate_len;
	uint64_t marker;       /* the stream's offset, the same in all threads */
	uint64_t buffer;       /* base address of its marker buffer, 0 = none yet */
	uint64_t buffer_start; /* stream offset of the byte at buffer+0 */
};

/* State of the whole process at one position; pages apart. */
struct lz_checkpoint {
	uint32_t index;
	bool whole;        /* its PAGES do not build on the one before */
	struct lz_pos pos; /* n = 1: taken right after an event, at a guard fault or a spin */
	uint64_t time_ns;
	uint64_t map_id;
	uint64_t brk;
	uint64_t stack_limit; /* RLIMIT_STACK, bytes */
	uint64_t stack_start; /* the stack pointer that its program began with: argc is there */
	/* of __lizard_pos from a thread's fs_base, if there is a marker buffer */
	uint64_t pos_offset;
	struct lz_thread_state *threads; /* the running one, pos.tid, first */
	uint32_t n_threads;              /* 1 at least */
	struct lz_vma *vmas;             /* sorted */
	uint32_t n_vmas;
	uint64_t *dirty; /* page addresses changed since the checkpoint before, sorted */
	uint32_t n_dirty;
	/* dirty lists every page that was written to, also one that is as before again */
	bool exact;
};

/* What is kept of the marker stream: all of it, or a checksum for each block, from which replay can
 * compute it again and tell that it did; AUTO: all of it up to a size, then checksums. */
enum lz_flow { LZ_FLOW_AUTO, LZ_FLOW_FULL, LZ_FLOW_HASH };

/* ---- meta ---- */
enum lz_rec_state { LZ_REC_INCOMPLETE, LZ_REC_COMPLETE };

struct lz_meta {
	uint32_t version;
	int state;      /* enum lz_rec_state */
	char *program;  /* path as executed, absolute */
	char *build_id; /* of the program, hex, "" if none */
	char *cwd;
	char **argv, **envp;       /* NULL-terminated */
	char *host, *kernel, *cpu; /* names */
	char *features;            /* cpuid and xcr0 features, for the replay host's check */
	char **cpuid;              /* what it always answers, common/process/cpuid_answers.h */
	uint32_t cpu_number;       /* the program began on */
	uint32_t tid;              /* of the first thread */
	/* Of a process that was followed: its parent, and where in that one's recording it began;
	 * else 0. */
	uint32_t parent;
	uint64_t parent_event, parent_marker;
	/* after an execve that a recording of its own follows: that one's name; else "" */
	char *became;
	char *flow; /* as asked for: "auto", "full" or "hash" */
	/* the marker from which on only checksums are kept, in decimal; "": none */
	char *hashed_from;
	uint64_t chaos_seed; /* of the order in which threads had their turns; 0: a round */
	uint64_t stub_addr, stub_len; /* reserved in the program for replay's stub */
	uint64_t start_time;          /* seconds since the epoch */
	uint64_t duration_ns;
	int exit_status;       /* as waitpid gives it; -1 unknown */
	char *stopped;         /* why the recorder has ended it before the program's end; else "" */
	char **outside;        /* mappings that others wrote, or could; NULL-terminated */
	uint64_t instrumented; /* 1 if a hello call was seen */
	uint64_t no_debug;     /* 1 if no mapped file had debug information, then and there */
	uint64_t n_events, n_markers_bytes, n_checkpoints; /* 0 while incomplete */
};
void lz_meta_free(struct lz_meta *m);
/* Reads DIR/meta alone, as `lizard ls` does. Zeroes *m first; on failure nothing is left to free,
 * and m->version is the one that was read, if any. */
int lz_meta_read(const char *dir, struct lz_meta *m);
/* Killed before its first instruction: there is nothing to replay. */
bool lz_meta_never_ran(const struct lz_meta *m);

/* The GNU build-id of an ELF file in hex, "" if it has none or is no ELF file. malloced; NULL: not
 * readable. */
char *lz_build_id(const char *path);

/* In a recording: the programs' source files as they were then, a packed archive. */
#define LZ_SOURCES_FILE "sources.tar.zst"
/* Instants that users have noted (common/recording/points.h): it changes when a recording is
 * complete. */
#define LZ_POINTS_FILE "points"

/* In a recording: what replay has computed again of the marker stream, a folder. */
#define LZ_INDEX_FOLDER "index"

/* ---- where recordings live ---- */
/* $LIZARD_TRACE_DIR, else $XDG_DATA_HOME/lizard, else ~/.local/share/lizard. malloced; NULL:
 * lz_error(). */
char *lz_recordings_dir(void);
/* A recording's directory for what a user typed: a directory, PROG (the newest recording of that
 * very program, else PROG-latest) or a name below the recordings directory. The path has no links in it. malloced; NULL with an error that
 * says what was tried. */
char *lz_recording_find(const char *what);
/* Whether a writer has the recording DIR open. */
bool lz_recording_busy(const char *dir);
/* The finished recording DIR once more, as the directory TO, which must not exist or be empty.
 * Files are linked where that can be, else copied. Nothing is left of it after a failure. */
int lz_recording_copy(const char *dir, const char *to);

/* ---- writing ---- */
struct lz_writer;

/* Creates DIR (0700), or the next free PROG-N below lz_recordings_dir() if DIR is NULL, and points
 * PROG-latest at it. meta is copied and written as incomplete. */
struct lz_writer *lz_writer_create(const char *dir, const struct lz_meta *meta);
/* In two steps: makes DIR, which does not exist, and all files that every recording has; later gives it the
 * name that it has to have. Whoever is not used is for lz_writer_discard(). */
struct lz_writer *lz_writer_ahead(const char *dir);
int lz_writer_begin(struct lz_writer *w, const char *dir, const struct lz_meta *meta);
/* The folder of `processes` for copies that a run's recordings share, if no others can. */
#define LZ_RUN_COPIES ".files"
/* The one of recordings that were made ahead of the processes that they will be of. */
#define LZ_RUN_NEXT ".next"

/* Copies of mapped files are from now on shared: with all recordings of this user beside which
 * lz_recordings_dir() is on the same file system; else, if DIR is not NULL, by that folder, which
 * is made if need be. */
void lz_writer_share_copies(struct lz_writer *w, const char *dir);
/* Of what is written, at most LIMIT bytes stay on disk, the last ones: whenever there is no room,
 * the part up to a later whole checkpoint goes. More than LIMIT only where the last whole
 * checkpoints do not fit. Before the first event. */
int lz_writer_keep_last(struct lz_writer *w, uint64_t limit);
/* With that: is it time for a whole checkpoint, from which a part can begin? Cheap. */
bool lz_writer_part_due(struct lz_writer *w);
const char *lz_writer_dir(const struct lz_writer *w);
/* What is kept of markers, before the first ones come. Without: LZ_FLOW_FULL. LZ_FLOW_AUTO stores
 * what an idle CPU can pack, up to LIMIT bytes on disk, and keeps checksums of the rest. */
void lz_writer_flow(struct lz_writer *w, enum lz_flow flow, uint64_t limit);
/* Whether that limit was reached. */
bool lz_writer_flow_full(const struct lz_writer *w);
/* Copies EV. Its index and number are set by the writer and returned in *ev. */
int lz_writer_event(struct lz_writer *w, struct lz_event *ev);
/* A file whose contents stay as they are while it is known: what is read of it is stored once. FD stays
 * the caller's. NULL: no memory. */
struct lz_kept_file;
struct lz_kept_file *lz_kept_file_new(int fd);
void lz_kept_file_free(struct lz_kept_file *f);
/* So much is known of it that it should not be used any more. */
bool lz_kept_file_full(const struct lz_kept_file *f);
/* Stores [OFFSET, OFFSET + LEN) of F, as far as that is not stored yet. *KEPT: where it is, in *N
 * places, for a write of the next event; up to the next call. -1 also if the file is shorter. */
int lz_writer_keep(struct lz_writer *w, struct lz_kept_file *f, uint64_t offset, uint64_t len,
                   const struct lz_kept **kept, uint32_t *n);
/* Writes meta anew, still as incomplete: for what is only known after the program has started (tid,
 * ...). */
int lz_writer_meta(struct lz_writer *w, const struct lz_meta *meta);
/* CPUs of the worker thread, which inherits those of the creating thread. Failure is harmless. */
int lz_writer_pin(struct lz_writer *w, const cpu_set_t *cpus);
/* Whether no CPU is idle: then LZ_FLOW_AUTO stores few markers. */
void lz_writer_crowded(struct lz_writer *w, bool crowded);
/* The next drain is the last one. Markers of which only checksums were to be kept are stored if
 * they are still in memory. */
void lz_writer_ending(struct lz_writer *w);
/* Appends whole markers to a thread's stream, at most 1 MiB at once. Copied; compressed (zstd level
 * 1, or LZ4 when that does not keep up) and written by a worker thread. May be called by another
 * thread than the rest. */
int lz_writer_markers(struct lz_writer *w, uint32_t tid, const void *bytes, size_t len);
/* Whether no CPU is idle, and only a checksum would be kept of markers that come now. */
bool lz_writer_only_sums(struct lz_writer *w);
/* Then this takes them as one block, 1 MiB at most, without copying. -1 also if their beginning is
 * not what markers look like. */
int lz_writer_sum_markers(struct lz_writer *w, uint32_t tid, const void *bytes, uint32_t len);
/* A checkpoint and its pages: pages[i] is the new content of ck->dirty[i], prev[i] the content at
 * the checkpoint before; for a whole one ck->dirty lists every page that differs from its backing
 * and prev is NULL. prev[i] must be the very bytes that were given for this page last; NULL, or a
 * page never given, stores the page as it is. pages[i] NULL: the page is equal to its backing
 * again, or unmapped (munmap, MADV_DONTNEED, something mapped over it): list every page that was
 * given before and is so now. ck->index is set by the writer. Contents are copied; RLE and zlib
 * happen on the worker. Then flushes. */
int lz_writer_checkpoint(struct lz_writer *w, struct lz_checkpoint *ck, const uint8_t *const *pages,
                         const uint8_t *const *prev);
/* Adds to the file table; copies the file into files/ (reflink or copy; once per
 * dev/inode/mtime). */
int lz_writer_file(struct lz_writer *w, const char *path, int fd, uint32_t *index);
/* The same for a mapping of the bytes of *PART: the copy may have holes elsewhere. *PART gets what
 * it has. 1: the copy is from an earlier call. */
struct lz_extent {
	uint64_t from, to;
};
int lz_writer_file_part(struct lz_writer *w, const char *path, int fd, struct lz_extent *part,
                        uint32_t *index);
/* Is there a copy of that part of the file of which stat() tells ST? *PART and *INDEX as above. */
struct stat;
bool lz_writer_file_known(const struct lz_writer *w, const struct stat *st, struct lz_extent *part,
                          uint32_t *index);
/* The next whole checkpoint is of a program that replay may map file INDEX for, though it is not
 * mapped there. */
void lz_writer_file_needed(struct lz_writer *w, uint32_t index);
/* Where the copy of file INDEX has instructions of KIND: as lz_insn_find(), but the sites are the
 * writer's, until the next file is added. */
int lz_writer_file_insns(struct lz_writer *w, uint32_t index, enum lz_insns_kind kind,
                         const uint64_t **at, size_t *n);
/* The copy of file INDEX, for reading; the caller closes it. -1: there is none. */
int lz_writer_file_open(struct lz_writer *w, uint32_t index);
/* Everything up to here becomes readable as soon as the worker has written it: pushes partial
 * frames out and marks a consistent position. Does not wait. A recording that was not finished ends
 * at the last such mark. */
int lz_writer_flush(struct lz_writer *w);
/* As flush, but waits until all of it is written. */
int lz_writer_drain(struct lz_writer *w);
/* Bytes written so far and still on disk; the error of the worker (disk full, ...) shows here and
 * in every call above. */
uint64_t lz_writer_size(const struct lz_writer *w);
/* Has a mapped file debug information, or can it have some elsewhere? */
bool lz_writer_has_debug(const struct lz_writer *w);
/* Finishes: meta becomes complete (by rename). Frees w, also on error. */
int lz_writer_finish(struct lz_writer *w, const struct lz_meta *meta);
/* Frees w without finishing: the recording stays incomplete but readable. */
void lz_writer_abandon(struct lz_writer *w);
/* Frees w and removes what it has written. */
void lz_writer_discard(struct lz_writer *w);

/* ---- reading ---- */
struct lz_reader;

struct lz_reader *lz_reader_open(const char *dir);
/* One more of the recording that R has open, which need not read the copies of mapped files again
 * to check them. */
struct lz_reader *lz_reader_again(const struct lz_reader *r);
void lz_reader_close(struct lz_reader *r);
const struct lz_meta *lz_reader_meta(const struct lz_reader *r);
const char *lz_reader_dir(const struct lz_reader *r);
/* Why the recording ends early ("cut: markers-1 ends at ..."), or NULL if it is whole. Events,
 * markers and checkpoints beyond the last consistent position are not shown. */
const char *lz_reader_damage(const struct lz_reader *r);

/* Bytes on disk. */
struct lz_stored {
	uint64_t events, markers, checkpoints;
};
struct lz_stored lz_reader_stored(const struct lz_reader *r);

uint32_t lz_reader_n_files(const struct lz_reader *r);
const struct lz_file *lz_reader_file(const struct lz_reader *r, uint32_t i);
/* The path of the copy of file I. malloced; NULL: none was kept or it is damaged, the error says
 * which. */
char *lz_reader_copy(const struct lz_reader *r, uint32_t i);
/* The same for who reads it as a program's file (symbols, debug information): not if it is hollow,
 * since sections can lie in the holes, and be as long. */
char *lz_reader_object(const struct lz_reader *r, uint32_t i);
/* The same of what PATH was when it was mapped first. */
char *lz_reader_object_of(const struct lz_reader *r, const char *path);

/* Where it begins: the position of checkpoint 0. Events and markers before were not kept
 * (lz_writer_keep_last()); 0 if all were. Numbers of events and offsets of markers count from the
 * program's start, checkpoints and blocks from here. */
bool lz_reader_begins_later(const struct lz_reader *r);
/* Functions had been called before: earlier parts were not kept, or the process was forked. */
bool lz_reader_begins_inside(struct lz_reader *r);
uint64_t lz_reader_first_event(const struct lz_reader *r);
uint64_t lz_reader_first_marker(const struct lz_reader *r);

/* Of the program's run, those not kept included. */
uint64_t lz_reader_n_events(const struct lz_reader *r);
/* Owned by the reader, valid until the next call of this function with another index. NULL: no such
 * event, or its frame is damaged. */
const struct lz_event *lz_reader_event(struct lz_reader *r, uint64_t index);
/* The first event from INDEX on that may be other than plain, or is near such a one; n_events if
 * none. Takes as long as there are frames of events. */
uint64_t lz_reader_event_telling(const struct lz_reader *r, uint64_t index);
/* The first event with (marker >= MARKER), whichever thread's; n_events if none. Binary search on
 * frames. */
uint64_t lz_reader_event_after_marker(struct lz_reader *r, uint64_t marker);

uint32_t lz_reader_n_threads(const struct lz_reader *r);
uint32_t lz_reader_tid(const struct lz_reader *r, uint32_t i);
/* Length of a thread's stream in bytes, those not kept included. */
uint64_t lz_reader_markers_len(const struct lz_reader *r, uint32_t tid);
/* Does instrumented code run in it? meta says so at the end only: of one that was cut, or goes on,
 * its markers do. */
bool lz_reader_instrumented(const struct lz_reader *r);
/* Was its program built with lizard-cc, by the copy that is kept? Its code may not have run yet
 * where the recording ends. */
bool lz_reader_built(const struct lz_reader *r);
/* Copies stream bytes [offset, offset+len) into buf; returns how many there were (short at the
 * end). What is not stored is computed again by whoever has been set for that; without him that
 * fails. */
int64_t lz_reader_markers(struct lz_reader *r, uint32_t tid, uint64_t offset, void *buf,
                          size_t len);
/* The same with what is at hand: short before the first byte that would have to be computed. */
int64_t lz_reader_markers_kept(struct lz_reader *r, uint32_t tid, uint64_t offset, void *buf,
                               size_t len);
/* FN computes block BLOCK of a stream, of which only a checksum is kept: all its bytes into BUF,
 * compared with that. BUF NULL: only tells whether it is at hand (0) or would have to be computed
 * (1). */
typedef int lz_rebuild_fn(void *arg, uint32_t tid, uint32_t block, uint8_t *buf);
void lz_reader_on_rebuild(struct lz_reader *r, lz_rebuild_fn *fn, void *arg);
/* Blocks: frame i covers [start, start+len); always begins at a marker boundary. */
uint32_t lz_reader_n_blocks(const struct lz_reader *r, uint32_t tid);
int lz_reader_block(const struct lz_reader *r, uint32_t tid, uint32_t i, uint64_t *start,
                    uint64_t *len);

/* The block that holds stream byte OFFSET (the last one for what lies behind it). */
uint32_t lz_reader_block_of(const struct lz_reader *r, uint32_t tid, uint64_t offset);
/* A block's checksum, which common/recording/flowsum.h computes. */
enum lz_sum_kind {
	LZ_SUM_CRC_ADLER, /* Adler-32 and CRC-32: format 10 */
	LZ_SUM_XXH64,     /* format 11 */
	LZ_SUM_XXH3
};
struct lz_block_sum {
	enum lz_sum_kind kind;
	uint64_t value;
};
/* Whether only a checksum is kept of the block; *SUM: it, unless NULL. */
bool lz_reader_block_hashed(const struct lz_reader *r, uint32_t tid, uint32_t i,
                            struct lz_block_sum *sum);
/* Whether lz_reader_markers() can give the block without computing it. */
bool lz_reader_block_at_hand(const struct lz_reader *r, uint32_t tid, uint32_t i);
/* How many bytes of the stream are only known by checksums. */
uint64_t lz_reader_markers_hashed(const struct lz_reader *r, uint32_t tid);
/* How many of those were computed again before, and kept beside the recording. */
uint64_t lz_reader_markers_computed(const struct lz_reader *r, uint32_t tid);
/* Whether anything can be kept beside the recording: it is the caller's, and complete. */
int lz_reader_begin_keeping(struct lz_reader *r, uint32_t tid);
/* Keeps BLOCK beside the recording, packed by CODEC to LEN bytes, unless all that is kept there
 * would take more than LIMIT bytes. The caller has compared it with its checksum. -1: it cannot be
 * kept, and nor can any other one. */
int lz_reader_keep_computed(struct lz_reader *r, uint32_t tid, uint32_t block, int codec,
                            const void *packed, size_t len, uint64_t limit);
/* A number that tells what the recording holds: two of them that differ anywhere have different
 * ones, as far as the checksums of their frames differ. */
uint64_t lz_reader_fingerprint(const struct lz_reader *r);
/* What readers have worked out is kept in the folder `index` of the recording, under NAME. Anybody
 * can write there, so a seal of the user is behind it. All of it, malloced; -1: this user has
 * written none, it is damaged, or it has more than MOST bytes. */
int lz_reader_index_read(const struct lz_reader *r, const char *name, size_t most, uint8_t **bytes,
                         size_t *len);
/* Puts it there as a whole, or not at all: -1, lz_error(). */
int lz_reader_index_write(const struct lz_reader *r, const char *name, const uint8_t *bytes,
                          size_t len);
/* The blocks from FROM on, TO not among them, will be read next, in this order: so replay may
 * compute those that are not at hand all at once. */
void lz_reader_expect(struct lz_reader *r, uint32_t tid, uint32_t from, uint32_t to);
/* TO, if BLOCK is one of those; else BLOCK. */
uint32_t lz_reader_expected(const struct lz_reader *r, uint32_t tid, uint32_t block);

uint32_t lz_reader_n_checkpoints(const struct lz_reader *r);
/* Owned by the reader (cached), valid until lz_reader_close. */
const struct lz_checkpoint *lz_reader_checkpoint(struct lz_reader *r, uint32_t i);
/* Bytes that it takes on disk, 0 if there is no such checkpoint; whether it is whole without
 * reading it. */
uint64_t lz_reader_checkpoint_size(const struct lz_reader *r, uint32_t i);
bool lz_reader_checkpoint_whole(const struct lz_reader *r, uint32_t i);
/* The last checkpoint whose position is not after (event, marker): compares both keys, UINT64_MAX
 * is always met. 0 if none is. */
uint32_t lz_reader_checkpoint_before(struct lz_reader *r, uint64_t event, uint64_t marker);

/* A program that the process ran: its first one, or what an execve made of it. */
struct lz_program {
	uint64_t from, to; /* while that many events have been applied, TO not among them */
	uint32_t file;     /* in the file table, LZ_NO_FILE: not known */
	const char *path;
	struct lz_pos begin;  /* its first instant that is recorded */
	struct lz_pos end;    /* where it executes the next one; n = 0: it does not */
	uint64_t stack_start; /* the stack pointer that it began with */
};
/* In order, one at least; owned by the reader. NULL: no memory. */
const struct lz_program *lz_reader_programs(struct lz_reader *r, uint32_t *n);
/* The index of the one after EVENT events. */
uint32_t lz_reader_program_at(struct lz_reader *r, uint64_t event);

/* Contents of all pages that differ from their backing at a checkpoint. */
struct lz_image;
struct lz_image *lz_image_new(struct lz_reader *r);
/* Goes to checkpoint i: from the present one if it is ahead with no whole one nearer, else from the
 * last whole one. */
int lz_image_seek(struct lz_image *im, uint32_t i);
/* The page at ADDR; NULL = equal to its backing (file or zeroes), or not mapped then. Valid until
 * the next seek. */
const uint8_t *lz_image_page(const struct lz_image *im, uint64_t addr);
/* Calls FN for each page in ascending order; stops at non-zero and returns it. */
int lz_image_each(const struct lz_image *im,
                  int (*fn)(void *arg, uint64_t addr, const uint8_t *page), void *arg);
void lz_image_free(struct lz_image *im);

/* ---- positions ---- */
bool lz_pos_same(const struct lz_pos *a, const struct lz_pos *b);
/* As text: TID:MARKER.EVENT@ADDR#N, commas in numbers allowed. */
enum { LZ_POS_TEXT = 128 };
void lz_pos_print(const struct lz_pos *p, char buf[LZ_POS_TEXT]);
int lz_pos_parse(const char *text, struct lz_pos *p);
/* "THREAD:MARKER", the first two parts: the first instant behind that marker. The others become 0. */
int lz_instant_parse(const char *text, struct lz_pos *p);

#endif
