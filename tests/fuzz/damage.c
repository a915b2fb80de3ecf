/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damages a recording in place, by a seed: damage DIRECTORY SEED
 *
 * Plain damage (cut, flipped, missing, swapped) is caught by the checksums. So that what lies behind them is
 * tried too, other kinds take a frame apart, change its header or its unpacked contents, and put it together
 * again with right checksums. Prints one line that says what was done. */
#include <dirent.h>
#include <gelf.h>
#include <common/recording/parts.h>
#include <common/cfg/records.h>
#include <tests/fuzz/pieces.h>
#include <tests/fuzz/random.h>

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

/* Whatever is behind the codecs gets it. */
static void change_contents(struct piece *p)
{
	struct lz_buf raw = piece_raw(p);

	flip(raw.p, raw.len);
	piece_set(p, &raw);
}

static void move_frame(struct pieces *p, uint32_t i)
{
	struct piece *other = &p->v[rnd() % p->n], keep = p->v[i];

	if (rnd() & 1) {
		memmove(&p->v[i], &p->v[i + 1], (p->n - i - 1) * sizeof(*p->v));
		p->n--;
	} else {
		p->v[i] = *other;
		*other = keep;
	}
}

static void change_frames(void)
{
	static char *framed[MAX_NAMES];
	struct pieces p;
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
	p = take_apart(name);
	if (!p.n) {
		printf("%s has no frames\n", name);
		return;
	}
	i = rnd() % p.n;
	printf("%s, frame %u of %u: %s\n", name, i, p.n,
	       how < 2   ? "header"
	       : how < 7 ? "contents"
	                 : "moved");
	if (how == 7) {
		move_frame(&p, i);
	} else {
		if (how < 2 || !p.v[i].f.raw_len)
			change_header(&p.v[i].f);
		else
			change_contents(&p.v[i]);
		fix_checksum(&p.v[i]);
	}
	put_together(&p, name);
}

/* ---- the mapped programs ---- */

/* If P is the entry of the file table that is kept as COPY, it gets the checksum CRC. */
static void change_entry(struct piece *p, const char *copy, uint32_t crc)
{
	struct lz_buf raw, b = {0};
	struct lz_file f = {0};

	if (p->f.type != LZ_FRAME_FILE)
		return;
	raw = piece_raw(p);
	if (lz_file_get(&raw, &f) == 0 && !strcmp(f.copy, copy)) {
		f.crc = crc;
		lz_file_put(&b, &f);
		piece_set(p, &b);
	}
	lz_file_free(&f);
	lz_buf_free(&raw);
}

/* So that what reads the copy gets it as it is now. */
static void repair_entry(const char *name)
{
	struct lz_buf now = slurp(name);
	struct pieces p;

	for (unsigned k = 0; k < n_names; k++) {
		if (lz_part_of(names[k], "events") < 0)
			continue;
		p = take_apart(names[k]);
		for (uint32_t i = 0; i < p.n; i++)
			change_entry(&p.v[i], strrchr(name, '/') + 1,
			             (uint32_t)crc32_z(0, now.p, now.len));
		put_together(&p, names[k]);
		pieces_free(&p);
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
