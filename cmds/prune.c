/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard prune: removes old recordings. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmds/base/catalog.h>
#include <cmds/base/cmds.h>
#include <cmds/base/options.h>
#include <common/recording/copystore.h>
#include <common/base/text.h>
#include <common/base/print.h>
#include <lizard/error.h>

static void usage(FILE *to)
{
	fprintf(to,
	        "usage: lizard prune [--keep N] [--older-than D] [--max-size S] [--dry-run]\n\n"
	        "Removes recordings that any of the conditions names; those being written stay.\n"
	        "  --keep N        all but the N newest\n"
	        "  --older-than D  begun more than D ago: 30m, 12h, 7d, 2w\n"
	        "  --max-size S    the oldest, until all that are left take at most S: 500M, 20G\n"
	        "  --dry-run       only print what would be removed\n"
	        "Prints a line with size and name for each one removed.\n");
}

struct conditions {
	bool has_keep, has_age, has_size, dry;
	uint64_t keep, age, size;
};

static int parse_count(const char *text, uint64_t *n)
{
	char *end;

	*n = strtoull(text, &end, 10);
	if (end == text || *end || *text == '-')
		return lz_fail("`%s` is not a number", text);
	return 0;
}

static int parse_option(struct conditions *c, int opt)
{
	switch (opt) {
	case 'k': c->has_keep = true; return parse_count(optarg, &c->keep);
	case 'o': c->has_age = true; return lz_parse_duration(optarg, &c->age);
	case 's': c->has_size = true; return lz_parse_size(optarg, &c->size);
	case 'n': c->dry = true; return 0;
	}
	return 1;
}

static bool goes(const struct conditions *c, const struct lz_catalog *all, size_t i, uint64_t left)
{
	const struct lz_entry *e = &all->v[i];
	uint64_t now = (uint64_t)time(NULL);

	if (c->has_age && now > e->began && now - e->began > c->age)
		return true;
	return (c->has_keep && all->n - i > c->keep) || (c->has_size && left > c->size);
}

static int prune(const struct conditions *c, const struct lz_catalog *all)
{
	uint64_t left = 0;
	char size[LZ_TEXT];
	int rc = 0;

	for (size_t i = 0; i < all->n; i++)
		left += all->v[i].bytes;
	for (size_t i = 0; i < all->n; i++) {
		const struct lz_entry *e = &all->v[i];

		if (e->busy || !goes(c, all, i, left))
			continue;
		if (!c->dry && lz_recording_remove(e->path) < 0) {
			lz_warn("%s", lz_error());
			rc = 1;
			continue;
		}
		left -= e->bytes;
		lz_print(stdout, "%9s  %s\n", lz_text_size(e->bytes, size), e->name);
	}
	if (!c->dry)
		lz_copystore_sweep_now();
	return rc;
}

int lz_cmd_prune(int argc, char **argv)
{
	static const struct option options[] = {{"keep", required_argument, NULL, 'k'},
	                                        {"older-than", required_argument, NULL, 'o'},
	                                        {"max-size", required_argument, NULL, 's'},
	                                        {"dry-run", no_argument, NULL, 'n'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	struct conditions c = {0};
	struct lz_catalog all;
	int opt, rc;

	while ((opt = lz_option(argc, argv, "k:o:s:nh", options)) != -1) {
		rc = opt == 'h' ? 1 : parse_option(&c, opt);
		if (rc < 0)
			lz_warn("%s", lz_error());
		if (rc) {
			usage(opt == 'h' ? stdout : stderr);
			return opt == 'h' ? 0 : 2;
		}
	}
	if (optind < argc || !(c.has_keep || c.has_age || c.has_size)) {
		usage(stderr);
		return 2;
	}
	rc = lz_catalog_read(&all);
	if (rc < 0)
		lz_warn("%s", lz_error());
	else
		rc = prune(&c, &all);
	lz_catalog_free(&all);
	return lz_finish_output(rc ? 1 : 0);
}
