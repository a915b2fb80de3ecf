/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/names.h"

#include <linux/futex.h>
#include <linux/memfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

static const struct lz_name protection[] = {LZ_N(PROT_NONE),      LZ_N(PROT_READ),
                                            LZ_N(PROT_WRITE),     LZ_N(PROT_EXEC),
                                            LZ_N(PROT_GROWSDOWN), LZ_N(PROT_GROWSUP)};
static const struct lz_name map_flags[] = {
    LZ_N(MAP_SHARED),         LZ_N(MAP_PRIVATE),   LZ_N(MAP_SHARED_VALIDATE), LZ_N(MAP_FIXED),
    LZ_N(MAP_ANONYMOUS),      LZ_N(MAP_32BIT),     LZ_N(MAP_NORESERVE),       LZ_N(MAP_POPULATE),
    LZ_N(MAP_NONBLOCK),       LZ_N(MAP_GROWSDOWN), LZ_N(MAP_DENYWRITE),       LZ_N(MAP_EXECUTABLE),
    LZ_N(MAP_LOCKED),         LZ_N(MAP_STACK),     LZ_N(MAP_HUGETLB),         LZ_N(MAP_SYNC),
    LZ_N(MAP_FIXED_NOREPLACE)};
static const struct lz_name remap_flags[] = {LZ_N(MREMAP_MAYMOVE), LZ_N(MREMAP_FIXED),
                                             LZ_N(MREMAP_DONTUNMAP)};
static const struct lz_name advice[] = {
    LZ_N(MADV_NORMAL),     LZ_N(MADV_RANDOM),    LZ_N(MADV_SEQUENTIAL),  LZ_N(MADV_WILLNEED),
    LZ_N(MADV_DONTNEED),   LZ_N(MADV_FREE),      LZ_N(MADV_REMOVE),      LZ_N(MADV_DONTFORK),
    LZ_N(MADV_DOFORK),     LZ_N(MADV_MERGEABLE), LZ_N(MADV_UNMERGEABLE), LZ_N(MADV_HUGEPAGE),
    LZ_N(MADV_NOHUGEPAGE), LZ_N(MADV_DONTDUMP),  LZ_N(MADV_DODUMP),      LZ_N(MADV_WIPEONFORK),
    LZ_N(MADV_KEEPONFORK), LZ_N(MADV_COLD),      LZ_N(MADV_PAGEOUT),     LZ_N(MADV_HWPOISON)};
static const struct lz_name sync_flags[] = {LZ_N(MS_ASYNC), LZ_N(MS_SYNC), LZ_N(MS_INVALIDATE)};
static const struct lz_name lock_flags[] = {LZ_N(MCL_CURRENT), LZ_N(MCL_FUTURE), LZ_N(MCL_ONFAULT)};
static const struct lz_name memfd_flags[] = {LZ_N(MFD_CLOEXEC), LZ_N(MFD_ALLOW_SEALING),
                                             LZ_N(MFD_HUGETLB)};
static const struct lz_name ipc_flags[] = {LZ_N(IPC_CREAT), LZ_N(IPC_EXCL), LZ_N(IPC_NOWAIT)};
static const struct lz_name ipc_commands[] = {LZ_N(IPC_RMID), LZ_N(IPC_SET), LZ_N(IPC_STAT),
                                              LZ_N(IPC_INFO)};
static const struct lz_name shm_flags[] = {LZ_N(SHM_RDONLY), LZ_N(SHM_RND), LZ_N(SHM_REMAP),
                                           LZ_N(SHM_EXEC)};
static const struct lz_name futex_commands[] = {
    LZ_N(FUTEX_WAIT),           LZ_N(FUTEX_WAKE),        LZ_N(FUTEX_FD),
    LZ_N(FUTEX_REQUEUE),        LZ_N(FUTEX_CMP_REQUEUE), LZ_N(FUTEX_WAKE_OP),
    LZ_N(FUTEX_LOCK_PI),        LZ_N(FUTEX_UNLOCK_PI),   LZ_N(FUTEX_TRYLOCK_PI),
    LZ_N(FUTEX_WAIT_BITSET),    LZ_N(FUTEX_WAKE_BITSET), LZ_N(FUTEX_WAIT_REQUEUE_PI),
    LZ_N(FUTEX_CMP_REQUEUE_PI), LZ_N(FUTEX_LOCK_PI2)};

const struct lz_names lz_names_memory[] = {
    LZ_NAMES("prot", protection, 0),      LZ_NAMES("map", map_flags, 15),
    LZ_NAMES("mremap", remap_flags, 0),   LZ_NAMES("madvise", advice, 0),
    LZ_NAMES("msync", sync_flags, 0),     LZ_NAMES("mlockall", lock_flags, 0),
    LZ_NAMES("memfd", memfd_flags, 0),    LZ_NAMES("ipc_flags", ipc_flags, 0),
    LZ_NAMES("ipc", ipc_commands, 0),     LZ_NAMES("shmat", shm_flags, 0),
    LZ_NAMES("futex", futex_commands, 0), {0}};
