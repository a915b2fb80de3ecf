/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/program/jumps.h"

#include <stdlib.h>
#include <string.h>
#include <lizard/error.h>
#include "replayer/program/defs.h"

enum {
	DEPTH_MAX = 8, /* copies of a value, from one register to the next */
	EFFORT = 1 << 12
};

struct search {
	const struct lz_jumps_code *code;
	struct lz_ops ops;
	uint64_t label[LZ_TARGETS_MAX]; /* instructions whose addresses stand somewhere */
	size_t n_labels;
	uint64_t target[LZ_TARGETS_MAX]; /* of the jump in hand */
	size_t n;
	uint32_t effort; /* values looked for */
	bool lost;       /* a jump may lead anywhere */
};

static bool add(uint64_t *set, size_t *n, uint64_t pc)
{
	for (size_t i = 0; i < *n; i++)
		if (set[i] == pc)
			return true;
	if (*n == LZ_TARGETS_MAX)
		return false;
	set[(*n)++] = pc;
	return true;
}

static bool add_target(struct search *s, uint64_t pc)
{
	return add(s->target, &s->n, pc);
}

/* ---- labels ---- */

static bool add_label(struct search *s, uint64_t pc)
{
	size_t i;

	if (pc < s->ops.v[0].pc || pc > s->ops.v[s->ops.n - 1].pc)
		return true;
	i = lz_ops_at(&s->ops, pc);
	return i == s->ops.n || i == s->ops.entry || add(s->label, &s->n_labels, pc);
}

/* A label's address comes out of the file's data, at any place, or out of an instruction. */
static bool find_labels(struct search *s)
{
	const struct lz_jumps_code *c = s->code;

	for (size_t i = 0; i < c->n_data; i++) {
		size_t len = c->data[i].where.end - c->data[i].where.start;
		uint64_t pc;

		for (size_t at = 0; at + sizeof(pc) <= len; at++) {
			memcpy(&pc, c->data[i].bytes + at, sizeof(pc));
			if (!add_label(s, pc))
				return false;
		}
	}
	for (size_t i = 0; i < s->ops.n; i++)
		if (!add_label(s, s->ops.v[i].address))
			return false;
	return true;
}

/* ---- tables ---- */

/* NULL: none that cannot change. */
static const struct lz_jumps_data *constants_at(const struct search *s, uint64_t addr)
{
	const struct lz_jumps_data *d = s->code->data;

	for (size_t i = 0; i < s->code->n_data; i++)
		if (addr >= d[i].where.start && addr < d[i].where.end)
			return d[i].constant ? &d[i] : NULL;
	return NULL;
}

/* Distances from the table itself, up to the first that leads to no instruction. Only compilers
 * write these. A case that cannot be has a label, too: it may stand behind the last instruction. */
static bool add_distances(struct search *s, uint64_t table)
{
	const struct lz_jumps_data *d = constants_at(s, table);
	bool any = false;

	for (uint64_t at = table; d && at + 4 <= d->where.end; at += 4) {
		int32_t distance;
		uint64_t pc;

		memcpy(&distance, d->bytes + (at - d->where.start), sizeof(distance));
		pc = table + (uint64_t)(int64_t)distance;
		if (lz_ops_at(&s->ops, pc) < s->ops.n) {
			if (!add_target(s, pc))
				return false;
			any = true;
		} else if (!lz_ops_end(&s->ops, pc)) {
			break;
		}
	}
	return any;
}

/* Addresses, in a table that the code finds by AT: it may begin before or behind, even beside
 * other data; so all labels count. */
static bool add_addresses(struct search *s, uint64_t at)
{
	for (size_t i = 0; i < s->n_labels; i++)
		add_target(s, s->label[i]);
	return constants_at(s, at) && s->n_labels;
}

/* ---- values ---- */
/* False: not to be told. Nothing is visited, and *VALUE stays 0, where no definition reaches. */

typedef bool visit_def(struct search *s, size_t i, uint64_t *value);

/* Every definition of what R holds in front of number I, copies followed. */
static bool each_def(struct search *s, size_t i, ZydisRegister r, int depth, visit_def *visit,
                     uint64_t *value)
{
	struct lz_defs d;
	bool all = r != ZYDIS_REGISTER_NONE && depth && s->effort++ < EFFORT &&
	           lz_ops_defs(&s->ops, i, lz_whole_register(r), &d);

	for (size_t k = 0; all && k < d.n; k++) {
		const struct lz_op *op = &s->ops.v[d.v[k]];
		const ZydisDecodedOperand *from = &op->operand[1];

		if (op->mnemonic == ZYDIS_MNEMONIC_MOV &&
		    from->type == ZYDIS_OPERAND_TYPE_REGISTER && from->size == 64)
			all = each_def(s, d.v[k], from->reg.value, depth - 1, visit, value);
		else
			all = visit(s, d.v[k], value);
	}
	return all;
}

static bool same(uint64_t *value, uint64_t v)
{
	if (!*value)
		*value = v;
	return v && *value == v;
}

static bool visit_constant(struct search *s, size_t i, uint64_t *value)
{
	return same(value, s->ops.v[i].address);
}

static bool constant_in(struct search *s, size_t i, ZydisRegister r, uint64_t *value)
{
	*value = 0;
	return each_def(s, i, r, DEPTH_MAX, visit_constant, value);
}

/* The table that number I reads at an index, in elements of SIZE bits. */
static bool table_read(struct search *s, size_t i, const ZydisDecodedOperand *from, uint16_t size,
                       uint64_t *table)
{
	const ZydisDecodedOperandMem *m = &from->mem;

	if (from->type != ZYDIS_OPERAND_TYPE_MEMORY || from->size != size ||
	    m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS ||
	    m->index == ZYDIS_REGISTER_NONE)
		return false;
	if (m->base == ZYDIS_REGISTER_NONE && m->scale * 8 == size) {
		*table = (uint64_t)m->disp.value;
		return *table != 0;
	}
	if (m->disp.value && size == 32)
		return false;
	return constant_in(s, i, m->base, table) ||
	       (m->scale == 1 && constant_in(s, i, m->index, table));
}

static bool visit_distance(struct search *s, size_t i, uint64_t *value)
{
	const struct lz_op *op = &s->ops.v[i];
	uint64_t table;

	if (op->mnemonic == ZYDIS_MNEMONIC_CDQE) {
		struct lz_defs d;

		if (!lz_ops_defs(&s->ops, i, ZYDIS_REGISTER_RAX, &d) || d.n > 1)
			return false;
		if (!d.n)
			return true;
		i = d.v[0];
		op = &s->ops.v[i];
		if (op->mnemonic != ZYDIS_MNEMONIC_MOV)
			return false;
	} else if (op->mnemonic != ZYDIS_MNEMONIC_MOVSXD) {
		return false;
	}
	return table_read(s, i, &op->operand[1], 32, &table) && (!table || same(value, table));
}

/* The table whose distance R holds. */
static bool distance_in(struct search *s, size_t i, ZydisRegister r, uint64_t *table)
{
	*table = 0;
	return each_def(s, i, r, DEPTH_MAX, visit_distance, table);
}

/* ---- jumps ---- */

static bool add_from_table(struct search *s, size_t i, const ZydisDecodedOperand *from)
{
	uint64_t table;

	return table_read(s, i, from, 64, &table) && (!table || add_addresses(s, table));
}

/* table + distance */
static bool add_from_sum(struct search *s, size_t i)
{
	const ZydisDecodedOperand *o = s->ops.v[i].operand;
	uint64_t base, table;

	if (o[0].type != ZYDIS_OPERAND_TYPE_REGISTER || o[1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    o[0].size != 64)
		return false;
	if (!(constant_in(s, i, o[1].reg.value, &base) &&
	      distance_in(s, i, o[0].reg.value, &table)) &&
	    !(constant_in(s, i, o[0].reg.value, &base) &&
	      distance_in(s, i, o[1].reg.value, &table)))
		return false;
	return !base || !table || (base == table && add_distances(s, table));
}

/* What number I leaves in its first operand is where the jump leads. */
static bool visit_target(struct search *s, size_t i, uint64_t *value)
{
	const struct lz_op *op = &s->ops.v[i];

	(void)value;
	if (op->address)
		return lz_ops_at(&s->ops, op->address) < s->ops.n && add_target(s, op->address);
	if (op->mnemonic == ZYDIS_MNEMONIC_MOV)
		return add_from_table(s, i, &op->operand[1]);
	return op->mnemonic == ZYDIS_MNEMONIC_ADD && add_from_sum(s, i);
}

static bool find_targets(struct search *s, size_t i)
{
	const ZydisDecodedOperand *to = &s->ops.v[i].operand[0];
	uint64_t value = 0;

	s->n = 0;
	return to->type == ZYDIS_OPERAND_TYPE_REGISTER
	           ? each_def(s, i, to->reg.value, DEPTH_MAX, visit_target, &value)
	           : add_from_table(s, i, to);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Keeps what was found of a jump, and makes its edges. 1: there are new ones */
static int keep(struct search *s, struct lz_jump *j, size_t i)
{
	int rc = 0;

	for (size_t k = 0; k < s->n; k++) {
		int edge = lz_ops_edge(&s->ops, i, lz_ops_at(&s->ops, s->target[k]));

		if (edge < 0)
			s->lost = true;
		rc |= edge > 0;
	}
	if (!rc)
		return 0;
	free(j->targets);
	j->targets = malloc(s->n * sizeof(*j->targets));
	if (!j->targets)
		return -1;
	memcpy(j->targets, s->target, s->n * sizeof(*j->targets));
	j->n = s->n;
	qsort(j->targets, j->n, sizeof(*j->targets), by_value);
	return rc;
}

/* A jump's targets are new ways for values to other jumps, so all are looked at until nothing is
 * new. */
static int find_all(struct search *s, struct lz_jumps *jumps)
{
	int news = 1;

	while (news > 0) {
		news = 0;
		for (size_t k = 0; k < jumps->n; k++) {
			size_t i = lz_ops_at(&s->ops, jumps->v[k].pc);
			int rc;

			s->lost = s->lost || !find_targets(s, i);
			rc = s->lost ? 0 : keep(s, &jumps->v[k], i);
			if (s->lost || rc < 0)
				return rc < 0 ? -1 : 0;
			news |= rc;
		}
	}
	return 0;
}

static bool list_jumps(struct search *s, struct lz_jumps *jumps)
{
	size_t n = 0;

	for (size_t i = 0; i < s->ops.n; i++)
		n += s->ops.v[i].indirect;
	jumps->v = calloc(n + 1, sizeof(*jumps->v));
	for (size_t i = 0; jumps->v && i < s->ops.n; i++)
		if (s->ops.v[i].indirect)
			jumps->v[jumps->n++].pc = s->ops.v[i].pc;
	return jumps->v != NULL;
}

static bool read_code(struct search *s)
{
	const struct lz_jumps_code *c = s->code;

	for (size_t i = 0; i < c->n; i++)
		if (!lz_ops_add(&s->ops, c->bytes[i], c->range[i].start,
		                c->range[i].end - c->range[i].start))
			return false;
	return lz_ops_link(&s->ops, c->entry);
}

static void forget(struct lz_jumps *jumps)
{
	for (size_t i = 0; i < jumps->n; i++) {
		free(jumps->v[i].targets);
		jumps->v[i] = (struct lz_jump){.pc = jumps->v[i].pc};
	}
}

int lz_jumps_find(const struct lz_jumps_code *code, struct lz_jumps *jumps)
{
	struct search *s = calloc(1, sizeof(*s));
	int rc = -1;

	*jumps = (struct lz_jumps){NULL, 0};
	if (s) {
		s->code = code;
		s->lost = !read_code(s) || !find_labels(s);
		rc = !list_jumps(s, jumps) ? -1 : s->lost ? 0 : find_all(s, jumps);
		if (s->lost)
			forget(jumps);
		lz_ops_free(&s->ops);
	}
	free(s);
	if (rc) {
		lz_jumps_free(jumps);
		return lz_fail("out of memory for the targets of jumps");
	}
	return 0;
}

void lz_jumps_free(struct lz_jumps *jumps)
{
	for (size_t i = 0; i < jumps->n; i++)
		free(jumps->v[i].targets);
	free(jumps->v);
	*jumps = (struct lz_jumps){NULL, 0};
}
