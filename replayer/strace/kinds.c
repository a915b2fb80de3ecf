/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An argument by its kind. */
#include "replayer/strace/kinds.h"
#include "replayer/strace/show.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPE_MOST = 512 };

typedef void plain_fn(struct lz_show *s, uint64_t v);

static void show_signed(struct lz_show *s, uint64_t v)
{
	lz_show_int(s, (int32_t)v);
}
static void show_signed64(struct lz_show *s, uint64_t v)
{
	lz_show_int(s, (int64_t)v);
}
static void show_unsigned32(struct lz_show *s, uint64_t v)
{
	lz_show_unsigned(s, (uint32_t)v);
}
static void show_hex32(struct lz_show *s, uint64_t v)
{
	lz_show_hex(s, (uint32_t)v);
}
static void show_mode(struct lz_show *s, uint64_t v)
{
	lz_show_mode(s, (uint32_t)v & 0xffff);
}
static void show_dirfd(struct lz_show *s, uint64_t v)
{
	lz_show_dirfd(s, (int)v);
}
static void show_path(struct lz_show *s, uint64_t v)
{
	lz_show_string(s, v, true);
}
static void show_string(struct lz_show *s, uint64_t v)
{
	lz_show_string(s, v, false);
}
static void show_strings(struct lz_show *s, uint64_t v)
{
	lz_show_strings(s, v, false);
}
static void show_count(struct lz_show *s, uint64_t v)
{
	lz_show_strings(s, v, true);
}
static void show_nothing(struct lz_show *s, uint64_t v)
{
	(void)s, (void)v;
}

static const struct {
	const char *name;
	plain_fn *show;
} plain[] = {{"d", show_signed},        {"fd", show_signed},      {"u", lz_show_unsigned},
             {"u32", show_unsigned32},  {"d64", show_signed64},   {"x", lz_show_hex},
             {"x32", show_hex32},       {"ptr", lz_show_address}, {"mode", show_mode},
             {"dirfd", show_dirfd},     {"path", show_path},      {"str", show_string},
             {"strings", show_strings}, {"count", show_count},    {"sig", lz_show_signal},
             {"none", show_nothing}};

/* ---- kinds that take something ---- */

/* The length that PARAM names: an argument's number, or `ret`. */
static uint64_t length(const struct lz_show *s, const char *param)
{
	if (!strcmp(param, "ret"))
		return s->ev->result > 0 ? (uint64_t)s->ev->result : 0;
	const unsigned i = (unsigned)(*param - '0');
	return i < LZ_STRACE_ARGS ? s->ev->args[i] : 0;
}

static bool show_with(struct lz_show *s, const char *kind, const char *param, uint64_t v)
{
	if (!strcmp(kind, "flags"))
		lz_show_flags(s, param, (uint32_t)v);
	else if (!strcmp(kind, "flags0"))
		v ? lz_show_flags(s, param, (uint32_t)v) : lz_show_int(s, 0);
	else if (!strcmp(kind, "name") || !strcmp(kind, "name32"))
		lz_show_name(s, param, (uint32_t)v);
	else if (!strcmp(kind, "buf"))
		lz_show_buffer(s, v, length(s, param), false);
	else if (!strcmp(kind, "hexbuf"))
		lz_show_buffer(s, v, length(s, param), true);
	else if (!strcmp(kind, "iov"))
		lz_show_vectors(s, v, length(s, param), s->out ? length(s, "ret") : UINT64_MAX);
	else if (!strcmp(kind, "sigset"))
		lz_show_sigset(s, v, length(s, param));
	else if (!strcmp(kind, "sockaddr"))
		lz_show_sockaddr(s, v, (uint32_t)length(s, param));
	else
		return false;
	return true;
}

/* ---- structures and forms ---- */

static const struct lz_shape *shape_of(const char *kind)
{
	static const struct lz_shape *const all[] = {lz_shapes_files, lz_shapes_times,
	                                             lz_shapes_signals, lz_shapes_process};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (const struct lz_shape *h = all[i]; h->name; h++)
			if (!strcmp(h->name, kind))
				return h;
	return NULL;
}

static void show_shape(struct lz_show *s, const struct lz_shape *h, uint64_t addr)
{
	_Alignas(16) uint8_t bytes[SHAPE_MOST];

	if (!addr || h->size > sizeof(bytes) || lz_show_bytes(s, addr, bytes, h->size) < h->size)
		lz_show_address(s, addr);
	else
		h->show(s, bytes);
}

static const struct lz_form *form_of(const char *kind)
{
	static const struct lz_form *const all[] = {lz_forms_files, lz_forms_net, lz_forms_signals,
	                                            lz_forms_process, lz_forms_waiting};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (const struct lz_form *f = all[i]; f->name; f++)
			if (!strcmp(f->name, kind))
				return f;
	return NULL;
}

/* ---- all of them ---- */

static bool show_plain(struct lz_show *s, const char *kind, uint64_t v)
{
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (!strcmp(plain[i].name, kind)) {
			plain[i].show(s, v);
			return true;
		}
	return false;
}

void lz_show_kind(struct lz_show *s, char *kind, unsigned i)
{
	const uint64_t v = s->ev->args[i];
	const bool written = *kind == '<' || *kind == '*';
	char *param;

	s->out = written;
	kind += written || *kind == '>';
	if ((param = strchr(kind, ':')))
		*param++ = 0;
	const struct lz_form *form = form_of(kind);
	const struct lz_shape *shape = form ? NULL : shape_of(kind);
	/* what a form says of a call that has failed is its own matter */
	if (written && lz_show_failed(s) && !form)
		lz_show_address(s, v);
	else if (form)
		form->show(s, v, i);
	else if (shape)
		show_shape(s, shape, v);
	else if (!(param ? show_with(s, kind, param, v) : show_plain(s, kind, v)))
		lz_show_hex(s, v);
}
