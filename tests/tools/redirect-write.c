/* SPDX-License-Identifier: GPL-3.0-or-later */
/* redirect-write REC ADDR TAG: the one event of REC that writes bytes beginning with TAG (a file's) writes them to ADDR
 * instead. Checksums are right, so the recording is well-formed. */
#include <common/base/bytes.h>
#include <common/recording/codec.h>
#include <common/recording/frame.h>
#include <common/cfg/records.h>
#include <fcntl.h>
#include <lizard/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { TAG_LEN = 5 };
static uint8_t tag[TAG_LEN];
static uint64_t to;
static int done;

static int redirect(struct lz_buf *out, const struct lz_buf *in, uint32_t n)
{
	struct lz_cur c = {.p = in->p, .end = in->p + in->len};
	struct lz_event_room room = {0};

	for (uint32_t i = 0; i < n; i++) {
		struct lz_event ev = {0};
		uint32_t len;
		const uint8_t *bytes = lz_event_skip(&c, &len);

		if (!bytes || lz_event_get(bytes, len, &ev, &room) < 0)
			return -1;
		for (uint32_t w = 0; w < ev.n_writes; w++)
			if (ev.writes[w].len >= TAG_LEN &&
			    !memcmp(ev.writes[w].bytes, tag, TAG_LEN)) {
				ev.writes[w].addr = to;
				done++;
			}
		lz_event_put(out, &ev);
	}
	return 0;
}

static int copy(struct lz_frames *fs, uint32_t i, FILE *f)
{
	struct lz_frame frame = fs->v[i];
	struct lz_buf in = {0}, out = {0};
	uint8_t header[LZ_FRAME_HEADER];

	if (lz_frames_read(fs, i, &in) < 0)
		return -1;
	if (frame.type != LZ_FRAME_EVENTS)
		lz_put(&out, in.p, in.len);
	else if (redirect(&out, &in, frame.count) < 0)
		return -1;
	frame.codec = LZ_CODEC_RAW;
	frame.raw_len = frame.stored_len = (uint32_t)out.len;
	frame.crc = (uint32_t)crc32_z(0, out.p, out.len);
	lz_frame_pack(&frame, header);
	fwrite(header, 1, sizeof header, f);
	if (out.len)
		fwrite(out.p, 1, out.len, f);
	lz_buf_free(&in);
	lz_buf_free(&out);
	return 0;
}

int main(int argc, char **argv)
{
	struct lz_frames fs;
	FILE *tagged, *f;

	if (argc != 4 || chdir(argv[1]) < 0 || !(tagged = fopen(argv[3], "r")) ||
	    fread(tag, 1, TAG_LEN, tagged) != TAG_LEN)
		return 2;
	to = strtoull(argv[2], NULL, 0);
	if (lz_frames_open(AT_FDCWD, "events", &fs) < 0 || !(f = fopen("events.new", "w")))
		return 2;
	for (uint32_t i = 0; i < fs.n; i++)
		if (copy(&fs, i, f) < 0) {
			fprintf(stderr, "%s\n", lz_error());
			return 2;
		}
	if (fclose(f) || rename("events.new", "events") < 0)
		return 2;
	return done == 1 ? 0 : 1;
}
