/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What differs between the versions of GCC, in the words of the newest. */
#ifndef LIZARD_PLUGIN_VERSIONS_H
#define LIZARD_PLUGIN_VERSIONS_H

#include "plugin-version.h"

#if GCCPLUGIN_VERSION_MAJOR < 14
#define last_nondebug_stmt last_stmt
#endif

/* By what gcov knows again where a statement stands. Before GCC 16 that is the location with its
 * discriminator. */
#if GCCPLUGIN_VERSION_MAJOR < 16
#define lz_gcov_place(where) (where)
#else
#define lz_gcov_place(where) get_pure_location(where)
#endif

#endif
