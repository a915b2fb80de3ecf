/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/names.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>
#include <poll.h>

static const struct lz_name open_flags[] = {LZ_N(O_RDONLY),
                                            LZ_N(O_WRONLY),
                                            LZ_N(O_RDWR),
                                            LZ_N(O_CREAT),
                                            LZ_N(O_EXCL),
                                            LZ_N(O_NOCTTY),
                                            LZ_N(O_TRUNC),
                                            LZ_N(O_APPEND),
                                            LZ_N(O_NONBLOCK),
                                            LZ_N(O_SYNC),
                                            LZ_N(O_DSYNC),
                                            LZ_N(O_DIRECT),
                                            {0100000, "O_LARGEFILE"},
                                            LZ_N(O_NOFOLLOW),
                                            LZ_N(O_NOATIME),
                                            LZ_N(O_CLOEXEC),
                                            LZ_N(O_PATH),
                                            LZ_N(O_TMPFILE),
                                            LZ_N(O_DIRECTORY),
                                            LZ_N(FASYNC)};
static const struct lz_name at_flags[] = {LZ_N(AT_SYMLINK_NOFOLLOW), LZ_N(AT_REMOVEDIR),
                                          LZ_N(AT_SYMLINK_FOLLOW),   LZ_N(AT_NO_AUTOMOUNT),
                                          LZ_N(AT_EMPTY_PATH),       LZ_N(AT_STATX_FORCE_SYNC),
                                          LZ_N(AT_STATX_DONT_SYNC),  LZ_N(AT_RECURSIVE)};
static const struct lz_name statx_flags[] = {LZ_N(AT_STATX_SYNC_AS_STAT), LZ_N(AT_STATX_FORCE_SYNC),
                                             LZ_N(AT_STATX_DONT_SYNC),    LZ_N(AT_SYMLINK_NOFOLLOW),
                                             LZ_N(AT_NO_AUTOMOUNT),       LZ_N(AT_EMPTY_PATH)};
static const struct lz_name statx_mask[] = {
    LZ_N(STATX_ALL),    LZ_N(STATX_BASIC_STATS), LZ_N(STATX_TYPE),  LZ_N(STATX_MODE),
    LZ_N(STATX_NLINK),  LZ_N(STATX_UID),         LZ_N(STATX_GID),   LZ_N(STATX_ATIME),
    LZ_N(STATX_MTIME),  LZ_N(STATX_CTIME),       LZ_N(STATX_INO),   LZ_N(STATX_SIZE),
    LZ_N(STATX_BLOCKS), LZ_N(STATX_BTIME),       LZ_N(STATX_MNT_ID)};
/* faccessat2's; the first of them means another thing elsewhere */
static const struct lz_name faccessat_flags[] = {LZ_N(AT_SYMLINK_NOFOLLOW), LZ_N(AT_EACCESS),
                                                 LZ_N(AT_EMPTY_PATH)};
static const struct lz_name access_modes[] = {LZ_N(F_OK), LZ_N(R_OK), LZ_N(W_OK), LZ_N(X_OK)};
static const struct lz_name whence[] = {LZ_N(SEEK_SET), LZ_N(SEEK_CUR), LZ_N(SEEK_END),
                                        LZ_N(SEEK_DATA), LZ_N(SEEK_HOLE)};
static const struct lz_name file_types[] = {LZ_N(S_IFSOCK), LZ_N(S_IFLNK), LZ_N(S_IFREG),
                                            LZ_N(S_IFBLK),  LZ_N(S_IFDIR), LZ_N(S_IFCHR),
                                            LZ_N(S_IFIFO)};
static const struct lz_name mode_bits[] = {LZ_N(S_ISUID), LZ_N(S_ISGID), LZ_N(S_ISVTX)};
static const struct lz_name fcntl_commands[] = {
    LZ_N(F_DUPFD),      LZ_N(F_GETFD),     LZ_N(F_SETFD),         LZ_N(F_GETFL),
    LZ_N(F_SETFL),      LZ_N(F_GETLK),     LZ_N(F_SETLK),         LZ_N(F_SETLKW),
    LZ_N(F_SETOWN),     LZ_N(F_GETOWN),    LZ_N(F_SETSIG),        LZ_N(F_GETSIG),
    LZ_N(F_OFD_GETLK),  LZ_N(F_OFD_SETLK), LZ_N(F_OFD_SETLKW),    LZ_N(F_SETLEASE),
    LZ_N(F_GETLEASE),   LZ_N(F_NOTIFY),    LZ_N(F_DUPFD_CLOEXEC), LZ_N(F_SETPIPE_SZ),
    LZ_N(F_GETPIPE_SZ), LZ_N(F_ADD_SEALS), LZ_N(F_GET_SEALS),     LZ_N(F_SETOWN_EX),
    LZ_N(F_GETOWN_EX)};
static const struct lz_name fd_flags[] = {LZ_N(FD_CLOEXEC)};
static const struct lz_name seals[] = {LZ_N(F_SEAL_SEAL), LZ_N(F_SEAL_SHRINK), LZ_N(F_SEAL_GROW),
                                       LZ_N(F_SEAL_WRITE)};
static const struct lz_name lock_types[] = {LZ_N(F_RDLCK), LZ_N(F_WRLCK), LZ_N(F_UNLCK)};
static const struct lz_name flock_commands[] = {LZ_N(LOCK_SH), LZ_N(LOCK_EX), LZ_N(LOCK_UN),
                                                LZ_N(LOCK_NB)};
static const struct lz_name fadvice[] = {LZ_N(POSIX_FADV_NORMAL),     LZ_N(POSIX_FADV_RANDOM),
                                         LZ_N(POSIX_FADV_SEQUENTIAL), LZ_N(POSIX_FADV_WILLNEED),
                                         LZ_N(POSIX_FADV_DONTNEED),   LZ_N(POSIX_FADV_NOREUSE)};
static const struct lz_name falloc_modes[] = {
    LZ_N(FALLOC_FL_KEEP_SIZE),  LZ_N(FALLOC_FL_PUNCH_HOLE),   LZ_N(FALLOC_FL_COLLAPSE_RANGE),
    LZ_N(FALLOC_FL_ZERO_RANGE), LZ_N(FALLOC_FL_INSERT_RANGE), LZ_N(FALLOC_FL_UNSHARE_RANGE)};
static const struct lz_name rename_flags[] = {LZ_N(RENAME_NOREPLACE), LZ_N(RENAME_EXCHANGE),
                                              LZ_N(RENAME_WHITEOUT)};
static const struct lz_name rw_flags[] = {LZ_N(RWF_HIPRI), LZ_N(RWF_DSYNC), LZ_N(RWF_SYNC),
                                          LZ_N(RWF_NOWAIT), LZ_N(RWF_APPEND)};
static const struct lz_name poll_events[] = {LZ_N(POLLIN),     LZ_N(POLLPRI),    LZ_N(POLLOUT),
                                             LZ_N(POLLRDNORM), LZ_N(POLLWRNORM), LZ_N(POLLRDBAND),
                                             LZ_N(POLLWRBAND), LZ_N(POLLERR),    LZ_N(POLLHUP),
                                             LZ_N(POLLNVAL),   LZ_N(POLLMSG),    LZ_N(POLLRDHUP)};
static const struct lz_name epoll_events[] = {
    LZ_N(EPOLLIN),     LZ_N(EPOLLPRI),     LZ_N(EPOLLOUT),    LZ_N(EPOLLRDNORM),
    LZ_N(EPOLLRDBAND), LZ_N(EPOLLWRNORM),  LZ_N(EPOLLWRBAND), LZ_N(EPOLLMSG),
    LZ_N(EPOLLERR),    LZ_N(EPOLLHUP),     LZ_N(EPOLLRDHUP),  LZ_N(EPOLLEXCLUSIVE),
    LZ_N(EPOLLWAKEUP), LZ_N(EPOLLONESHOT), LZ_N(EPOLLET)};
static const struct lz_name epoll_commands[] = {LZ_N(EPOLL_CTL_ADD), LZ_N(EPOLL_CTL_DEL),
                                                LZ_N(EPOLL_CTL_MOD)};
static const struct lz_name epoll_flags[] = {LZ_N(EPOLL_CLOEXEC)};
static const struct lz_name eventfd_flags[] = {LZ_N(EFD_SEMAPHORE), LZ_N(EFD_CLOEXEC),
                                               LZ_N(EFD_NONBLOCK)};
static const struct lz_name signalfd_flags[] = {LZ_N(SFD_CLOEXEC), LZ_N(SFD_NONBLOCK)};
static const struct lz_name timerfd_flags[] = {LZ_N(TFD_CLOEXEC), LZ_N(TFD_NONBLOCK)};
static const struct lz_name timerfd_set[] = {LZ_N(TFD_TIMER_ABSTIME),
                                             LZ_N(TFD_TIMER_CANCEL_ON_SET)};
static const struct lz_name inotify_flags[] = {LZ_N(IN_CLOEXEC), LZ_N(IN_NONBLOCK)};
static const struct lz_name inotify_events[] = {
    LZ_N(IN_ACCESS),        LZ_N(IN_MODIFY),      LZ_N(IN_ATTRIB),      LZ_N(IN_CLOSE_WRITE),
    LZ_N(IN_CLOSE_NOWRITE), LZ_N(IN_OPEN),        LZ_N(IN_MOVED_FROM),  LZ_N(IN_MOVED_TO),
    LZ_N(IN_CREATE),        LZ_N(IN_DELETE),      LZ_N(IN_DELETE_SELF), LZ_N(IN_MOVE_SELF),
    LZ_N(IN_UNMOUNT),       LZ_N(IN_Q_OVERFLOW),  LZ_N(IN_IGNORED),     LZ_N(IN_ONLYDIR),
    LZ_N(IN_DONT_FOLLOW),   LZ_N(IN_EXCL_UNLINK), LZ_N(IN_MASK_CREATE), LZ_N(IN_MASK_ADD),
    LZ_N(IN_ISDIR),         LZ_N(IN_ONESHOT)};

const struct lz_names lz_names_files[] = {LZ_NAMES("open", open_flags, O_ACCMODE),
                                          LZ_NAMES("open_bits", open_flags, 0),
                                          LZ_NAMES("at", at_flags, 0),
                                          LZ_NAMES("statx", statx_flags, AT_STATX_SYNC_TYPE),
                                          LZ_NAMES("statx_mask", statx_mask, 0),
                                          LZ_NAMES("faccessat", faccessat_flags, 0),
                                          LZ_NAMES("access", access_modes, 0),
                                          LZ_NAMES("whence", whence, 0),
                                          LZ_NAMES("file_type", file_types, 0),
                                          LZ_NAMES("mode_bits", mode_bits, 0),
                                          LZ_NAMES("fcntl", fcntl_commands, 0),
                                          LZ_NAMES("fd", fd_flags, 0),
                                          LZ_NAMES("seals", seals, 0),
                                          LZ_NAMES("lock_type", lock_types, 0),
                                          LZ_NAMES("flock", flock_commands, 0),
                                          LZ_NAMES("fadvice", fadvice, 0),
                                          LZ_NAMES("falloc", falloc_modes, 0),
                                          LZ_NAMES("rename", rename_flags, 0),
                                          LZ_NAMES("rwf", rw_flags, 0),
                                          LZ_NAMES("poll", poll_events, 0),
                                          LZ_NAMES("epoll_events", epoll_events, 0),
                                          LZ_NAMES("epoll_op", epoll_commands, 0),
                                          LZ_NAMES("epoll_flags", epoll_flags, 0),
                                          LZ_NAMES("eventfd", eventfd_flags, 0),
                                          LZ_NAMES("signalfd", signalfd_flags, 0),
                                          LZ_NAMES("timerfd", timerfd_flags, 0),
                                          LZ_NAMES("timerfd_set", timerfd_set, 0),
                                          LZ_NAMES("inotify", inotify_flags, 0),
                                          LZ_NAMES("inotify_mask", inotify_events, 0),
                                          {0}};
