/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call that brought control from code without lines to where the goal is. */
#ifndef LIZARD_REPLAYER_CALL_SITE_H
#define LIZARD_REPLAYER_CALL_SITE_H

#include "replayer/navigate/nav.h"

/* Moves the session from the present instant on through the last such call before the goal, to
 * where GDB stops in what was called: in the innermost frame of the goal's stack that has lines
 * below one that has none, as main() below libc. 1: there; 0: no such stop between here and the
 * goal, and the session is anywhere; -1 (lz_fail). */
int lz_call_site_enter(struct lz_nav *nav);

#endif
