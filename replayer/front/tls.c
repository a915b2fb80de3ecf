/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses of thread-local variables, as libthread_db finds them: from the thread's vector of
 * blocks, by the number of the module that the run-time loader has noted in its link map. Where
 * in the link map, the C library says itself. */
#include "replayer/program/elf_syms.h"
#include "replayer/front/inside.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE (1UL << 63) /* no canonical address, nor are those behind it */

enum {
	DTV_OFFSET = 8, /* of the vector's address in what fs points to: x86-64's ABI */
	SLOT_SIZE = 16  /* of an entry of the vector */
};

/* Where the file is mapped whose bytes the first mapping holds; its copy's path, malloced. */
static char *mapped_file(struct lz_front *f, const struct lz_vma *v)
{
	if (v->file == LZ_NO_FILE || v->offset || v->file >= lz_reader_n_files(f->reader))
		return NULL;
	return lz_reader_object(f->reader, v->file);
}

/* Where in a link map the module's number is; 0: no C library says so. */
static uint32_t modid_offset(struct lz_front *f)
{
	struct lz_vma *v;
	uint32_t n, field[3] = {0}; /* bits, how many, offset */

	if (lz_session_vmas(f->s, &v, &n) < 0)
		return 0;
	for (uint32_t i = 0; i < n && !field[2]; i++) {
		char *path = mapped_file(f, &v[i]);
		uint64_t at =
		    path ? lz_elf_dynamic_symbol(path, "_thread_db_link_map_l_tls_modid") : 0;

		if (at &&
		    lz_session_read(f->s, v[i].start + at, field, sizeof field) != sizeof field)
			field[2] = 0;
		free(path);
	}
	free(v);
	return field[0] == 64 ? field[2] : 0;
}

/* The module's number; 0: it has none now. */
static int modid(struct lz_front *f, uint64_t link_map, uint64_t *id)
{
	*id = 1; /* the program itself */
	if (!link_map)
		return 0;
	if (!f->tls.modid)
		f->tls.modid = modid_offset(f);
	if (!f->tls.modid)
		return lz_fail("the program's C library is not one whose thread-local variables "
		               "can be found");
	if (lz_session_read(f->s, link_map + f->tls.modid, id, sizeof *id) != sizeof *id ||
	    *id > UINT32_MAX)
		*id = 0;
	return 0;
}

/* The memory of module ID's variables in the thread whose fs base that is; 0: there is none yet. */
static uint64_t block(struct lz_front *f, uint64_t fs_base, uint64_t id)
{
	uint64_t dtv = 0, block = 0;

	if (lz_session_read(f->s, fs_base + DTV_OFFSET, &dtv, sizeof dtv) != sizeof dtv ||
	    lz_session_read(f->s, dtv + id * SLOT_SIZE, &block, sizeof block) != sizeof block ||
	    block == UINT64_MAX)
		return 0;
	return block;
}

/* An error would end each run of GDB's while such a variable is watched: of all that can befall
 * a watched expression it takes nothing but memory that cannot be read. So a variable that is
 * not there yet is where no memory can be. */
int lz_front_tls(struct lz_front *f, uint32_t tid, uint64_t link_map, uint64_t offset,
                 uint64_t *addr)
{
	struct user_regs_struct r;
	uint64_t id;

	if (modid(f, link_map, &id) < 0 || lz_session_thread_regs(f->s, tid, &r) < 0)
		return -1;
	uint64_t at = id ? block(f, r.fs_base, id) : 0;

	*addr = (at ? at : NOWHERE) + offset;
	return 0;
}
