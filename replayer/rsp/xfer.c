/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qXfer objects: features, auxv, exec-file, siginfo, threads, libraries-svr4. */
#include "replayer/rsp/inside.h"

#include <common/base/cleanup.h>
#include <stdlib.h>
#include <string.h>

/* Bytes OFFSET,LENGTH of an object. */
static int part(struct lz_rsp *p, const char *range, const void *object, size_t size)
{
	char *end;
	size_t offset = strtoull(range, &end, 16);
	size_t length = *end == ',' ? strtoull(end + 1, NULL, 16) : 0;

	if (offset > size)
		offset = size;
	if (length > LZ_WIRE_PACKET_MAX / 2)
		length = LZ_WIRE_PACKET_MAX / 2;
	bool last = length >= size - offset;

	if (last)
		length = size - offset;
	lz_auto_free char *reply = malloc(length + 1);

	if (!reply)
		return lz_rsp_reply(p, "E01");
	reply[0] = last ? 'l' : 'm';
	memcpy(reply + 1, (const char *)object + offset, length);
	return lz_wire_send(p->wire, reply, length + 1);
}

static int threads(struct lz_rsp *p, const char *range)
{
	size_t len;
	lz_auto_free char *xml = lz_rsp_threads_xml(p, &len);

	return xml ? part(p, range, xml, len) : lz_rsp_reply(p, "E01");
}

/* LLDB opens files itself. */
static char *list_libraries(struct lz_rsp *p)
{
	return p->lldb ? lz_front_libraries_here(p->front) : lz_front_libraries(p->front);
}

/* The list as it was when its first part was asked for. */
static int libraries(struct lz_rsp *p, const char *range)
{
	if (!p->libraries || strtoull(range, NULL, 16) == 0) {
		free(p->libraries);
		p->libraries = list_libraries(p);
	}
	return p->libraries ? part(p, range, p->libraries, strlen(p->libraries))
	                    : lz_rsp_error(p, "the program has no list of libraries");
}

bool lz_rsp_libraries_changed(struct lz_rsp *p)
{
	lz_auto_free char *now = list_libraries(p);

	return now && (!p->libraries || strcmp(now, p->libraries) != 0);
}

static int object_part(struct lz_rsp *p, const char *range, const void *object, size_t len)
{
	return object ? part(p, range, object, len) : lz_rsp_reply(p, "E01");
}

int lz_rsp_xfer(struct lz_rsp *p, const char *packet)
{
	char object[32], annex[64];
	int at = 0;

	if (sscanf(packet, "qXfer:%31[^:]:read:%n", object, &at) != 1 || !at)
		return lz_rsp_reply(p, "%s", "");
	const char *colon = strchr(packet + at, ':');

	if (!colon)
		return lz_rsp_reply(p, "E00");
	snprintf(annex, sizeof annex, "%.*s", (int)(colon - packet - at), packet + at);
	const char *range = colon + 1;

	const void *found;
	size_t len;

	if (strcmp(object, "features") == 0) {
		const char *xml = lz_front_features(p->front);

		if (strcmp(annex, "target.xml") != 0)
			return lz_rsp_reply(p, "E00");
		return part(p, range, xml, strlen(xml));
	}
	if (strcmp(object, "auxv") == 0) {
		found = lz_front_auxv(p->front, &len);
		return object_part(p, range, found, len);
	}
	if (strcmp(object, "exec-file") == 0) {
		const char *program = lz_front_program(p->front);

		return part(p, range, program, strlen(program));
	}
	if (strcmp(object, "threads") == 0)
		return threads(p, range);
	if (strcmp(object, "libraries-svr4") == 0)
		return libraries(p, range);
	if (strcmp(object, "siginfo") == 0) {
		found = lz_front_siginfo(p->front, &len);
		return object_part(p, range, found, len);
	}
	return lz_rsp_reply(p, "%s", "");
}
