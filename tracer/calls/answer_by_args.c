/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls that are refused, or answered by us, because of their arguments. */
#include "tracer/calls/calls.h"
#include "tracer/calls/filter.h"
#include "tracer/calls/rseq.h"
#include "tracer/code/code.h"
#include "tracer/state/state.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/memfd.h>
#include <linux/sched.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* Newer than Debian 12's headers. */
enum { ARCH_GET_CPUID_ = 0x1011, ARCH_SET_CPUID_ = 0x1012, PR_LAST_KNOWN = 78 };
enum { MADV_COLLAPSE_ = 25, MADV_GUARD_INSTALL_ = 102 };
enum { MAP_DROPPABLE_ = 8, SOL_XDP_ = 283, AF_XDP_ = 44, PR_GET_AUXV_ = 0x41555856 };

/* An option that we do not know may write, or change what the program's instructions do. */
static int64_t refuse_prctl(uint64_t option)
{
	switch (option) {
	case PR_SET_PTRACER:
	case PR_SET_VMA:
	case PR_GET_AUXV_: return 0;
	case PR_SET_MM:
	case PR_SET_SYSCALL_USER_DISPATCH: break;
	default:
		if (option <= PR_LAST_KNOWN)
			return 0;
	}
	return lz_refused(-EINVAL, "prctl option %d", (int)option);
}

static int64_t refuse_arch_prctl(uint64_t code)
{
	static const char what[] = "arch_prctl code %#x";
	int64_t error = 0;

	switch (code) {
	case 0x1023: /* ARCH_REQ_XCOMP_PERM: registers that replay has no room for */
	case 0x1025: error = -EOPNOTSUPP; break;
	case 0x2001: /* ARCH_MAP_VDSO_* */
	case 0x2002:
	case 0x2003:
	case 0x5001: /* ARCH_SHSTK_*: shadow stacks */
	case 0x5002:
	case 0x5003:
	case 0x5004: error = -EINVAL; break;
	case ARCH_SET_CPUID_:
	case 0x4002: /* ARCH_ENABLE_TAGGED_ADDR */
	case 0x4004: error = -ENODEV; break;
	case 0x5005: return -EINVAL;    /* ARCH_SHSTK_STATUS: the C library asks in each program */
	case ARCH_GET_CPUID_: return 1; /* it is we who trap it */
	}
	return error ? lz_refused(error, what, (unsigned)code) : 0;
}

/* MADV_FREE shows its effect at a time of the kernel's choosing. */
static int64_t refuse_madvise(uint64_t advice)
{
	if (advice == MADV_GUARD_INSTALL_) /* the C library then goes on with mprotect */
		return -EINVAL;
	if (advice == MADV_FREE || advice > MADV_COLLAPSE_)
		return lz_refused(-EINVAL, "madvise advice %d", (int)advice);
	return 0;
}

/* Options by which the kernel shares memory with the program. */
static int64_t refuse_sockopt(const struct lz_tracer *t)
{
	const struct lz_call *c = &t->cur->call;
	int level = (int)c->args[1], name = (int)c->args[2];
	bool shares;

	if (c->nr == SYS_getsockopt)
		shares = level == IPPROTO_TCP && name == TCP_ZEROCOPY_RECEIVE;
	else
		shares = level == SOL_XDP_ || (level == SOL_PACKET &&
		                               (name == PACKET_RX_RING || name == PACKET_TX_RING));
	if (!shares || !lz_fd_is_socket(t, (int)c->args[0]))
		return 0;
	return lz_refused(-ENOPROTOOPT, "socket option %d of level %d", name, level);
}

static int64_t refuse_huge(bool huge, int64_t error, const char *call)
{
	return huge ? lz_refused(error, "%s with huge pages", call) : 0;
}

static int64_t refuse_mmap(uint32_t flags)
{
	if ((flags & MAP_TYPE) == MAP_DROPPABLE_)
		return lz_refused(-EINVAL, "mmap with MAP_DROPPABLE");
	return refuse_huge(flags & MAP_HUGETLB, -ENOMEM, "mmap");
}

static int64_t refuse_clone(struct lz_tracer *t)
{
	uint64_t flags = t->cur->call.args[0];

	if (!(flags & CLONE_VM) || flags & (CLONE_VFORK | CLONE_THREAD))
		return 0;
	return lz_refused(-ENOSYS, "a child that shares memory with its running parent");
}

/* Only that can be mapped a second time by mremap(). */
static bool is_shared(const struct lz_tracer *t, uint64_t addr)
{
	ptrdiff_t i = lz_vmas_find(&t->vmas, addr);

	return i >= 0 && t->vmas.a[i].v.flags & MAP_SHARED;
}

static int64_t refuse_mremap(const struct lz_tracer *t)
{
	const uint64_t *a = t->cur->call.args;

	if (a[3] & ~(uint64_t)(MREMAP_MAYMOVE | MREMAP_FIXED))
		return lz_refused(-EINVAL, "mremap with flags %#x", (unsigned)a[3]);
	return !a[1] && !is_shared(t, a[0]) ? -EINVAL : 0;
}

/* Each page that can be read becomes one that can be executed, and each new one. */
static int64_t refuse_personality(uint32_t wanted)
{
	if (wanted == UINT32_MAX || !(wanted & READ_IMPLIES_EXEC))
		return 0;
	return lz_refused(-EINVAL, "personality with READ_IMPLIES_EXEC");
}

static int64_t refuse_by_args(struct lz_tracer *t)
{
	const uint64_t *a = t->cur->call.args;

	switch (t->cur->call.nr) {
	case SYS_ioctl: return lz_ioctl_refuse(t, (uint32_t)a[1], a[2]);
	case SYS_prctl: return refuse_prctl(a[0]);
	case SYS_arch_prctl: return refuse_arch_prctl(a[0]);
	case SYS_madvise: return refuse_madvise(a[2]);
	case SYS_clone: return refuse_clone(t);
	case SYS_mmap: return refuse_mmap((uint32_t)a[3]);
	case SYS_memfd_create: return refuse_huge(a[1] & MFD_HUGETLB, -EINVAL, "memfd_create");
	case SYS_shmget: return refuse_huge(a[2] & SHM_HUGETLB, -ENOMEM, "shmget");
	case SYS_personality: return refuse_personality((uint32_t)a[0]);
	case SYS_socket:
		return (int)a[0] == AF_XDP_ ? lz_refused(-EAFNOSUPPORT, "socket family AF_XDP") : 0;
	case SYS_getsockopt:
	case SYS_setsockopt: return refuse_sockopt(t);
	case SYS_mremap: return refuse_mremap(t);
	case SYS_pkey_mprotect:
		return (int)a[3] == -1 ? 0 : lz_refused(-EINVAL, "pkey_mprotect with a key");
	}
	return 0;
}

bool lz_answer_by_args(struct lz_tracer *t, int64_t *result)
{
	uint64_t pid = t->cur->call.args[0];

	if (lz_answer_mark(t, result) || lz_answer_dumpable(t, result) ||
	    lz_answer_own_pages(t, result) || lz_answer_shared_code(t, result) ||
	    lz_insn_answer(t, result) || lz_filter_answer(t, result))
		return true;

	if (t->cur->call.nr == SYS_sched_setaffinity && (!pid || lz_thread_find(t, (pid_t)pid))) {
		*result = lz_affinity_set(t);
		return true;
	}
	if (t->cur->call.nr == SYS_rseq) {
		*result = lz_rseq_answer(t);
		return true;
	}
	*result = refuse_by_args(t);
	return *result != 0;
}
