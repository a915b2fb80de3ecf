/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a directory. */
#ifndef LIZARD_DIR_H
#define LIZARD_DIR_H

#include <dirent.h>

/* Opens the directory NAME of AT for readdir(). A link is followed if AT is AT_FDCWD only: a
 * stranger's recording may have one in a folder's place. NULL, and errno says why, if it cannot. */
DIR *lz_open_dir(int at, const char *name);

#endif
