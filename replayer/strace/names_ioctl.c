/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/names.h"

#include <linux/fs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>

static const struct lz_name requests[] = {
    LZ_N(TCGETS),          LZ_N(TCSETS),          LZ_N(TCSETSW),      LZ_N(TCSETSF),
    LZ_N(TCSBRK),          LZ_N(TCXONC),          LZ_N(TCFLSH),       LZ_N(TIOCEXCL),
    LZ_N(TIOCNXCL),        LZ_N(TIOCSCTTY),       LZ_N(TIOCGPGRP),    LZ_N(TIOCSPGRP),
    LZ_N(TIOCOUTQ),        LZ_N(TIOCSTI),         LZ_N(TIOCGWINSZ),   LZ_N(TIOCSWINSZ),
    LZ_N(FIONREAD),        LZ_N(FIONBIO),         LZ_N(TIOCNOTTY),    LZ_N(TIOCGSID),
    LZ_N(TIOCGPTN),        LZ_N(TIOCSPTLCK),      LZ_N(TIOCGPTPEER),  LZ_N(FIONCLEX),
    LZ_N(FIOCLEX),         LZ_N(FIOASYNC),        LZ_N(FICLONE),      LZ_N(FICLONERANGE),
    LZ_N(FS_IOC_GETFLAGS), LZ_N(FS_IOC_SETFLAGS), LZ_N(BLKGETSIZE64), LZ_N(SIOCGIFCONF),
    LZ_N(SIOCGIFFLAGS),    LZ_N(SIOCGIFADDR),     LZ_N(SIOCGIFINDEX), LZ_N(SIOCGIFNAME),
    LZ_N(SIOCATMARK)};

const struct lz_names lz_names_ioctl[] = {LZ_NAMES("ioctl", requests, 0), {0}};
