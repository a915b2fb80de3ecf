/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Monitor commands: what the front end's commands are made of, usable by hand as well.
 *
 *   when         the position, as lines `key=value`
 *   now          the same; #0 ends the position where counting arrivals may take long
 *   info         the recording, likewise
 *   quiet        notes on moves are kept for `note` instead of being printed
 *   note         what there was to say about the last move
 *   signals pass, signals stop
 *                no signal stops a run, or those that GDB has not passed do (at first)
 *   over N, over none
 *                a next or finish begins whose frame is in N inlined calls: those within it are not
 *                stepped through; or it has ended
 *   skip [ENTRY...]
 *                what GDB's `skip` names, entries as lz_skips_new() takes them: back-step goes over it
 *   skipped      how many inlined calls begin here that `step` does not enter for that reason
 *   libraries keep, libraries forget
 *                libraries that GDB knows stay in its list where they are not loaded; they go (at first)
 *   here         the user is shown the present instant, so that `undo` comes back to it; "begin" if a
 *                continue backwards has found nothing
 *   output keep, output EVENT
 *                what the program writes is kept from here on; what it wrote from EVENT on until now
 *   found        what the last `access` or `origin` has found, as lines `key=value`
 *   intervals    the positions of the checkpoints
 *   seek ..., jump ..., access ..., origin ..., back-step, back-next, undo, redo
 *                arms a move that the next reverse-stepi or reverse-continue carries out, see
 *                move_text.c; the answer is why it cannot, or nothing */
#include "replayer/front/inside.h"

#include <common/base/print.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static char *when(struct lz_front *f, bool count)
{
	struct lz_front_instant now;
	char *text = NULL, where[LZ_POS_TEXT];
	size_t len;

	if (lz_front_now(f, &now) < 0)
		return NULL;
	if (count)
		lz_front_position(f, &now.pos);
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return NULL;
	lz_pos_print(&now.pos, where);
	fprintf(to, "event=%lu\nevents=%lu\n", (unsigned long)now.pos.event,
	        (unsigned long)now.events);
	fprintf(to, "time=%lu\ntotal=%lu\n", (unsigned long)now.time, (unsigned long)now.total);
	lz_print(to, "position=%s\nmarker=%lu\ntid=%u\n", where, (unsigned long)now.pos.marker,
	         now.pos.tid);
	fprintf(to, "start=%d\nend=%d\nbegin=%d\n", now.at_start, now.at_end, now.at_begin);
	lz_print(to, "moves=%lu\nthreads=%u\nname=%s\n", (unsigned long)now.moves, now.n_threads,
	         now.thread);
	if (now.crosses.n) {
		lz_pos_print(&now.crosses, where);
		lz_print(to, "crosses=%s\n", where);
	}
	lz_print(to, "n_mark=%lu\nmark=%s\n", (unsigned long)now.n_mark, now.mark);
	fclose(to);
	return text;
}

static void print_program(FILE *to, const struct lz_front_recording *i, uint32_t k)
{
	char begin[LZ_POS_TEXT], end[LZ_POS_TEXT];

	lz_pos_print(&i->where[k].begin, begin);
	lz_pos_print(&i->where[k].end, end);
	lz_print(to, "program_%u=%s\nbegin_%u=%s\nend_%u=%s\n", k + 1, i->programs[k], k + 1, begin,
	         k + 1, end);
}

static char *info(struct lz_front *f)
{
	struct lz_front_recording i;
	char *text = NULL;
	size_t len;

	if (lz_front_describe(f, &i) < 0)
		return NULL;
	FILE *to = open_memstream(&text, &len);

	if (to) {
		lz_print(to, "recording=%s\nprogram=%s\n", i.recording, i.program);
		lz_print(to, "cwd=%s\nargs=%s\n", i.cwd, i.command);
		fprintf(to, "started=%lu\nduration_ns=%lu\nexit_status=%d\n",
		        (unsigned long)i.started, (unsigned long)i.duration_ns, i.exit_status);
		fprintf(to, "inside=%d\n", i.inside);
		if (i.not_kept)
			fprintf(to, "not_kept=%lu\n", (unsigned long)i.not_kept);
		fprintf(to, "checkpoints=%u\ninstrumented=%d\nbuilt=%d\n", i.n_checkpoints,
		        i.instrumented, i.built);
		for (uint32_t k = 0; k < i.n_programs; k++)
			print_program(to, &i, k);
		fprintf(to, "n_program=%u\n", i.n_program);
		lz_print(to, "front_end=%s\n", i.front_end);
		if (i.damage)
			lz_print(to, "damage=%s\n", i.damage);
		fclose(to);
	}
	lz_front_recording_free(&i);
	return text;
}

static char *give_note(struct lz_front *f)
{
	char *text = lz_front_outcome_text(f);

	return text ? text : strdup("");
}

static char *here(struct lz_front *f)
{
	bool returned;

	lz_front_here(f, &returned);
	return strdup(returned ? "begin\n" : "");
}

static bool is_move(const char *text)
{
	static const char *const words[] = {"seek ",     "jump ",     "access ", "origin ",
	                                    "back-step", "back-next", "undo",    "redo"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

static char *arm(struct lz_front *f, const char *text)
{
	struct lz_front_move m;
	char *why = NULL;

	if (lz_front_move_parse(text, &m) == 0 && lz_front_arm(f, &m) == 0)
		return strdup("");
	return asprintf(&why, "%s\n", lz_error()) < 0 ? NULL : why;
}

static char *step_over(struct lz_front *f, const char *text)
{
	char *end;
	unsigned long depth = strtoul(text, &end, 10);

	if (end == text || *end)
		lz_over_inlined_end(&f->over);
	else
		lz_over_inlined_begin(&f->over, (uint32_t)depth);
	return strdup("");
}

static char *heed(struct lz_front *f, const char *text)
{
	lz_front_heed_conditions(f, strcmp(text, "all") == 0     ? LZ_HEED_ALL
	                            : strcmp(text, "first") == 0 ? LZ_HEED_FIRST
	                                                         : LZ_HEED_NEVER);
	return strdup("");
}

/* An answer is an error. */
static char *skip(struct lz_front *f, const char *text)
{
	char *why = NULL;

	/* what was found with it stays known */
	if (lz_skips_is(f->skips, text))
		return strdup("");
	struct lz_skips *skips = *text ? lz_skips_new(text) : NULL;

	if (*text && !skips)
		return asprintf(&why, "%s\n", lz_error()) < 0 ? NULL : why;
	lz_session_skip(f->s, skips);
	lz_skips_free(f->skips);
	f->skips = skips;
	return strdup("");
}

static char *skipped(struct lz_front *f)
{
	char *n = NULL;

	return asprintf(&n, "%u\n", (unsigned)lz_session_skipped_here(f->s)) < 0 ? NULL : n;
}

static const char help[] =
    "monitor commands: when, now, info, quiet, gdb N, note, here, signals pass|stop, over "
    "N|none, skip [ENTRY...], skipped, conditions never|first|all, output keep|EVENT, libraries "
    "keep|forget, found, "
    "intervals, and moves that "
    "the next "
    "reverse-stepi carries out: seek "
    "here|start|end|N%|time T|event N|POSITION, jump forward|backward "
    "ADDRESS..., access backward|forward|here s|l|t ADDRESS LENGTH, "
    "origin memory ADDRESS LENGTH, origin register NAME BYTE LENGTH, origin branch, "
    "origin event N [BYTE LENGTH], origin allocation ADDRESS from POSITION RETURN..., back-step "
    "[N], "
    "back-next [N], "
    "undo [N], redo [N]\n";

char *lz_front_monitor(struct lz_front *f, const char *text)
{
	char *answer;
	unsigned major;

	if (strcmp(text, "when") == 0 || strcmp(text, "now") == 0)
		answer = when(f, text[0] == 'w');
	else if (strcmp(text, "info") == 0)
		answer = info(f);
	else if (strcmp(text, "note") == 0)
		answer = give_note(f);
	else if (strcmp(text, "found") == 0)
		answer = strdup(f->found ? f->found : "");
	else if (strcmp(text, "intervals") == 0)
		answer = lz_front_intervals(f);
	else if (strcmp(text, "here") == 0)
		answer = here(f);
	else if (strcmp(text, "quiet") == 0)
		answer = (lz_front_quiet(f), strdup(""));
	else if (sscanf(text, "gdb %u", &major) == 1)
		answer = (lz_front_follow_gdb(f, major), strdup(""));
	else if (strcmp(text, "signals pass") == 0 || strcmp(text, "signals stop") == 0)
		answer = (lz_front_pass_all_signals(f, text[8] == 'p'), strdup(""));
	else if (strcmp(text, "libraries keep") == 0 || strcmp(text, "libraries forget") == 0)
		answer = (lz_front_keep_libraries(f, text[10] == 'k'), strdup(""));
	else if (strncmp(text, "output ", 7) == 0)
		answer = lz_front_output(f, text + 7);
	else if (strncmp(text, "conditions ", 11) == 0)
		answer = heed(f, text + 11);
	else if (strcmp(text, "skipped") == 0)
		answer = skipped(f);
	else if (strcmp(text, "skip") == 0 || strncmp(text, "skip ", 5) == 0)
		answer = skip(f, text + 4);
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
