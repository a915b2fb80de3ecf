/* Monitor commands: what the front end's commands are made of, usable by hand as well.
 *
 *   when         the position, as lines `key=value`
 *   info         the recording, likewise
 *   quiet        notes on moves are kept for `note` instead of being printed
 *   note         what there was to say about the last move
 *   signals pass, signals stop
 *                no signal stops a run, or those that GDB has not passed do (at first)
 *   over N, over none
 *                a next or finish begins whose frame is in N inlined calls: those within it are not
 *                stepped through; or it has ended
 *   libraries keep, libraries forget
 *                libraries that GDB knows stay in its list where they are not loaded; they go (at first)
 *   seek ..., jump ..., back-step, back-next
 *                arms a move that the next reverse-stepi or reverse-continue carries out: see
 *                front_move.c */
#include "replayer/front/inside.h"

#include <common/printable.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

/* One line, for a terminal. */
static void print_text(FILE *to, const char *key, const char *text)
{
	fprintf(to, "%s=", key);
	lz_put_printable(to, text, "");
	fputc('\n', to);
}

static void print_thread(struct lz_front *f, FILE *to, uint32_t tid)
{
	struct lz_front_thread *t;
	uint32_t n;

	if (lz_front_threads(f, &t, &n) < 0)
		return;
	fprintf(to, "threads=%u\n", n);
	for (uint32_t i = 0; i < n; i++)
		if (t[i].tid == tid)
			print_text(to, "name", t[i].name);
	free(t);
}

static char *when(struct lz_front *f)
{
	char *text = NULL, where[LZ_POS_TEXT];
	size_t len;
	FILE *to = open_memstream(&text, &len);
	struct lz_pos pos;
	uint64_t total, time = lz_session_time(f->s, &total);
	uint64_t events = lz_reader_n_events(f->reader);

	if (!to)
		return NULL;
	lz_session_where(f->s, &pos);
	lz_pos_print(&pos, where);
	fprintf(to, "event=%lu\nevents=%lu\n", (unsigned long)pos.event, (unsigned long)events);
	fprintf(to, "time=%lu\ntotal=%lu\n", (unsigned long)time, (unsigned long)total);
	fprintf(to, "position=%s\nmarker=%lu\ntid=%u\n", where, (unsigned long)pos.marker, pos.tid);
	fprintf(to, "start=%d\nend=%d\n", lz_session_at_start(f->s), lz_session_at_end(f->s));
	print_thread(f, to, pos.tid);
	fclose(to);
	return text;
}

static char *info(struct lz_front *f)
{
	const struct lz_meta *m = lz_reader_meta(f->reader);
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return NULL;
	print_text(to, "recording", lz_reader_dir(f->reader));
	print_text(to, "program", m->program);
	print_text(to, "cwd", m->cwd);
	fprintf(to, "args=");
	for (char **a = m->argv; a && *a; a++) {
		fputs(a == m->argv ? "" : " ", to);
		lz_put_printable(to, *a, "");
	}
	fprintf(to, "\nstarted=%lu\nduration_ns=%lu\nexit_status=%d\n",
	        (unsigned long)m->start_time, (unsigned long)m->duration_ns, m->exit_status);
	fprintf(to, "inside=%d\n", lz_reader_begins_inside(f->reader));
	if (lz_reader_begins_later(f->reader))
		fprintf(to, "not_kept=%lu\n", (unsigned long)lz_reader_first_event(f->reader));
	fprintf(to, "checkpoints=%u\ninstrumented=%d\n", lz_reader_n_checkpoints(f->reader),
	        (int)lz_reader_instrumented(f->reader));
	fprintf(to, "front_end=%s\n", f->name);
	if (lz_reader_damage(f->reader))
		print_text(to, "damage", lz_reader_damage(f->reader));
	fclose(to);
	return text;
}

static char *give_note(struct lz_front *f)
{
	char *note = f->note;

	f->note = NULL;
	return note ? note : strdup("");
}

static bool is_move(const char *text)
{
	return strncmp(text, "seek ", 5) == 0 || strncmp(text, "jump ", 5) == 0 ||
	       strncmp(text, "back-step", 9) == 0 || strncmp(text, "back-next", 9) == 0;
}

static char *arm(struct lz_front *f, const char *text)
{
	free(f->armed);
	free(f->note);
	f->note = NULL;
	f->armed = strdup(text);
	return f->armed ? strdup("") : NULL;
}

static char *step_over(struct lz_front *f, const char *text)
{
	char *end;
	unsigned long depth = strtoul(text, &end, 10);

	if (end == text || *end)
		lz_over_end(&f->over);
	else
		lz_over_begin(&f->over, (uint32_t)depth);
	return strdup("");
}

static const char help[] = "monitor commands: when, info, quiet, note, signals pass|stop, over "
                           "N|none, libraries keep|forget, and moves that the next "
                           "reverse-stepi carries out: seek "
                           "start|end|N%|time T|event N|POSITION, jump forward|backward "
                           "ADDRESS..., back-step [N], back-next [N]\n";

char *lz_front_monitor(struct lz_front *f, const char *text)
{
	char *answer;

	if (strcmp(text, "when") == 0)
		answer = when(f);
	else if (strcmp(text, "info") == 0)
		answer = info(f);
	else if (strcmp(text, "note") == 0)
		answer = give_note(f);
	else if (strcmp(text, "quiet") == 0)
		answer = (f->quiet = true) ? strdup("") : NULL;
	else if (strcmp(text, "signals pass") == 0 || strcmp(text, "signals stop") == 0)
		answer = (f->pass_all = text[8] == 'p', strdup(""));
	else if (strcmp(text, "libraries keep") == 0 || strcmp(text, "libraries forget") == 0)
		answer = (lz_front_keep_libraries(f, text[10] == 'k'), strdup(""));
	else if (strncmp(text, "over ", 5) == 0)
		answer = step_over(f, text + 5);
	else if (is_move(text))
		answer = arm(f, text);
	else
		answer = strdup(help);
	if (!answer)
		lz_fail("out of memory for an answer");
	return answer;
}
