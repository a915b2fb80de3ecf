/* The tracer's state, shared by its parts: one traced process, its threads. */
#ifndef LIZARD_TRACER_TRACER_H
#define LIZARD_TRACER_TRACER_H

#include "tracer/state/vmas.h"

#include <common/clock.h>
#include <lizard/marker.h>
#include <lizard/proc.h>
#include <lizard/recording.h>
#include <lizard/syscalls.h>
#include <lizard/trace.h>
#include <signal.h>
#include <stdbool.h>

enum {
	LZ_STUB_LEN = 0x10000,
	LZ_RING_LEN = LZ_RING_SIZE + LZ_SINK_PAD,
	LZ_SLICE_MS = 20,
	LZ_SPIN_MS = 10,      /* how long a signal waits for a marker or a system call */
	LZ_SPIN_PLAIN_MS = 2, /* the same where there are no markers to wait for */
	LZ_SIGNALS = 65,
	LZ_KNOWN_CALLS = 64,
	LZ_CALL_MOST =
	    1 << 20 /* more bytes of a call's output are not looked at before it is over */
};
#define LZ_STUB_ADDR 0x68000000ULL

/* The event under construction; byte offsets become pointers at commit. */
struct lz_builder {
	struct lz_event ev;
	uint8_t *bytes;
	size_t used, room;
	struct lz_write *writes; /* .bytes holds an offset */
	size_t writes_room;
	struct lz_map_op *ops;
	size_t ops_room;
	uint8_t xstate[LZ_XSTATE_MAX];
};

/* The ring of marker buffers; its memory is shared with the program. */
struct lz_stream {
	uint8_t *ring; /* LZ_RING_SIZE + LZ_SINK_PAD bytes */
	uint8_t *mem;  /* the current buffer in it; NULL: no hello call yet */
	uint64_t base; /* of the current buffer, in the program */
	struct lz_gather *gather;
	uint64_t start;    /* stream offset of base; with mem NULL, the stream's length */
	uint32_t parsed;   /* bytes from base known to be markers */
	uint32_t pushed;   /* of these, already given to the writer */
	uint64_t pos_addr; /* __lizard_pos of the current thread */
	uint64_t pos_off;  /* its offset from the thread pointer */
	uint64_t traced_addr;
	uint64_t sink;
	uint32_t fence;     /* in the ring: pages made inaccessible to catch a marker */
	uint32_t fence_len; /* 0: none */
};

struct lz_disposition { /* the kernel's struct sigaction */
	uint64_t handler, flags, restorer, mask;
};

struct lz_held {
	int signo;
	siginfo_t info;
};

/* Signals of one thread. */
struct lz_thread_signals {
	uint64_t blocked;
	struct lz_held *held; /* not yet given to the program, oldest first */
	size_t n_held, held_room;
	struct lz_held *sent; /* sent again by us, their stop has not come yet */
	size_t n_sent, sent_room;
	bool armed;           /* waiting for a marker or a system call */
	uint64_t armed_since; /* ns */
	bool interrupted;     /* PTRACE_INTERRUPT is under way */
	bool stop_due;        /* a group stop waits for an instant */
	unsigned retries;     /* spins put off */
	bool spin;            /* the next delivery is where a SPIN checkpoint was taken */
	int forced;           /* a signal whose frame did not fit: SIGSEGV is next; 0: none */
};

struct lz_call {        /* the system call under way */
	bool inside;    /* between the entry and the exit stop */
	bool suspended; /* left with -ERESTART*, may be entered again */
	bool int80;     /* made through the 32-bit gate */
	bool forced;    /* not made: the program gets forced_result */
	int64_t forced_result;
	uint64_t nr, args[6];
	uint64_t ip;
	struct user_regs_struct entry;
	const struct lz_syscall *row;
	uint32_t in_len[LZ_SYS_OUTS]; /* VALLEN: length before the call */
	struct lz_disposition act;    /* rt_sigaction: the new one */
	uint64_t held_since;          /* first seen in an uninterruptible wait, lz_now(); 0: not */
};

/* Memory that a call under way may write, as it was before the kernel could. */
struct lz_blocked {
	struct lz_write *a;
	uint32_t n;
	uint8_t *bytes;
};

struct lz_thread {
	uint32_t tid;
	uint32_t old_tid; /* before an execve that gave it the first thread's; 0: none */
	bool ready;       /* stopped, and may have the turn */
	bool in_call;     /* lost its turn inside a system call whose event is still to come */
	bool seen;        /* has had a turn */
	bool ended;       /* has left the process, its switch is still to come */
	bool listening;   /* in a group stop */
	bool halted;  /* in one, too, or on the way there, after it has stood without the turn */
	bool watched; /* has a data breakpoint on the end of its turn */
	uint64_t priority;
	int stat;           /* /proc/PID/task/TID/stat; -1: not opened yet */
	uint64_t clear_tid; /* where the kernel writes 0 when it ends */
	uint64_t *robust;   /* futexes that the kernel may have marked when it ended */
	size_t n_robust;
	/* While another one has the turn: */
	struct user_regs_struct regs;
	uint8_t *xstate;
	uint32_t xstate_len;
	struct lz_blocked blocked;
	struct lz_thread_signals sig;
	struct lz_call call;
	/* The registers at the last instant that a position names well: instant.c. */
	struct user_regs_struct at;
	bool at_valid;
	int pending_status; /* a stop that was met while waiting for another one */
	bool has_pending_status;
	bool running; /* not at a stop that has been met */
};

/* Turns by chance: chaos.c. */
struct lz_chaos {
	bool on;
	bool over; /* the turn is, as soon as there is a point */
	uint64_t state;
	uint64_t until; /* stream offset, */
	uint32_t calls; /* or number of system calls, at which it is over */
	uint64_t seen_marker, seen_event, seen_time;
};

/* Who has the turn: sched.c. */
struct lz_sched {
	uint64_t slice, slice_end; /* ns */
	bool point;                /* another thread may go on here instead of the current one */
	bool yielded;
	bool dying; /* the process goes down: nobody else gets a turn */
	struct lz_chaos chaos;
};

struct lz_places {
	uint64_t *at;
	size_t n, room;
};

/* Bytes of the program's code that are changed: those by which instructions are armed, and the prefixes of the markers'
 * adds. */
struct lz_armed {
	struct lz_places insn, add;
};

/* The code in which all rdrand and rdseed are armed: it may know of them. */
struct lz_random {
	uint64_t start, end;
};

struct lz_pages;
struct lz_shared;
struct stat;

/* Pages and their contents; now is NULL for one that is unmapped. */
struct lz_page_set {
	uint64_t *addr;
	const uint8_t **now, **before;
	size_t n;
	bool written; /* pages known to be written to are in it even if they are as before */
	bool exact;   /* that is known of all pages */
};

/* What a process goes on with that waits between two tracers. */
struct lz_parked {
	struct user_regs_struct regs;
	uint64_t mask, syscall_insn;
};

/* Another tracer, and the process that it was started for. */
struct lz_next {
	pid_t tracer, process;
	struct lz_parked was;
};

/* Where the tracers of one run (--follow) tell the first one of their processes. */
struct lz_follow {
	int in, out; /* a pipe, -1: none; IN is the first one's only */
	int64_t running;
	struct lz_next *next; /* started by this one */
	size_t n, room;
};

/* Among recorded processes that share memory only the one that has it runs: turns/shared_memory_lock.h. */
struct lz_shared_lock {
	struct lz_shared_lock_page
	    *page; /* common to all tracers of a run; NULL: nobody is followed */
	int fd;
	bool held;
	bool news;      /* somebody has had it since shared memory was compared */
	uint64_t since; /* ns */
};

struct lz_tracer {
	const struct lz_trace_options *opt;
	struct lz_proc p; /* the process, reached through the current thread */
	uint32_t tid;     /* of the process, its first thread and its stream */
	struct lz_thread **thread;
	size_t n_threads;
	struct lz_thread *cur; /* the one that has the turn */
	struct lz_sched sched;
	struct lz_writer *w;
	struct lz_meta meta;
	uint64_t t0;
	struct lz_builder b;
	uint64_t next_event, map_id;
	struct lz_vmas vmas;
	uint64_t brk, stack_start; /* stack_start: where the program's arguments are */
	struct lz_stream s;
	struct lz_disposition act[LZ_SIGNALS];
	struct lz_pages *pages;
	struct lz_shared *shared;
	uint32_t n_shared; /* shared mappings made in this image */
	bool has_children; /* a child has been made that may write them, or they were passed on */
	bool own_mem;      /* the program has opened its own /proc/PID/mem for writing */
	uint32_t n_checkpoints, since_full;
	struct lz_pos last_pos; /* of the last checkpoint */
	uint64_t next_look;     /* not before is a checkpoint due, ns */
	uint64_t last_checkpoint, checkpoint_cost, checkpoint_packing; /* ns */
	uint64_t computed; /* CPU time of program and tracer at the last checkpoint, ns */
	uint64_t last_flush, last_shown;
	bool hash_told;               /* that only checksums of the markers are kept from now on */
	struct lz_page_set child_set; /* written by a child that shared the memory */
	uint32_t name_fd;             /* 1 + descriptor of a thread's name, see names.c; 0: none */
	uint64_t last_ip;
	bool exec_pending; /* PTRACE_EVENT_EXEC seen, its exit stop not yet */
	bool cpuid_faults;
	struct lz_armed armed;
	struct lz_random random;
	bool ended;
	int status; /* as waitpid gives it */
	long timer_ms;
	bool undumpable; /* the program believes so */
	int old_personality;
	bool personality_set;
	int cpu;
	void *old_affinity;                  /* cpu_set_t before pinning */
	uint64_t syscall_at[LZ_KNOWN_CALLS]; /* addresses behind `syscall` instructions */
	bool int80_named;
	struct lz_follow follow;
	struct lz_shared_lock shared_lock;
	char *root;          /* recording of the first process, if others are followed */
	uint64_t refused[8]; /* bit per system call already named */
	uint64_t n_refused_other;
};

/* time.c */
/* ns since the recording began. */
uint64_t lz_elapsed(const struct lz_tracer *t);
/* CPU time, ns: of the program; of the tracer's thread. */
uint64_t lz_program_time(const struct lz_tracer *t);
uint64_t lz_tracer_time(void);

/* builder.c */
int lz_build(struct lz_tracer *t, uint8_t kind, uint64_t ip);
/* Adds what stands in the program's memory; as much as can be read. */
int lz_build_read(struct lz_tracer *t, uint64_t addr, uint64_t len);
int lz_build_write(struct lz_tracer *t, uint64_t addr, const void *bytes, uint64_t len);
int lz_build_op(struct lz_tracer *t, const struct lz_map_op *op);
int lz_build_regs(struct lz_tracer *t, const struct user_regs_struct *regs, bool with_xstate);
int lz_build_commit(struct lz_tracer *t);

/* trace.c */
/* SIGALRM has come since it was set to 0. */
extern volatile sig_atomic_t lz_alarmed;
/* Fills t->meta. CWD is taken over. */
int lz_describe(struct lz_tracer *t, char **argv, char **envp, char *cwd);
/* For the tracer itself: what it passes on to PID, what it ignores. */
void lz_set_signals(pid_t pid);
/* Tells the new writer. */
int lz_what_to_keep(struct lz_tracer *t);
/* From the first checkpoint to the finished recording; frees T's parts. */
int lz_trace_to_end(struct lz_tracer *t, struct lz_trace_result *result);

/* process.c */
/* The CPUs that Lizard was given, without the program's if there are others. */
void lz_other_cpus(const struct lz_tracer *t, cpu_set_t *cpus);

/* thread.c */
/* Adds one to t->thread. NULL: lz_error(). */
struct lz_thread *lz_thread_new(struct lz_tracer *t, uint32_t tid);
struct lz_thread *lz_thread_find(const struct lz_tracer *t, pid_t tid);
void lz_thread_remove(struct lz_tracer *t, struct lz_thread *th);
void lz_threads_free(struct lz_tracer *t);
/* An execve leaves the current thread only, as the first one. */
void lz_threads_exec(struct lz_tracer *t);
/* At a clone's event: takes over the new thread, stopped. */
int lz_thread_born(struct lz_tracer *t, pid_t tid);
int lz_thread_save_xstate(struct lz_tracer *t);
/* As in /proc/PID/stat: R S D t Z ...; 0: not known. */
char lz_thread_state_of(const struct lz_tracer *t, struct lz_thread *th);
/* Lets what works on the current thread work on TH. */
void lz_become(struct lz_tracer *t, struct lz_thread *th);
/* Lets the current thread leave, at its exit's event: it was not the last one. */
int lz_thread_end(struct lz_tracer *t);
/* At a switch: what the kernel wrote when TH ended. */
int lz_thread_end_writes(struct lz_tracer *t, const struct lz_thread *th);

/* blocked_writes.c */
void lz_blocked_drop(struct lz_thread *th);
/* Makes PAGE, read at ADDR, what it is without the output of calls under way. */
void lz_blocked_show(const struct lz_tracer *t, uint64_t addr, uint8_t *page);
/* The pages that these calls write count as changed. */
int lz_blocked_mark(struct lz_tracer *t);
/* May a call under way have stored there? */
bool lz_blocked_overlaps(const struct lz_tracer *t, uint64_t addr, uint64_t len);

/* written_bytes.c: puts what the call has written, as a checksum, into its event, which is about to be committed. */
void lz_note_written_bytes(struct lz_tracer *t);

/* switch.c: hands the turn to NEXT and logs it. IN_CALL: the current thread is inside a call, asleep. */
int lz_switch(struct lz_tracer *t, struct lz_thread *next, bool in_call);

/* sched.c */
void lz_sched_begin(struct lz_tracer *t);
/* Is there more than the first thread, or another one? */
bool lz_sched_threaded(const struct lz_tracer *t);
/* The next in the round that can run; NULL: nobody can. */
struct lz_thread *lz_sched_ready(const struct lz_tracer *t);
/* The one that gets the turn, if somebody can run. Chooses anew each time: ask once for each switch. */
struct lz_thread *lz_sched_next(struct lz_tracer *t);
/* Should another thread go on, if that is possible here? */
bool lz_sched_due(const struct lz_tracer *t);
/* The same, and has the current one had time enough to come to a point by itself? */
bool lz_sched_overdue(struct lz_tracer *t, uint64_t now);
int lz_sched_turn(struct lz_tracer *t); /* the current thread's slice begins */

/* chaos.c */
void lz_chaos_begin(struct lz_tracer *t);
uint64_t lz_chaos_priority(struct lz_tracer *t);
struct lz_thread *lz_chaos_next(struct lz_tracer *t);
int lz_chaos_turn(struct lz_tracer *t);
int lz_chaos_watch(struct lz_tracer *t); /* the present buffer has changed */
int lz_chaos_unwatch(struct lz_tracer *t);
/* At a SIGTRAP: was it the data breakpoint? */
bool lz_chaos_trapped(struct lz_tracer *t);
void lz_chaos_call(struct lz_tracer *t); /* one more system call */
bool lz_chaos_stuck(struct lz_tracer *t);

/* turn.c: waits, with more than one thread. 0: *status is a stop of the current thread or the process's end; 1: another
 * thread has got the turn, and stands. */
int lz_turn_wait(struct lz_tracer *t, int *status);
/* The current thread is in a group stop: whoever stands without the turn takes part in it. */
int lz_turn_halt(struct lz_tracer *t);
/* Another thread, or another process, may go on here: lets it, if its time has come. */
int lz_turn_at_point(struct lz_tracer *t);
/* Is it a call during which others may run? */
bool lz_call_waits(const struct lz_call *c);
/* The result that makes the call write most; more than LZ_CALL_MOST is not looked at. */
int64_t lz_call_most(const struct lz_call *c);
/* Is it one during which other processes may run that share memory with this one? */
bool lz_call_may_sleep(const struct lz_call *c);
/* Is it under way, and of this class of syscalls.h? */
bool lz_call_has_class(const struct lz_call *c, int klass);

/* follow.c: the first tracer's part in --follow; nothing without it. */
/* takeover.c: ends the recording; the process is another program now, which has one of its own. */
int lz_next_recording(struct lz_tracer *t);
int lz_follow_begin(struct lz_tracer *t); /* the recording has been created */
void lz_follow_tick(struct lz_tracer *t);
void lz_follow_gone(struct lz_tracer *t); /* this process has ended */
void lz_follow_end(struct lz_tracer *t);  /* waits for those that have only to write */

/* jobs.c: once the program has been started. */
void lz_jobs_begin(void);
/* The program has stopped; returns when it may go on. */
void lz_jobs_stopped(const struct lz_tracer *t);

/* descriptors.c: of stdin, stdout and stderr, what is closed is not taken by files of ours. */
void lz_descriptors_reserve(void);
/* As many as the tracer may have; the program gets its own limit back. */
void lz_descriptors_most(void);
void lz_descriptors_own(void);
/* Closes those that the tracer was given, but for stderr; stdin and stdout become /dev/null. */
void lz_descriptors_drop(void);
/* If nobody reads NEWS, the first tracer has ended: stderr, too. */
void lz_descriptors_alone(int news);

/* launch.c: forks, seizes and goes up to the first execve. */
int lz_launch(struct lz_tracer *t);
/* Puts the tracer on one CPU; old_affinity is what it had. */
int lz_pin(struct lz_tracer *t);

/* privileges.c */
/* Says why PTRACE_SEIZE of PID has failed with the present errno. Gives -1. */
int lz_cannot_trace(pid_t pid);
/* -1: PID's program is one that has no privileges only because we trace it. */
int lz_check_privileges(pid_t pid);
/* Says so of a process that is none of those that Lizard was told to run. */
void lz_tell_privileges(pid_t pid);

/* newimage.c: after an execve, at its exit stop: tames what the kernel mapped, reserves the
 * stub's pages, reads the mappings and takes a whole checkpoint. */
int lz_new_image(struct lz_tracer *t);
/* For a child that has just been forked: the same, but with what is tamed already. ACT: its dispositions. The first
 * checkpoint is left to the caller. */
int lz_forked_image(struct lz_tracer *t, const struct lz_disposition *act);
/* Any system call instruction in the process, for p->syscall_insn. */
int lz_find_syscall(struct lz_proc *p);

/* loop.c */
int lz_loop(struct lz_tracer *t);
/* waitpid() for one process, restarted after EINTR. */
int lz_tick(struct lz_tracer *t); /* after SIGALRM */
/* If the writer has begun to keep only checksums of markers: says so. */
int lz_tell_hash(struct lz_tracer *t);
/* Has the program ended behind our back? Then *status is set. */
bool lz_process_gone(struct lz_tracer *t, int *status);

/* calls.c */
int lz_call_entry(struct lz_tracer *t, struct user_regs_struct *r);
int lz_call_exit(struct lz_tracer *t, struct user_regs_struct *r);
/* At a call's exit: lets it be made again if only signals that are ignored have ended its wait. */
int lz_call_wait_on(struct lz_tracer *t, struct user_regs_struct *r);
/* The number that a call gets which is not to be made; INT80: it comes through the 32-bit gate. */
uint64_t lz_call_instead(bool int80);
/* Is the entry stop with registers R the same call, made again? */
bool lz_call_same(const struct lz_call *c, const struct user_regs_struct *r);
/* Logs a suspended call with its result as seen. */
int lz_call_give_up(struct lz_tracer *t);
/* Stops at an execve's exit: logs it and starts over with the new image. 1: that one has a recording of its own, which has not
 * begun yet. */
int lz_call_exec_done(struct lz_tracer *t, struct user_regs_struct *r);

/* hello.c: at the exit stop of the hello call, its event under construction: makes the ring. 1: welcome. */
int lz_call_hello(struct lz_tracer *t);

/* blocked_take.c: what the kernel may write for a call before the call's event. */
int lz_blocked_take(struct lz_tracer *t);
/* At the entry of a call that may fall asleep having written a part already: the same at once. */
int lz_blocked_take_early(struct lz_tracer *t);

/* capture.c: adds what the call wrote to the event. */
int lz_capture(struct lz_tracer *t, int64_t result);
/* The name that the call gives to a thread, if it does. */
int lz_names_note(struct lz_tracer *t, int64_t result);
int lz_capture_prepare(struct lz_tracer *t); /* at entry */
/* LEN bytes scattered over COUNT iovecs at ADDR. */
int lz_capture_iovecs(struct lz_tracer *t, uint64_t addr, uint64_t count, uint64_t len);
/* outputs.c */
int lz_capture_special(struct lz_tracer *t, int64_t result);
/* ioctls.c */
int lz_ioctl_capture(struct lz_tracer *t, uint32_t request, uint64_t at, int64_t result);
/* The error that the program gets instead of the call, 0: none. */
int64_t lz_ioctl_refuse(struct lz_tracer *t, uint32_t request, uint64_t at);
/* ethtool.c: the same of SIOCETHTOOL. */
int lz_ethtool_capture(struct lz_tracer *t, uint64_t at);
int64_t lz_ethtool_refuse(struct lz_tracer *t, uint64_t at);
/* answer_by_args.c */
/* At entry: true if the call is not to be made, because of its arguments; *result is given instead. */
bool lz_answer_by_args(struct lz_tracer *t, int64_t *result);
/* dumpable.c */
/* At entry, as lz_answer_by_args(). */
bool lz_answer_dumpable(struct lz_tracer *t, int64_t *result);
/* The kernel makes a process that has changed its user undumpable: it is made dumpable again, and believes that it is not. */
int lz_stay_dumpable(struct lz_tracer *t, int64_t result);

/* mapcalls.c: ops of an mmap-family call that returned RESULT. */
int lz_map_call(struct lz_tracer *t, int64_t result);
/* A is mapped from now on, for replay and for us. */
int lz_map_op(struct lz_tracer *t, const struct lz_area *a);

/* objects.c: what A maps is the file behind our descriptor FD (if it is a plain one), a segment. */
int lz_map_file(struct lz_tracer *t, struct lz_area *a, int fd, const char *path, uint64_t offset);
/* Shared memory without a name that is mapped at ADDR becomes an object, in all areas that map it. */
int lz_map_nameless(struct lz_tracer *t, uint64_t addr);
/* Area A is E, of a file that cannot be opened any more: what it holds is read from the program. */
int lz_map_gone(struct lz_tracer *t, struct lz_area *a, const struct lz_maps_entry *e);
int lz_map_segment(struct lz_tracer *t, struct lz_area *a, int id);
bool lz_is_segment(const struct lz_tracer *t, uint32_t object);

/* stream.c */
uint64_t lz_stream_offset(struct lz_tracer *t);
/* Where a system call begins, with registers R: lets lz_stream_offset() do without parsing if r15 and __lizard_pos agree,
 * for then both are the pointer. In code with markers r15 is; in other code __lizard_pos is, since it was set when that
 * code was called, whatever r15 is left with. */
int lz_stream_call(struct lz_tracer *t, const struct user_regs_struct *r);
/* LEN bytes at offset FROM of the ring. */
int lz_stream_protect(struct lz_tracer *t, uint32_t from, uint32_t len, int prot);
int lz_stream_push(struct lz_tracer *t);
/* Is ADDR in the ring? */
bool lz_stream_has(const struct lz_tracer *t, uint64_t addr);
/* At a SIGSEGV at ADDR: 1 if it was the guard: the bytes were taken, *r is set anew; 2 if it was
 * the fence; 0 if it is the program's own. */
int lz_stream_fault(struct lz_tracer *t, uint64_t addr, struct user_regs_struct *r);
int lz_stream_fence(struct lz_tracer *t);
int lz_stream_unfence(struct lz_tracer *t);
/* Is R between a marker's first store and the advance of its pointer? May say so in vain. */
bool lz_stream_inside_marker(struct lz_tracer *t, const struct user_regs_struct *r);
/* At a fence fault: may a signal be delivered before this store? */
bool lz_stream_deliverable(struct lz_tracer *t, uint64_t addr, const struct user_regs_struct *r);
void lz_stream_forget(struct lz_tracer *t); /* the address space is gone */

/* pointer.c: lets __lizard_pos hold the pointer, and logs that. */
int lz_stream_set_pos(struct lz_tracer *t);

/* check_markers.c */
/* With LIZARD_TRACE_CHECK=1, where the markers were not parsed: they end at offset END of the buffer. */
int lz_self_check_markers(struct lz_tracer *t, uint32_t end);
/* What is wrong ends the program: it would go on unrecorded, end well, and no test would see it. Gives -1. */
int lz_self_check_failed(struct lz_tracer *t);

/* instant.c */
/* The program stands, with registers R, at an instant that a position names well. */
int lz_instant_here(struct lz_tracer *t, struct user_regs_struct *r);
/* Does it still stand there, no instruction run since? */
bool lz_at_instant(const struct lz_tracer *t, const struct user_regs_struct *r);
/* Before R is set for other reasons: spares lz_instant_here() doing it. */
void lz_instant_stamp(struct user_regs_struct *r);
/* Is it what a system call leaves with that is to be made again? */
bool lz_restarts(int64_t result);

/* signals.c */
/* 1: the program does not see it, it is passed on at once. */
int lz_signal_passes(struct lz_tracer *t, int signo);
/* Are there signals on their way to the current thread, all of them ignored? */
bool lz_signal_all_ignored(struct lz_tracer *t);
/* At a stop that is not a signal's: has the instruction faulted, and its signal is what comes next? */
bool lz_signal_fault_pending(struct lz_tracer *t);
int lz_signal_arm(struct lz_tracer *t);     /* waits for a marker or a system call */
int lz_signal_release(struct lz_tracer *t); /* sends what is held again, to arrive here */
/* The same at a system call's entry stop, where no call can be made for the program. */
int lz_signal_release_in_call(struct lz_tracer *t);
void lz_signal_call_done(struct lz_tracer *t, int64_t result); /* rt_sigaction and its kin */
int lz_signal_exec(struct lz_tracer *t);
int lz_signal_init(struct lz_tracer *t);
/* At a signal's stop: sends it once more, to arrive when the thread goes on. */
int lz_signal_put_back(struct lz_tracer *t, int signo);
/* At a signal's stop: holds it if it is an asynchronous one for the program, else gives 1. */
int lz_signal_hold_stop(struct lz_tracer *t, int signo);
/* Puts back what the kernel changed when it forced a SIGSEGV or SIGTRAP of our own making. */
int lz_signal_undo_force(struct lz_tracer *t, int signo);

/* The program's handler, or SIG_DFL or SIG_IGN. */
uint64_t lz_signal_handler(const struct lz_tracer *t, int signo);
bool lz_signal_ignored(const struct lz_tracer *t, int signo);
/* Ignored, or a stop by default: the program does not see it. */
bool lz_signal_unseen(const struct lz_tracer *t, int signo);
/* An instruction's own. */
bool lz_signal_synchronous(int signo, const siginfo_t *info);
/* Goes with the next resumption. */
int lz_signal_pass(struct lz_tracer *t, int signo, siginfo_t *info);
/* Until the next instant, for which a fence is put up; without one, as the program may have to finish a marker first. */
int lz_signal_hold(struct lz_tracer *t, int signo, const siginfo_t *info);
int lz_signal_keep(struct lz_tracer *t, int signo, const siginfo_t *info);
/* From now on an instant is waited for. */
void lz_signal_await(struct lz_thread_signals *s);
/* Of a signal that we have sent again: what it was. */
void lz_signal_find_sent(struct lz_tracer *t, int signo, siginfo_t *info);

/* finish_marker.c: runs the program up to the end of the marker that it is in the middle of. 1: it did not fit, the buffer was
 * taken. */
int lz_finish_marker(struct lz_tracer *t, struct user_regs_struct *r);

/* deliver.c */
/* A signal has stopped the program. *DELIVER: what it is to go on with. */
int lz_signal_stop(struct lz_tracer *t, int signo, int *deliver);
/* Neither a marker nor a system call has come in time. */
int lz_signal_spin(struct lz_tracer *t, struct user_regs_struct *r);

/* leave_rep.c: runs to the end of a repeated string instruction, if *r is at one. */
int lz_leave_rep(struct lz_tracer *t, struct user_regs_struct *r);

/* insn.c: 1 if the instruction at r->rip was a trapped one and has been done. */
int lz_insn_fault(struct lz_tracer *t, struct user_regs_struct *r);
int lz_insn_trap(struct lz_tracer *t); /* switches trapping on, by injected calls */
int lz_insn_release(struct lz_proc *child, bool cpuid); /* off, in a child */

/* armed.c */
int lz_places_add(struct lz_places *p, uint64_t at);
/* What was mapped at START is now at TO (0: nowhere). */
void lz_places_moved(struct lz_places *p, uint64_t start, uint64_t end, uint64_t to);
/* Stores TO at each of them where FROM is. */
void lz_places_put(const struct lz_places *s, const struct lz_proc *p, uint8_t from, uint8_t to);
int lz_armed_add(struct lz_tracer *t, uint64_t at);
bool lz_armed_has(const struct lz_tracer *t, uint64_t at);
/* In a process that is let go, or that runs in our memory for a while. */
void lz_armed_release(const struct lz_tracer *t, const struct lz_proc *p);
void lz_armed_again(struct lz_tracer *t);
void lz_armed_moved(struct lz_tracer *t, uint64_t start, uint64_t end, uint64_t to);
void lz_armed_forget(struct lz_tracer *t);

/* widen.c: the markers in a new mapping, told by the event that is being built. Nothing is done before the hello call. */
int lz_wide_mapped(struct lz_tracer *t, const struct lz_area *a);
/* At the hello call: those in all mappings. */
int lz_wide_hello(struct lz_tracer *t);
/* FILE, of which [START, END) is a part, has been bound: its code is to use the runtime that has said hello, even if there
 * is another copy for it. */
int lz_wide_join(struct lz_tracer *t, uint32_t file, uint64_t start, uint64_t end);
/* The same for all files that are mapped. */
int lz_wide_join_all(struct lz_tracer *t);

/* random.c: rdrand and rdseed in the new image's program. */
int lz_random_arm(struct lz_tracer *t);
/* In another file's mapping, where cpuid cannot hide them. LOGGED: the event that is being built tells it. */
int lz_random_mapped(struct lz_tracer *t, const char *path, const struct lz_vma *v, bool logged);
/* Does the code at IP belong to a program of which all are armed? */
bool lz_random_known(const struct lz_tracer *t, uint64_t ip);

/* xsavec.c: xsavec in the new image's dynamic linker. */
int lz_xsavec_arm(struct lz_tracer *t);
/* Does the armed one at CODE and r->rip, and adds what it stores to the event that is being built. 0: there is none. */
int lz_xsavec_fault(struct lz_tracer *t, const uint8_t *code, size_t n, struct user_regs_struct *r);

/* children.c */
/* A forked child's copy of __lizard_pos still points into the ring, which becomes its sink. */
int lz_private_ring(struct lz_proc *c, uint64_t ring, uint64_t traced_addr);
int lz_child_new(struct lz_tracer *t, int event);
/* What it believes to be, it becomes when it is let go. */
int lz_set_undumpable(struct lz_tracer *t, struct lz_proc *c);
/* Undoes in C what the kernel hands on to children and threads; SHARES: the memory stays ours. */
int lz_set_clean(struct lz_tracer *t, struct lz_proc *c, bool shares);
/* What C executes is where the kernel puts it, if that was so before Lizard. */
int lz_set_randomized(struct lz_tracer *t, struct lz_proc *c);
/* child_writes.c: adds to the call's event what a child that shared the memory has written. */
int lz_child_writes(struct lz_tracer *t);
/* affinity.c */
/* After sched_getaffinity: the program sees the CPUs it would have had without us. */
int lz_affinity_show(struct lz_tracer *t, int64_t result);
/* Instead of sched_setaffinity: what the program and its children believe in. */
int64_t lz_affinity_set(struct lz_tracer *t);

/* detach.c: recording has failed: the program goes on without us, t->status is how it ended. */
int lz_detach(struct lz_tracer *t);

/* pages.c */
struct lz_pages *lz_pages_new(struct lz_tracer *t); /* after each execve */
void lz_pages_free(struct lz_pages *g);
/* A mapping appeared or lost its contents: track it. */
int lz_pages_changed(struct lz_tracer *t, uint64_t start, uint64_t end);
/* Collects pages changed since the last call, gives them to FN and remembers their contents. */
int lz_pages_collect(struct lz_tracer *t, bool whole, struct lz_page_set *set);
int lz_pages_done(struct lz_tracer *t, struct lz_page_set *set, bool whole);
/* Between these two another process writes into the memory: *set gets what it changed. Not a
 * collection: what changed still counts for the next one. */
int lz_pages_watch(struct lz_tracer *t);
int lz_pages_watched(struct lz_tracer *t, struct lz_page_set *set);
void lz_pages_forget(struct lz_tracer *t, struct lz_page_set *set);
int lz_pages_check(struct lz_tracer *t);
const char *lz_pages_method(const struct lz_pages *g);

/* ownmem.c: after each system call: adds to the event what it has written through /proc/PID/mem of the program itself. */
int lz_own_mem_call(struct lz_tracer *t, int64_t result);

/* sharedmem.c */
/* A new mapping, known to t->vmas and to the event: adds what it holds that replay would not know. */
int lz_shared_mapped(struct lz_tracer *t, const struct lz_area *a);
/* dirty.c: is the page at ADDR the program's own, not its file's? */
bool lz_dirty_owned(const struct lz_tracer *t, uint64_t addr);
/* alias.c: what is mapped more than once is given its numbers where that is not known yet: all of a new image, without an
 * event; what can be written to from now on. */
int lz_alias_find_all(struct lz_tracer *t);
int lz_alias_writable(struct lz_tracer *t, uint64_t start, uint64_t end);
/* Shared mappings with the number have come or gone: checkpoints look at the private ones that show the same. */
int lz_alias_recheck(struct lz_tracer *t, uint32_t number);
/* Is A a private mapping that at ADDR shows what a shared one of the object does, until it is stored to? */
bool lz_alias_shows(const struct lz_tracer *t, const struct lz_area *a, uint64_t addr);
/* A is another mapping of what its object is. */
int lz_shared_again(struct lz_tracer *t, struct lz_area *a);
/* A, made of a mapping of a file, is new behind its end. */
int lz_shared_grown(struct lz_tracer *t, struct lz_area *a);
/* After each system call: adds to the event what changed in mapped files and shared memory. */
int lz_shared_call(struct lz_tracer *t, int64_t result);
/* Compares memory that others may store to with what was logged last, and adds what differs to the event. */
int lz_shared_sync(struct lz_tracer *t);
/* Nobody else has stored there since: what is there now is what replay has. */
int lz_shared_refresh(struct lz_tracer *t);
/* May others write there at any time? Then only what has just been compared is known. */
bool lz_shared_by_others(const struct lz_tracer *t);
/* The program goes on, the comparison does not hold any more. */
void lz_shared_unsettle(struct lz_tracer *t);
/* unrecorded_children.c: PID is a child of the program that is not recorded. */
void lz_unrecorded_born(struct lz_tracer *t, pid_t pid);
/* shared_with_others.c: what is mapped shared, and descriptors, have been inherited or passed on. */
void lz_share_with_others(struct lz_tracer *t);
/* From time to time: those that store to what the program shares with them are named. */
int lz_unrecorded_look(struct lz_tracer *t);
/* At most MS, in which lz_unrecorded_look() is due again. */
long lz_unrecorded_timer(const struct lz_tracer *t, long ms);
/* outside_writers.c: at the program's end, a last look for other processes. */
int lz_outside_end(struct lz_tracer *t);
/* Makes PAGE, read at ADDR, what it was at the comparison, if that holds. */
void lz_shared_show(const struct lz_tracer *t, uint64_t addr, uint8_t *page);
void lz_shared_forget(struct lz_tracer *t); /* a new address space */
void lz_shared_free(struct lz_tracer *t);

/* selfcheck.c: with LIZARD_TRACE_CHECK=1, after each checkpoint: mappings and pages are what we
 * believe they are. For tests. */
int lz_self_check(struct lz_tracer *t);

/* checkpoint.c */
int lz_checkpoint(struct lz_tracer *t, const struct user_regs_struct *r, bool whole);
/* Is the last checkpoint's position this instant's? */
bool lz_checkpoint_at(struct lz_tracer *t, uint64_t ip);
/* If the interval has passed. */
int lz_checkpoint_maybe(struct lz_tracer *t, const struct user_regs_struct *r);

#endif
