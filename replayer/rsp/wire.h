/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packets of the remote serial protocol on two file descriptors.
 *
 * A thread reads ahead, so that the interrupt byte (0x03) is noticed during a long run. */
#ifndef LIZARD_RSP_WIRE_H
#define LIZARD_RSP_WIRE_H

#include <stdbool.h>
#include <stddef.h>

enum { LZ_WIRE_PACKET_MAX = 0x20000 }; /* payload bytes, said in qSupported */

struct lz_wire;

/* INTERRUPT(ARG) is called in another thread. */
struct lz_wire *lz_wire_new(int in, int out, void (*interrupt)(void *arg), void *arg);
/* What arrives on FD (non-blocking) during a run is shown to the user. Before the first run. */
void lz_wire_echo(struct lz_wire *w, int fd);
void lz_wire_free(struct lz_wire *w);

/* The next packet, unescaped and NUL-terminated; the caller frees it. NULL: the peer is gone. */
char *lz_wire_next(struct lz_wire *w, size_t *len);
int lz_wire_send(struct lz_wire *w, const char *payload, size_t len);
/* Console output for the user (an O packet); only between a resume and its stop reply. */
int lz_wire_console(struct lz_wire *w, const char *text);
void lz_wire_no_ack(struct lz_wire *w);
/* Between these two calls an interrupt byte interrupts; none does when the second one has
 * returned. */
void lz_wire_run_begin(struct lz_wire *w);
void lz_wire_run_end(struct lz_wire *w);
/* Has an interrupt come just now that no run has taken? Asked before a run; forgets it. */
bool lz_wire_interrupted(struct lz_wire *w);

/* Hex digits into bytes; returns how many bytes there were (stops at the first non-digit). */
size_t lz_unhex(const char *hex, size_t hex_len, void *bytes, size_t max);
/* malloced, NUL-terminated. */
char *lz_hex(const void *bytes, size_t len);

#endif
