/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kind of processor this is. */
#ifndef LIZARD_TRACER_MACHINE_H
#define LIZARD_TRACER_MACHINE_H

/* "": not known. */
struct lz_machine {
	char model[128], flags[8192];
};
const struct lz_machine *lz_machine(void);
/* For the next tracer, and there. */
void lz_machine_get(struct lz_machine *to);
void lz_machine_set(const struct lz_machine *from);

#endif
