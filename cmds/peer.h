/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is at the other end of a connection from this machine. */
#ifndef LIZARD_PEER_H
#define LIZARD_PEER_H

#include <stdbool.h>

/* Was the TCP connection FD made by this user, or by root? False: lz_error(). */
bool lz_peer_is_us(int fd);

#endif
