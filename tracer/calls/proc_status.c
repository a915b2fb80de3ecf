/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID/status: its state, who traces the program, its filters of system calls, and its CPUs. */
#include "tracer/calls/proc_files.h"
#include "tracer/filters/filters.h"

#include <common/base/array.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the value behind KEY is, and its length; NULL: not there. */
static char *value_of(const struct lz_proc_text *x, const char *key, size_t *len)
{
	char *at = memmem(x->bytes, x->len, key, strlen(key));

	if (!at)
		return NULL;
	at += strlen(key);
	*len = strcspn(at, "\n");
	return at;
}

static int put(struct lz_proc_text *x, const char *key, const char *value)
{
	const size_t n = strlen(value);
	size_t old;

	if (lz_reserve(x->bytes, x->room, x->len + n + 1) < 0)
		return lz_fail("no memory for a status in /proc");
	char *at = value_of(x, key, &old);
	if (!at)
		return 0;
	memmove(at + n, at + old, (size_t)(x->bytes + x->len + 1 - (at + old)));
	memcpy(at, value, n);
	x->len = x->len + n - old;
	return 0;
}

static int put_number(struct lz_proc_text *x, const char *key, unsigned number)
{
	char value[16];

	snprintf(value, sizeof(value), "%u", number);
	return put(x, key, value);
}

/* It has been looked at while we had it stopped. */
static int let_run(struct lz_proc_text *x)
{
	static const char stopped[] = "t (tracing stop)";
	size_t len;
	const char *state = value_of(x, "\nState:\t", &len);

	return state && !strncmp(state, stopped, len) ? put(x, "\nState:\t", "R (running)") : 0;
}

/* ---- filters ---- */

static unsigned count(const struct lz_filter *f)
{
	unsigned n = 0;

	for (; f; f = f->before)
		n++;
	return n;
}

static int put_filters(struct lz_proc_text *x, const struct lz_thread *who)
{
	const unsigned mode = (unsigned)lz_filter_mode(who);
	size_t len;
	/* those of the container that the recorder is in */
	const char *outer = value_of(x, "\nSeccomp_filters:\t", &len);
	const unsigned n = count(who->filter) + (outer ? (unsigned)strtoul(outer, NULL, 10) : 0);

	if (mode && put_number(x, "\nSeccomp:\t", mode) < 0)
		return -1;
	if (who->no_new_privs && put_number(x, "\nNoNewPrivs:\t", 1) < 0)
		return -1;
	return put_number(x, "\nSeccomp_filters:\t", n);
}

/* ---- CPUs ---- */

/* Over TEXT, which has a hexadecimal digit for each four of them, the lowest last, and commas. */
static void write_mask(char *text, size_t len, const cpu_set_t *cpus)
{
	for (int cpu = 0; len-- > 0;) {
		unsigned digit = 0;

		if (text[len] == ',')
			continue;
		for (int i = 0; i < 4; i++, cpu++)
			digit |= cpu < CPU_SETSIZE && CPU_ISSET(cpu, cpus) ? 1U << i : 0;
		text[len] = "0123456789abcdef"[digit];
	}
}

/* As "0-3,8". */
static void write_list(char *text, size_t room, const cpu_set_t *cpus)
{
	size_t n = 0;
	int last;

	*text = 0;
	for (int cpu = 0; cpu < CPU_SETSIZE && n + 16 < room; cpu = last + 1) {
		for (last = cpu; last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cpus); last++)
			;
		if (!CPU_ISSET(cpu, cpus))
			last = cpu;
		else if (last > cpu)
			n += (size_t)sprintf(text + n, "%s%d-%d", n ? "," : "", cpu, last);
		else
			n += (size_t)sprintf(text + n, "%s%d", n ? "," : "", cpu);
	}
}

static int put_cpus(struct lz_proc_text *x, const cpu_set_t *cpus)
{
	char list[CPU_SETSIZE * 4];
	size_t len;
	char *mask = value_of(x, "\nCpus_allowed:\t", &len);

	if (mask)
		write_mask(mask, len, cpus);
	write_list(list, sizeof(list), cpus);
	return put(x, "\nCpus_allowed_list:\t", list);
}

int lz_proc_status_mend(const struct lz_tracer *t, const struct lz_thread *who,
                        struct lz_proc_text *x)
{
	if (let_run(x) < 0 || put_number(x, "\nTracerPid:\t", 0) < 0 || put_filters(x, who) < 0)
		return -1;
	return put_cpus(x, &t->borrowed.affinity);
}
