/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <lizard/event.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Of openat and write the program's own bytes are only there where they name a thread. */
static bool names_or_makes_thread(const struct lz_event *ev)
{
	switch (ev->nr) {
	case SYS_clone:
	case SYS_clone3:
	case SYS_prctl: return true;
	case SYS_openat:
	case SYS_write: return ev->n_writes;
	}
	return false;
}

bool lz_event_writes_own(const struct lz_event *ev)
{
	if (ev->kind != LZ_EV_SYSCALL)
		return false;
	return ev->nr == SYS_openat || ev->nr == SYS_write ||
	       (ev->nr == SYS_prctl && ev->args[0] == PR_SET_NAME);
}

bool lz_event_plain(const struct lz_event *ev)
{
	const uint32_t telling = LZ_EVF_REBASE | LZ_EVF_THREAD_END | LZ_EVF_THREAD_BORN;

	if (ev->n_ops || ev->flags & telling)
		return false;
	return ev->kind == LZ_EV_INSN || (ev->kind == LZ_EV_SYSCALL && !names_or_makes_thread(ev));
}
