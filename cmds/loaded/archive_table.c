/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The object that cmds/pack/archive.c loads, and that is linked with libarchive. */
#include "cmds/pack/archive.h"

extern const struct lz_archive_calls lz_archive_table;

const struct lz_archive_calls lz_archive_table = {
#define LZ_ARCHIVE_VALUE(name) .name = name,
    LZ_ARCHIVE_CALLS(LZ_ARCHIVE_VALUE)
#undef LZ_ARCHIVE_VALUE
};
