/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the server share. */
#ifndef LIZARD_RSP_INT_H
#define LIZARD_RSP_INT_H

#include "replayer/rsp/rsp.h"
#include "replayer/rsp/wire.h"
#include <lizard/front.h>
#include <stdio.h>

enum { LZ_RSP_FILES_MAX = 64, LZ_RSP_KEPT_MAX = 16 };

/* All registers of a thread; id 0: none. */
struct lz_rsp_kept {
	uint32_t id;
	uint8_t *bytes;
};

/* A breakpoint that the debugger believes to have taken away. */
struct lz_rsp_spared {
	enum lz_front_kind kind;
	uint64_t addr;
};

struct lz_rsp {
	struct lz_front *front;
	struct lz_wire *wire;
	const struct lz_rsp_options *o;
	bool exec_events;
	bool multiprocess, done, disconnected;
	uint32_t general, resumed; /* the threads of Hg and Hc; 0: any */
	struct {
		uint32_t tid; /* 0: none */
		bool several;
	} asked_for;                 /* what T has asked for since the last stop */
	int files[LZ_RSP_FILES_MAX]; /* open vFiles' descriptors; 0: none */

	bool lldb, error_strings;
	uint32_t pid; /* as LLDB is told */
	struct lz_rsp_kept kept[LZ_RSP_KEPT_MAX];
	uint32_t last_kept;
	char *libraries; /* the list that was given last */

	struct lz_front_stop stop; /* the last one */
	char *why;                 /* what there was to say of it; NULL: nothing */
	char signal[32];           /* its name, if it is of a signal */
	bool moved;                /* it ended a move that is no run forwards of the debugger's */
	/* the next resume goes backwards, whatever it asks for */
	bool turned;
	struct lz_rsp_spared *spared;
	size_t n_spared;
};

/* ---- reply.c ---- */
/* 0, or -1 if the connection failed */
int lz_rsp_reply(struct lz_rsp *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What PRINT writes. */
int lz_rsp_print(struct lz_rsp *p, void (*print)(struct lz_rsp *p, FILE *to));
/* An error, with WHY if the debugger takes that. */
int lz_rsp_error(struct lz_rsp *p, const char *why);

/* ---- threads.c ---- */
bool lz_rsp_has_thread(struct lz_rsp *p, uint32_t tid);
/* The thread that `;thread:ID;` in a packet names is the chosen one from here on. */
int lz_rsp_select_suffix(struct lz_rsp *p, const char *packet);
/* The process's id. */
uint32_t lz_rsp_pid(const struct lz_rsp *p);
/* A thread's id as it stands in packets. */
void lz_rsp_print_id(struct lz_rsp *p, FILE *to, uint32_t tid);
/* The tid at TEXT ([pPID.]TID), 0 for any and all; *END: what is behind. */
uint32_t lz_rsp_parse_id(const char *text, char **end);
int lz_rsp_thread_packet(struct lz_rsp *p, const char *packet); /* H, T */
/* The thread that a packet for any thread means; 0: the one that stopped. */
uint32_t lz_rsp_chosen_thread(struct lz_rsp *p);
int lz_rsp_current_thread(struct lz_rsp *p);
int lz_rsp_thread_list(struct lz_rsp *p);
int lz_rsp_tls_address(struct lz_rsp *p, const char *args);
/* The object of qXfer:threads; malloced, NULL: failed. */
char *lz_rsp_threads_xml(struct lz_rsp *p, size_t *len);

/* ---- packets.c: memory, registers, breakpoints, catch syscall, monitor ---- */
int lz_rsp_memory_packet(struct lz_rsp *p, const char *packet, size_t len);
int lz_rsp_register_packet(struct lz_rsp *p, const char *packet, size_t len);
int lz_rsp_break_packet(struct lz_rsp *p, const char *packet);
int lz_rsp_catch_packet(struct lz_rsp *p, const char *args);
int lz_rsp_monitor(struct lz_rsp *p, const char *hex, size_t len);

/* ---- run.c ---- */
int lz_rsp_resume_packet(struct lz_rsp *p, const char *packet);
int lz_rsp_stop_packet(struct lz_rsp *p); /* ? */
/* The numbers of signals are GDB's own, to LLDB Linux's. */
int lz_rsp_signal_from(const struct lz_rsp *p, int signo);
int lz_rsp_signal(const struct lz_rsp *p); /* of the last stop */
/* Once more. */
int lz_rsp_last_stop(struct lz_rsp *p);
/* NR:HEX; of the chosen thread. */
void lz_rsp_print_register(struct lz_rsp *p, FILE *to, size_t nr);

/* ---- backward.c: reverse runs of a debugger that knows none ---- */
/* `monitor backward` */
void lz_rsp_turn(struct lz_rsp *p);
/* True: the Z or z packet was about a breakpoint that stays where it is. */
bool lz_rsp_spare(struct lz_rsp *p, char what, enum lz_front_kind kind, uint64_t addr);
/* R becomes the reverse run, if one is wanted. */
void lz_rsp_turn_resume(struct lz_rsp *p, struct lz_front_resume *r);

/* ---- stops.c ---- */
/* Takes NOTE, which was malloced, or is NULL. */
void lz_rsp_take_note(struct lz_rsp *p, char *note);
/* Does LLDB need the stop's reason in words of its own? The second one prints it. */
bool lz_rsp_wants_reason(const struct lz_rsp *p);
void lz_rsp_print_reason(struct lz_rsp *p, FILE *to);
void lz_rsp_print_threads(struct lz_rsp *p, FILE *to);
int lz_rsp_threads_info(struct lz_rsp *p);                  /* jThreadsInfo */
int lz_rsp_thread_stop(struct lz_rsp *p, const char *args); /* qThreadStopInfo */

/* ---- identity.c ---- */
int lz_rsp_identity_query(struct lz_rsp *p, const char *q, size_t len);
int lz_rsp_identity_set(struct lz_rsp *p, const char *q);

/* ---- areas.c ---- */
int lz_rsp_region(struct lz_rsp *p, const char *args);        /* qMemoryRegionInfo */
int lz_rsp_area_packet(struct lz_rsp *p, const char *packet); /* _M, _m */

/* ---- kept_registers.c: QSaveRegisterState, QRestoreRegisterState ---- */
int lz_rsp_kept_packet(struct lz_rsp *p, const char *packet);
void lz_rsp_kept_free(struct lz_rsp *p);

/* ---- xfer.c ---- */
/* Has the list of libraries changed since it was given? */
bool lz_rsp_libraries_changed(struct lz_rsp *p);
int lz_rsp_xfer(struct lz_rsp *p, const char *packet);

/* ---- files.c ---- */
int lz_rsp_vfile(struct lz_rsp *p, const char *packet, size_t len);
void lz_rsp_files_close(struct lz_rsp *p);

#endif
