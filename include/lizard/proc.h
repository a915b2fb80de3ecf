/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ptraced process: memory, registers, injected system calls. Used by the tracer on the
 * recorded program and by the replayer on the re-executed one. Knows no recording. */
#ifndef LIZARD_PROC_H
#define LIZARD_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* What a replayed process has of Lizard's (restore.h): nothing is written, mapped or unmapped in
 * [start, end) but by lz_proc_write_own() and the restorer's set-up. */
struct lz_stub {
	uint64_t start, end;
	/* our end of the socket by which the stub takes descriptors */
	int socket;
	/* the page that it takes them in can be written to now */
	bool taking;
	/* memory is mapped more than once */
	bool shares;
	/* The instruction by which the process itself may change mappings while its other calls are
	 * barred, and the byte that bars them: lz_proc_bar(). */
	uint64_t map_insn, barred_byte;
	/* the kernel knows that byte; it does not do that; what it is */
	bool can_bar, cannot_bar, barred;
};

/* Instructions of the process are executed elsewhere than they are for everybody else: SHOW puts
 * what was read to where they are shown, HIDE what is to be set to where they are executed. */
struct lz_elsewhere {
	void (*show)(const struct lz_elsewhere *e, struct user_regs_struct *r);
	void (*hide)(const struct lz_elsewhere *e, struct user_regs_struct *r);
};

enum { LZ_LATER = 4 };
struct lz_proc {
	pid_t pid;
	/* /proc/PID/mem, opened read-write; reopened after exec */
	int mem;
	/* address of a `syscall` instruction that may be used */
	uint64_t syscall_insn;
	/* of a replayed process, the restorer's own; else NULL */
	struct lz_stub *stub;
	/* NULL: none are; for lz_proc_regs() and lz_proc_set_regs() */
	const struct lz_elsewhere *elsewhere;
	/* Behind syscall_insn is an int3, and this is the handler that the program has for SIGTRAP:
	 * calls have one stop instead of two. NULL: they have two. */
	const uint64_t *on_trap;
	/* Room for code that makes several calls, half a page; 0: none. */
	uint64_t calls_at;
	/* descriptors of the process that it is to close along with its next calls */
	int later[LZ_LATER];
	unsigned n_later;
};
#define LZ_NO_PROC ((struct lz_proc){.pid = -1, .mem = -1})

/* Sees to it that /proc shows the processes of our own PID namespace: else one is mounted that
 * only the calling thread and its later children see. */
int lz_proc_mine(void);
/* Opens /proc/PID/mem. The process must be stopped under ptrace. -1 with errno EACCES: it is
 * another user's, or undumpable. With mem -1 and pid set, reading and writing go by ptrace(),
 * slowly. */
int lz_proc_open(struct lz_proc *p, pid_t pid);
void lz_proc_close(struct lz_proc *p); /* closes files, leaves the process alone */

/* Whole transfers or -1. Writes go through page protection (FOLL_FORCE). A write that touches the
 * stub is refused. */
int lz_proc_read(const struct lz_proc *p, uint64_t addr, void *buf, size_t len);
int lz_proc_write(const struct lz_proc *p, uint64_t addr, const void *buf, size_t len);
/* Zeroes, quicker; refused where the program itself may not write, and at the stub. */
int lz_proc_clear(const struct lz_proc *p, uint64_t addr, size_t len);
/* Into the stub, and nowhere else. */
int lz_proc_write_own(const struct lz_proc *p, uint64_t addr, const void *buf, size_t len);
/* Reads as much as is mapped; returns the count (0 if nothing). */
size_t lz_proc_read_some(const struct lz_proc *p, uint64_t addr, void *buf, size_t len);

int lz_proc_regs(const struct lz_proc *p, struct user_regs_struct *r);
int lz_proc_set_regs(const struct lz_proc *p, const struct user_regs_struct *r);
/* NT_X86_XSTATE. *len: in capacity, out size. LZ_XSTATE_MAX is always enough. */
enum { LZ_XSTATE_MAX = 16384 };
int lz_proc_xstate(const struct lz_proc *p, uint8_t *buf, uint32_t *len);
int lz_proc_set_xstate(const struct lz_proc *p, const uint8_t *buf, uint32_t len);

/* Has thread PID ended, or is it gone? The end of a process's first thread is not reported before
 * all others are reaped. */
bool lz_proc_has_ended(pid_t pid);
/* waitpid() for a thread that is traced. -1 also if it has ended and that is not reported yet; this
 * is noticed when a signal comes. */
int lz_proc_wait(pid_t pid, int *status);

/* Makes the stopped process execute one system call at p->syscall_insn and puts its registers back.
 * One that would map, unmap, move or protect anything of the stub is refused. Must not be called
 * between the entry and exit stop of another system call, except at an exit stop. Signals that
 * arrive meanwhile stay pending (they are blocked around it by PTRACE_SETSIGMASK). *result gets the
 * raw result (-errno on failure). -1 only if ptrace itself failed or the process died. */
int lz_proc_syscall(struct lz_proc *p, int64_t *result, uint64_t nr, uint64_t a, uint64_t b,
                    uint64_t c, uint64_t d, uint64_t e, uint64_t f);
/* The same for several calls, one after the other whatever their results are. */
struct lz_proc_call {
	uint64_t nr, args[6];
	int64_t result;
	bool
	    if_done; /* not made if the one before has failed, or was not made: it has that result */
	bool untold; /* the result is not wanted, and need not be there */
};
int lz_proc_calls(struct lz_proc *p, struct lz_proc_call *c, size_t n);
/* The process closes FD when it makes its next calls, or by lz_proc_close_now() at last. */
int lz_proc_close_later(struct lz_proc *p, int fd);
int lz_proc_close_now(struct lz_proc *p);
/* The same as lz_proc_syscall() for the stub's own pages: arguments 4 to 6 are 0. */
int lz_proc_syscall_own(struct lz_proc *p, int64_t *result, uint64_t nr, uint64_t a, uint64_t b,
                        uint64_t c);

/* ON: while the process runs, its system calls are SIGSYS with SYS_USER_DISPATCH instead, but for
 * those of stub->map_insn, which are made. Only where lz_stub_can_bar(). An injected call ends
 * it. */
int lz_proc_bar(const struct lz_proc *p, bool on);

/* Hardware debug register SLOT (0..3). len 1,2,4,8. KIND 'x' execute, 'w' write, 'a' read or write,
 * 0 off. */
int lz_proc_set_debug(const struct lz_proc *p, int slot, uint64_t addr, int len, int kind);
/* Which slots fired since the last call (bits 0..3), and bit 14 for a single step; clears DR6. */
int lz_proc_take_debug(const struct lz_proc *p, uint64_t *fired);

/* One line of /proc/PID/maps. */
struct lz_maps_entry {
	uint64_t start, end, offset, inode;
	uint32_t prot; /* PROT_* */
	bool shared;
	unsigned dev_major, dev_minor;
	char path[4096];
};
/* Calls FN for each mapping; stops at non-zero and returns it. */
int lz_proc_maps(pid_t pid, int (*fn)(void *arg, const struct lz_maps_entry *e), void *arg);
/* The mapping at ADDR, as lz_proc_maps() gives it. 1; 0: there is none; -1: only a list can be had. */
int lz_proc_map_at(pid_t pid, uint64_t addr, struct lz_maps_entry *e);

/* Memory that a replay process maps more than once: the memfd of object N, and its descriptor
 * there. */
#define LZ_SHARED_NAME "lizard-shared-"
#define LZ_SHARED_FD(object) (15u + (object))
/* Which object is mapped, shared or privately; 0: none. */
uint32_t lz_proc_shared_object(const struct lz_maps_entry *e);

#endif
