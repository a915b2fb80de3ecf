#include <lizard/widen.h>

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <lizard/cfg.h>
#include <lizard/error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct code {
	Elf *elf;
	const uint8_t *file;
	size_t size;
};

bool lz_widen_is_site(const uint8_t *code, uint8_t prefix)
{
	const uint8_t store[] = {0x41, 0xc6, 0x07}, add[] = {0x66, prefix, 0x83, 0xc7};

	return memcmp(code, store, sizeof(store)) == 0 &&
	       memcmp(code + sizeof(store) + 1, add, sizeof(add)) == 0;
}

/* The file offset of the code at link-time address ADDR; 0: there is none. */
static uint64_t offset_of(const struct code *c, uint64_t addr)
{
	size_t n;

	if (elf_getphdrnum(c->elf, &n) < 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(c->elf, (int)i, &p) || p.p_type != PT_LOAD ||
		    !(p.p_flags & PF_X) || addr < p.p_vaddr || addr - p.p_vaddr >= p.p_filesz)
			continue;
		uint64_t at = p.p_offset + (addr - p.p_vaddr);
		return at < c->size && c->size - at >= LZ_SITE_LEN ? at : 0;
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int find(const struct code *c, const struct lz_cfg *cfg, uint64_t *sites)
{
	size_t n;
	const struct lz_cfg_site *s = lz_cfg_sites(cfg, &n);

	for (size_t i = 0; i < n; i++) {
		uint64_t at = offset_of(c, s[i].addr);

		if (!at || !lz_widen_is_site(c->file + at, LZ_ADD_NARROW)) {
			lz_fail("no marker as this lizard writes them is at %#llx",
			        (unsigned long long)s[i].addr);
			return 1;
		}
		sites[i] = at + LZ_SITE_PREFIX;
	}
	qsort(sites, n, sizeof(*sites), by_value);
	return 0;
}

/* Of a file of which nothing is known. */
static bool has_markers(const struct code *c)
{
	static const uint8_t add[] = {0x66, LZ_ADD_NARROW, 0x83, 0xc7};
	const uint8_t *at = c->file, *end = at + c->size;

	while (at && (at = memmem(at, (size_t)(end - at), add, sizeof(add))) != NULL) {
		if (at - c->file >= LZ_SITE_PREFIX - 1 &&
		    lz_widen_is_site(at - (LZ_SITE_PREFIX - 1), LZ_ADD_NARROW))
			return true;
		at++;
	}
	return false;
}

static int find_in(const char *path, Elf *elf, uint64_t **sites, size_t *n)
{
	struct lz_cfg *cfg = lz_cfg_open(path);
	struct code c = {.elf = elf};
	int ret = 0;

	if (!cfg)
		return 1;
	lz_cfg_sites(cfg, n);
	c.file = (const uint8_t *)elf_rawfile(elf, &c.size);
	if (*n == 0 && has_markers(&c)) {
		lz_fail("its .lizard section is missing");
		ret = 1;
	} else if (*n) {
		*sites = malloc(*n * sizeof(**sites));
		ret = !*sites || !c.file ? lz_fail("out of memory for %zu markers", *n)
		                         : find(&c, cfg, *sites);
	}
	lz_cfg_close(cfg);
	return ret;
}

int lz_widen_find(const char *path, uint64_t **sites, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;
	Elf *elf;

	*sites = NULL;
	*n = 0;
	if (fd < 0)
		return lz_fail_errno("%s", path);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		ret = find_in(path, elf, sites, n);
	elf_end(elf);
	close(fd);
	if (ret) {
		free(*sites);
		*sites = NULL;
		*n = 0;
	}
	return ret;
}

void lz_widen_hide(uint8_t *code, size_t len, int file, uint64_t offset)
{
	uint8_t original[4096];

	for (size_t at = 0; at < len; at += sizeof(original)) {
		size_t want = len - at < sizeof(original) ? len - at : sizeof(original);
		ssize_t n = pread(file, original, want, (off_t)(offset + at));

		for (ssize_t i = 0; i < n; i++)
			if (code[at + (size_t)i] == LZ_ADD_WIDE && original[i] == LZ_ADD_NARROW)
				code[at + (size_t)i] = LZ_ADD_NARROW;
	}
}
