/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What differs between the versions of GCC, in the words of the newest. */
#ifndef LIZARD_PLUGIN_VERSIONS_H
#define LIZARD_PLUGIN_VERSIONS_H

#include "plugin-version.h"

#if GCCPLUGIN_VERSION_MAJOR < 14
#define last_nondebug_stmt last_stmt
#endif

#endif
