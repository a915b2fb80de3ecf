/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <common/base/text.h>
#include <common/base/printable.h>
#include <lizard/error.h>

const char *lz_text_size(uint64_t bytes, char buf[LZ_TEXT])
{
	static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double v = (double)bytes / 1024;
	int u = 0;

	if (bytes < 1024) {
		snprintf(buf, LZ_TEXT, "%u B", (unsigned)bytes);
		return buf;
	}
	for (; v >= 1024 && u < 5; u++)
		v /= 1024;
	snprintf(buf, LZ_TEXT, v < 10 ? "%.1f %s" : "%.0f %s", v, unit[u]);
	return buf;
}

const char *lz_text_duration(uint64_t ns, char buf[LZ_TEXT])
{
	uint64_t s = ns / 1000000000;

	if (s < 60)
		snprintf(buf, LZ_TEXT, "%.2f s", (double)ns / 1e9);
	else if (s < 3600)
		snprintf(buf, LZ_TEXT, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
	else
		snprintf(buf, LZ_TEXT, "%llu:%02u:%02u", (unsigned long long)(s / 3600),
		         (unsigned)(s / 60 % 60), (unsigned)(s % 60));
	return buf;
}

const char *lz_text_time(uint64_t seconds, char buf[LZ_TEXT])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, LZ_TEXT, "%Y-%m-%d %H:%M:%S", &tm))
		strcpy(buf, "unknown");
	return buf;
}

const char *lz_text_signal(int signo, char buf[LZ_TEXT])
{
	const char *name = sigabbrev_np(signo);

	if (name)
		snprintf(buf, LZ_TEXT, "%s", name);
	else
		snprintf(buf, LZ_TEXT, "%d", signo);
	return buf;
}

const char *lz_text_status(int status, char buf[LZ_TEXT])
{
	char name[LZ_TEXT];

	if (status == -1)
		strcpy(buf, "unknown");
	else if (WIFSIGNALED(status))
		snprintf(buf, LZ_TEXT, "signal %d (%.20s)", WTERMSIG(status),
		         lz_text_signal(WTERMSIG(status), name));
	else
		snprintf(buf, LZ_TEXT, "exit %d", WEXITSTATUS(status));
	return buf;
}

const char *lz_text_ending(int status, char buf[LZ_TEXT])
{
	char name[LZ_TEXT];
	bool named = status != -1 && WIFSIGNALED(status) && sigabbrev_np(WTERMSIG(status));

	if (status == -1)
		strcpy(buf, "its end is not known");
	else if (WIFSIGNALED(status))
		snprintf(buf, LZ_TEXT, "killed by %s%.20s", named ? "SIG" : "signal ",
		         lz_text_signal(WTERMSIG(status), name));
	else
		snprintf(buf, LZ_TEXT, "exit status %d", WEXITSTATUS(status));
	return buf;
}

/* The next character of S as it is printed, and its columns: one for each that is not escaped. */
static unsigned next(const char **s, char c[LZ_PRINTABLE])
{
	unsigned len = lz_printable(s, "", c);

	return (unsigned char)c[0] < 0x80 ? len : 1;
}

unsigned lz_text_columns(const char *s)
{
	char c[LZ_PRINTABLE];
	unsigned n = 0;

	while (*s)
		n += next(&s, c);
	return n;
}

void lz_text_print_cut(const char *s, unsigned columns)
{
	char c[LZ_PRINTABLE];
	unsigned used = 0;

	while (*s) {
		used += next(&s, c);
		if (columns && used > columns)
			break;
		fputs(c, stdout);
	}
}

json_t *lz_json_text(const char *s)
{
	json_t *v = json_string(s);
	size_t n = strlen(s), k = 0;
	char *safe;

	if (v)
		return v;
	safe = malloc(4 * n + 1);
	if (!safe)
		return NULL;
	for (; *s; s++)
		k += (size_t)sprintf(safe + k, (unsigned char)*s < 0x80 ? "%c" : "\\x%02x",
		                     (unsigned char)*s);
	safe[k] = 0;
	v = json_string(safe);
	free(safe);
	return v;
}

void lz_json_status(json_t *o, int status)
{
	bool known = status != -1, killed = known && WIFSIGNALED(status);

	json_object_set_new(o, "exit_status",
	                    known && !killed ? json_integer(WEXITSTATUS(status)) : json_null());
	json_object_set_new(o, "signal", killed ? json_integer(WTERMSIG(status)) : json_null());
}

json_t *lz_json_hex(uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)v);
	return json_string(text);
}

/* jansson escapes all that is no ASCII, and of ASCII the control characters but DEL. */
int lz_json_write(FILE *to, json_t *v)
{
	char *text = v ? json_dumps(v, JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII) : NULL, *at = text;

	for (size_t n; at && *at; at += n + (at[n] == 127)) {
		n = strcspn(at, "\177");
		fwrite(at, 1, n, to);
		if (at[n])
			fputs("\\u007f", to);
	}
	putc('\n', to);
	free(text);
	json_decref(v);
	return !at || ferror(to) ? lz_fail("cannot print JSON") : 0;
}

int lz_json_print(json_t *v)
{
	return lz_json_write(stdout, v);
}

/* A number that is not negative and one letter of UNITS; BARE: or none. */
static int parse(const char *text, const char *units, const double *factor, bool bare,
                 uint64_t *out)
{
	char *end;
	double v = strtod(text, &end);
	const char *u = *end ? strchr(units, *end) : NULL;

	if (end == text || !(v >= 0) || (*end ? !u || end[1] : !bare))
		return -1;
	v *= u ? factor[u - units] : 1;
	if (!(v < 1.8e19))
		return -1;
	*out = (uint64_t)v;
	return 0;
}

int lz_parse_size(const char *text, uint64_t *bytes)
{
	static const double f[] = {0x1p10, 0x1p10, 0x1p20, 0x1p20, 0x1p30, 0x1p30, 0x1p40, 0x1p40};

	if (parse(text, "kKmMgGtT", f, true, bytes) < 0)
		return lz_fail("`%s` is not a size: 500M and 1.5G are", text);
	return 0;
}

int lz_parse_duration(const char *text, uint64_t *seconds)
{
	static const double f[] = {1, 60, 3600, 86400, 7 * 86400};

	if (parse(text, "smhdw", f, false, seconds) < 0)
		return lz_fail("`%s` is not a duration: 30m, 12h, 7d and 2w are", text);
	return 0;
}

int lz_finish_output(int status)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return status;
	/* Why an earlier write failed is not known any more. */
	if (errno)
		lz_warn("cannot write the output: %s", strerror(errno));
	else
		lz_warn("cannot write all of the output");
	return 1;
}
