/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LZ_REPLAYER_STRACE_KINDS_H
#define LZ_REPLAYER_STRACE_KINDS_H

#include "replayer/strace/show.h"

/* Argument I of the call, which is of KIND as calls.tbl has it. KIND is changed. */
void lz_show_kind(struct lz_show *s, char *kind, unsigned i);

#endif
