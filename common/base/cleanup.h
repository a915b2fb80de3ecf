/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variables whose value is given back when their scope is left, by whatever way.
 *
 *	lz_auto_free char *text = strdup(name);
 *	lz_auto_close int fd = open(text, O_RDONLY);
 *
 * Such a variable has a value from the start (NULL or -1 for none). What shall stay is taken out
 * with lz_keep(). */
#ifndef LIZARD_CLEANUP_H
#define LIZARD_CLEANUP_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void lz_free_behind(void *variable)
{
	void *p;

	memcpy(&p, variable, sizeof(p));
	free(p);
}

static inline void lz_close_behind(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define lz_auto_free __attribute__((cleanup(lz_free_behind)))
#define lz_auto_close __attribute__((cleanup(lz_close_behind)))

/* The value of POINTER, which is NULL from now on. */
#define lz_keep(pointer)                                                                           \
	({                                                                                         \
		typeof(pointer) kept_ = (pointer);                                                 \
		(pointer) = NULL;                                                                  \
		kept_;                                                                             \
	})

#endif
