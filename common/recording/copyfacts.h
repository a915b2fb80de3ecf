/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known about one version of a mapped file: kept in a store of copies (copystore.h), so
 * that neither the file nor its copy has to be read again. */
#ifndef LIZARD_COPYFACTS_H
#define LIZARD_COPYFACTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <common/cfg/debuginfo.h>
#include <lizard/randinsn.h>

/* Where a file has instructions of one kind, as lz_insn_find() gives them. */
struct lz_insns {
	enum { LZ_INSNS_NOT_SOUGHT, LZ_INSNS_SURE, LZ_INSNS_UNSURE } state;
	uint64_t *at; /* file offsets, owned */
	size_t n;
};

struct lz_copy {
	uint64_t size;
	uint32_t crc;
	char *build_id; /* "": it has none; owned */
	struct lz_debug_look debug;
	struct lz_insns insns[LZ_INSNS_KINDS];
	char *key;            /* the name of its facts in the store, owned; NULL: none are kept */
	uint64_t inode;       /* of the copy in the store */
	struct timespec time; /* when that was written */
};
void lz_copy_free(struct lz_copy *c);

/* Names of facts begin so, in a folder that has other files. */
#define LZ_FACTS_PREFIX "f-"

/* Of the facts KEY in DIRFD. 1; 0: there are none that can be used, and *C is empty; 2: they are of
 * another boot of this machine, so what they tell of may not have reached the disk. Never an
 * error: a store may be damaged. *C gets no key. */
int lz_facts_read(int dirfd, const char *key, struct lz_copy *c);
/* Replaces the facts C->key at once. That they cannot be written is no failure. */
void lz_facts_write(int dirfd, const struct lz_copy *c);

#endif
