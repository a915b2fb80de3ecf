/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <lizard/syscalls.h>

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <lizard/mark.h>
#include <lizard/marker.h>

#define FIX(a, size)                                                                               \
	{                                                                                          \
		LZ_OUT_FIX, a, 0, 0, size                                                          \
	}
#define FIX_ALWAYS(a, size)                                                                        \
	{                                                                                          \
		LZ_OUT_FIX, a, 0, 1, size                                                          \
	}
#define RET(a, b)                                                                                  \
	{                                                                                          \
		LZ_OUT_RET, a, b, 0, 0                                                             \
	}
#define RETN(a, size)                                                                              \
	{                                                                                          \
		LZ_OUT_RETN, a, 0, 0, size                                                         \
	}
#define LEN(a, b)                                                                                  \
	{                                                                                          \
		LZ_OUT_LEN, a, b, 0, 0                                                             \
	}
#define ARR(a, b, size)                                                                            \
	{                                                                                          \
		LZ_OUT_ARR, a, b, 0, size                                                          \
	}
#define ARR_ALWAYS(a, b, size)                                                                     \
	{                                                                                          \
		LZ_OUT_ARR, a, b, 1, size                                                          \
	}
#define BITS(a, b)                                                                                 \
	{                                                                                          \
		LZ_OUT_BITS, a, b, 0, 0                                                            \
	}
#define FDSET(a, b)                                                                                \
	{                                                                                          \
		LZ_OUT_FDSET, a, b, 0, 0                                                           \
	}
#define VALLEN(a, b)                                                                               \
	{                                                                                          \
		LZ_OUT_VALLEN, a, b, 0, 0                                                          \
	}
#define VALLEN_ALWAYS(a, b)                                                                        \
	{                                                                                          \
		LZ_OUT_VALLEN, a, b, 1, 0                                                          \
	}
#define IOV(a, b)                                                                                  \
	{                                                                                          \
		LZ_OUT_IOV, a, b, 0, 0                                                             \
	}
#define MSG(a)                                                                                     \
	{                                                                                          \
		LZ_OUT_MSG, a, 0, 0, 0                                                             \
	}
#define MMSG(a, b)                                                                                 \
	{                                                                                          \
		LZ_OUT_MMSG, a, b, 0, 0                                                            \
	}
#define SPECIAL                                                                                    \
	{                                                                                          \
		LZ_OUT_SPECIAL, 0, 0, 1, 0                                                         \
	}

#define LZ_SYS(nr, name, n_args, klass, ...) [nr] = {#name, n_args, LZ_SC_##klass, {__VA_ARGS__}},

static const struct lz_syscall table[] = {
#include <lizard/syscalls.tbl>
};

const struct lz_syscall *lz_syscall(uint64_t nr)
{
	if (nr >= sizeof(table) / sizeof(table[0]) || !table[nr].name)
		return NULL;
	return &table[nr];
}

const char *lz_syscall_name(uint64_t nr)
{
	static _Thread_local char unknown[40];
	const struct lz_syscall *s = lz_syscall(nr);

	if (s)
		return s->name;
	snprintf(unknown, sizeof(unknown), "syscall_%" PRIu64, nr);
	return unknown;
}

const char *lz_call_name(uint64_t nr, const uint64_t *args)
{
	if (lz_is_mark(nr, args))
		return args[2] ? "lizard_mark" : "lizard_recording";
	return lz_hello_version(nr, args) ? "lizard_hello" : lz_syscall_name(nr);
}
