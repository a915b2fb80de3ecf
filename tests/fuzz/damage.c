/* Damages a recording in place, by a seed: damage DIRECTORY SEED
 *
 * Plain damage (cut, flipped, missing, swapped) is caught by the checksums. So that what lies behind them is
 * tried too, other kinds take a frame apart, change its header or its unpacked contents, and put it together
 * again with right checksums. Prints one line that says what was done. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gelf.h>
#include <zlib.h>
#include <common/codec.h>
#include <common/frame.h>
#include <common/parts.h>
#include <common/records.h>
#include <lizard/error.h>
#include <tests/fuzz/random.h>

static void die(const char *what)
{
	fprintf(stderr, "damage: %s: %s\n", what, lz_error());
	exit(1);
}

/* ---- files ---- */

enum { MAX_NAMES = 64 };
static char *names[MAX_NAMES];
static unsigned n_names;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_files(const char *below)
{
	DIR *d = opendir(*below ? below : ".");
	struct dirent *e;

	while (d && (e = readdir(d)) && n_names < MAX_NAMES) {
		char *name = NULL;
		struct stat st;

		if (asprintf(&name, "%s%s%s", below, *below ? "/" : "", e->d_name) < 0)
			die("no memory");
		if (lstat(name, &st) == 0 && S_ISREG(st.st_mode))
			names[n_names++] = name;
		else
			free(name);
	}
	if (d)
		closedir(d);
}

static struct lz_buf slurp(const char *name)
{
	struct lz_buf b = {0};
	FILE *f = fopen(name, "rb");
	uint8_t part[65536];
	size_t n;

	if (!f)
		die(name);
	while ((n = fread(part, 1, sizeof(part), f)))
		lz_put(&b, part, n);
	fclose(f);
	return b;
}

static void spill(const char *name, const void *p, size_t n)
{
	FILE *f;

	chmod(name, 0600);
	f = fopen(name, "wb");
	if (!f || fwrite(p, 1, n, f) != n || fclose(f))
		die(name);
}

/* ---- plain damage ---- */

static const char *pick(void)
{
	return names[rnd() % n_names];
}

static void cut_file(void)
{
	const char *name = pick();
	struct stat st;

	if (stat(name, &st) == 0) {
		off_t to = st.st_size ? rnd() % (st.st_size + 1) : 0;

		printf("%s cut from %lld to %lld\n", name, (long long)st.st_size, (long long)to);
		if (truncate(name, to) < 0)
			die(name);
	}
}

static void flip_file(void)
{
	const char *name = pick();
	struct lz_buf b = slurp(name);

	printf("%s: bits flipped\n", name);
	flip(b.p, b.len);
	spill(name, b.p, b.len);
	lz_buf_free(&b);
}

static void remove_file(void)
{
	const char *name = pick();

	printf("%s missing\n", name);
	unlink(name);
}

static void replace_file(void)
{
	const char *name = pick();

	unlink(name);
	switch (rnd() % 4) {
	case 0:
		printf("%s is a directory\n", name);
		mkdir(name, 0700);
		break;
	case 1:
		printf("%s is a FIFO\n", name);
		mkfifo(name, 0600);
		break;
	case 2:
		printf("%s is endless\n", name);
		if (symlink("/dev/zero", name) < 0)
			die(name);
		break;
	default: {
		const char *other = pick();

		printf("%s is %s\n", name, other);
		if (symlink(other, name) < 0)
			die(name);
	}
	}
}

/* One part of a file as another part of it, or as a part that there was not. */
static void rename_part(void)
{
	static const uint32_t numbers[] = {0, 1, 2, UINT32_MAX, UINT32_MAX - 1};
	const char *name = pick();
	char all[64], to[LZ_PART_NAME];

	snprintf(all, sizeof(all), "%.*s", (int)strcspn(name, "."), name);
	lz_part_name(all, rnd() % 2 ? numbers[rnd() % 5] : (uint32_t)(rnd() % 100), to);
	printf("%s is called %s\n", name, to);
	if (lz_part_is_file(name) && rename(name, to) < 0)
		die(name);
}

/* A number of meta made absurd, or a line lost or doubled. */
static void change_meta(void)
{
	static const char *const absurd[] = {
	    "18446744073709551615",    "-1", "",      "0",         "4294967296",
	    "99999999999999999999999", "x",  "\\x00", "2147483647"};
	struct lz_buf b = slurp("meta"), out = {0};
	unsigned lines = 0, which, i = 0;

	for (size_t k = 0; k < b.len; k++)
		lines += b.p[k] == '\n';
	which = lines ? rnd() % lines : 0;
	for (size_t k = 0; k < b.len;) {
		uint8_t *end = memchr(b.p + k, '\n', b.len - k);
		size_t n = end ? (size_t)(end + 1 - (b.p + k)) : b.len - k;
		uint8_t *space = memchr(b.p + k, ' ', n);
		unsigned how = i == which ? rnd() % 4 : 9;

		if (how == 1)
			lz_put(&out, b.p + k, n);
		if (how >= 1)
			lz_put(&out, b.p + k,
			       how >= 2 && how < 4 && space ? (size_t)(space + 1 - (b.p + k)) : n);
		if (how >= 2 && how < 4) {
			const char *text = absurd[rnd() % 9];

			lz_put(&out, text, strlen(text));
			lz_put_u8(&out, '\n');
		}
		k += n;
		i++;
	}
	printf("meta: line %u changed\n", which + 1);
	spill("meta", out.p, out.len);
	lz_buf_free(&b);
	lz_buf_free(&out);
}

/* ---- frames with right checksums ---- */

struct piece {
	struct lz_frame f;
	uint8_t *stored;
};

static struct piece *pieces;
static uint32_t n_pieces;

static void take_apart(const char *name)
{
	struct lz_frames fs;
	struct lz_buf b = slurp(name);

	if (lz_frames_open(AT_FDCWD, name, &fs) < 0)
		die(name);
	n_pieces = fs.n;
	pieces = calloc(fs.n + 1u, sizeof(*pieces));
	for (uint32_t i = 0; i < fs.n; i++) {
		pieces[i].f = fs.v[i];
		pieces[i].stored = malloc(fs.v[i].stored_len + 1u);
		memcpy(pieces[i].stored, b.p + fs.v[i].payload, fs.v[i].stored_len);
	}
	lz_frames_close(&fs);
	lz_buf_free(&b);
}

static void put_together(const char *name)
{
	struct lz_buf out = {0};

	for (uint32_t i = 0; i < n_pieces; i++) {
		uint8_t h[LZ_FRAME_HEADER];

		lz_frame_pack(&pieces[i].f, h);
		lz_put(&out, h, sizeof(h));
		lz_put(&out, pieces[i].stored, pieces[i].f.stored_len);
	}
	spill(name, out.p, out.len);
	lz_buf_free(&out);
}

static uint64_t absurd(uint64_t v)
{
	switch (rnd() % 8) {
	case 0: return UINT64_MAX;
	case 1: return 0;
	case 2: return v + 1;
	case 3: return v - 1;
	case 4: return UINT32_MAX;
	case 5: return 1u << rnd() % 31;
	case 6: return ~v;
	default: return v ^ 1ull << rnd() % 64;
	}
}

static void change_header(struct lz_frame *f)
{
	switch (rnd() % 8) {
	case 0: f->type = (uint8_t)(rnd() % 8); break;
	case 1: f->codec = (uint8_t)(rnd() % 4); break;
	case 2: f->flags ^= 1; break;
	case 3: f->raw_len = (uint32_t)absurd(f->raw_len); break;
	case 4: f->stored_len = rnd() % (f->stored_len + 1); break;
	case 5: f->count = (uint32_t)absurd(f->count); break;
	case 6: f->key0 = absurd(f->key0); break;
	default: f->key1 = absurd(f->key1);
	}
}

/* Unpacks the contents, changes them, stores them unpacked: whatever is behind the codecs gets it. */
static void change_contents(struct piece *p)
{
	uint8_t *raw = malloc(p->f.raw_len + 1u);

	if (lz_unpack(p->f.codec, p->stored, p->f.stored_len, raw, p->f.raw_len) < 0)
		die("unpack");
	flip(raw, p->f.raw_len);
	free(p->stored);
	p->stored = raw;
	p->f.codec = LZ_CODEC_RAW;
	p->f.stored_len = p->f.raw_len;
}

static void move_frame(uint32_t i)
{
	struct piece *other = &pieces[rnd() % n_pieces], keep = pieces[i];

	if (rnd() & 1) {
		memmove(&pieces[i], &pieces[i + 1], (n_pieces - i - 1) * sizeof(*pieces));
		n_pieces--;
	} else {
		pieces[i] = *other;
		*other = keep;
	}
}

static void fix_checksum(struct lz_frame *f, const uint8_t *stored)
{
	f->crc = (uint32_t)crc32_z(0, stored, f->stored_len);
}

static void change_frames(void)
{
	static char *framed[MAX_NAMES];
	unsigned n = 0;
	const char *name;
	uint32_t i, how = rnd() % 8;

	for (unsigned k = 0; k < n_names; k++)
		if (lz_part_is_file(names[k]))
			framed[n++] = names[k];
	if (!n) {
		printf("nothing framed\n");
		return;
	}
	name = framed[rnd() % n];
	take_apart(name);
	if (!n_pieces) {
		printf("%s has no frames\n", name);
		return;
	}
	i = rnd() % n_pieces;
	printf("%s, frame %u of %u: %s\n", name, i, n_pieces,
	       how < 2   ? "header"
	       : how < 7 ? "contents"
	                 : "moved");
	if (how == 7) {
		move_frame(i);
	} else {
		if (how < 2 || !pieces[i].f.raw_len)
			change_header(&pieces[i].f);
		else
			change_contents(&pieces[i]);
		fix_checksum(&pieces[i].f, pieces[i].stored);
	}
	put_together(name);
}

/* ---- the mapped programs ---- */

/* If P is the entry of the file table that is kept as COPY, it gets the checksum CRC. */
static void change_entry(struct piece *p, const char *copy, uint32_t crc)
{
	struct lz_buf raw = {.p = malloc(p->f.raw_len + 1u), .len = p->f.raw_len}, b = {0};
	struct lz_file f = {0};

	if (p->f.type == LZ_FRAME_FILE &&
	    lz_unpack(p->f.codec, p->stored, p->f.stored_len, raw.p, raw.len) == 0 &&
	    lz_file_get(&raw, &f) == 0 && !strcmp(f.copy, copy)) {
		f.crc = crc;
		lz_file_put(&b, &f);
		free(p->stored);
		p->stored = b.p;
		p->f.codec = LZ_CODEC_RAW;
		p->f.raw_len = p->f.stored_len = (uint32_t)b.len;
		fix_checksum(&p->f, p->stored);
	}
	lz_file_free(&f);
	free(raw.p);
}

/* So that what reads the copy gets it as it is now. */
static void repair_entry(const char *name)
{
	struct lz_buf now = slurp(name);

	for (unsigned k = 0; k < n_names; k++) {
		if (lz_part_of(names[k], "events") < 0)
			continue;
		take_apart(names[k]);
		for (uint32_t i = 0; i < n_pieces; i++)
			change_entry(&pieces[i], strrchr(name, '/') + 1,
			             (uint32_t)crc32_z(0, now.p, now.len));
		put_together(names[k]);
	}
	lz_buf_free(&now);
}

static void change_elf(void)
{
	const char *name = NULL;
	struct lz_buf b;
	size_t from, len;

	/* File 0 is the program. */
	for (unsigned k = 0; k < n_names; k++)
		if (!strncmp(names[k], "files/", 6) && (!name || rnd() % 4 == 0))
			name = names[k];
	if (!name) {
		printf("no mapped files\n");
		return;
	}
	elf_version(EV_CURRENT);
	pick_elf_range(name, &from, &len);
	b = slurp(name);
	if (from >= b.len || len > b.len - from) {
		from = 0;
		len = b.len;
	}
	/* The head of a section is what the rest is read by. */
	if (len > 400 && rnd() & 1)
		len = 400;
	printf("%s: %zu bytes at %zu damaged\n", name, len, from);
	flip(b.p + from, len);
	spill(name, b.p, b.len);
	lz_buf_free(&b);
	if (rnd() % 4)
		repair_entry(name);
}

int main(int argc, char **argv)
{
	static void (*const kind[])(void) = {
	    cut_file,   flip_file,     remove_file,   replace_file,  change_meta,   change_elf,
	    change_elf, change_frames, change_frames, change_frames, change_frames, rename_part};

	if (argc != 3 || chdir(argv[1]) < 0) {
		fprintf(stderr, "usage: damage DIRECTORY SEED\n");
		return 2;
	}
	seed(strtoull(argv[2], NULL, 10));
	list_files("");
	list_files("files");
	qsort(names, n_names, sizeof(*names), by_name);
	if (!n_names) {
		fprintf(stderr, "damage: no files in %s\n", argv[1]);
		return 1;
	}
	kind[rnd() % (sizeof(kind) / sizeof(*kind))]();
	return 0;
}
