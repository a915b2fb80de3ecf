/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work in a process of its own. */
#ifndef LIZARD_CMDS_APART_H
#define LIZARD_CMDS_APART_H

/* What FN(ARG) returns, malloced; NULL: it failed. FN runs in a process of its own, on a thread with
 * a stack of usual size. A library that ends its process is a failure here, and so is a crash.
 * libarchive does so where memory is short. WHAT is done, for messages. */
char *lz_apart(const char *what, char *(*fn)(const void *arg), const void *arg);

#endif
