/* What the files of the server share. */
#ifndef LIZARD_RSP_INT_H
#define LIZARD_RSP_INT_H

#include "replayer/rsp.h"
#include "replayer/rsp_wire.h"
#include <lizard/front.h>
#include <stdio.h>

enum { LZ_RSP_FILES_MAX = 64 };

struct lz_rsp {
	struct lz_front *front;
	struct lz_wire *wire;
	const struct lz_rsp_options *o;
	bool multiprocess, done, disconnected;
	int files[LZ_RSP_FILES_MAX]; /* open vFiles' descriptors; 0: none */
};

/* ---- rsp.c ---- */
int lz_rsp_reply(struct lz_rsp *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* 0, or -1 if the connection failed */
/* ---- rsp_packets.c: memory, registers, breakpoints, catch syscall, monitor ---- */
int lz_rsp_memory_packet(struct lz_rsp *p, const char *packet, size_t len);
int lz_rsp_register_packet(struct lz_rsp *p, const char *packet, size_t len);
int lz_rsp_break_packet(struct lz_rsp *p, const char *packet);
int lz_rsp_catch_packet(struct lz_rsp *p, const char *args);
int lz_rsp_monitor(struct lz_rsp *p, const char *hex, size_t len);

/* ---- rsp_run.c ---- */
int lz_rsp_resume_packet(struct lz_rsp *p, const char *packet);
int lz_rsp_stop_packet(struct lz_rsp *p); /* ? */
int lz_rsp_signal_from_gdb(int signo);

/* ---- rsp_xfer.c ---- */
int lz_rsp_xfer(struct lz_rsp *p, const char *packet);

/* ---- rsp_files.c ---- */
int lz_rsp_vfile(struct lz_rsp *p, const char *packet, size_t len);
void lz_rsp_files_close(struct lz_rsp *p);

#endif
