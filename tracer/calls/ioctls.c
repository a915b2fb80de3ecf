/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an ioctl writes. The number of a newer one tells the direction and the size; the older
 * ones, and those whose number lies or whose argument points further, stand in the tables here. */
#include "tracer/calls/calls.h"
#include "tracer/log/log.h"

#include <lizard/error.h>
#include <asm/ioctls.h>
#include <errno.h>
#include <linux/cdrom.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fsmap.h>
#include <linux/hdreg.h>
#include <linux/if_tun.h>
#include <linux/kd.h>
#include <linux/loop.h>
#include <linux/sockios.h>
#include <linux/vt.h>
#include <scsi/sg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

/* Numbers without direction, or with a wrong one: bytes written at the argument. */
static const struct {
	uint32_t request;
	uint16_t size;
} sizes[] = {
    /* clang-format off */
    /* terminals */
    {TCGETS, 36}, {TCSETS, 0}, {TCSETSW, 0}, {TCSETSF, 0}, {TCGETA, 18}, {TCSETA, 0}, {TCSETAW, 0}, {TCSETAF, 0},
    {TCSBRK, 0}, {TCSBRKP, 0}, {TCXONC, 0}, {TCFLSH, 0}, {TIOCEXCL, 0}, {TIOCNXCL, 0}, {TIOCSCTTY, 0}, {TIOCGPGRP, 4},
    {TIOCSPGRP, 0}, {TIOCOUTQ, 4}, {TIOCSTI, 0}, {TIOCGWINSZ, 8}, {TIOCSWINSZ, 0}, {TIOCMGET, 4}, {TIOCMBIS, 0},
    {TIOCMBIC, 0}, {TIOCMSET, 0}, {TIOCGSOFTCAR, 4}, {TIOCSSOFTCAR, 0}, {FIONREAD, 4}, {TIOCCONS, 0},
    {TIOCGSERIAL, 72}, {TIOCSSERIAL, 0}, {TIOCPKT, 0}, {FIONBIO, 0}, {TIOCNOTTY, 0}, {TIOCSETD, 0}, {TIOCGETD, 4},
    {TIOCSBRK, 0}, {TIOCCBRK, 0}, {TIOCGSID, 4}, {TIOCGRS485, 32}, {TIOCSRS485, 32}, {TIOCVHANGUP, 0},
    {TIOCGPTPEER, 0}, {FIONCLEX, 0}, {FIOCLEX, 0}, {FIOASYNC, 0}, {TIOCGLCKTRMIOS, 36}, {TIOCSLCKTRMIOS, 0},
    {TIOCSERGETLSR, 4}, {TIOCMIWAIT, 0}, {TIOCGICOUNT, 80}, {FIOQSIZE, 8},
    /* the console */
    {KDGETMODE, 4}, {KDSETMODE, 0}, {KDGKBTYPE, 1}, {KDGKBMODE, 4}, {KDSKBMODE, 0}, {KDGKBMETA, 4}, {KDSKBMETA, 0},
    {KDGKBLED, 1}, {KDSKBLED, 0}, {KDGETLED, 1}, {KDSETLED, 0}, {KDGKBENT, 4}, {KIOCSOUND, 0}, {KDMKTONE, 0},
    {VT_OPENQRY, 4}, {VT_GETMODE, 8}, {VT_SETMODE, 0}, {VT_GETSTATE, 6}, {VT_RELDISP, 0}, {VT_ACTIVATE, 0},
    {VT_WAITACTIVE, 0}, {VT_DISALLOCATE, 0},
    /* sockets */
    {FIOSETOWN, 0}, {SIOCSPGRP, 0}, {FIOGETOWN, 4}, {SIOCGPGRP, 4}, {SIOCATMARK, 4},
    {0x8906 /* SIOCGSTAMP_OLD */, 16}, {0x8907 /* SIOCGSTAMPNS_OLD */, 16}, {SIOCADDRT, 0}, {SIOCDELRT, 0},
    {SIOCGIFNAME, 40}, {SIOCGIFFLAGS, 40}, {SIOCSIFFLAGS, 0}, {SIOCGIFADDR, 40}, {SIOCSIFADDR, 0},
    {SIOCGIFDSTADDR, 40}, {SIOCSIFDSTADDR, 0}, {SIOCGIFBRDADDR, 40}, {SIOCSIFBRDADDR, 0}, {SIOCGIFNETMASK, 40},
    {SIOCSIFNETMASK, 0}, {SIOCGIFMETRIC, 40}, {SIOCSIFMETRIC, 0}, {SIOCGIFMTU, 40}, {SIOCSIFMTU, 0}, {SIOCSIFNAME, 40},
    {SIOCGIFHWADDR, 40}, {SIOCSIFHWADDR, 0}, {SIOCADDMULTI, 0}, {SIOCDELMULTI, 0}, {SIOCGIFINDEX, 40},
    {SIOCGIFPFLAGS, 40}, {SIOCDIFADDR, 0}, {SIOCGIFCOUNT, 40}, {SIOCGIFTXQLEN, 40}, {SIOCSIFTXQLEN, 0},
    {SIOCOUTQNSD, 4}, {SIOCGSKNS, 0}, {SIOCDARP, 0}, {SIOCGARP, 68}, {SIOCSARP, 0}, {SIOCGIFMAP, 40}, {SIOCGIFMEM, 40}, {SIOCGIFSLAVE, 40}, {SIOCGIFENCAP, 40},
    {SIOCPROTOPRIVATE, 40}, /* SIOCUNIXFILE, SIOCGETVIFCNT */ {TUNSETIFF, 40}, {TUNGETIFF, 40},
    /* files */
    {FIBMAP, 4}, {FIGETBSZ, 4}, {0x400c6615 /* FS_IOC_GET_ENCRYPTION_POLICY */, 12},
    {0x40106614 /* FS_IOC_GET_ENCRYPTION_PWSALT */, 16}, {0xb701 /* NS_GET_USERNS */, 0},
    {0xb702 /* NS_GET_PARENT */, 0}, {0xb703 /* NS_GET_NSTYPE */, 0}, {0xb704 /* NS_GET_OWNER_UID */, 4},
    {0xff01 /* PIDFD_GET_CGROUP_NAMESPACE .. PIDFD_GET_UTS_NAMESPACE */, 0}, {0xff02, 0}, {0xff03, 0}, {0xff04, 0},
    {0xff05, 0}, {0xff06, 0}, {0xff07, 0}, {0xff08, 0}, {0xff09, 0}, {0xff0a, 0},
    /* block devices */
    {BLKROSET, 0}, {BLKROGET, 4}, {BLKRRPART, 0}, {BLKGETSIZE, 8}, {BLKFLSBUF, 0}, {BLKRASET, 0}, {BLKRAGET, 8},
    {BLKFRASET, 0}, {BLKFRAGET, 8}, {BLKSECTSET, 0}, {BLKSECTGET, 2}, {BLKSSZGET, 4}, {0x1269 /* BLKPG */, 0},
    {BLKDISCARD, 0}, {BLKIOMIN, 4}, {BLKIOOPT, 4}, {BLKALIGNOFF, 4}, {BLKPBSZGET, 4}, {BLKDISCARDZEROES, 4},
    {BLKSECDISCARD, 0}, {BLKROTATIONAL, 2}, {BLKZEROOUT, 0}, {HDIO_GETGEO, 16}, {HDIO_GET_IDENTITY, 512},
    {LOOP_SET_FD, 0}, {LOOP_CLR_FD, 0}, {LOOP_SET_STATUS, 0}, {LOOP_GET_STATUS, 168}, {LOOP_SET_STATUS64, 0},
    {LOOP_GET_STATUS64, 232}, {LOOP_CHANGE_FD, 0}, {LOOP_SET_CAPACITY, 0}, {LOOP_SET_DIRECT_IO, 0},
    {LOOP_SET_BLOCK_SIZE, 0}, {LOOP_CONFIGURE, 0}, {LOOP_CTL_ADD, 0}, {LOOP_CTL_REMOVE, 0}, {LOOP_CTL_GET_FREE, 0},
    {CDROM_DRIVE_STATUS, 0}, {CDROM_DISC_STATUS, 0}, {CDROM_GET_CAPABILITY, 0}, {CDROM_MEDIA_CHANGED, 0},
    {CDROM_LOCKDOOR, 0}, {CDROM_SET_OPTIONS, 0}, {CDROM_CLEAR_OPTIONS, 0}, {CDROMEJECT, 0}, {CDROMCLOSETRAY, 0},
    {SG_GET_VERSION_NUM, 4}, {0x5382 /* SCSI_IOCTL_GET_IDLUN */, 8}, {0x5386 /* SCSI_IOCTL_GET_BUS_NUMBER */, 4},
    {0x4e40 /* NVME_IOCTL_ID */, 0},
    /* clang-format on */
};

/* Structures that are followed by an array, or point to one: `width` bytes at `count` of the
 * structure hold how many elements there are (0: the result does); `ptr` is where the pointer
 * stands, BEHIND for an array at the structure's end. `room`, if there is one, is where the
 * program says how many it has room for: with none it only asks how many there are. */
enum { BEHIND = 0xff, MOST = 1 << 24 };
static const struct further {
	uint32_t request;
	uint16_t size;
	uint8_t ptr, count, width, elem, room;
} further[] = {
    {SIOCGIFCONF, 16, 8, 0, 4, 1, 0},
    {FS_IOC_FIEMAP, 32, BEHIND, 20, 4, 56, 24},
    {0xc020662a /* EXT4_IOC_GET_ES_CACHE */, 32, BEHIND, 20, 4, 56, 24},
    {FS_IOC_GETFSMAP, 192, BEHIND, 12, 4, 64, 8},
    {0xc0205826 /* XFS_IOC_GETBMAP */, 32, BEHIND, 28, 4, 32, 0},
    {0xc0305838 /* XFS_IOC_GETBMAPX */, 48, BEHIND, 28, 4, 48, 0},
    {FIDEDUPERANGE, 24, BEHIND, 16, 2, 32, 0},
    {0xc0096616 /* FS_IOC_GET_ENCRYPTION_POLICY_EX */, 8, BEHIND, 0, 4, 1, 0},
    {0xc0046686 /* FS_IOC_MEASURE_VERITY */, 4, BEHIND, 2, 2, 1, 0},
    {0xc0286687 /* FS_IOC_READ_VERITY_METADATA */, 40, 24, 0, 0, 1, 0},
    {0xc0606610 /* PAGEMAP_SCAN */, 96, 40, 0, 0, 24, 0},
    {0xc0686611 /* PROCMAP_QUERY */, 104, 88, 80, 4, 1, 0},
    {0xc0686611, 0, 96, 84, 4, 1, 0},
    {0xc0101282 /* BLKREPORTZONE */, 16, BEHIND, 8, 4, 64, 0},
};

/* Types whose structures hold pointers that only their drivers know, or that make the kernel
 * write to memory later: graphics, video, sound, virtual machines, USB, SPI, the binder, NVMe
 * commands, InfiniBand, flash memory, XFS' own. */
static bool unknowable(uint32_t request)
{
	uint32_t nr = _IOC_NR(request);

	switch (_IOC_TYPE(request)) {
	case 'd':
	case 'V':
	case 'A':
	case 'k':
	case 'b':
	case ';':
	case 0x1b:
	case 0xae:
	case 0xaf: return _IOC_DIR(request) != 0;
	case 'N': return nr >= 0x41 && _IOC_DIR(request);
	case 'U': return nr <= 32 && _IOC_DIR(request);
	case 'M': /* MEMREADOOB, MEMREADOOB64, MEMREAD; OSS's mixers have these numbers, too */
		return _IOC_SIZE(request) > sizeof(int) && (nr == 4 || nr == 22 || nr == 26);
	case 'X': /* bulkstat, inumbers, handles, attributes and parents by handle, scrubv */
		return (nr >= 62 && nr <= 64) || (nr >= 101 && nr <= 108) || nr == 122 ||
		       nr == 123 || nr == 127 || nr == 128;
	case 0x94: /* btrfs: paths and extents behind a pointer or a number that is not said */
		return nr == 17 || nr == 20 || nr == 35 || nr == 36 || nr == 59 || nr == 64;
	}
	return false;
}

static int size_of(uint32_t request)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i].request == request)
			return sizes[i].size;
	return -1;
}

static bool is_dm(uint32_t request)
{
	return _IOC_TYPE(request) == 0xfd && _IOC_SIZE(request) == 312;
}

int64_t lz_ioctl_refuse(struct lz_tracer *t, uint32_t request, uint64_t at)
{
	int fd = (int)t->cur->call.args[0];

	if (request == SIOCETHTOOL)
		return lz_fd_is_socket(t, fd) ? lz_ethtool_refuse(t, at) : 0;
	if (!unknowable(request) && (_IOC_DIR(request) || request == SG_IO ||
	                             request == SIOCGIFCONF || size_of(request) >= 0))
		return 0;
	return lz_fd_is_open(t, fd) ? lz_refused(-ENOTTY, "ioctl %#x", request) : 0;
}

/* Where the rest goes, and how much of it there is room for, stands in what the program has given. */
static int more(struct lz_tracer *t, const struct further *f, uint64_t at, int64_t result)
{
	const struct lz_vectors *v = &t->cur->vectors;
	uint64_t to = at + f->size, count = (uint64_t)result;
	uint32_t room;

	if (v->n_head < f->size || (f->ptr != BEHIND && v->n_head < f->ptr + sizeof(to)) ||
	    (f->room && v->n_head < f->room + sizeof(room)))
		return 0;
	if (f->width) {
		count = 0;
		lz_proc_read_some(&t->p, at + f->count, &count, f->width);
	}
	if (f->ptr != BEHIND)
		memcpy(&to, v->head + f->ptr, sizeof(to));
	if (f->room) {
		memcpy(&room, v->head + f->room, sizeof(room));
		count = room < count ? room : count;
	}
	if (lz_build_read(t, at, f->size) < 0)
		return -1;
	if (result < 0 || count > MOST)
		return 0;
	return lz_build_read(t, to, count * f->elem);
}

static int dm(struct lz_tracer *t, uint64_t at)
{
	uint32_t size;

	if (lz_proc_read_some(&t->p, at + 12, &size, sizeof(size)) != sizeof(size))
		return 0;
	return lz_build_read(t, at, size);
}

static int sg_io(struct lz_tracer *t, uint64_t at)
{
	struct sg_io_hdr h;

	if (!lz_vectors_head(t, &h, sizeof(h)))
		return 0;
	if (lz_build_read(t, at, sizeof(h)) < 0 ||
	    lz_build_read(t, (uint64_t)(uintptr_t)h.sbp, h.mx_sb_len) < 0)
		return -1;
	if (h.dxfer_direction == SG_DXFER_NONE || h.dxfer_direction == SG_DXFER_TO_DEV)
		return 0;
	if (h.iovec_count)
		return lz_vectors_capture(t, h.dxfer_len);
	return lz_build_read(t, (uint64_t)(uintptr_t)h.dxferp, h.dxfer_len);
}

int lz_ioctl_prepare(struct lz_tracer *t, uint32_t request, uint64_t at)
{
	bool points = request == SG_IO || request == SIOCETHTOOL;
	struct sg_io_hdr h;

	for (size_t i = 0; i < sizeof(further) / sizeof(further[0]); i++)
		points |= further[i].request == request;
	if (!points)
		return 0;
	lz_vectors_note_head(t, at);
	if (request != SG_IO || !lz_vectors_head(t, &h, sizeof(h)))
		return 0;
	return lz_vectors_note(t, (uint64_t)(uintptr_t)h.dxferp, h.iovec_count);
}

int lz_ioctl_capture(struct lz_tracer *t, uint32_t request, uint64_t at, int64_t result)
{
	bool done = false;
	int size = size_of(request);

	for (size_t i = 0; i < sizeof(further) / sizeof(further[0]); i++) {
		if (further[i].request != request)
			continue;
		done = true;
		if (more(t, &further[i], at, result) < 0)
			return -1;
	}
	if (done || (result < 0 && _IOC_DIR(request) != (_IOC_READ | _IOC_WRITE)))
		return 0;
	if (request == SG_IO)
		return sg_io(t, at);
	if (request == SIOCETHTOOL)
		return lz_ethtool_capture(t, at);
	if (is_dm(request))
		return dm(t, at);
	if (size >= 0)
		return lz_build_read(t, at, (uint64_t)size);
	return _IOC_DIR(request) & _IOC_READ ? lz_build_read(t, at, _IOC_SIZE(request)) : 0;
}
