/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/pack/archive.h"
#include "cmds/base/gdb_find.h"

#include <dlfcn.h>
#include <lizard/error.h>
#include <unistd.h>

const struct lz_archive_calls *lz_archive;

int lz_archive_load(void)
{
	char self[PATH_MAX], path[PATH_MAX];
	void *object;

	if (lz_archive)
		return 0;
	if (lz_gdb_self(self) < 0)
		return -1;
	lz_gdb_part(self, LZ_ARCHIVE_OBJECT, R_OK, path);
	/* it stays loaded */
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	lz_archive = object ? dlsym(object, LZ_ARCHIVE_TABLE) : NULL;
	return lz_archive ? 0 : lz_fail("cannot load libarchive: %s", dlerror());
}
