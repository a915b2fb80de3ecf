/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libarchive, which is loaded when it is used. Ten more libraries come with it, and it would make
 * each start of a recorder 2 ms longer. */
#ifndef LIZARD_CMDS_ARCHIVE_H
#define LIZARD_CMDS_ARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

/* The functions that are used, sorted. */
#define LZ_ARCHIVE_CALLS(X)                                                                        \
	X(archive_entry_filetype)                                                                  \
	X(archive_entry_free)                                                                      \
	X(archive_entry_hardlink)                                                                  \
	X(archive_entry_mtime)                                                                     \
	X(archive_entry_new)                                                                       \
	X(archive_entry_pathname)                                                                  \
	X(archive_entry_set_filetype)                                                              \
	X(archive_entry_set_hardlink)                                                              \
	X(archive_entry_set_mtime)                                                                 \
	X(archive_entry_set_pathname)                                                              \
	X(archive_entry_set_perm)                                                                  \
	X(archive_entry_set_size)                                                                  \
	X(archive_entry_size)                                                                      \
	X(archive_entry_sparse_add_entry)                                                          \
	X(archive_error_string)                                                                    \
	X(archive_filter_bytes)                                                                    \
	X(archive_read_data_block)                                                                 \
	X(archive_read_free)                                                                       \
	X(archive_read_new)                                                                        \
	X(archive_read_next_header)                                                                \
	X(archive_read_open)                                                                       \
	X(archive_read_support_filter_zstd)                                                        \
	X(archive_read_support_format_tar)                                                         \
	X(archive_set_error)                                                                       \
	X(archive_write_add_filter_zstd)                                                           \
	X(archive_write_close)                                                                     \
	X(archive_write_data)                                                                      \
	X(archive_write_fail)                                                                      \
	X(archive_write_free)                                                                      \
	X(archive_write_header)                                                                    \
	X(archive_write_new)                                                                       \
	X(archive_write_open_fd)                                                                   \
	X(archive_write_set_format_pax_restricted)

struct lz_archive_calls {
#define LZ_ARCHIVE_MEMBER(name) __typeof__(name) *name;
	LZ_ARCHIVE_CALLS(LZ_ARCHIVE_MEMBER)
#undef LZ_ARCHIVE_MEMBER
};

/* Valid when lz_archive_load() has returned 0. */
extern const struct lz_archive_calls *lz_archive;
int lz_archive_load(void);

/* What the loaded object has under this name. */
#define LZ_ARCHIVE_OBJECT "lizard_archive.so"
#define LZ_ARCHIVE_TABLE "lz_archive_table"

#endif
