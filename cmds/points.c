/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lizard points: the instants of a recording that users have noted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmds/base/cmds.h>
#include <cmds/base/options.h>
#include <cmds/base/processes.h>
#include <cmds/pack/pack.h>
#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <common/recording/points.h>
#include <lizard/error.h>

static void usage(FILE *to)
{
	fprintf(to, "usage: lizard points [options] RECORDING\n\n"
	            "Lists the instants that were noted in a recording: number, position, note.\n"
	            "`lizard-gdb RECORDING --at POSITION` goes to one.\n\n"
	            "      --add POS        note this instant, a position as `when` prints it\n"
	            "      --note TEXT      what to note there\n"
	            "      --delete N       forget point N\n"
	            "  -p, --process PID    of this process of a recording made with --follow\n"
	            "      --json           a JSON object on each line\n");
}

struct request {
	const char *process, *add, *note, *drop;
	bool json;
};

static int print_one(const struct request *q, size_t number, const struct lz_point *p)
{
	char where[LZ_POS_TEXT];

	lz_pos_print(&p->pos, where);
	if (!q->json) {
		lz_print(stdout, "%5zu  %s  %s\n", number, where, p->note);
		return 0;
	}
	json_t *o = json_object();
	json_object_set_new(o, "number", json_integer((json_int_t)number));
	json_object_set_new(o, "position", lz_json_text(where));
	json_object_set_new(o, "note", lz_json_text(p->note));
	return lz_json_print(o);
}

static int list(const struct request *q, const struct lz_reader *r)
{
	struct lz_points p;
	int rc = lz_points_read(r, &p);

	for (size_t i = 0; rc == 0 && i < p.n; i++)
		rc = print_one(q, i + 1, &p.v[i]);
	lz_points_free(&p);
	return rc;
}

/* Whoever goes there is told whether control was there. */
static int check_place(const struct lz_reader *r, const struct lz_pos *pos)
{
	if (pos->event > lz_reader_n_events(r))
		return lz_fail("there are %" PRIu64 " events, and not %" PRIu64,
		               lz_reader_n_events(r), pos->event);
	return 0;
}

static int add(const struct request *q, const struct lz_reader *r)
{
	struct lz_point p = {.note = (char *)(q->note ? q->note : "")};
	size_t number;

	if (lz_pos_parse(q->add, &p.pos) < 0 || check_place(r, &p.pos) < 0)
		return lz_fail_in("--add %s", q->add);
	if (lz_points_add(r, &p.pos, p.note, &number) < 0)
		return -1;
	return print_one(q, number, &p);
}

static int drop(const char *number, const struct lz_reader *r)
{
	char *end;
	const unsigned long n = strtoul(number, &end, 10);

	if (*end || !n)
		return lz_fail("--delete takes the number of a point, and not '%s'", number);
	return lz_points_delete(r, n);
}

static int act(const struct request *q, const char *what)
{
	lz_auto_free char *dir = lz_find(what), *one = NULL;
	struct lz_reader *r;

	if (!dir || (q->process && !(one = lz_process_find(dir, q->process))) ||
	    !(r = lz_reader_open(one ? one : dir)))
		return -1;
	int rc = q->add ? add(q, r) : q->drop ? drop(q->drop, r) : list(q, r);
	lz_reader_close(r);
	return rc;
}

int lz_cmd_points(int argc, char **argv)
{
	static const struct option options[] = {{"add", required_argument, NULL, 'a'},
	                                        {"note", required_argument, NULL, 'n'},
	                                        {"delete", required_argument, NULL, 'd'},
	                                        {"process", required_argument, NULL, 'p'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {0}};
	struct request q = {0};
	int opt;

	while ((opt = lz_option(argc, argv, "p:h", options)) != -1) {
		switch (opt) {
		case 'a': q.add = optarg; break;
		case 'n': q.note = optarg; break;
		case 'd': q.drop = optarg; break;
		case 'p': q.process = optarg; break;
		case 'j': q.json = true; break;
		default: usage(opt == 'h' ? stdout : stderr); return opt == 'h' ? 0 : 2;
		}
	}
	if (optind + 1 != argc || (q.add && q.drop) || (q.note && !q.add)) {
		usage(stderr);
		return 2;
	}
	int rc = act(&q, argv[optind]);
	if (rc < 0)
		lz_warn("%s", lz_error());
	return lz_finish_output(rc < 0);
}
