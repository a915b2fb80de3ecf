/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine: its names, modules, file systems, namespaces; devices and terminals. */
#include "calls.h"

#include <asm/termbits.h>
#include <linux/ethtool.h>
#include <linux/fiemap.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fsmap.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/quota.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <netinet/in.h>

/* ---- names ---- */

RECIPE(uname)
{
	struct utsname *u = out(sizeof(*u));

	SEE(OK(uname, u) == 0 && !strcmp(u->sysname, "Linux"));
}

RECIPE(sethostname)
{
	struct utsname u;

	unshared(CLONE_NEWUTS);
	PRIV(sethostname, "elsewhere", 9);
	SEE(uname(&u) == 0 && !strcmp(u.nodename, "elsewhere"));
}

RECIPE(setdomainname)
{
	struct utsname u;

	unshared(CLONE_NEWUTS);
	PRIV(setdomainname, "elsewhere", 9);
	SEE(uname(&u) == 0 && !strcmp(u.domainname, "elsewhere"));
}

RECIPE(sysinfo)
{
	struct sysinfo *s = out(sizeof(*s));

	SEE(OK(sysinfo, s) == 0 && s->totalram > 0);
}

RECIPE(syslog)
{
	char *b = out(2000);

	long n = SYS(syslog, 3 /* SYSLOG_ACTION_READ_ALL */, b, 2000);
	if (n == -EPERM)
		skip("not permitted here");
	if (n == 0)
		not_seen(0, "the log is empty");
	SEE(n >= 0);
}

RECIPE(sysfs)
{
	char *name = out(64);

	SEE(OK(sysfs, 3, 0, 0) > 3);
	SEE(OK(sysfs, 2, 0, name) == 0 && strlen(name) < 32);
}

RECIPE(lookup_dcookie)
{
	only_fails("newer kernels do not have it, nor anybody a cookie");
	not_seen(0, "it fails");
	SEE(SYS(lookup_dcookie, 0, out(16), 16) < 0);
}

/* ---- what only can be asked for in vain here ---- */

RECIPE(reboot)
{
	only_fails("the machine is needed");
	SEE(SYS(reboot, 1, 2, 3, NULL) == -(geteuid() == 0 ? EINVAL : EPERM) ||
	    SYS(reboot, 1, 2, 3, NULL) == -EPERM);
}

RECIPE(swapon)
{
	only_fails("the machine's swap is not ours");
	long r = SYS(swapon, "none", 0);
	SEE(r == -ENOENT || r == -EPERM);
}

RECIPE(swapoff)
{
	only_fails("the machine's swap is not ours");
	long r = SYS(swapoff, "none");
	SEE(r == -ENOENT || r == -EPERM);
}

RECIPE(acct)
{
	only_fails("the machine's accounting is not ours");
	long r = SYS(acct, "none");
	SEE(r == -ENOENT || r == -EPERM);
}

RECIPE(init_module)
{
	only_fails("it is no module");
	long r = SYS(init_module, "no module", 9, "");
	SEE(r == -ENOEXEC || r == -EPERM);
}

RECIPE(finit_module)
{
	only_fails("it is no module");
	long r = SYS(finit_module, file("f", "no module"), "", 0);
	SEE(r == -ENOEXEC || r == -EPERM);
}

RECIPE(delete_module)
{
	only_fails("there is none of that name");
	long r = SYS(delete_module, "lizard_none", O_NONBLOCK);
	SEE(r == -ENOENT || r == -EPERM);
}

RECIPE(kexec_load)
{
	only_fails("the machine is needed");
	long r = SYS(kexec_load, 0, 1000, NULL, 0xffff);
	SEE(r == -EINVAL || r == -EPERM);
}

RECIPE(kexec_file_load)
{
	only_fails("the machine is needed");
	long r = SYS(kexec_file_load, -1, -1, 0, NULL, 0xffff);
	SEE(r == -EINVAL || r == -EPERM);
}

RECIPE(vhangup)
{
	if (getpgrp() == getpid())
		skip("it may have a terminal");
	SEE(setsid() == getpid());
	PRIV(vhangup);
}

RECIPE(quotactl)
{
	long r = SYS(quotactl, QCMD(Q_GETFMT, USRQUOTA), "/dev/none", 0, out(4));

	only_fails("few file systems keep quotas"), not_seen(0, "it fails");
	SEE(r == -ENOENT || r == -ESRCH || r == -ENOTBLK || r == -EPERM);
}

RECIPE(quotactl_fd)
{
	long r = SYS(quotactl_fd, file("f", ""), QCMD(Q_GETFMT, USRQUOTA), 0, out(4));

	if (r < 0)
		only_fails("few file systems keep quotas"), not_seen(0, "it fails");
	SEE(r == 0 || r == -ESRCH || r == -EPERM || r == -EOPNOTSUPP);
}

/* ---- mounts, in a namespace of our own ---- */

static void own_mounts(void)
{
	unshared(CLONE_NEWNS);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		skip("no mounts for this user");
	SEE(mkdir("m", 0700) == 0);
}

static void tmpfs(void)
{
	own_mounts();
	SEE(mount("none", "m", "tmpfs", 0, NULL) == 0);
	SEE(close(open("m/inside", O_CREAT | O_RDWR, 0600)) == 0);
}

static bool inside(const char *dir)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/inside", dir);
	return access(path, F_OK) == 0;
}

RECIPE(mount)
{
	own_mounts();
	PRIV(mount, "none", "m", "tmpfs", 0, NULL);
	SEE(close(open("m/inside", O_CREAT | O_RDWR, 0600)) == 0);
}

RECIPE(umount2)
{
	tmpfs();
	SEE(OK(umount2, "m", MNT_DETACH) == 0);
	SEE(!inside("m"));
}

RECIPE(pivot_root)
{
	tmpfs();
	SEE(mkdir("m/old", 0700) == 0 && chdir("m") == 0);
	SEE(OK(pivot_root, ".", "old") == 0);
	SEE(inside("/"));
}

RECIPE(chroot)
{
	mkdir("d", 0700);
	close(open("d/inside", O_CREAT | O_RDWR, 0600));
	PRIV(chroot, "d");
	SEE(inside("/"));
}

static int context(void)
{
	own_mounts();
	int fd = (int)syscall(nr_fsopen, "tmpfs", 0);
	SEE(fd >= 0);
	return fd;
}

RECIPE(fsopen)
{
	own_mounts();
	SEE(OK(fsopen, "tmpfs", 0) >= 0);
}

RECIPE(fsconfig)
{
	int fd = context();

	SEE(OK(fsconfig, fd, 1 /* set string */, "size", "1m", 0) == 0);
	SEE(OK(fsconfig, fd, 6 /* create */, NULL, NULL, 0) == 0);
}

static int made(void)
{
	int fd = context();

	SEE(syscall(nr_fsconfig, fd, 6, NULL, NULL, 0) == 0);
	return fd;
}

RECIPE(fsmount)
{
	SEE(OK(fsmount, made(), 0, 0) >= 0);
}

RECIPE(move_mount)
{
	int fd = (int)syscall(nr_fsmount, made(), 0, 0);

	SEE(OK(move_mount, fd, "", AT_FDCWD, "m", 4 /* MOVE_MOUNT_F_EMPTY_PATH */) == 0);
	SEE(close(open("m/inside", O_CREAT | O_RDWR, 0600)) == 0);
}

RECIPE(fspick)
{
	tmpfs();
	SEE(OK(fspick, AT_FDCWD, "m", 0) >= 0);
}

RECIPE(open_tree)
{
	tmpfs();
	int fd = OK(open_tree, AT_FDCWD, "m", 1 /* OPEN_TREE_CLONE */);
	SEE(faccessat(fd, "inside", F_OK, 0) == 0);
}

struct attr_of_mount {
	uint64_t set, clear, propagation, userns_fd;
};

static const struct attr_of_mount read_only = {1 /* MOUNT_ATTR_RDONLY */};

RECIPE(open_tree_attr)
{
	tmpfs();
	int fd = OK(open_tree_attr, AT_FDCWD, "m", 1, &read_only, sizeof(read_only));
	SEE(openat(fd, "new", O_CREAT | O_RDWR, 0600) < 0 && errno == EROFS);
}

RECIPE(mount_setattr)
{
	tmpfs();
	SEE(OK(mount_setattr, AT_FDCWD, "m", 0, &read_only, sizeof(read_only)) == 0);
	SEE(open("m/new", O_CREAT | O_RDWR, 0600) < 0 && errno == EROFS);
}

struct mount_request {
	uint32_t size, spare;
	uint64_t id, param;
};

static uint64_t id_of(const char *path)
{
	struct statx st = {0};

	SEE(statx(AT_FDCWD, path, 0, 0x4000 /* STATX_MNT_ID_UNIQUE */, &st) == 0);
	return st.stx_mnt_id;
}

RECIPE(statmount)
{
	struct mount_request r = {24, 0, id_of("/proc"), 0x3f};
	uint32_t *b = out(4096);

	PRIV(statmount, &r, b, 4096, 0);
	SEE(b[0] > 64 && b[0] < 4096);
}

RECIPE(listmount)
{
	struct mount_request r = {24, 0, ~0ULL /* LSMT_ROOT */, 0};
	uint64_t *ids = out(800);

	SEE(PRIV(listmount, &r, ids, 100, 0) > 0);
	SEE(ids[0] != 0xa5a5a5a5a5a5a5a5);
}

RECIPE(listns)
{
	struct {
		uint32_t size, spare;
		uint64_t id;
		uint32_t type, spare2;
		uint64_t user;
	} r = {32};

	SEE(OK(listns, &r, out(800), 100, 0) > 0);
}

/* ---- devices ---- */

static void terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	char name[64];

	if (master < 0 || grantpt(master) || unlockpt(master) ||
	    ptsname_r(master, name, sizeof(name)))
		return;
	int slave = open(name, O_RDWR | O_NOCTTY), *n = out(4);
	struct termios *t = out(sizeof(*t));
	struct termios2 *t2 = out(sizeof(*t2));
	struct winsize *w = out(sizeof(*w)), size = {24, 80, 0, 0};

	SEE(OK(ioctl, slave, TIOCSWINSZ, &size) == 0);
	SEE(OK(ioctl, slave, TIOCGWINSZ, w) == 0 && w->ws_col == 80);
	SEE(OK(ioctl, slave, TCGETS, t) == 0 && t->c_cflag);
	SEE(OK(ioctl, slave, TCGETS2, t2) == 0 && t2->c_ospeed);
	t->c_lflag &= ~(unsigned)ECHO;
	SEE(OK(ioctl, slave, TCSETS, t) == 0);
	SEE(OK(ioctl, slave, TCGETA, out(18)) == 0);
	SEE(OK(ioctl, master, TIOCGPTN, n) == 0);
	n = out(4);
	SEE(OK(ioctl, slave, TIOCOUTQ, n) == 0 && *n == 0);
	n = out(4);
	SEE(write(slave, "line\n", 5) == 5);
	SEE(poll(&(struct pollfd){master, POLLIN}, 1, 10000) == 1);
	SEE(OK(ioctl, master, FIONREAD, n) == 0 && *n > 0);
	SEE(OK(ioctl, slave, TIOCGETD, out(4)) == 0);
	SYS(ioctl, slave, TIOCGPGRP, out(4));
	SYS(ioctl, slave, TIOCGSID, out(4));
	SYS(ioctl, master, TIOCGPTLCK, out(4));
}

/* SIOCETHTOOL: what each card can tell differs. */
static void of_cards(int s, const char *name)
{
	static const unsigned only_ask[] = {
	    ETHTOOL_GLINK,     ETHTOOL_GDRVINFO,   ETHTOOL_GSET,      ETHTOOL_GET_TS_INFO,
	    ETHTOOL_GCHANNELS, ETHTOOL_GRINGPARAM, ETHTOOL_GCOALESCE, ETHTOOL_GLINKSETTINGS,
	    ETHTOOL_GFLAGS,    ETHTOOL_GTSO,       ETHTOOL_GMSGLVL,   ETHTOOL_GWOL};
	struct ifreq r = {0};
	unsigned *ask = out(8192);

	memcpy(r.ifr_name, name, strnlen(name, sizeof(r.ifr_name) - 1));
	r.ifr_data = (char *)ask;
	for (size_t i = 0; i < sizeof(only_ask) / sizeof(*only_ask); i++) {
		ask[0] = only_ask[i];
		ask[1] = 0;
		SYS(ioctl, s, SIOCETHTOOL, &r);
	}
	/* how many strings, then the strings, then what they name */
	memcpy(ask,
	       (unsigned[]){ETHTOOL_GSSET_INFO, 0, 1U << ETH_SS_FEATURES | 1U << ETH_SS_STATS, 0, 0,
	                    0},
	       24);
	SYS(ioctl, s, SIOCETHTOOL, &r);
	memcpy(ask, (unsigned[]){ETHTOOL_GSTRINGS, ETH_SS_FEATURES, 0}, 12);
	if (SYS(ioctl, s, SIOCETHTOOL, &r) == 0)
		SEE(ask[2] > 0 && ask[2] < 200);
	memcpy(ask, (unsigned[]){ETHTOOL_GFEATURES, 2}, 8);
	SYS(ioctl, s, SIOCETHTOOL, &r);
	memcpy(ask, (unsigned[]){ETHTOOL_GSTATS, 0}, 8);
	SYS(ioctl, s, SIOCETHTOOL, &r);
	memcpy(ask, (unsigned[]){ETHTOOL_GPERMADDR, 6}, 8);
	SYS(ioctl, s, SIOCETHTOOL, &r);
	ask[0] = 0xfeed;
	REFUSES(EOPNOTSUPP, ioctl, s, SIOCETHTOOL, &r);
	r.ifr_data = NULL;
	FAILS(EFAULT, ioctl, s, SIOCETHTOOL, &r);
}

static void interfaces(void)
{
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq lo = {.ifr_name = "lo"}, *r, *list = out(20 * sizeof(*list));
	struct ifconf c = {.ifc_len = 20 * sizeof(*list), .ifc_req = list},
	              *conf = inout(&c, sizeof(c));

	r = inout(&lo, sizeof(lo));
	SEE(OK(ioctl, s, SIOCGIFINDEX, r) == 0 && r->ifr_ifindex > 0);
	r = inout(&lo, sizeof(lo));
	SEE(OK(ioctl, s, SIOCGIFFLAGS, r) == 0 && r->ifr_flags & IFF_LOOPBACK);
	r = inout(&lo, sizeof(lo));
	SEE(OK(ioctl, s, SIOCGIFMTU, r) == 0 && r->ifr_mtu > 0);
	r = inout(&lo, sizeof(lo));
	SEE(OK(ioctl, s, SIOCGIFHWADDR, r) == 0);
	SEE(OK(ioctl, s, SIOCGIFCONF, conf) == 0 && conf->ifc_len % (int)sizeof(*r) == 0);
	SEE(OK(ioctl, s, SIOCOUTQ, out(4)) == 0);
	of_cards(s, "lo");
	r = inout(&lo, sizeof(lo));
	r->ifr_ifindex = 2;
	if (SYS(ioctl, s, SIOCGIFNAME, r) == 0)
		of_cards(s, r->ifr_name);
}

static void of_files(void)
{
	int fd = file("f", "0123456789"), zero = 0;
	struct {
		struct fiemap f;
		struct fiemap_extent e[4];
	} ask = {.f = {.fm_length = ~0ULL, .fm_extent_count = 4, .fm_flags = FIEMAP_FLAG_SYNC}}, *m;

	SYS(ioctl, fd, FS_IOC_GETFLAGS, out(8));
	SYS(ioctl, fd, FIGETBSZ, out(4));
	SYS(ioctl, fd, FS_IOC_FSGETXATTR, out(28));
	SYS(ioctl, fd, FIOQSIZE, out(8));
	m = inout(&ask, sizeof(ask));
	if (SYS(ioctl, fd, FS_IOC_FIEMAP, m) == 0)
		SEE(m->f.fm_mapped_extents == 1 && m->e[0].fe_length > 0);
	ask.f.fm_flags = 0x4000; /* none that there is: it says which it does not know */
	m = inout(&ask, sizeof(ask));
	SYS(ioctl, fd, FS_IOC_FIEMAP, m);
	ask.f.fm_flags = 0;
	SYS(ioctl, fd, _IOWR('f', 42, struct fiemap) /* EXT4_IOC_GET_ES_CACHE */,
	    inout(&ask, sizeof(ask)));

	struct {
		struct fsmap_head h;
		struct fsmap e[8];
	} of_disk = {.h = {.fmh_count = 8, .fmh_keys[1] = {~0U, ~0U, ~0ULL, ~0ULL, ~0ULL, 0, {0}}}};

	SYS(ioctl, fd, FS_IOC_GETFSMAP, inout(&of_disk, sizeof(of_disk)));
	of_disk.h.fmh_count = 0;
	SYS(ioctl, fd, FS_IOC_GETFSMAP, inout(&of_disk, sizeof(of_disk)));
	REFUSES(ENOTTY, ioctl, fd, _IOWR('X', 101, char[32]) /* XFS_IOC_FSBULKSTAT */, out(32));
	SEE(OK(ioctl, fd, FIONBIO, &zero) == 0);
	SEE(OK(ioctl, fd, FIOCLEX) == 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
}

static void of_block_devices(void)
{
	int fd = open("/dev/loop0", O_RDONLY);

	if (fd < 0)
		fd = open("/dev/vda", O_RDONLY);
	if (fd < 0)
		return;
	SEE(OK(ioctl, fd, BLKSSZGET, out(4)) == 0);
	SEE(OK(ioctl, fd, BLKGETSIZE64, out(8)) == 0);
	SEE(OK(ioctl, fd, BLKGETSIZE, out(8)) == 0);
	SEE(OK(ioctl, fd, BLKROGET, out(4)) == 0);
	SEE(OK(ioctl, fd, BLKSECTGET, out(2)) == 0);
	SEE(OK(ioctl, fd, BLKROTATIONAL, out(2)) == 0);
	SEE(OK(ioctl, fd, BLKPBSZGET, out(4)) == 0);
	SEE(OK(ioctl, fd, BLKRAGET, out(8)) == 0);
}

struct query {
	uint64_t size, flags, addr, start, end, vma_flags, page_size, offset, inode;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name, build_id;
};

/* Pointers in the structure. */
static void of_our_own_maps(void)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	char *name = out(256);
	struct query q = {.size = sizeof(q),
	                  .addr = (uintptr_t)of_our_own_maps,
	                  .flags = 0x10 /* covering or next */,
	                  .name = (uintptr_t)name,
	                  .name_size = 256},
	             *p = inout(&q, sizeof(q));

	if (SYS(ioctl, fd, 0xc0686611 /* PROCMAP_QUERY */, p) == 0)
		SEE(p->end > p->start && p->name_size > 0 && name[0] == '/');
	int map = open("/proc/self/pagemap", O_RDONLY);
	static char page[4096] __attribute__((aligned(4096)));
	uint64_t *v = out(96);
	uint64_t scan[12] =
	    {96, 0, (uintptr_t)page, (uintptr_t)page + 4096, 0, (uintptr_t)v, 4, 0, 0, 8, 0, 8},
	         *s;
	page[0] = 1;
	s = inout(scan, sizeof(scan));
	long n = SYS(ioctl, map, 0xc0606610 /* PAGEMAP_SCAN */, s);
	if (n >= 0)
		SEE(n == 1 && v[0] == (uintptr_t)page && s[4] == (uintptr_t)page + 4096);
}

RECIPE(ioctl)
{
	terminal();
	interfaces();
	of_files();
	of_block_devices();
	of_our_own_maps();
	FAILS(ENOTTY, ioctl, 0, 0x7777); /* unknown, and it says nothing of itself */
}

/* The C library may have registered this thread. */
RECIPE(rseq)
{
	enum { LEN = 32, UNREGISTER = 1, SIGNATURE = 0x53053053 };
	static struct {
		uint32_t cpu_id_start, cpu_id;
		uint64_t cs;
		uint32_t flags, node_id, mm_cid, rest;
	} own __attribute__((aligned(LEN))) = {.cpu_id = 4711, .cs = 4711, .node_id = 4711};
	extern const ptrdiff_t __rseq_offset __attribute__((weak));
	extern const unsigned __rseq_size __attribute__((weak));

	if (&__rseq_size && __rseq_size)
		OK(rseq, (char *)__builtin_thread_pointer() + __rseq_offset, LEN, UNREGISTER,
		   SIGNATURE);
	FAILS(EINVAL, rseq, &own, LEN, UNREGISTER, SIGNATURE);
	FAILS(EINVAL, rseq, &own, LEN - 1, 0, SIGNATURE);
	OK(rseq, &own, LEN, 0, SIGNATURE);
	SEE(own.cpu_id == own.cpu_id_start && own.cpu_id < 100000 && own.cs == 0);
	SEE(own.node_id < 4711);
	FAILS(EBUSY, rseq, &own, LEN, 0, SIGNATURE);
	FAILS(EPERM, rseq, &own, LEN, 0, SIGNATURE + 1);
	OK(rseq, &own, LEN, UNREGISTER, SIGNATURE);
	SEE(own.cpu_id == UINT32_MAX);
}

RECIPE(seccomp)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr_getppid, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, code};
	uint32_t action = SECCOMP_RET_ERRNO;

	SEE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	SEE(OK(seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0);
	FAILS(EFAULT, seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
	FAILS(EINVAL, seccomp, 99, 0, NULL);
	SEE(OK(seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
	FAILS(EXDEV, getppid);
}
