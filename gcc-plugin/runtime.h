/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the runtime's own files share. */
#ifndef LIZARD_RUNTIME_H
#define LIZARD_RUNTIME_H

/* Sets the calling thread's __lizard_pos afresh and says hello. */
void __lizard_begin(void);

#endif
