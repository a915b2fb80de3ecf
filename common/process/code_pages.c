/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <common/base/array.h>
#include <common/process/code_pages.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>

static struct lz_code_page *page_of(struct lz_code_pages *c, const struct lz_proc *p, uint64_t addr)
{
	const uint64_t at = addr & ~(uint64_t)(LZ_PAGE - 1);

	for (size_t i = 0; i < c->n; i++)
		if (c->a[i].at == at)
			return &c->a[i];
	if (lz_reserve(c->a, c->room, c->n + 1) < 0) {
		lz_fail("out of memory for a page of code");
		return NULL;
	}
	struct lz_code_page *page = &c->a[c->n];
	page->at = at;
	page->changed = false;
	if (at >= c->empty && at < c->empty_end)
		memset(page->bytes, 0, LZ_PAGE);
	else if (lz_proc_read(p, at, page->bytes, LZ_PAGE) < 0)
		return NULL;
	c->n++;
	return page;
}

static size_t within_page(uint64_t addr, size_t len)
{
	const size_t left = LZ_PAGE - addr % LZ_PAGE;

	return len < left ? len : left;
}

int lz_code_pages_read(struct lz_code_pages *c, const struct lz_proc *p, uint64_t addr, void *buf,
                       size_t len)
{
	for (size_t done = 0, n; done < len; done += n) {
		const struct lz_code_page *page = page_of(c, p, addr + done);

		if (!page)
			return -1;
		n = within_page(addr + done, len - done);
		memcpy((uint8_t *)buf + done, page->bytes + (addr + done - page->at), n);
	}
	return 0;
}

int lz_code_pages_write(struct lz_code_pages *c, const struct lz_proc *p, uint64_t addr,
                        const void *buf, size_t len)
{
	for (size_t done = 0, n; done < len; done += n) {
		struct lz_code_page *page = page_of(c, p, addr + done);

		if (!page)
			return -1;
		n = within_page(addr + done, len - done);
		memcpy(page->bytes + (addr + done - page->at), (const uint8_t *)buf + done, n);
		page->changed = true;
	}
	return 0;
}

int lz_code_pages_end(struct lz_code_pages *c, const struct lz_proc *p)
{
	int ret = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->a[i].changed && lz_proc_write(p, c->a[i].at, c->a[i].bytes, LZ_PAGE) < 0)
			ret = -1;
	free(c->a);
	*c = (struct lz_code_pages){0};
	return ret;
}
