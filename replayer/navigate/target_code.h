/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Targets in optimised code: their function's machine code says between which of its markers
 * control can come there. It is read when that is first asked. */
#ifndef LIZARD_REPLAYER_TARGET_CODE_H
#define LIZARD_REPLAYER_TARGET_CODE_H

#include "replayer/answers/passes.h"
#include "replayer/stream/target.h"

struct lz_target_code {
	struct lz_stream *stream;
	struct lz_modules *modules;
	uint32_t fn;
	uint64_t addr;
	struct lz_fn_code *code;
	struct lz_passes *passes; /* NULL: it is not known */
	bool asked;
};

/* T asks C, which must outlive it and not move. */
void lz_target_code_begin(struct lz_target_code *c, struct lz_stream *s, struct lz_modules *m,
                          struct lz_target *t);
void lz_target_code_end(struct lz_target_code *c);

#endif
