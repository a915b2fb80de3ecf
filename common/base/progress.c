/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <common/base/clock.h>
#include <common/base/print.h>
#include <common/base/progress.h>

enum { SHOW_AFTER_MS = 1000, SHOW_EVERY_MS = 200 };

void lz_progress_begin(struct lz_progress *p, const char *what, uint64_t total)
{
	*p = (struct lz_progress){.what = what, .total = total, .begun_ms = lz_now() / 1000000};
}

void lz_progress_show(struct lz_progress *p, uint64_t done)
{
	uint64_t now = lz_now() / 1000000;

	if (!p->total || now - p->begun_ms < SHOW_AFTER_MS || now - p->shown_ms < SHOW_EVERY_MS ||
	    !isatty(STDERR_FILENO))
		return;
	p->shown_ms = now;
	if (done > p->total)
		done = p->total;
	if (p->total == LZ_PROGRESS_TIME)
		lz_print(stderr, "\rlizard: %s: %lu s", p->what,
		         (unsigned long)(now - p->begun_ms) / 1000);
	else
		lz_print(stderr, "\rlizard: %s: %3.0f %%", p->what,
		         100.0 * (double)done / (double)p->total);
	fflush(stderr);
}

void lz_progress_end(struct lz_progress *p)
{
	if (p->shown_ms)
		lz_print(stderr, "\r%*s\r", (int)strlen(p->what) + 15, "");
	p->shown_ms = 0;
}
