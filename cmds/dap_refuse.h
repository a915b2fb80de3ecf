/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LIZARD_CMDS_DAP_REFUSE_H
#define LIZARD_CMDS_DAP_REFUSE_H

/* A Debug Adapter that opens nothing: it answers a launch with WHY, so that an editor shows that.
 * Returns an exit status when the editor has gone. */
int lz_dap_refuse(const char *why);

#endif
