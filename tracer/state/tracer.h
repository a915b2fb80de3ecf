/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracer's state, shared by its parts: one traced process, its threads. */
#ifndef LIZARD_TRACER_TRACER_H
#define LIZARD_TRACER_TRACER_H

#include "tracer/state/call_page.h"
#include "tracer/state/vmas.h"

#include <common/base/clock.h>
#include <common/process/sites.h>
#include <lizard/marker.h>
#include <lizard/proc.h>
#include <lizard/recording.h>
#include <lizard/syscalls.h>
#include <lizard/trace.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum {
	LZ_STUB_LEN = 0x10000,
	LZ_STUB_SCRATCH = 0x1000, /* in it: what calls that are made for us read */
	LZ_STUB_CALLS = 0x2000,   /* in it: the code of several such calls */
	LZ_STUB_CPUID = 0x3000,   /* in it: code/cpuid_sites.c */
	LZ_STUB_CLOCK = 0x5000,   /* from there on: code/clock.c */
	LZ_RING_LEN = LZ_RING_SIZE + LZ_SINK_PAD,
	LZ_SLICE_MS = 20,
	LZ_SPIN_MS = 10,      /* how long a signal waits for a marker or a system call */
	LZ_SPIN_PLAIN_MS = 2, /* the same where there are no markers to wait for */
	LZ_SIGNALS = 65,
	LZ_KNOWN_CALLS = 64,
	/* More bytes of a call's output are not looked at before it is over. */
	LZ_CALL_MOST = 1 << 20
};
/* Among the kernel's own choices, far below the first of them: no program relies on an address
 * there, and the shadow memory of sanitizers is elsewhere. */
#define LZ_STUB_ADDR 0x7f6800000000ULL

/* The event under construction; byte offsets become pointers at commit. */
struct lz_builder {
	struct lz_event ev;
	uint8_t *bytes;
	size_t used, room;
	/* of bytes here, or of bytes elsewhere that stay as they are until the event is written */
	struct lz_write *writes;
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
	bool checking;      /* each marker is counted a second time, behind its add */
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
	uint64_t brief;       /* waiting for so long only, without a fence, ns; 0: it is not */
	bool interrupted;     /* PTRACE_INTERRUPT is under way */
	bool stop_due;        /* a group stop waits for an instant */
	unsigned retries;     /* spins put off */
	bool spin;            /* the next delivery is where a SPIN checkpoint was taken */
	bool shut;            /* one more than `blocked` is blocked, up to the next stop */
	int forced;           /* a signal whose frame did not fit: SIGSEGV is next; 0: none */
};

struct lz_call {        /* the system call under way */
	bool inside;    /* between the entry and the exit stop */
	bool suspended; /* left with -ERESTART*, may be entered again */
	bool regained;  /* its thread has got the turn back, for the call's end */
	bool int80;     /* made through the 32-bit gate */
	bool forced;    /* not made: the program gets forced_result */
	int64_t forced_result;
	bool filtered;     /* a filter of the program has decided that: */
	uint32_t verdict;  /* SECCOMP_RET_*, with its data */
	bool ends_thread;  /* exit, or a filter has made one of it */
	bool made_private; /* mmap of a file that was asked for as shared */
	bool shortened;    /* a part of its time is over already */
	bool stepped;      /* made by a single step: calls/fast_step.c */
	uint64_t part;     /* the stub has written so many bytes of it */
	bool would_wait;   /* the stub has tried it, and it would have */
	uint64_t nr, args[6];
	uint64_t ip;
	struct user_regs_struct entry;
	const struct lz_syscall *row;
	uint32_t in_len[LZ_SYS_OUTS]; /* VALLEN: length before the call */
	struct lz_disposition act;    /* rt_sigaction: the new one */
	uint64_t held_since;          /* first seen in an uninterruptible wait, lz_now(); 0: not */
};

/* What a thread has registered by rseq(2); at 0: nothing. */
struct lz_rseq {
	uint64_t at;
	uint32_t len, sig;
};

/* What tells where the call writes, as it was before: calls/vectors.c. */
struct lz_message {
	uint64_t name, name_len, control, control_len, vector, vector_len;
	uint32_t first, n_io; /* of what the vector holds */
};
struct lz_vectors {
	struct iovec *io; /* malloced, or NULL; the same is MESSAGE */
	uint32_t n_io, io_room;
	struct lz_message *message;
	uint32_t n_messages, message_room;
	uint8_t head[192]; /* of a structure */
	uint32_t n_head;
	bool broke_off; /* the call has ended in the middle of storing */
};

/* Memory that a call under way may write, as it was before the kernel could. */
struct lz_blocked {
	struct lz_write *a;
	uint32_t n, room;
	uint8_t *bytes;
};

struct lz_filter;

struct lz_thread {
	uint32_t tid;
	uint32_t own_tid; /* in the program's PID namespace, as the program itself knows it */
	uint32_t old_tid; /* before an execve that gave it the first thread's; 0: none */
	bool ready;       /* stopped, and may have the turn */
	bool in_call;     /* lost its turn inside a system call whose event is still to come */
	bool seen;        /* has had a turn */
	bool ended;       /* has left the process, its switch is still to come */
	bool listening;   /* in a group stop */
	bool halted;  /* in one, too, or on the way there, after it has stood without the turn */
	bool watched; /* has a data breakpoint on the end of its turn, */
	bool returns; /* and one where a call returns to */
	/* It makes system calls without a stop, those that the kernel lets through. */
	bool fast;
	bool dispatched; /* and the kernel reports the others */
	/* Where it stands in front of a call that was reported: rcx and r11 are as behind it. */
	uint64_t refused_at;
	/* The stub has waited for a part of the time of the call that it stands at. */
	bool wait_cut;
	int64_t wait_left[2]; /* seconds and nanoseconds */
	uint64_t part;        /* or has written so many bytes of it */
	uint32_t slot;        /* of its selector */
	/* It stands in front of a wait for a futex, calls/fast_wait.c: 1 + its place; 0: it does not. */
	uint32_t parked;
	uint64_t parked_since; /* ticks */
	/* But it waits in the stub: calls/fast_hands.c. What that is worth: less than 0: nothing now. */
	bool standby;
	int worth;
	uint64_t
	    next_since; /* ticks: it has stood since then, though it is to have the turn; 0: it does not */
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
	struct lz_vectors vectors;
	struct lz_rseq rseq;
	uint32_t tsc_mode; /* what it has set by PR_SET_TSC; 0: not known yet */
	bool counter_open; /* nevertheless it may read the processor's counter: code/clock.c */
	/* The latest filter of its system calls, filters/filters.h; NULL: none. */
	struct lz_filter *filter;
	bool strict; /* SECCOMP_MODE_STRICT instead */
	bool
	    no_new_privs; /* it believes to have that, as another thread has given it its filters */
	/* The registers at the last instant that a position names well: instant.c. */
	struct user_regs_struct at;
	bool at_valid;
	/* Another arrival at its address may have come before: the one meant has this state,
	 * state_sum.h. */
	bool at_counted;
	bool at_handler; /* a signal's handler has just begun, or returned */
	bool at_full;    /* the buffer was full there */
	bool at_midway;  /* instructions of its gap have run before */
	uint64_t at_state;
	/* In code without markers it takes these, too, which struct lz_tracer has. */
	bool at_pages;
	uint64_t at_vectors;
	int pending_status; /* a stop that was met while waiting for another one */
	bool has_pending_status;
	bool running; /* not at a stop that has been met */
};

/* Turns by chance: chaos.c. */
struct lz_chaos {
	bool on;
	bool over; /* the turn is, as soon as there is a point */
	uint64_t state;
	unsigned first_log2; /* of the length of turns, at first */
	uint64_t turns;
	uint64_t until; /* stream offset, */
	uint32_t calls; /* or number of system calls, at which it is over */
	/* From there on so many instructions are stepped; or, if so, up to behind one that locks. */
	uint32_t steps;
	bool to_lock;
	/* Or over so many more calls in code with markers, and these instructions behind the last
	 * one. Where the one returns to that is under way; 0: none is. */
	uint32_t over_calls;
	uint64_t return_at, return_sp;
	/* Turns that ended there, after steps, behind a lock, behind a call. */
	uint64_t n_points, n_steps, n_locks, n_calls;
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

/* Bytes of the program's code that are changed: those by which instructions are armed, and the
 * prefixes of the markers' adds. */
enum lz_armed_kind { LZ_ARMED_INSN, LZ_ARMED_ADD, LZ_ARMED_CPUID, LZ_ARMED_KINDS };
struct lz_armed {
	struct lz_places at[LZ_ARMED_KINDS];
};

enum { LZ_GUESSES = 256 };
struct lz_guess {
	int8_t fast;   /* yes, if it is not negative */
	uint8_t waits; /* how often what came then would have waited */
};

/* A file that nobody can open for writing until its lease is given back: calls/fast_leases.c. */
struct lz_lease {
	uint32_t id; /* by which the stub knows it */
	int fd;
	dev_t dev;
	ino_t ino;
	struct lz_kept_file *kept;
	uint64_t unused_since; /* by any descriptor, lz_now(); 0: it is in use */
};
enum { LZ_LEASES = 64 };
struct lz_leases {
	struct lz_lease a[LZ_LEASES];
	uint32_t n, last_id;
	uint32_t n_broken;           /* that others have wanted to have back */
	uint32_t given[LZ_FAST_FDS]; /* what has been read by a descriptor */
	bool wanted;                 /* by one of these it was much */
	uint64_t n_reads;            /* events that refer to what is kept */
};

/* System calls without a stop: calls/fast.c. */
/* A part of it that has become events, or is going to: fast_full.c. */
struct lz_call_log {
	const uint8_t *bytes;
	uint32_t len, taken;
	uint64_t time; /* when the calls had been made */
};

struct lz_fast {
	bool refused;              /* they cannot be had here */
	struct lz_call_page *page; /* NULL: not yet */
	uint64_t at;               /* of the stub's code, in the program; the page is behind it */
	uint32_t taken;            /* of the log: has become events */
	struct lz_call_log aside;  /* a log that was full, before it */
	struct lz_sites sites;
	unsigned
	    wanted; /* calls that could have been made without a stop, before there was a page */
	unsigned n_slots; /* threads that have had one */
	bool no_fds;      /* somebody else changes the program's descriptors */
	bool no_waits;    /* a filter of the program's may forbid them */
	bool sticky; /* a thread may have STICKY_TIMEOUTS: what is left of a time is not told */
	bool leased; /* the program waits for itself where it opens files */
	uint8_t alone[LZ_FAST_FDS]; /* as in the page, before it is there */
	struct lz_leases leases;
	uint32_t n_mapped; /* changes of the list of mapped files that the stub knows of */
	/* What the log tells of mappings has been changed again since: between these addresses. */
	struct {
		bool on;
		uint64_t start, end;
	} late;
	uint64_t n_plain; /* changes of the mappings that the stub knows of */
	bool was_put_off; /* the stub has stopped only to tell of mappings */
	bool gone;        /* killed before what the log has mapped could be copied */
	/* Small files that the log has mapped, and that have not become objects yet. */
	struct lz_logged_file {
		uint64_t at;
		const uint8_t *bytes; /* in the log */
		uint64_t n;
	} file[LZ_SMALL_FILES];
	uint32_t n_files;
	/* What the descriptor is of that was mapped last, until that may be another file's. */
	struct lz_mapped_fd {
		bool known;
		int fd;
		struct stat st;
	} mapped_fd;
	bool ended;        /* the program is let go */
	uint64_t n_parked; /* waits without the kernel */
	uint64_t n_ticks;  /* looks at these */
	uint32_t n_standby;
	uint32_t last_next; /* the place of the thread that had the turn last */
	uint64_t n_hands;   /* hand-overs in the stub */
	/* Was the stop after such a call one that a fast thread would have had? */
	struct lz_guess foresight[LZ_GUESSES];
	struct lz_guess *guess; /* of these, the one of the last call; NULL: none */
	bool broken;            /* what is behind a record of its log cannot be told */
	uint64_t n_taken, n_taken_before;
	uint64_t n_stops;             /* since the log is there */
	uint64_t n_full;              /* of these, for logs that were full */
	uint64_t n_refused;           /* calls of fast threads that had a stop more than need be */
	uint64_t n_stepped;           /* calls of fast threads that had two */
	uint64_t n_cut;               /* waits of the stub's that had one */
	bool could;                   /* the call with a stop could have been made without one */
	uint64_t n_of[LZ_FAST_CALLS]; /* of n_taken, by their numbers */
	uint64_t stops_of[LZ_FAST_CALLS];                         /* calls with stops */
	uint64_t n_rdtsc, n_rdtscp, n_xsavec;                     /* the others of n_taken */
	struct lz_xsave_component component[LZ_XSAVE_COMPONENTS]; /* what xsavec stores */
	uint64_t n_traps;                                         /* at an int3 of a site's */
	bool used[1024];    /* sites since they trapped, by their addresses */
	uint64_t unfit[64]; /* sites that cannot be changed, by their addresses */
	/* Read when recording began; how the time is scaled to the counter, at first and later. */
	struct lz_counter_pair {
		uint64_t tsc, ns;
	} counter_first;
	struct lz_counter counter_early, counter;
	struct lz_fast_clock {
		bool never;        /* the clocks cannot be read without the kernel */
		uint64_t function; /* that does so, in the program; 0: none, now */
		uint64_t due;      /* behind so many readings that is asked for */
		/* So many changes there had been when the code was looked at. */
		uint64_t n_code, n_gone;
		/* The thread that runs, by its number, and what is known of it. */
		uint32_t tid;
		bool was_open;
	} clock;
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

struct lz_page_sums {
	struct lz_page_sum *a;
	uint32_t n;
	size_t room;
};

/* What a process goes on with that waits between two tracers. */
struct lz_parked {
	struct user_regs_struct regs;
	uint64_t mask, syscall_insn;
	cpu_set_t affinity;
	bool any_tracer; /* may take it: Yama has been told so */
};

/* Another tracer, and the process that it was started for. */
struct lz_next {
	int end; /* of the channel to it: it says that it has taken the process */
	pid_t process;
	struct lz_parked was;
};

/* Where the tracers of one run (--follow) tell the first one of their processes. */
struct lz_follow {
	int in, out;       /* a pipe, -1: none; IN is the first one's only */
	int spawner;       /* where to ask for tracers, -1: nobody is followed */
	pid_t spawner_pid; /* the first one's child; 0: it is another's */
	int64_t running;
	struct lz_next *next; /* started by this one */
	size_t n, room;
	char *root; /* recording of the first process; NULL: nobody is followed */
};

/* What is the program's own and is given back to it, and to its children, when they go on
 * without a tracer. */
struct lz_borrowed {
	int personality;
	bool personality_set; /* another one was set */
	cpu_set_t affinity;   /* what the program believes to have */
	cpu_set_t given;      /* before the tracer and the program were put on one CPU, */
	_Atomic int cpu;      /* this one; */
	int home;             /* it was this one when the recording began */
	/* The one that the program is told, one of those that it believes to have; and its node. */
	uint32_t told_cpu, told_node;
	pid_t tracer; /* the tracer's thread */
	pthread_mutex_t moving;
	bool undumpable; /* the program believes so */
};

/* Among recorded processes that share memory only the one that has it runs:
 * turns/shared_memory_lock.h. */
struct lz_shared_lock {
	/* Common to all tracers of a run; NULL: nobody is followed. */
	struct lz_shared_lock_page *page;
	int fd;
	bool held;
	bool news;      /* somebody has had it since shared memory was compared */
	uint64_t since; /* ns */
};

struct lz_tracer {
	const struct lz_trace_options *opt;
	struct lz_proc p; /* the process, reached through the current thread */
	uint32_t tid;     /* of the process, its first thread and its stream */
	uint32_t own_tid; /* the same in its own PID namespace */
	struct lz_thread **thread;
	size_t n_threads, most_threads;
	struct lz_thread *cur;    /* the one that has the turn */
	_Atomic uint32_t running; /* its number, for the mover */
	struct lz_mover *mover;   /* NULL: none */
	uint64_t mover_due;       /* when it starts, ns; 0: not any more */
	uint32_t born;            /* a thread that the call under way has made; 0: none */
	struct lz_sched sched;
	struct lz_writer *w;
	_Atomic bool crowded; /* no CPU is idle for those who pack */
	struct lz_meta meta;
	uint64_t t0;
	struct lz_builder b;
	uint64_t next_event, map_id;
	struct lz_vmas vmas;
	uint64_t brk, stack_start; /* stack_start: where the program's arguments are */
	/* Where the dynamic linker is; without one, where the program begins. 0: not known. */
	uint64_t linker;
	bool linked; /* there is one */
	struct lz_stream s;
	struct lz_disposition act[LZ_SIGNALS];
	struct lz_pages *pages;
	struct lz_page_sums named; /* of the thread whose at_pages is set */
	struct lz_shared *shared;
	uint32_t n_shared; /* shared mappings made in this image */
	bool has_children; /* a child has been made that may write them, or they were passed on */
	uint32_t n_checkpoints, since_full;
	bool hash_told;               /* that only checksums of the markers are kept from now on */
	struct lz_page_set child_set; /* written by a child that shared the memory */
	bool exec_pending;            /* PTRACE_EVENT_EXEC seen, its exit stop not yet */
	bool cpuid_faults;
	_Atomic bool cpuid_told; /* or else there may be one that nothing traps */
	struct lz_armed armed;
	struct lz_fast fast;
	uint64_t last_marker; /* of the last event */
	bool ended;
	int status; /* as waitpid gives it */
	struct lz_borrowed borrowed;
	uint64_t syscall_at[LZ_KNOWN_CALLS]; /* addresses behind `syscall` instructions */
	struct lz_follow follow;
	struct {
		unsigned n;
		char *names; /* of the first ones; malloced */
	} unfollowed;        /* children that nobody records */
	struct lz_shared_lock shared_lock;
};

#endif
