/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmds/dap_refuse.h"

#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <common/base/text.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 16 << 20, LINE = 1024 };

static const char length_is[] = "Content-Length:";

/* The length of the message that follows; -1: there is none. */
static long read_header(void)
{
	char line[LINE];
	long length = -1;

	while (fgets(line, sizeof(line), stdin)) {
		if (line[strspn(line, "\r\n")] == 0 && length >= 0)
			return length <= LONGEST ? length : -1;
		if (strncasecmp(line, length_is, strlen(length_is)) == 0)
			length = strtol(line + strlen(length_is), NULL, 10);
	}
	return -1;
}

/* NULL: the editor has gone. */
static json_t *read_message(void)
{
	long length = read_header();
	lz_auto_free char *text = length > 0 ? malloc((size_t)length) : NULL;

	if (!text || fread(text, 1, (size_t)length, stdin) != (size_t)length)
		return NULL;
	return json_loadb(text, (size_t)length, 0, NULL);
}

static void send_message(json_t *m)
{
	static int seq;

	json_object_set_new(m, "seq", json_integer(++seq));
	/* all of it is printable, so its length stays */
	lz_auto_free char *text = json_dumps(m, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (text) {
		printf("Content-Length: %zu\r\n\r\n", strlen(text));
		lz_print(stdout, "%s", text);
		fflush(stdout);
	}
	json_decref(m);
}

static bool is(json_t *request, const char *command)
{
	const char *name = json_string_value(json_object_get(request, "command"));

	return name && strcmp(name, command) == 0;
}

static json_t *failure(const char *why)
{
	json_t *text = lz_json_text(why);

	return json_pack("{sb sO s{s{si so sb}}}", "success", false, "message", text, "body",
	                 "error", "id", 1, "format", text, "showUser", true);
}

static void answer(json_t *request, const char *why)
{
	bool ends = is(request, "disconnect") || is(request, "terminate");
	json_t *m = is(request, "initialize") || ends
	                ? json_pack("{sb s{}}", "success", true, "body")
	                : failure(why);
	json_t *seq = json_object_get(request, "seq"), *name = json_object_get(request, "command");

	if (!m)
		return;
	json_object_set_new(m, "type", json_string("response"));
	json_object_set(m, "request_seq", seq ? seq : json_null());
	json_object_set(m, "command", name ? name : json_null());
	send_message(m);
}

int lz_dap_refuse(const char *why)
{
	json_t *request;
	bool ends = false;

	while (!ends && (request = read_message())) {
		if (json_object_get(request, "command"))
			answer(request, why);
		ends = is(request, "disconnect");
		json_decref(request);
	}
	return 1;
}
