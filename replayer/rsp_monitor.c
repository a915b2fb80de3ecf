/* Monitor commands (qRcmd): what the front end's commands are made of, usable by hand as well.
 *
 *   when         the position, as lines `key=value`
 *   info         the recording, likewise
 *   quiet        notes on moves are kept for `note` instead of being printed
 *   note         what there was to say about the last move
 *   seek ..., jump ..., back-step, back-next
 *                arms a move that the next reverse-stepi or reverse-continue carries out: see
 *                rsp_move.c */
#include "replayer/rsp_int.h"

#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static int answer(struct lz_rsp *p, char *text, size_t len)
{
	char *hex = text ? lz_hex(text, len) : NULL;
	int rc;

	if (!hex)
		rc = lz_rsp_reply(p, "E01");
	else
		rc = len ? lz_wire_send(p->wire, hex, 2 * len) : lz_rsp_reply(p, "OK");
	free(hex);
	free(text);
	return rc;
}

static int when(struct lz_rsp *p)
{
	char *text = NULL, where[LZ_POS_TEXT];
	size_t len;
	FILE *to = open_memstream(&text, &len);
	struct lz_pos pos;
	uint64_t total, time = lz_session_time(p->s, &total);
	uint64_t events = lz_reader_n_events(p->reader);

	if (!to)
		return lz_rsp_reply(p, "E01");
	lz_session_where(p->s, &pos);
	lz_pos_print(&pos, where);
	fprintf(to, "event=%lu\nevents=%lu\n", (unsigned long)pos.event, (unsigned long)events);
	fprintf(to, "time=%lu\ntotal=%lu\n", (unsigned long)time, (unsigned long)total);
	fprintf(to, "position=%s\nmarker=%lu\ntid=%u\n", where, (unsigned long)pos.marker, pos.tid);
	fprintf(to, "start=%d\nend=%d\n", lz_session_at_start(p->s), lz_session_at_end(p->s));
	fclose(to);
	return answer(p, text, len);
}

static int info(struct lz_rsp *p)
{
	const struct lz_meta *m = lz_reader_meta(p->reader);
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return lz_rsp_reply(p, "E01");
	fprintf(to, "recording=%s\nprogram=%s\ncwd=%s\nargs=", lz_reader_dir(p->reader), m->program,
	        m->cwd);
	for (char **a = m->argv; a && *a; a++)
		fprintf(to, "%s%s", a == m->argv ? "" : " ", *a);
	fprintf(to, "\nstarted=%lu\nduration_ns=%lu\nexit_status=%d\n",
	        (unsigned long)m->start_time, (unsigned long)m->duration_ns, m->exit_status);
	fprintf(to, "checkpoints=%u\ninstrumented=%d\n", lz_reader_n_checkpoints(p->reader),
	        (int)m->instrumented);
	if (lz_reader_damage(p->reader))
		fprintf(to, "damage=%s\n", lz_reader_damage(p->reader));
	fclose(to);
	return answer(p, text, len);
}

static int give_note(struct lz_rsp *p)
{
	char *note = p->note;

	p->note = NULL;
	if (!note)
		return lz_rsp_reply(p, "OK");
	return answer(p, note, strlen(note));
}

static bool is_move(const char *text)
{
	return strncmp(text, "seek ", 5) == 0 || strncmp(text, "jump ", 5) == 0 ||
	       strncmp(text, "back-step", 9) == 0 || strncmp(text, "back-next", 9) == 0;
}

static int arm(struct lz_rsp *p, const char *text)
{
	free(p->armed);
	free(p->note);
	p->note = NULL;
	p->armed = strdup(text);
	return lz_rsp_reply(p, p->armed ? "OK" : "E01");
}

static int unknown(struct lz_rsp *p)
{
	static const char help[] = "monitor commands: when, info, quiet, note, and moves that the "
	                           "next reverse-stepi carries out: seek "
	                           "start|end|N%|time T|event N|POSITION, jump "
	                           "forward|backward ADDRESS..., back-step [N], back-next [N]\n";

	return answer(p, strdup(help), sizeof help - 1);
}

int lz_rsp_monitor(struct lz_rsp *p, const char *hex, size_t len)
{
	char *text = calloc(1, len / 2 + 1);
	int rc;

	if (!text)
		return lz_rsp_reply(p, "E01");
	lz_unhex(hex, len, text, len / 2);
	if (strcmp(text, "when") == 0)
		rc = when(p);
	else if (strcmp(text, "info") == 0)
		rc = info(p);
	else if (strcmp(text, "note") == 0)
		rc = give_note(p);
	else if (strcmp(text, "quiet") == 0)
		rc = lz_rsp_reply(p, (p->quiet = true) ? "OK" : "");
	else if (is_move(text))
		rc = arm(p, text);
	else
		rc = unknown(p);
	free(text);
	return rc;
}
