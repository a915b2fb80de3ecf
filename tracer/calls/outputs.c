/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What system calls write whose output depends on their arguments: LZ_OUT_SPECIAL. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"
#include "tracer/state/state.h"

#include <lizard/error.h>
#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/keyctl.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/msg.h>
#include <sys/quota.h>
#include <sys/syscall.h>

/* Newer than Debian 12's headers. */
enum { NR_GETXATTRAT = 464, NR_STATMOUNT = 457 };
enum { F_GETOWNER_UIDS_ = 17, F_GETDELEG_ = 1039, PR_GET_AUXV_ = 0x41555856 };

static const struct lz_call *call_of(const struct lz_tracer *t)
{
	return &t->cur->call;
}

struct size {
	uint32_t what, bytes;
};

/* The bytes that WHAT writes at AT. */
static int by_list(struct lz_tracer *t, const struct size *list, size_t n, uint64_t what,
                   uint64_t at)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].what == what)
			return lz_build_read(t, at, list[i].bytes);
	return 0;
}
#define BY_LIST(t, list, what, at) by_list(t, list, sizeof(list) / sizeof((list)[0]), what, at)

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int fcntl_out(struct lz_tracer *t, const uint64_t *a)
{
	static const struct size list[] = {{F_GETLK, sizeof(struct flock)},
	                                   {F_OFD_GETLK, sizeof(struct flock)},
	                                   {F_GETOWN_EX, 8},
	                                   {F_GET_RW_HINT, 8},
	                                   {F_GET_FILE_RW_HINT, 8},
	                                   {F_GETOWNER_UIDS_, 8},
	                                   {F_GETDELEG_, 8}};

	return BY_LIST(t, list, a[1], a[2]);
}

static int prctl_out(struct lz_tracer *t, const uint64_t *a, int64_t result)
{
	static const struct size list[] = {
	    {PR_SET_NAME, 16}, /* see names.c */
	    {PR_GET_NAME, 16},   {PR_GET_PDEATHSIG, 4}, {PR_GET_TSC, 4},
	    {PR_GET_ENDIAN, 4},  {PR_GET_FPEMU, 4},     {PR_GET_CHILD_SUBREAPER, 4},
	    {PR_GET_UNALIGN, 4}, {PR_GET_FPEXC, 4},     {PR_GET_TID_ADDRESS, 8},
	};

	if (a[0] == PR_GET_AUXV_)
		return lz_build_read(t, a[1], least(a[2], (uint64_t)result));
	if (a[0] == PR_SCHED_CORE)
		return a[1] == 0 ? lz_build_read(t, a[4], 8) : 0;
	return BY_LIST(t, list, a[0], a[1]);
}

static int arch_prctl_out(struct lz_tracer *t, const uint64_t *a)
{
	static const struct size list[] = {
	    {ARCH_GET_FS, 8},
	    {ARCH_GET_GS, 8},
	    {0x1021 /* ARCH_GET_XCOMP_SUPP */, 8},
	    {0x1022 /* ARCH_GET_XCOMP_PERM */, 8},
	    {0x1024 /* ARCH_GET_XCOMP_GUEST_PERM */, 8},
	    {0x4001 /* ARCH_GET_UNTAG_MASK */, 8},
	    {0x4003 /* ARCH_GET_MAX_TAG_BITS */, 8},
	};

	return BY_LIST(t, list, a[0], a[1]);
}

static int sem_out(struct lz_tracer *t, const uint64_t *a)
{
	static const struct size list[] = {
	    {IPC_STAT, 104}, {SEM_STAT, 104}, {SEM_STAT_ANY, 104},
	    {IPC_INFO, 40},  {SEM_INFO, 40},  {GETALL, 2 * 32000 /* the most that a set has */},
	};

	return BY_LIST(t, list, a[2], a[3]);
}

static int shm_out(struct lz_tracer *t, const uint64_t *a)
{
	static const struct size list[] = {
	    {IPC_STAT, 112}, {SHM_STAT, 112}, {SHM_STAT_ANY, 112}, {IPC_INFO, 72}, {SHM_INFO, 48}};

	return BY_LIST(t, list, a[1], a[2]);
}

static int msg_out(struct lz_tracer *t, const uint64_t *a)
{
	static const struct size list[] = {
	    {IPC_STAT, 120}, {MSG_STAT, 120}, {MSG_STAT_ANY, 120}, {IPC_INFO, 32}, {MSG_INFO, 32}};

	return BY_LIST(t, list, a[1], a[2]);
}

static int quota_out(struct lz_tracer *t, uint64_t command, uint64_t at)
{
	static const struct size list[] = {
	    {Q_GETFMT, 4},
	    {Q_GETINFO, 24},
	    {Q_GETQUOTA, 72},
	    {0x800009 /* Q_GETNEXTQUOTA */, 72},
	    {0x5803 /* Q_XGETQUOTA */, 112},
	    {0x5805 /* Q_XGETQSTAT */, 80},
	    {0x5808 /* Q_XGETQSTATV */, 160},
	    {0x5809 /* Q_XGETNEXTQUOTA */, 112},
	};

	return BY_LIST(t, list, (uint32_t)command >> SUBCMDSHIFT, at);
}

static int key_out(struct lz_tracer *t, const uint64_t *a, int64_t result)
{
	uint64_t n = (uint64_t)result;

	switch (a[0]) {
	case KEYCTL_DESCRIBE:
	case KEYCTL_READ:
	case KEYCTL_GET_SECURITY:
	case KEYCTL_DH_COMPUTE: return lz_build_read(t, a[2], least(a[3], n));
	case KEYCTL_CAPABILITIES: return lz_build_read(t, a[1], a[2] < 4096 ? a[2] : 0);
	case KEYCTL_PKEY_QUERY: return lz_build_read(t, a[4], 48);
	case KEYCTL_PKEY_ENCRYPT:
	case KEYCTL_PKEY_DECRYPT:
	case KEYCTL_PKEY_SIGN: return lz_build_read(t, a[4], n);
	}
	return 0;
}

static int futex_out(struct lz_tracer *t, const uint64_t *a)
{
	switch ((int)a[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAKE_OP:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_CMP_REQUEUE_PI: return lz_build_read(t, a[4], 4);
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_TRYLOCK_PI:
	case FUTEX_UNLOCK_PI: return lz_build_read(t, a[0], 4);
	}
	return 0; /* only looked at */
}

/* The value of an extended attribute: a struct says where it goes. */
static int xattr_out(struct lz_tracer *t, const uint64_t *a, int64_t result)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} x;

	if (!lz_vectors_head(t, &x, sizeof(x)))
		return 0;
	return lz_build_read(t, x.value, least(x.size, (uint64_t)result));
}

/* The structure begins with its size, the strings behind it included. */
static int statmount_out(struct lz_tracer *t, const uint64_t *a)
{
	uint32_t size;

	if (lz_proc_read_some(&t->p, a[1], &size, sizeof(size)) != sizeof(size))
		return 0;
	return lz_build_read(t, a[1], least(size, a[2]));
}

/* A socket's filter: the length is in instructions. */
static int getsockopt_out(struct lz_tracer *t, const uint64_t *a)
{
	uint32_t n;

	if ((int)a[1] != SOL_SOCKET || (int)a[2] != SO_GET_FILTER ||
	    lz_proc_read_some(&t->p, a[4], &n, sizeof(n)) != sizeof(n))
		return 0;
	return lz_build_read(t, a[3], least(n, BPF_MAXINSNS) * sizeof(struct sock_filter));
}

/* Into ourselves; what another process gets is not recorded. */
static int note_written(struct lz_tracer *t, const uint64_t *a)
{
	const pid_t pid = (pid_t)a[0];
	const bool own = lz_thread_find(t, pid) || lz_thread_named(t, pid);

	return own ? lz_vectors_note(t, a[3], a[4]) : 0;
}

int lz_capture_prepare_special(struct lz_tracer *t)
{
	const struct lz_call *c = call_of(t);

	switch (c->nr) {
	case SYS_ioctl: return lz_ioctl_prepare(t, (uint32_t)c->args[1], c->args[2]);
	case SYS_process_vm_writev: return note_written(t, c->args);
	case NR_GETXATTRAT: lz_vectors_note_head(t, c->args[4]); return 0;
	}
	return 0;
}

int lz_capture_special(struct lz_tracer *t, int64_t result)
{
	const uint64_t *a = call_of(t)->args, nr = call_of(t)->nr;

	if (nr == SYS_futex)
		return futex_out(t, a);
	if (nr == SYS_ioctl) /* some write before they fail */
		return lz_ioctl_capture(t, (uint32_t)a[1], a[2], result);
	if (result < 0)
		return 0;
	switch (nr) {
	case SYS_getsockopt: return getsockopt_out(t, a);
	case SYS_fcntl: return fcntl_out(t, a);
	case SYS_prctl: return prctl_out(t, a, result);
	case SYS_arch_prctl: return arch_prctl_out(t, a);
	case SYS_semctl: return sem_out(t, a);
	case SYS_shmctl: return shm_out(t, a);
	case SYS_msgctl: return msg_out(t, a);
	case SYS_msgrcv: return lz_build_read(t, a[1], 8 + (uint64_t)result);
	case SYS_mincore: return lz_build_read(t, a[2], least(a[1] / LZ_PAGE + 1, 1 << 24));
	case SYS_sysfs: return a[0] == 2 ? lz_build_read(t, a[2], 32) : 0;
	case SYS_quotactl: return quota_out(t, a[0], a[3]);
	case SYS_quotactl_fd: return quota_out(t, a[1], a[3]);
	case SYS_keyctl: return key_out(t, a, result);
	case SYS_process_vm_writev: return lz_vectors_capture(t, (uint64_t)result);
	case NR_GETXATTRAT: return xattr_out(t, a, result);
	case NR_STATMOUNT: return statmount_out(t, a);
	}
	return lz_fail("system call %s: nothing says what it writes", call_of(t)->row->name);
}
