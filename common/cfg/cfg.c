/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/array.h>
#include <lizard/cfg.h>

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lizard/error.h>
#include <common/cfg/cfg_record.h>

/* ".lizard", ".lizard.unlikely" and the like. */
static bool holds_records(const char *name)
{
	size_t n = strlen(LZ_CFG_SECTION);

	return strncmp(name, LZ_CFG_SECTION, n) == 0 && (name[n] == 0 || name[n] == '.');
}

/* Appends the section, filled up to a multiple of 8, to *TO, which a zero byte follows. */
static int copy_section(char **to, size_t *to_size, const char *path, Elf *elf, Elf_Scn *scn)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	size_t file_size = 0, size;
	char *bigger;

	if (!data || (!data->d_buf && data->d_size) || !elf_rawfile(elf, &file_size))
		return lz_fail("%s: section " LZ_CFG_SECTION " can't be read: %s", path,
		               elf_errmsg(-1));
	if (data->d_size > file_size || *to_size > file_size)
		return lz_fail("%s: its sections " LZ_CFG_SECTION " overlap; link it again", path);
	size = *to_size + (data->d_size + 7) / 8 * 8;
	bigger = realloc(*to, size + 1);
	if (!bigger)
		return lz_fail("%s: out of memory for %zu bytes of " LZ_CFG_SECTION, path, size);
	memset(bigger + *to_size, 0, size - *to_size + 1);
	if (data->d_size)
		memcpy(bigger + *to_size, data->d_buf, data->d_size);
	*to = bigger;
	*to_size = size;
	return 0;
}

static int read_records(struct lz_cfg *cfg, const char *path)
{
	size_t at = 0;

	while (cfg->section_size - at >= 8) {
		uint64_t word;
		int64_t size;

		memcpy(&word, cfg->section + at, 8);
		if (word == 0) {
			at += 8;
			continue;
		}
		size = lz_cfg_add_record(cfg, at);
		if (size < 0)
			return lz_fail_in("%s", path);
		at += (size_t)size;
	}
	return 0;
}

static int read_sections(struct lz_cfg *cfg, const char *path, Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return lz_fail("%s: no section names: %s", path, elf_errmsg(-1));
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr) || !(name = elf_strptr(elf, names, shdr.sh_name)))
			return lz_fail("%s: a section header is damaged: %s", path, elf_errmsg(-1));
		if (holds_records(name) &&
		    copy_section(&cfg->section, &cfg->section_size, path, elf, scn) < 0)
			return -1;
		if (strcmp(name, LZ_CFG_TAKEN_SECTION) == 0 &&
		    copy_section(&cfg->taken, &cfg->taken_size, path, elf, scn) < 0)
			return -1;
	}
	return cfg->section ? read_records(cfg, path) : 0;
}

static int by_site(const void *pa, const void *pb)
{
	const struct lz_cfg_site *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

struct numbered_label {
	struct lz_cfg_label label;
	size_t number;
};

static int by_label(const void *pa, const void *pb)
{
	const struct numbered_label *a = pa, *b = pb;

	if (a->label.addr != b->label.addr)
		return a->label.addr < b->label.addr ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Several labels may share an address (an empty block): the last written one
 * is the block that the code belongs to, so their order is kept. */
static int sort_labels(struct lz_cfg *cfg)
{
	struct numbered_label *sorted = calloc(cfg->n_labels + 1, sizeof(*sorted));

	if (!sorted)
		return lz_fail("out of memory reading the control-flow graphs");
	for (size_t i = 0; i < cfg->n_labels; i++)
		sorted[i] = (struct numbered_label){cfg->labels[i], i};
	qsort(sorted, cfg->n_labels, sizeof(*sorted), by_label);
	for (size_t i = 0; i < cfg->n_labels; i++)
		cfg->labels[i] = sorted[i].label;
	free(sorted);
	return 0;
}

static int by_entry(const void *pa, const void *pb, void *arg)
{
	const struct lz_cfg *cfg = arg;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
	uint64_t ea = cfg->funcs[a].entry, eb = cfg->funcs[b].entry;

	if (ea != eb)
		return ea < eb ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int sort_all(struct lz_cfg *cfg)
{
	cfg->by_entry = calloc(cfg->n_funcs + 1, sizeof(*cfg->by_entry));
	if (!cfg->by_entry)
		return lz_fail("out of memory reading the control-flow graphs");
	for (size_t i = 0; i < cfg->n_funcs; i++)
		cfg->by_entry[i] = i;
	qsort_r(cfg->by_entry, cfg->n_funcs, sizeof(*cfg->by_entry), by_entry, cfg);
	if (cfg->n_sites)
		qsort(cfg->sites, cfg->n_sites, sizeof(*cfg->sites), by_site);
	return sort_labels(cfg);
}

static int read_elf(struct lz_cfg *cfg, const char *path, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	GElf_Ehdr ehdr;
	int result = -1;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr))
		lz_fail("%s: not an ELF file", path);
	else if (ehdr.e_machine != EM_X86_64 || ehdr.e_ident[EI_CLASS] != ELFCLASS64)
		lz_fail("%s: not a 64-bit x86 program", path);
	else if (ehdr.e_type == ET_REL)
		lz_fail("%s: an object file: link it first", path);
	else if (read_sections(cfg, path, elf) == 0 &&
	         lz_symbol_ranges(elf, &cfg->ranges, &cfg->n_ranges) == 0)
		result = sort_all(cfg);
	if (elf)
		elf_end(elf);
	return result;
}

struct lz_cfg *lz_cfg_open(const char *path)
{
	struct lz_cfg *cfg = calloc(1, sizeof(*cfg));
	int fd, result;

	if (!cfg) {
		lz_fail("%s: out of memory", path);
		return NULL;
	}
	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		lz_fail_errno("%s: can't open it", path);
		free(cfg);
		return NULL;
	}
	result = read_elf(cfg, path, fd);
	close(fd);
	if (result < 0) {
		lz_cfg_close(cfg);
		return NULL;
	}
	return cfg;
}

void lz_cfg_close(struct lz_cfg *cfg)
{
	if (!cfg)
		return;
	for (size_t i = 0; i < cfg->n_funcs; i++)
		lz_cfg_free_func(&cfg->funcs[i]);
	free(cfg->funcs);
	free(cfg->sites);
	free(cfg->labels);
	free(cfg->files);
	free(cfg->file_hash);
	free(cfg->ranges);
	free(cfg->by_entry);
	free(cfg->section);
	free(cfg->taken);
	free(cfg);
}

size_t lz_cfg_n_funcs(const struct lz_cfg *cfg)
{
	return cfg->n_funcs;
}

const struct lz_cfg_func *lz_cfg_func(const struct lz_cfg *cfg, size_t i)
{
	return i < cfg->n_funcs ? &cfg->funcs[i] : NULL;
}

/* Of the Ith function in the order of their entries. */
static uint64_t nth_entry(const struct lz_cfg *cfg, size_t i)
{
	return cfg->funcs[cfg->by_entry[i]].entry;
}

const struct lz_cfg_func *lz_cfg_func_at(const struct lz_cfg *cfg, uint64_t entry)
{
	size_t at = lz_lower_bound(i, cfg->n_funcs, nth_entry(cfg, i) < entry);

	if (at == cfg->n_funcs || nth_entry(cfg, at) != entry)
		return NULL;
	return &cfg->funcs[cfg->by_entry[at]];
}

bool lz_cfg_taken(const struct lz_cfg *cfg, const char *name)
{
	for (size_t at = 0; at < cfg->taken_size; at += strlen(cfg->taken + at) + 1)
		if (strcmp(cfg->taken + at, name) == 0)
			return true;
	return false;
}

const char *lz_cfg_file_name(const struct lz_cfg *cfg, uint32_t file)
{
	return file < cfg->n_files ? cfg->files[file] : NULL;
}

const struct lz_cfg_site *lz_cfg_sites(const struct lz_cfg *cfg, size_t *n)
{
	*n = cfg->n_sites;
	return cfg->sites;
}

const struct lz_cfg_label *lz_cfg_labels(const struct lz_cfg *cfg, size_t *n)
{
	*n = cfg->n_labels;
	return cfg->labels;
}

/* The end of the code that ADDR belongs to, UINT64_MAX if no symbol says. */
static uint64_t range_end(const struct lz_cfg *cfg, uint64_t addr)
{
	size_t i = lz_range_of(cfg->ranges, cfg->n_ranges, addr);

	return i < cfg->n_ranges ? cfg->ranges[i].end : UINT64_MAX;
}

/* Does a function begin behind address A, at or before B? */
static bool entry_between(const struct lz_cfg *cfg, uint64_t a, uint64_t b)
{
	size_t at = lz_lower_bound(i, cfg->n_funcs, nth_entry(cfg, i) <= a);

	return at < cfg->n_funcs && nth_entry(cfg, at) <= b;
}

const struct lz_cfg_site *lz_cfg_sites_from(const struct lz_cfg *cfg, uint64_t addr, size_t *left)
{
	size_t at = lz_lower_bound(i, cfg->n_sites, cfg->sites[i].addr < addr);

	*left = cfg->n_sites - at;
	return cfg->sites + at;
}

const struct lz_cfg_label *lz_cfg_label_before(const struct lz_cfg *cfg, uint64_t addr)
{
	size_t n = lz_lower_bound(i, cfg->n_labels, cfg->labels[i].addr <= addr);
	const struct lz_cfg_label *last = n ? &cfg->labels[n - 1] : NULL;

	if (!last || addr >= range_end(cfg, last->addr) || entry_between(cfg, last->addr, addr))
		return NULL;
	return last;
}
