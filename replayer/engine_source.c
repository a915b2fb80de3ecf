/* A difference of the marker stream, said at source level where the program's CFG is known. */
#include "replayer/engine.h"
#include <lizard/marker.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_marker(FILE *f, const uint8_t *p, size_t len)
{
	unsigned size = len ? lz_marker_size(*p) : 0;
	uint32_t v = 0;

	if (!size || size > len) {
		fprintf(f, "nothing");
		return;
	}
	memcpy(&v, p + 1, size - 1 < sizeof v ? size - 1 : sizeof v);
	switch (*p) {
	case LZ_WIDE:
	case LZ_WIDE32: fprintf(f, "edge %" PRIu32, v); break;
	case LZ_ENTER: fprintf(f, "entry of the function at ...%08" PRIx32, v); break;
	case LZ_EXIT: fprintf(f, "function exit"); break;
	case LZ_TAIL: fprintf(f, "exit by a tail call"); break;
	case LZ_LANDING: fprintf(f, "landing in the function at ...%08" PRIx32, v); break;
	default: fprintf(f, "edge %u", *p);
	}
}

char *lz_describe_markers(struct lz_engine *e, uint64_t offset, const uint8_t *got, size_t len)
{
	uint8_t want[LZ_MARKER_MAX_SIZE];
	char *text = NULL;
	size_t text_len;
	int64_t n = lz_reader_markers(e->rp->reader, e->rp->tid, offset, want, sizeof want);
	FILE *f = open_memstream(&text, &text_len);

	if (!f)
		return NULL;
	fprintf(f, "marker %" PRIu64 ": expected ", offset);
	print_marker(f, want, n > 0 ? (size_t)n : 0);
	fprintf(f, ", got ");
	print_marker(f, got, len);
	fclose(f);
	return text;
}
