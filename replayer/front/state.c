/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory and registers: see include/lizard/front.h. */
#include "replayer/front/inside.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

const struct lz_regfile *lz_front_regs(struct lz_front *f)
{
	struct lz_regfile *r = &f->regs.file;
	uint32_t tid = lz_front_chosen(f);
	int rc;

	if (f->div.stepped_tid && tid == f->div.stepped_tid)
		return &f->div.stepped;
	if (f->regs.valid)
		return r;
	r->xstate_len = sizeof r->xstate;
	if (f->div.run && f->div.tid == tid)
		rc = lz_diversion_regs(f->div.run, &r->gpr) |
		     lz_diversion_xstate(f->div.run, r->xstate, &r->xstate_len);
	else
		rc = lz_session_thread_regs(f->s, tid, &r->gpr) |
		     lz_session_thread_xstate(f->s, tid, r->xstate, &r->xstate_len);
	if (rc < 0)
		return NULL;
	f->regs.valid = true;
	return r;
}

const char *lz_front_features(const struct lz_front *f)
{
	return lz_regmap_xml(f->map);
}

size_t lz_front_n_registers(const struct lz_front *f)
{
	return lz_regmap_count(f->map);
}

size_t lz_front_register(struct lz_front *f, size_t nr, void *bytes)
{
	const struct lz_regfile *r = lz_front_regs(f);

	return r ? lz_reg_get(f->map, r, nr, bytes) : 0;
}

/* Registers, like memory, change in a diversion only. */
static int store_registers(struct lz_front *f, const struct lz_regfile *old,
                           const struct lz_regfile *r)
{
	bool gpr = memcmp(&old->gpr, &r->gpr, sizeof r->gpr) != 0;
	bool x = memcmp(old->xstate, r->xstate, r->xstate_len) != 0;

	if (!gpr && !x)
		return 0;
	if (lz_front_divert(f) < 0 || lz_front_divert_into(f, lz_front_chosen(f)) < 0)
		return -1;
	f->regs.valid = false;
	if (gpr && lz_diversion_set_regs(f->div.run, &r->gpr) < 0)
		return -1;
	if (r->gpr.rsp != old->gpr.rsp && r->gpr.rsp > f->div.call_sp)
		f->div.call_sp = 0; /* its frame is popped */
	if (x && lz_diversion_set_xstate(f->div.run, r->xstate, r->xstate_len) < 0)
		return -1;
	return 0;
}

int lz_front_set_registers(struct lz_front *f, const size_t *nrs, size_t n, const void *bytes)
{
	const struct lz_regfile *old = lz_front_regs(f);
	struct lz_regfile *r = malloc(sizeof *r);
	const uint8_t *from = bytes;
	int rc = old ? 0 : -1;

	if (!r)
		return lz_fail("out of memory for registers");
	if (old)
		*r = *old;
	for (size_t i = 0; i < n && rc == 0; i++) {
		size_t size = lz_reg_set(f->map, r, nrs[i], from);

		rc = size ? 0 : lz_fail("there is no register number %zu", nrs[i]);
		from += size;
	}
	if (rc == 0)
		rc = store_registers(f, old, r);
	free(r);
	return rc;
}

size_t lz_front_read(struct lz_front *f, uint64_t addr, void *buf, size_t len)
{
	if (lz_front_scratch_read(f, addr, buf, len))
		return len;
	size_t n = f->div.run ? lz_diversion_read(f->div.run, addr, buf, len)
	                      : lz_session_read(f->s, addr, buf, len);

	lz_front_disarm(f, addr, buf, n);
	return n;
}

int lz_front_write(struct lz_front *f, uint64_t addr, const void *buf, size_t len)
{
	if (len == 0 || lz_front_scratch_write(f, addr, buf, len))
		return 0;
	if (lz_front_divert(f) < 0 || lz_diversion_write(f->div.run, addr, buf, len) < 0)
		return -1;
	if (!f->div.called)
		f->div.written = true;
	return 0;
}
