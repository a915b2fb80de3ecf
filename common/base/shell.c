/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/shell.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing in it means something to a shell. */
static bool is_plain(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	                            "_-+=:,./@%";

	return *text && strspn(text, plain) == strlen(text);
}

char *lz_shell_word(const char *text)
{
	char *out = malloc(4 * strlen(text) + 3), *q = out;

	if (!out || is_plain(text))
		return out ? strcpy(out, text) : NULL;
	*q++ = '\'';
	for (; *text; text++)
		if (*text == '\'')
			q += sprintf(q, "'\\''");
		else
			*q++ = *text;
	strcpy(q, "'");
	return out;
}
