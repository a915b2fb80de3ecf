/* What the files of the server share. */
#ifndef LIZARD_RSP_INT_H
#define LIZARD_RSP_INT_H

#include "replayer/rsp.h"
#include "replayer/rsp_regs.h"
#include "replayer/rsp_wire.h"
#include <stdio.h>

struct lz_rsp_break {
	int kind; /* the digit of the Z packet */
	uint64_t addr, len;
	bool set; /* the session has it (an address that is not mapped now may be refused) */
};

enum { LZ_RSP_CAUGHT_MAX = 512 };

struct lz_rsp_file; /* an open vFile */

struct lz_rsp {
	struct lz_session *s;
	struct lz_reader *reader;
	struct lz_wire *wire;
	const struct lz_rsp_options *o;
	uint32_t pid;
	bool multiprocess, quiet, done, disconnected;
	struct lz_regmap *map;
	struct lz_regfile regs; /* scratch of the present position, when regs_valid */
	bool regs_valid;
	uint8_t *auxv;
	size_t auxv_len;
	struct lz_rsp_break *breaks;
	size_t n_breaks;
	uint64_t pass_signals; /* bit signo */
	struct lz_stop stop;   /* the last one */
	/* catch syscall */
	bool catching;
	uint32_t caught[LZ_RSP_CAUGHT_MAX], n_caught; /* 0: all */
	char syscall_stop; /* this stop is at a call's entry 'e' or return 'r' */
	uint64_t syscall_nr;
	char stop_reply[512];
	/* a diversion, while the user has not moved in time */
	struct lz_diversion *div;
	bool in_call, div_written;
	/* a move armed by a monitor packet, carried out by the next bc or bs */
	char *armed;
	char moving; /* 's' or 'c': this stop ends an armed move, begun by bs or bc */
	char *note;  /* what there is to say about the last move */
	struct lz_rsp_file *files;
};

/* ---- rsp.c ---- */
int lz_rsp_reply(struct lz_rsp *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a line to the note that the front end asks for, or, without front end, that the user sees. */
void lz_rsp_note(struct lz_rsp *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Registers of the diversion if there is one, else of the session. */
const struct lz_regfile *lz_rsp_regs(struct lz_rsp *p);
size_t lz_rsp_read(struct lz_rsp *p, uint64_t addr, void *buf, size_t len);

/* ---- rsp_packets.c: memory, registers, breakpoints. 0, or -1 if the connection failed ---- */
int lz_rsp_memory_packet(struct lz_rsp *p, const char *packet, size_t len);
int lz_rsp_register_packet(struct lz_rsp *p, const char *packet, size_t len);
int lz_rsp_break_packet(struct lz_rsp *p, const char *packet);
/* Tries again what could not be set before. */
void lz_rsp_breaks_retry(struct lz_rsp *p);

/* ---- rsp_divert.c ---- */
int lz_rsp_divert(struct lz_rsp *p);
void lz_rsp_undivert(struct lz_rsp *p);
/* Before a forward resume: what it means while there may be a diversion. */
enum lz_rsp_fate {
	LZ_FATE_MOVE,   /* the user moves in time: the diversion ends */
	LZ_FATE_CALL,   /* a call of a function goes on in the diversion */
	LZ_FATE_REFUSED /* a `jump` or its like: the diversion ends and nothing moves */
};
enum lz_rsp_fate lz_rsp_divert_fate(struct lz_rsp *p);
int lz_rsp_divert_run(struct lz_rsp *p, bool step);

/* ---- rsp_run.c ---- */
int lz_rsp_resume_packet(struct lz_rsp *p, const char *packet);
int lz_rsp_stop_packet(struct lz_rsp *p); /* ? */
void lz_rsp_first_stop(struct lz_rsp *p);
int lz_rsp_signal_to_gdb(int signo);
int lz_rsp_signal_from_gdb(int signo);
/* Sends the reply for p->stop. */
int lz_rsp_send_stop(struct lz_rsp *p);

/* ---- rsp_catch.c ---- */
int lz_rsp_catch_packet(struct lz_rsp *p, const char *args);
/* As lz_session_run() into p->stop; at a caught system call sets syscall_stop. */
int lz_rsp_run_catching(struct lz_rsp *p, enum lz_direction d);

/* ---- rsp_move.c ---- */
int lz_rsp_move(struct lz_rsp *p, const char *text);

/* ---- rsp_monitor.c ---- */
int lz_rsp_monitor(struct lz_rsp *p, const char *hex, size_t len);

/* ---- rsp_xfer.c ---- */
int lz_rsp_xfer(struct lz_rsp *p, const char *packet);
int lz_rsp_find_auxv(struct lz_rsp *p);

/* ---- rsp_files.c, rsp_proc.c ---- */
int lz_rsp_vfile(struct lz_rsp *p, const char *packet, size_t len);
void lz_rsp_files_close(struct lz_rsp *p);
/* The text of /proc/PID/NAME at the present position. malloced; NULL if there is none. */
char *lz_rsp_proc_file(struct lz_rsp *p, const char *name, size_t *len);
/* What /proc/PID/NAME links to; NULL if it is no link. Owned by the recording. */
const char *lz_rsp_proc_link(struct lz_rsp *p, const char *name);

#endif
