/* System calls whose output or support depends on their arguments. */
#include "tracer/tracer.h"

#include <lizard/error.h>
#include <asm/ioctls.h>
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ipc.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/syscall.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef ARCH_GET_CPUID
#define ARCH_GET_CPUID 0x1011
#define ARCH_SET_CPUID 0x1012
#endif

/* Requests from before the direction was coded into the number: bytes written. */
static const struct {
	uint32_t request;
	uint16_t size;
} old_ioctls[] = {
    {TCGETS, 36},         {TCSETS, 0},         {TCSETSW, 0},         {TCSETSF, 0},
    {TCGETA, 18},         {TCSETA, 0},         {TCSETAW, 0},         {TCSETAF, 0},
    {TCSBRK, 0},          {TCSBRKP, 0},        {TCXONC, 0},          {TCFLSH, 0},
    {TIOCEXCL, 0},        {TIOCNXCL, 0},       {TIOCSCTTY, 0},       {TIOCGPGRP, 4},
    {TIOCSPGRP, 0},       {TIOCOUTQ, 4},       {TIOCSTI, 0},         {TIOCGWINSZ, 8},
    {TIOCSWINSZ, 0},      {TIOCMGET, 4},       {TIOCMBIS, 0},        {TIOCMBIC, 0},
    {TIOCMSET, 0},        {TIOCGSOFTCAR, 4},   {TIOCSSOFTCAR, 0},    {FIONREAD, 4},
    {TIOCCONS, 0},        {TIOCPKT, 0},        {FIONBIO, 0},         {TIOCNOTTY, 0},
    {TIOCSETD, 0},        {TIOCGETD, 4},       {TIOCGSID, 4},        {FIONCLEX, 0},
    {FIOCLEX, 0},         {FIOASYNC, 0},       {SIOCGIFNAME, 40},    {SIOCGIFFLAGS, 40},
    {SIOCSIFFLAGS, 0},    {SIOCGIFADDR, 40},   {SIOCGIFDSTADDR, 40}, {SIOCGIFBRDADDR, 40},
    {SIOCGIFNETMASK, 40}, {SIOCGIFMETRIC, 40}, {SIOCGIFMTU, 40},     {SIOCGIFHWADDR, 40},
    {SIOCGIFINDEX, 40},   {SIOCGIFTXQLEN, 40}, {SIOCGPGRP, 4},       {SIOCSPGRP, 0},
    {SIOCATMARK, 4},      {SIOCGIFMAP, 40},    {TIOCVHANGUP, 0},
};

static int old_ioctl_size(uint32_t request)
{
	for (size_t i = 0; i < sizeof(old_ioctls) / sizeof(old_ioctls[0]); i++)
		if (old_ioctls[i].request == request)
			return old_ioctls[i].size;
	return -1;
}

static int64_t refuse_ioctl(uint32_t request)
{
	/* Those of file systems and newer drivers say in their number what they write. */
	if (_IOC_DIR(request) || request == SIOCGIFCONF || old_ioctl_size(request) >= 0)
		return 0;
	lz_warn("ioctl %#x is not supported: the program gets ENOTTY", request);
	return -ENOTTY;
}

static int capture_ioctl(struct lz_tracer *t)
{
	uint32_t request = (uint32_t)t->cur->call.args[1];
	uint64_t at = t->cur->call.args[2];
	int size = old_ioctl_size(request);

	if (request == SIOCGIFCONF) {
		struct ifconf c;
		if (lz_proc_read_some(&t->p, at, &c, sizeof(c)) != sizeof(c))
			return 0;
		if (lz_build_read(t, at, sizeof(c)) < 0)
			return -1;
		return lz_build_read(t, (uint64_t)(uintptr_t)c.ifc_buf,
		                     c.ifc_len > 0 ? (uint64_t)c.ifc_len : 0);
	}
	if (size >= 0)
		return lz_build_read(t, at, (uint64_t)size);
	if (_IOC_DIR(request) & _IOC_READ)
		return lz_build_read(t, at, _IOC_SIZE(request));
	return 0;
}

static int capture_fcntl(struct lz_tracer *t)
{
	uint64_t at = t->cur->call.args[2];

	switch (t->cur->call.args[1]) {
	case F_GETLK:
	case F_OFD_GETLK: return lz_build_read(t, at, sizeof(struct flock));
	case F_GETOWN_EX:
	case F_GET_RW_HINT:
	case F_GET_FILE_RW_HINT:
	case 17: /* F_GETOWNER_UIDS */ return lz_build_read(t, at, 8);
	}
	return 0;
}

static int capture_prctl(struct lz_tracer *t)
{
	uint64_t at = t->cur->call.args[1];

	switch (t->cur->call.args[0]) {
	case PR_GET_NAME: return lz_build_read(t, at, 16);
	case PR_GET_PDEATHSIG:
	case PR_GET_TSC:
	case PR_GET_CHILD_SUBREAPER:
	case PR_GET_ENDIAN:
	case PR_GET_FPEMU:
	case PR_GET_FPEXC:
	case PR_GET_UNALIGN: return lz_build_read(t, at, 4);
	case PR_GET_TID_ADDRESS: return lz_build_read(t, at, 8);
	}
	return 0;
}

static int capture_sem(struct lz_tracer *t)
{
	switch ((int)t->cur->call.args[2] & 0xff) {
	case IPC_STAT:
	case SEM_STAT:
	case SEM_STAT_ANY:
	case IPC_INFO:
	case SEM_INFO: return lz_build_read(t, t->cur->call.args[3], 104);
	case GETALL: return lz_build_read(t, t->cur->call.args[3], 2 * 32000);
	}
	return 0;
}

static int capture_futex(struct lz_tracer *t)
{
	int op = (int)t->cur->call.args[1] & FUTEX_CMD_MASK;

	if (lz_build_read(t, t->cur->call.args[0], 4) < 0)
		return -1;
	if (op == FUTEX_WAKE_OP || op == FUTEX_CMP_REQUEUE_PI)
		return lz_build_read(t, t->cur->call.args[4], 4);
	return 0;
}

int lz_capture_special(struct lz_tracer *t, int64_t result)
{
	const uint64_t *a = t->cur->call.args;

	if (t->cur->call.nr == SYS_futex)
		return capture_futex(t);
	if (result < 0)
		return 0;
	switch (t->cur->call.nr) {
	case SYS_ioctl: return capture_ioctl(t);
	case SYS_fcntl: return capture_fcntl(t);
	case SYS_prctl: return capture_prctl(t);
	case SYS_arch_prctl:
		if (a[0] == ARCH_GET_FS || a[0] == ARCH_GET_GS)
			return lz_build_read(t, a[1], 8);
		return 0;
	case SYS_semctl: return capture_sem(t);
	case SYS_msgrcv: return lz_build_read(t, a[1], 8 + (uint64_t)result);
	case SYS_mincore: return lz_build_read(t, a[2], (a[1] + LZ_PAGE - 1) / LZ_PAGE);
	case SYS_sysfs: return a[0] == 2 ? lz_build_read(t, a[2], 32) : 0;
	}
	return 0;
}

static int64_t refuse_prctl(uint64_t option)
{
	switch (option) {
	case PR_SET_TSC:
	case PR_SET_SECCOMP:
	case PR_SET_MM:
	case PR_SET_SYSCALL_USER_DISPATCH:
		lz_warn("prctl option %d is not supported: the program gets EINVAL", (int)option);
		return -EINVAL;
	}
	return 0;
}

static int64_t refuse_madvise(uint64_t advice)
{
	/* Their effect shows at a time of the kernel's choosing, or in other mappings. */
	if (advice == MADV_FREE || advice == MADV_REMOVE || advice == MADV_GUARD_INSTALL ||
	    advice == MADV_GUARD_INSTALL + 1)
		return -EINVAL;
	return 0;
}

static int64_t refuse_clone(struct lz_tracer *t)
{
	uint64_t flags = t->cur->call.args[0];

	if ((flags & CLONE_VM) && !(flags & (CLONE_VFORK | CLONE_THREAD))) {
		lz_warn("a child that shares memory with its running parent is not supported: "
		        "clone gives ENOSYS");
		return -ENOSYS;
	}
	return 0;
}

static int64_t refuse_by_args(struct lz_tracer *t)
{
	const uint64_t *a = t->cur->call.args;

	switch (t->cur->call.nr) {
	case SYS_ioctl: return refuse_ioctl((uint32_t)a[1]);
	case SYS_prctl: return refuse_prctl(a[0]);
	case SYS_arch_prctl: return a[0] == ARCH_SET_CPUID ? -ENODEV : 0;
	case SYS_madvise: return refuse_madvise(a[2]);
	case SYS_clone: return refuse_clone(t);
	case SYS_mmap: return a[3] & MAP_HUGETLB ? -ENOMEM : 0;
	case SYS_mremap: return !a[1] || (a[3] & ~3ULL) ? -EINVAL : 0;
	case SYS_pkey_mprotect: return a[3] != ~0ULL ? -EINVAL : 0;
	}
	return 0;
}

bool lz_answer_by_args(struct lz_tracer *t, int64_t *result)
{
	uint64_t pid = t->cur->call.args[0];

	if (t->cur->call.nr == SYS_sched_setaffinity && (!pid || lz_thread_find(t, (pid_t)pid))) {
		*result = lz_affinity_set(t);
		return true;
	}
	*result = refuse_by_args(t);
	return *result != 0;
}
