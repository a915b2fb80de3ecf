/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the server share. */
#ifndef LIZARD_RSP_INT_H
#define LIZARD_RSP_INT_H

#include "replayer/rsp/rsp.h"
#include "replayer/rsp/wire.h"
#include <lizard/front.h>
#include <stdio.h>

enum { LZ_RSP_FILES_MAX = 64 };

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
};

/* ---- reply.c ---- */
/* 0, or -1 if the connection failed */
int lz_rsp_reply(struct lz_rsp *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- threads.c ---- */
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
int lz_rsp_signal_from_gdb(int signo);

/* ---- xfer.c ---- */
int lz_rsp_xfer(struct lz_rsp *p, const char *packet);

/* ---- files.c ---- */
int lz_rsp_vfile(struct lz_rsp *p, const char *packet, size_t len);
void lz_rsp_files_close(struct lz_rsp *p);

#endif
