/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Registers that LLDB has kept here before it calls a function, and has put back after it. */
#include "replayer/rsp/inside.h"

#include <common/base/cleanup.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static size_t read_all(struct lz_rsp *p, uint8_t **bytes)
{
	size_t count = lz_front_n_registers(p->front), n = 0;

	*bytes = malloc((count + 1) * LZ_REG_MAX);
	for (size_t i = 0; *bytes && i < count; i++)
		n += lz_front_register(p->front, i, *bytes + n);
	return n;
}

/* The oldest is given up where there is no room: no debugger keeps so many at a time. */
static struct lz_rsp_kept *room(struct lz_rsp *p)
{
	struct lz_rsp_kept *oldest = &p->kept[0];

	for (size_t i = 0; i < LZ_RSP_KEPT_MAX; i++)
		if (p->kept[i].id < oldest->id)
			oldest = &p->kept[i];
	free(oldest->bytes);
	oldest->bytes = NULL;
	oldest->id = 0;
	return oldest;
}

static int keep(struct lz_rsp *p)
{
	uint8_t *bytes;

	if (!read_all(p, &bytes)) {
		free(bytes);
		return lz_rsp_error(p, "the registers cannot be read");
	}
	struct lz_rsp_kept *k = room(p);

	k->bytes = bytes;
	k->id = ++p->last_kept;
	return lz_rsp_reply(p, "%u", k->id);
}

static int put_back(struct lz_rsp *p, uint32_t id)
{
	size_t count = lz_front_n_registers(p->front);
	lz_auto_free size_t *nrs = calloc(count + 1, sizeof *nrs);
	struct lz_rsp_kept *k = NULL;

	for (size_t i = 0; i < LZ_RSP_KEPT_MAX; i++)
		if (id && p->kept[i].id == id)
			k = &p->kept[i];
	if (!k || !nrs)
		return lz_rsp_error(p, "no registers are kept under this number");
	for (size_t i = 0; i < count; i++)
		nrs[i] = i;
	int rc = lz_front_set_registers(p->front, nrs, count, k->bytes);

	free(k->bytes);
	*k = (struct lz_rsp_kept){0};
	return rc < 0 ? lz_rsp_error(p, lz_error()) : lz_rsp_reply(p, "OK");
}

int lz_rsp_kept_packet(struct lz_rsp *p, const char *packet)
{
	if (lz_rsp_select_suffix(p, packet) < 0)
		return lz_rsp_error(p, "there is no such thread");
	if (strncmp(packet, "QSave", 5) == 0)
		return keep(p);
	return put_back(p, (uint32_t)strtoul(packet + strlen("QRestoreRegisterState:"), NULL, 10));
}

void lz_rsp_kept_free(struct lz_rsp *p)
{
	for (size_t i = 0; i < LZ_RSP_KEPT_MAX; i++)
		free(p->kept[i].bytes);
}
