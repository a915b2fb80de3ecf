/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a command line for GCC asks for. */
#ifndef LIZARD_CC_CMDLINE_H
#define LIZARD_CC_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>

struct args {
	const char **v;
	size_t n, room;
};

struct command {
	bool inputs;  /* something to compile or link */
	bool headers; /* all of it is to be precompiled */
	bool no_link; /* -c, -S, -E and the like */
	bool shared;  /* -shared */
	bool relocatable;
	bool narrow;     /* -m32, -mx32, -m16 */
	bool check;      /* -flizard-check */
	const char *gcc; /* of --gcc=..., or NULL */
	bool help, version;
	bool nostdlib, is_static;
	bool gold, gc; /* -fuse-ld=gold, --gc-sections */
	bool entry;    /* the program names its entry point or has a linker script */
};

/* Out of memory ends the program. */
void *lz_cc_checked(void *p);
void lz_cc_push(struct args *a, const char *arg);

/* Adds ARG to FLAT, or what the response file @ARG holds. */
void lz_cc_expand(struct args *flat, const char *arg, int depth);
struct command lz_cc_understand(const struct args *flat);

#endif
