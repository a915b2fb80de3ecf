/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that the tracer shares with the code by which the program makes system calls without a
 * stop (tracer/stub): what that code may do, and the log of what it has done. The program can write
 * to all of it. */
#ifndef LIZARD_TRACER_CALL_PAGE_H
#define LIZARD_TRACER_CALL_PAGE_H

#include "tracer/state/call_rules.h"

#include <common/process/code_range.h>

#include <linux/futex.h>
#include <lizard/xsave_parts.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	LZ_FAST_CALLS = 512, /* numbers of calls */
	LZ_FAST_FDS = 1024,
	LZ_FAST_THREADS = 1024,
	LZ_FAST_OUTS = 2,
	LZ_FAST_NOTE = 32, /* bytes that tell the tracer more than the event */
	LZ_LOCAL_DISKS = 8,
	LZ_MAPPED_FILES = 4096,
	LZ_PLAIN_RANGES = 128,
	LZ_FILE_RANGES = 64,
	LZ_SMALL_FILES = 32,
	LZ_CODE_RANGES = 8,
	LZ_FAST_MOST = 256 << 10,   /* bytes of a call's output */
	LZ_FAST_TAKEN = 256 << 10,  /* bytes that a call takes */
	LZ_LEASED_LEAST = 16 << 10, /* the same of reads that need not be in the log */
	LZ_LEASED_MOST = 16 << 20,  /* and how long such a read may be */
	/* Bytes of files that the log stands for: who waits for a lease waits until they are copied. */
	LZ_REFERRED_MOST = 32 << 20,
	LZ_COMPARED_PART = 64 << 10, /* so much of a file is compared at once, in the log */
	/* A read without a lease that is longer than LZ_FAST_MOST: more than this is not in the log. */
	LZ_LONG_LOGGED = 64 << 10,
	LZ_CALL_LOG = 1 << 20,
	/* A log of short calls is taken away while it is still in the processor's cache. */
	LZ_CALLS_MOST = 2048,
	LZ_STUB_CODE = 0x8000, /* in front of the page */
	LZ_STUB_STACK = 0x1000
};

/* What a descriptor is known to be good for: none of it waits for anybody. One that was opened for
 * reading only is not good for WRITE. WAITS: it need not be looked at again. */
enum { LZ_FD_READ = 1, LZ_FD_WRITE = 2, LZ_FD_LIST = 4, LZ_FD_CLOSE = 8, LZ_FD_WAITS = 128 };

/* What is known of one that may wait, and can be told not to: in the bits of LZ_FD_KIND. */
enum lz_fd_kind {
	LZ_KIND_NONE,
	LZ_KIND_PIPE,
	LZ_KIND_COUNTER,     /* of eventfd() or timerfd_create() */
	LZ_KIND_UNIX_STREAM, /* a socket */
	LZ_KIND_DATAGRAM,    /* the same */
	LZ_KIND_STREAM       /* the same */
};
enum { LZ_FD_KIND_SHIFT = 4, LZ_FD_KIND = 7 << LZ_FD_KIND_SHIFT };
static inline __attribute__((always_inline)) enum lz_fd_kind lz_kind_of(uint8_t fd)
{
	return (enum lz_fd_kind)((fd & LZ_FD_KIND) >> LZ_FD_KIND_SHIFT);
}

/* A call that may wait is tried without waiting (tracer/stub/try.c). The first ones are told that by
 * a descriptor of a known kind. */
enum lz_fast_try {
	LZ_TRY_NONE,
	LZ_TRY_READ,
	LZ_TRY_READV,
	LZ_TRY_WRITE,
	LZ_TRY_WRITEV,
	LZ_TRY_PREADV,
	LZ_TRY_RECVFROM,
	LZ_TRY_RECVMSG,
	LZ_TRY_SENDTO,
	LZ_TRY_SENDMSG,
	LZ_TRY_ACCEPT,
	LZ_TRY_CONNECT,
	LZ_TRY_SENDFILE,
	LZ_TRY_POLL,
	LZ_TRY_PPOLL,
	LZ_TRY_SELECT,
	LZ_TRY_PSELECT,
	LZ_TRY_EPOLL,
	LZ_TRY_FUTEX,
	LZ_TRY_SLEEP,
	LZ_TRY_WAIT4,
	LZ_TRY_WAITID
};
static inline __attribute__((always_inline)) bool lz_try_of_kind(uint8_t try)
{
	return try >= LZ_TRY_READ && try <= LZ_TRY_SENDFILE;
}

/* Read and write may go by a descriptor that waits for nobody instead, all others not. */
static inline __attribute__((always_inline)) bool lz_only_tried(uint8_t try)
{
	return try && try != LZ_TRY_READ && try != LZ_TRY_WRITE;
}

/* What the stub knows of a system call. The lengths are sizes, or the result where they are 0. What
 * the rule says of output is not among them. */
struct lz_fast_call {
	uint8_t may;   /* be made by the stub */
	uint8_t fd;    /* what its first argument must be good for; 0: it is no descriptor */
	uint8_t rule;  /* enum lz_fast_rule */
	uint8_t takes; /* 1 + the number of the argument that points to what it takes; 0: nothing */
	uint8_t try;   /* enum lz_fast_try */
	uint8_t n_outs;
	uint8_t most; /* where a length is the result: the argument that limits it */
	struct {
		uint8_t arg;
		uint16_t size;
	} out[LZ_FAST_OUTS];
};

/* Where the pointer behind the last marker is: code with markers has it in r15, other code was
 * called with __lizard_pos set. What is not known is believed if both agree. */
enum lz_site_kind { LZ_SITE_ANY, LZ_SITE_MARKERS, LZ_SITE_PLAIN, LZ_SITE_KINDS };

/* UNREAD: its output is not in the record, but still in memory. PIECES: the record says itself where its
 * output is. LEASED: instead of its output a struct lz_call_leased is there. */
enum { LZ_CALL_UNREAD = 1, LZ_CALL_PIECES = 2, LZ_CALL_LEASED = 4 };

/* In the log, with the bytes of its output and of what it took behind it, and then what the tracer
 * has to know besides: lz_fast_note(). A multiple of 8 bytes. With PIECES a 64-bit count is behind it,
 * so many pieces, and then their bytes. */
struct lz_call_record {
	uint32_t len; /* of all */
	uint16_t nr, flags;
	uint64_t ip;
	uint64_t marker; /* the pointer behind the last marker; 0: there are none */
	uint64_t args[6];
	int64_t result;
};

/* What a call has read is in a file with a lease, from FROM on. */
struct lz_call_leased {
	uint64_t lease, from;
};

/* Memory that a call has written or taken. */
struct lz_call_piece {
	uint64_t addr, len;
};
enum {
	LZ_CALL_PIECES_MAX = 1032,    /* the most iovecs, and what is around them */
	LZ_TRY_MOST = 128 << 10,      /* bytes of all */
	LZ_TRY_ROOM = 2 * LZ_TRY_MOST /* in the log, for one call */
};
_Static_assert(LZ_CALL_PIECES_MAX * sizeof(struct lz_call_piece) + LZ_TRY_MOST +
                       sizeof(struct lz_call_record) + 16 <=
                   LZ_TRY_ROOM,
               "a call has room");

/* How many of the first pieces are structures that say where the bytes are that a call takes: not
 * in the record themselves. */
static inline __attribute__((always_inline)) uint32_t lz_try_headers(uint8_t try)
{
	return try == LZ_TRY_WRITEV ? 1 : try == LZ_TRY_SENDMSG ? 2 : 0;
}
static inline __attribute__((always_inline)) bool lz_try_takes(uint8_t try)
{
	return try == LZ_TRY_WRITE || try == LZ_TRY_WRITEV || try == LZ_TRY_SENDTO ||
	       try == LZ_TRY_SENDMSG;
}
/* Does it wait itself, instead of for its descriptor first? */
static inline __attribute__((always_inline)) bool lz_try_waits_inside(uint8_t try)
{
	return lz_try_takes(try) || try == LZ_TRY_ACCEPT || try == LZ_TRY_CONNECT ||
	       try == LZ_TRY_WAIT4 || try == LZ_TRY_WAITID;
}

/* Where it writes is told by memory that it may write to. */
static inline __attribute__((always_inline)) bool lz_try_scatters(uint8_t try)
{
	return try == LZ_TRY_READV || try == LZ_TRY_PREADV || try == LZ_TRY_RECVFROM ||
	       try == LZ_TRY_RECVMSG;
}

/* What a record is of that tells of no call but of an rdtsc or rdtscp. Its result is the length of
 * that. Behind it is a struct lz_counter_entry: the registers, as the instruction has left them. */
enum { LZ_CALL_RDTSC = 0xffff };

/* The same of an xsavec. The first argument is where it stores; behind the registers are the bytes of
 * all parts that lz_xsave_parts() tells of, and before them its header once more. */
enum { LZ_CALL_XSAVEC = 0xfffe, LZ_XSAVE_MOST = 8192 };
struct lz_counter_regs {
	uint64_t rax, rdx, rcx, rsi, rdi, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15, eflags,
	    rsp;
};
struct lz_counter_entry {
	struct lz_counter_regs regs;
	uint64_t fs_base, gs_base, cs, ss, ds, es, fs, gs;
};

/* The counter is TSC when CLOCK_MONOTONIC_RAW is NS, and so many cycles << 32 pass in a ns. */
struct lz_counter {
	uint64_t tsc, ns, scale; /* scale 0: not known */
	uint64_t last;           /* what was told last */
};
static inline __attribute__((always_inline)) uint64_t lz_counter_at(const struct lz_counter *c,
                                                                    uint64_t ns)
{
	return c->tsc + (uint64_t)((unsigned __int128)(ns - c->ns) * c->scale >> 32);
}

/* What is mapped of a file. MAPPED_SHARED: who opens it is watched, too. */
enum { LZ_MAPPED_PRIVATE = 1, LZ_MAPPED_SHARED = 2 };
static inline __attribute__((always_inline)) uint32_t lz_mapped_slot(uint64_t dev, uint64_t ino)
{
	return (uint32_t)(((dev << 32 ^ dev >> 32 ^ ino) * 0x9e3779b97f4a7c15) >> 40) %
	       LZ_MAPPED_FILES;
}

/* What lies at the end of the stub's stack: the program's registers before a call. */
struct lz_stub_saved {
	uint64_t r15, r14, r13, r12, rbp, rbx, rax, rdi, rsi, rdx, r10, r8, r9, eflags;
};

/* Threads that stand in front of a wait for a futex, instead of being in it: whoever wakes one
 * changes its state. One on standby waits in the stub for its turn, which another thread gives it there;
 * up to then the tracer can take it out. */
enum { LZ_PARKED = 64 };
enum lz_parked_state {
	LZ_WOKEN = 1,   /* its wait is over */
	LZ_STANDBY = 2, /* it is on standby */
	LZ_NEXT = 4,    /* and is to have the turn next */
	LZ_TURN = 8     /* it has it */
};
struct lz_futex_wait {
	uint64_t at;     /* the futex; 0: nobody */
	uint64_t ticket; /* the least has waited longest */
	uint32_t bits;
	uint32_t state; /* of enum lz_parked_state; a thread on standby waits for it by futex */
};

/* What a thread on standby goes on with: as in the page. */
struct lz_standby {
	struct lz_stub_saved regs;
	uint64_t site, back, rsp, pos_addr;
	uint64_t marker; /* goes to POS_ADDR when it has the turn; 0: nothing does */
	uint32_t open;
};

/* In the log, behind a struct lz_call_record: its thread has parked in place MINE, and the one in place
 * NEXT has the turn. The record is that of the wait that has begun. */
enum { LZ_CALL_HAND = 0xfffd };
struct lz_hand_entry {
	struct lz_counter_entry regs; /* as at a stop at the call's entry, but for rax */
	uint64_t next_r15;
	uint32_t mine, next, open, unused;
};

/* Memory of the program's own that is private, has no file, and is neither executed nor its stack or
 * heap: of what else there is calls that change mappings have stops. None of these adjoin each other
 * as the tracer gives them. */
struct lz_plain_range {
	uint64_t start, end;
};

/* What the stub waits in: before a call, nothing of which has been done; inside of it. Or it is about to
 * hand the turn to another thread. */
enum lz_waits { LZ_WAITS_NO, LZ_WAITS_BEFORE, LZ_WAITS_INSIDE, LZ_WAITS_HAND };

/* In lz_call_page.left[0]. */
enum { LZ_NO_LIMIT = -1 };

struct lz_call_page {
	/* For the assembly part, by these offsets. */
	uint64_t site;   /* 0: behind the program's system call instruction */
	uint64_t back;   /* 8: where the call is over, in the site's detour */
	uint64_t target; /* 16: where to go */
	uint64_t rsp;    /* 24: the program's */
	uint32_t kind;   /* 32: enum lz_site_kind */
	uint32_t insn;   /* 36: how long the rdtsc, rdtscp or xsavec is */
	uint8_t stack[LZ_STUB_STACK] __attribute__((aligned(64)));
	/* Set by the tracer */
	uint32_t go;         /* calls may be made */
	uint32_t tries;      /* and tried without waiting */
	uint32_t may_wait;   /* nobody else could run meanwhile */
	uint32_t may_hand;   /* the turn, to a thread on standby */
	uint32_t sticky;     /* what is left of a time may not be told */
	uint32_t one_thread; /* there is no other thread, so nobody ends a wait but a signal */
	uint32_t asks;       /* the stub may ask for options of sockets */
	uint32_t guard;      /* bytes of a marker buffer */
	uint64_t ring;       /* the present one; 0: there are no markers */
	uint64_t pos_addr;   /* the thread's __lizard_pos; 0: none */
	uint64_t brk_least;  /* nothing but the heap is between this and its end */
	/* Code of a dynamic linker that runs nothing of a file before it has closed it; else empty. */
	struct lz_plain_range linker;
	uint32_t n_plain;
	struct lz_plain_range plain[LZ_PLAIN_RANGES];
	uint32_t
	    n_files; /* the same of private data of files, of which the stub may deny writing */
	struct lz_plain_range file[LZ_FILE_RANGES];
	uint32_t n_small, may_map;                   /* the stub may map files */
	struct lz_plain_range small[LZ_SMALL_FILES]; /* these are mapped, as lz_maps_small() says */
	uint32_t cpu, node;                          /* what getcpu tells */
	uint64_t clock; /* the kernel's own clock_gettime(), which reads the counter; 0: none */
	uint32_t open;  /* the thread may read it; set by the stub, too */
	struct lz_counter counter;
	struct lz_xsave_component component[LZ_XSAVE_COMPONENTS];
	/* A call that takes from here is made with a stop. */
	struct lz_code_range code[LZ_CODE_RANGES];
	uint64_t local[LZ_LOCAL_DISKS]; /* devices whose files wait for nobody; 0: none */
	uint8_t
	    mapped[LZ_MAPPED_FILES]; /* by lz_mapped_slot(): there may be such a file, so mapped */
	uint32_t leases;             /* are held, on files that it reads */
	uint32_t guards;     /* the same on files that are mapped: nobody waits inside of a call */
	uint64_t may_refer;  /* to so many bytes; set by the stub, too */
	uint32_t parked_end; /* no place behind it is taken; set by the stub, too, like these: */
	uint64_t tickets;    /* given so far */
	struct lz_futex_wait parked[LZ_PARKED];
	struct lz_standby standby[LZ_PARKED];
	/* Set by the stub */
	uint32_t busy; /* a call is under way */
	/* Stored at once: of the log, what is behind it is free; enum lz_waits. */
	uint32_t head __attribute__((aligned(8)));
	uint32_t waits;
	uint32_t n_calls;   /* since the log was empty, or a few more */
	uint32_t full;      /* a call was refused since the log has no room, or stands for much */
	uint32_t notes;     /* what is known of signals changes by the log */
	uint32_t has_small; /* since the last stop */
	/* The log has mappings of which the tracer is to be told before any other call. In PUT_OFF_REST of the one
	 * that was made first, of the file PUT_OFF_FD, parts may be put in its place before that. */
	uint32_t put_off;
	uint64_t put_off_fd;
	struct lz_plain_range put_off_rest;
	uint32_t refers; /* a read of a file with a lease is under way */
	uint32_t made;   /* the call under way is over in the kernel, with this result: */
	int64_t result;
	/* the wait for a futex there was refused since it has the value; 0: none */
	uint64_t word_at;
	/* bytes that it has written of a write that is made with a stop now */
	uint64_t part;
	uint32_t waited;  /* the same, now or before: the call has left[] of its time */
	uint64_t n_waits; /* so far */
	int64_t left[2]; /* of the wait's time: seconds and nanoseconds; LZ_NO_LIMIT: it has none */
	uint8_t selector[LZ_FAST_THREADS];
	/* Set by the tracer, for each thread: the rest of the time of a call with stops. */
	int64_t rest[LZ_FAST_THREADS][2];
	uint8_t fd[LZ_FAST_FDS];
	uint8_t alone[LZ_FAST_FDS];   /* nobody else has the position */
	uint32_t leased[LZ_FAST_FDS]; /* the file's lease; 0: there is none */
	struct lz_fast_call call[LZ_FAST_CALLS];
	uint8_t log[LZ_CALL_LOG] __attribute__((aligned(4096)));
};

static inline __attribute__((always_inline)) struct lz_futex_wait *
lz_longest_parked(struct lz_call_page *p, uint64_t at, uint32_t bits)
{
	struct lz_futex_wait *found = 0;

	for (uint32_t i = 0; i < p->parked_end && i < LZ_PARKED; i++) {
		struct lz_futex_wait *w = &p->parked[i];

		if (w->at == at && w->bits & bits && !(w->state & LZ_WOKEN) &&
		    (!found || w->ticket < found->ticket))
			found = w;
	}
	return found;
}

/* A call of futex() with ARGS has woken RESULT threads in the kernel, which have waited longer. How
 * many are there with those that stand here? */
static inline __attribute__((always_inline)) int64_t
lz_wake_parked(struct lz_call_page *p, const uint64_t *args, int64_t result)
{
	const uint32_t op = (uint32_t)args[1] & (uint32_t)FUTEX_CMD_MASK;
	const uint32_t bits = op == FUTEX_WAKE ? UINT32_MAX : (uint32_t)args[5];
	struct lz_futex_wait *w;

	if ((op != FUTEX_WAKE && op != FUTEX_WAKE_BITSET) || !(args[1] & FUTEX_PRIVATE_FLAG))
		return result;
	/* the kernel wakes one before it counts */
	while ((!result || result < (int32_t)args[2]) && (w = lz_longest_parked(p, args[0], bits)))
		result += !(__atomic_fetch_or(&w->state, LZ_WOKEN, __ATOMIC_SEQ_CST) & LZ_WOKEN);
	return result;
}

/* The code, LZ_STUB_CODE bytes at most, which works wherever the page is right behind it. */
extern const uint8_t __start_lz_stub[], __stop_lz_stub[];
/* The entry for LZ_SITE_ANY, and how far it is to the one of the next kind. */
extern const uint8_t lz_stub_entry[], lz_stub_trap[];
/* Right behind the system call in which it waits. */
extern const uint8_t lz_stub_waited[];
/* Where a thread hands the turn over: behind the store that does so, behind the one that lets the other
 * thread go on, and where it is on standby from then on. */
extern const uint8_t lz_stub_handed[], lz_stub_turned[], lz_stub_standby[];
/* The same for the sites of rdtsc, of rdtscp, and of xsavec. */
extern const uint8_t lz_stub_counter[], lz_stub_rdtscp[], lz_stub_xsavec[];
enum { LZ_STUB_ENTRY = 16 };

#endif
