/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Address <-> (mapped file, load bias, CFG, line table), through the whole history of mappings of a
 * recording: a library that came and went is found at the instants at which it was there. */
#ifndef LIZARD_REPLAYER_MODULES_H
#define LIZARD_REPLAYER_MODULES_H

#include <lizard/cfg.h>
#include <lizard/recording.h>
#include "replayer/program/lines.h"
#include "replayer/program/probes.h"

struct lz_modules;

/* Of a signal to a handler: where the program was, where it went on. */
struct lz_delivery {
	uint64_t marker, ip, handler, event;
};
/* A handler has returned: where the program goes on. */
struct lz_handler_return {
	uint64_t marker, ip, event;
};

/* One ELF file that was mapped executable somewhere, some time. */
struct lz_module {
	uint64_t start, end;           /* of the executable mapping */
	uint64_t bias;                 /* run-time address - link-time address */
	uint64_t from_event, to_event; /* mapped from after event from-1 to event to-1 */
	uint64_t from_marker, to_marker;
	uint32_t file;
	const char *path;       /* of what is read: the recording's copy */
	bool interpreter;       /* the run-time loader */
	struct lz_cfg *cfg;     /* lz_module_cfg() and */
	struct lz_lines *lines; /* lz_module_lines() open them, in the file's first instance */
	bool tried_cfg, tried_lines;
	/* of the run-time loader: link-time address of _dl_debug_state(), 0 = none */
	uint64_t hook;
	bool tried_hook;
	struct lz_long_jump *jumps; /* lz_module_long_jumps() */
	size_t n_jumps;
	bool tried_jumps;
};

/* Reads all events once. The reader must outlive it. */
struct lz_modules *lz_modules_new(struct lz_reader *r);
void lz_modules_free(struct lz_modules *m);
size_t lz_modules_count(const struct lz_modules *m);
struct lz_module *lz_modules_get(struct lz_modules *m, size_t i);
/* What is mapped executable at ADDR after EVENT events; NULL if nothing with a file is. */
struct lz_module *lz_modules_at(struct lz_modules *m, uint64_t addr, uint64_t event);

/* Is ADDR where the run-time loader tells debuggers that its list of libraries changes? */
bool lz_modules_hook(struct lz_modules *m, uint64_t addr, uint64_t event);
/* The stream offsets at which the loader itself made system calls, in order, each once. */
const uint64_t *lz_modules_loader_calls(const struct lz_modules *m, size_t *n);
/* In order. */
const struct lz_delivery *lz_modules_deliveries(const struct lz_modules *m, size_t *n);
const struct lz_handler_return *lz_modules_handler_returns(const struct lz_modules *m, size_t *n);

/* NULL if the file cannot be read or holds none; lz_error() says why in the first case. */
struct lz_cfg *lz_module_cfg(struct lz_modules *m, struct lz_module *mod);
struct lz_lines *lz_module_lines(struct lz_modules *m, struct lz_module *mod);
/* N of them, with link-time addresses. */
const struct lz_long_jump *lz_module_long_jumps(struct lz_modules *m, struct lz_module *mod,
                                                size_t *n);

#endif
