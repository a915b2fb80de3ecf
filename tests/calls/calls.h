/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One recipe for each entry of the table of system calls: how to make the call so that it does something, and what must be
 * seen then. `calls NAME DIR` runs the recipe of NAME in the new directory DIR.
 *
 * Whatever the kernel is to write goes into memory from out(): after each call the program finds every byte of it that has
 * changed, and prints how many there are and a checksum. A recording that misses one prints another line in replay. */
#ifndef CALLS_H
#define CALLS_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
#define LZ_SYS(nr, name, ...) nr_##name = nr,
#include <lizard/syscalls.tbl>
#undef LZ_SYS
};

/* A recipe for a call that the table does not have does not compile; a call without a recipe does not link. */
#define RECIPE(name)                                                                               \
	enum { recipe_for_##name = nr_##name };                                                    \
	void recipe_##name(void);                                                                  \
	void recipe_##name(void)

/* Refused by the tracer, or absent: the program must get ENOSYS and go another way. */
#define REFUSED(name)                                                                              \
	RECIPE(name)                                                                               \
	{                                                                                          \
		refused(nr_##name);                                                                \
	}

/* The call itself: result, -errno on failure. */
#define SYS(name, ...) make_call(nr_##name, (long[8]){0, ##__VA_ARGS__} + 1, __LINE__, 0)
/* The same, which must succeed; ... which may be refused to this user: then the test is skipped. */
#define OK(name, ...) make_call(nr_##name, (long[8]){0, ##__VA_ARGS__} + 1, __LINE__, MUST)
#define PRIV(name, ...)                                                                            \
	make_call(nr_##name, (long[8]){0, ##__VA_ARGS__} + 1, __LINE__, MUST | MAY_EPERM)
/* ... which must fail like this. */
#define FAILS(error, name, ...)                                                                    \
	see(SYS(name, ##__VA_ARGS__) == -(error), #name " does not fail with " #error, __LINE__)
/* ... which a recorded program does not get. */
#define REFUSES(error, name, ...)                                                                  \
	do {                                                                                       \
		if (!native)                                                                       \
			FAILS(error, name, ##__VA_ARGS__);                                         \
	} while (0)
#define SEE(condition) see(condition, #condition, __LINE__)

enum { MUST = 1, MAY_EPERM = 2 };
long make_call(long nr, const long *args, int line, int how);
void see(bool condition, const char *text, int line);
void skip(const char *why) __attribute__((noreturn));
void refused(long nr);
/* SIZE bytes that the kernel may write to, filled with 0xa5. */
void *out(size_t size);
/* The same, filled with what is at FROM. */
void *inout(const void *from, size_t size);
/* Output I of the table's row is not seen here, because ... */
void not_seen(int i, const char *why);
/* The call can only be seen to fail here, because ... */
void only_fails(const char *why);
/* The next call does not return: says now what there is to say. */
void last_call(void);
extern bool native; /* not recorded */

/* fixtures.c */
/* A new file NAME with TEXT in it, open for reading and writing at its start. */
int file(const char *name, const char *text);
/* A pipe, and two sockets. */
void pair(int p[2]);
void sockets(int s[2], int type);
/* A listening TCP socket on loopback; *address is where. */
struct sockaddr_in;
int listener(struct sockaddr_in *address);
/* A child that waits until it is killed; a child that has ended with status 7. */
int sleeper(void);
int ended(void);
void end_child(int pid);
/* New namespaces for this program; skips if it may not. */
void unshared(int flags);
bool all_zero(const void *p, size_t n);

#endif
