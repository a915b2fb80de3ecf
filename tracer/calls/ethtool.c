/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SIOCETHTOOL: the interface's request points to a structure whose first word is the command.
 * What a command writes there is in the table; others are refused as by a driver that does not
 * have them. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"

#include <lizard/error.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <net/if.h>
#include <string.h>

/* At most as many elements as can follow where nothing says how many do. */
enum { SETS = 64, MODES = 3 * 127, MOST = 1 << 20 };

/* The structure's size; behind it as many elements as the 32 bits at `count` of it say, `always`
 * if that is 0. */
static const struct command {
	uint32_t command;
	uint16_t size, count, elem, always;
} commands[] = {
    /* clang-format off */
    {ETHTOOL_GSET, sizeof(struct ethtool_cmd), 0, 0, 0}, {ETHTOOL_SSET, 0, 0, 0, 0},
    {ETHTOOL_GLINKSETTINGS, sizeof(struct ethtool_link_settings), 0, 4, MODES}, {ETHTOOL_SLINKSETTINGS, 0, 0, 0, 0},
    {ETHTOOL_GDRVINFO, sizeof(struct ethtool_drvinfo), 0, 0, 0}, {ETHTOOL_GLINK, 8, 0, 0, 0}, {ETHTOOL_NWAY_RST, 0, 0, 0, 0},
    {ETHTOOL_GWOL, sizeof(struct ethtool_wolinfo), 0, 0, 0}, {ETHTOOL_SWOL, 0, 0, 0, 0},
    {ETHTOOL_GMSGLVL, 8, 0, 0, 0}, {ETHTOOL_SMSGLVL, 0, 0, 0, 0}, {ETHTOOL_PHYS_ID, 0, 0, 0, 0},
    {ETHTOOL_GREGS, 12, 8, 1, 0}, {ETHTOOL_GEEPROM, 16, 12, 1, 0}, {ETHTOOL_GMODULEEEPROM, 16, 12, 1, 0},
    {ETHTOOL_GMODULEINFO, sizeof(struct ethtool_modinfo), 0, 0, 0},
    {ETHTOOL_GCOALESCE, sizeof(struct ethtool_coalesce), 0, 0, 0}, {ETHTOOL_SCOALESCE, 0, 0, 0, 0},
    {ETHTOOL_GRINGPARAM, sizeof(struct ethtool_ringparam), 0, 0, 0}, {ETHTOOL_SRINGPARAM, 0, 0, 0, 0},
    {ETHTOOL_GPAUSEPARAM, sizeof(struct ethtool_pauseparam), 0, 0, 0}, {ETHTOOL_SPAUSEPARAM, 0, 0, 0, 0},
    {ETHTOOL_GCHANNELS, sizeof(struct ethtool_channels), 0, 0, 0}, {ETHTOOL_SCHANNELS, 0, 0, 0, 0},
    {ETHTOOL_GEEE, sizeof(struct ethtool_eee), 0, 0, 0}, {ETHTOOL_SEEE, 0, 0, 0, 0},
    {ETHTOOL_GFECPARAM, sizeof(struct ethtool_fecparam), 0, 0, 0}, {ETHTOOL_SFECPARAM, 0, 0, 0, 0},
    {ETHTOOL_GET_TS_INFO, sizeof(struct ethtool_ts_info), 0, 0, 0},
    {ETHTOOL_GRXCSUM, 8, 0, 0, 0}, {ETHTOOL_SRXCSUM, 0, 0, 0, 0}, {ETHTOOL_GTXCSUM, 8, 0, 0, 0}, {ETHTOOL_STXCSUM, 0, 0, 0, 0},
    {ETHTOOL_GSG, 8, 0, 0, 0}, {ETHTOOL_SSG, 0, 0, 0, 0}, {ETHTOOL_GTSO, 8, 0, 0, 0}, {ETHTOOL_STSO, 0, 0, 0, 0},
    {ETHTOOL_GUFO, 8, 0, 0, 0}, {ETHTOOL_SUFO, 0, 0, 0, 0}, {ETHTOOL_GGSO, 8, 0, 0, 0}, {ETHTOOL_SGSO, 0, 0, 0, 0},
    {ETHTOOL_GGRO, 8, 0, 0, 0}, {ETHTOOL_SGRO, 0, 0, 0, 0}, {ETHTOOL_GFLAGS, 8, 0, 0, 0}, {ETHTOOL_SFLAGS, 0, 0, 0, 0},
    {ETHTOOL_GPFLAGS, 8, 0, 0, 0}, {ETHTOOL_SPFLAGS, 0, 0, 0, 0},
    {ETHTOOL_GFEATURES, 8, 4, sizeof(struct ethtool_get_features_block), 0}, {ETHTOOL_SFEATURES, 0, 0, 0, 0},
    {ETHTOOL_GPERMADDR, 8, 4, 1, 0}, {ETHTOOL_GSSET_INFO, sizeof(struct ethtool_sset_info), 0, 4, SETS},
    {ETHTOOL_GSTRINGS, 12, 8, ETH_GSTRING_LEN, 0}, {ETHTOOL_GSTATS, 8, 4, 8, 0}, {ETHTOOL_GPHYSTATS, 8, 4, 8, 0},
    {ETHTOOL_TEST, sizeof(struct ethtool_test), 12, 8, 0},
    /* clang-format on */
};

/* DATA: what the interface's request points to. NULL: not in the table. */
static const struct command *find(struct lz_tracer *t, uint64_t data, uint32_t *command)
{
	if (lz_proc_read_some(&t->p, data, command, sizeof(*command)) != sizeof(*command))
		return &commands[1]; /* the kernel cannot read it either */
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].command == *command)
			return &commands[i];
	return NULL;
}

int64_t lz_ethtool_refuse(struct lz_tracer *t, uint64_t at)
{
	struct ifreq r;
	uint32_t command;

	if (lz_proc_read_some(&t->p, at, &r, sizeof(r)) != sizeof(r) ||
	    find(t, (uintptr_t)r.ifr_data, &command))
		return 0;
	return lz_refused(-EOPNOTSUPP, "ethtool command %#x", command);
}

int lz_ethtool_capture(struct lz_tracer *t, uint64_t at)
{
	struct ifreq r;
	uint32_t command;

	if (!lz_vectors_head(t, &r, sizeof(r)))
		return 0;
	const uint64_t data = (uintptr_t)r.ifr_data;
	const struct command *c = find(t, data, &command);
	uint32_t n = c ? c->always : 0;

	/* the last byte of the interface's name becomes 0 */
	if (!c || lz_build_read(t, at, sizeof(r)) < 0)
		return c ? -1 : 0;
	if (!c->size)
		return 0;
	if (c->count && lz_proc_read_some(&t->p, data + c->count, &n, sizeof(n)) != sizeof(n))
		return 0;
	return lz_build_read(t, data, c->size + (n < MOST ? n : MOST) * (uint64_t)c->elem);
}
