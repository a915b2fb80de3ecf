/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/names.h"

#include <asm/prctl.h>
#include <linux/membarrier.h>
#include <linux/rseq.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static const struct lz_name signal_how[] = {LZ_N(SIG_BLOCK), LZ_N(SIG_UNBLOCK), LZ_N(SIG_SETMASK)};
static const struct lz_name action_flags[] = {
    {0x04000000, "SA_RESTORER"}, LZ_N(SA_ONSTACK),   LZ_N(SA_RESTART),   LZ_N(SA_NODEFER),
    LZ_N(SA_RESETHAND),          LZ_N(SA_NOCLDSTOP), LZ_N(SA_NOCLDWAIT), LZ_N(SA_SIGINFO)};
static const struct lz_name stack_flags[] = {
    LZ_N(SS_ONSTACK), LZ_N(SS_DISABLE), {1U << 31, "SS_AUTODISARM"}};
static const struct lz_name codes[] = {LZ_N(SI_USER),  LZ_N(SI_KERNEL), LZ_N(SI_QUEUE),
                                       LZ_N(SI_TIMER), LZ_N(SI_MESGQ),  LZ_N(SI_ASYNCIO),
                                       LZ_N(SI_SIGIO), LZ_N(SI_TKILL),  LZ_N(SI_ASYNCNL)};
static const struct lz_name segv_codes[] = {LZ_N(SEGV_MAPERR), LZ_N(SEGV_ACCERR), LZ_N(SEGV_BNDERR),
                                            LZ_N(SEGV_PKUERR)};
static const struct lz_name bus_codes[] = {LZ_N(BUS_ADRALN), LZ_N(BUS_ADRERR), LZ_N(BUS_OBJERR)};
static const struct lz_name fpe_codes[] = {LZ_N(FPE_INTDIV), LZ_N(FPE_INTOVF), LZ_N(FPE_FLTDIV),
                                           LZ_N(FPE_FLTOVF), LZ_N(FPE_FLTUND), LZ_N(FPE_FLTRES),
                                           LZ_N(FPE_FLTINV), LZ_N(FPE_FLTSUB)};
static const struct lz_name ill_codes[] = {LZ_N(ILL_ILLOPC), LZ_N(ILL_ILLOPN), LZ_N(ILL_ILLADR),
                                           LZ_N(ILL_ILLTRP), LZ_N(ILL_PRVOPC), LZ_N(ILL_PRVREG),
                                           LZ_N(ILL_COPROC), LZ_N(ILL_BADSTK)};
static const struct lz_name trap_codes[] = {LZ_N(TRAP_BRKPT), LZ_N(TRAP_TRACE)};
static const struct lz_name child_codes[] = {LZ_N(CLD_EXITED),  LZ_N(CLD_KILLED),
                                             LZ_N(CLD_DUMPED),  LZ_N(CLD_TRAPPED),
                                             LZ_N(CLD_STOPPED), LZ_N(CLD_CONTINUED)};
static const struct lz_name clone_flags[] = {LZ_N(CLONE_VM),
                                             LZ_N(CLONE_FS),
                                             LZ_N(CLONE_FILES),
                                             LZ_N(CLONE_SIGHAND),
                                             LZ_N(CLONE_PIDFD),
                                             LZ_N(CLONE_PTRACE),
                                             LZ_N(CLONE_VFORK),
                                             LZ_N(CLONE_PARENT),
                                             LZ_N(CLONE_THREAD),
                                             LZ_N(CLONE_NEWNS),
                                             LZ_N(CLONE_SYSVSEM),
                                             LZ_N(CLONE_SETTLS),
                                             LZ_N(CLONE_PARENT_SETTID),
                                             LZ_N(CLONE_CHILD_CLEARTID),
                                             LZ_N(CLONE_UNTRACED),
                                             LZ_N(CLONE_CHILD_SETTID),
                                             LZ_N(CLONE_NEWCGROUP),
                                             LZ_N(CLONE_NEWUTS),
                                             LZ_N(CLONE_NEWIPC),
                                             LZ_N(CLONE_NEWUSER),
                                             LZ_N(CLONE_NEWPID),
                                             LZ_N(CLONE_NEWNET),
                                             LZ_N(CLONE_IO)};
static const struct lz_name wait_flags[] = {LZ_N(WNOHANG),    LZ_N(WSTOPPED),   LZ_N(WEXITED),
                                            LZ_N(WCONTINUED), LZ_N(WNOWAIT),    LZ_N(__WCLONE),
                                            LZ_N(__WALL),     LZ_N(__WNOTHREAD)};
static const struct lz_name wait_types[] = {LZ_N(P_ALL), LZ_N(P_PID), LZ_N(P_PGID), LZ_N(P_PIDFD)};
static const struct lz_name limits[] = {
    LZ_N(RLIMIT_CPU),      LZ_N(RLIMIT_FSIZE), LZ_N(RLIMIT_DATA),   LZ_N(RLIMIT_STACK),
    LZ_N(RLIMIT_CORE),     LZ_N(RLIMIT_RSS),   LZ_N(RLIMIT_NPROC),  LZ_N(RLIMIT_NOFILE),
    LZ_N(RLIMIT_MEMLOCK),  LZ_N(RLIMIT_AS),    LZ_N(RLIMIT_LOCKS),  LZ_N(RLIMIT_SIGPENDING),
    LZ_N(RLIMIT_MSGQUEUE), LZ_N(RLIMIT_NICE),  LZ_N(RLIMIT_RTPRIO), LZ_N(RLIMIT_RTTIME)};
static const struct lz_name usage_of[] = {LZ_N(RUSAGE_SELF), LZ_N(RUSAGE_CHILDREN),
                                          LZ_N(RUSAGE_THREAD)};
static const struct lz_name priority_of[] = {LZ_N(PRIO_PROCESS), LZ_N(PRIO_PGRP), LZ_N(PRIO_USER)};
static const struct lz_name timers[] = {LZ_N(ITIMER_REAL), LZ_N(ITIMER_VIRTUAL), LZ_N(ITIMER_PROF)};
static const struct lz_name clocks[] = {LZ_N(CLOCK_REALTIME),
                                        LZ_N(CLOCK_MONOTONIC),
                                        LZ_N(CLOCK_PROCESS_CPUTIME_ID),
                                        LZ_N(CLOCK_THREAD_CPUTIME_ID),
                                        LZ_N(CLOCK_MONOTONIC_RAW),
                                        LZ_N(CLOCK_REALTIME_COARSE),
                                        LZ_N(CLOCK_MONOTONIC_COARSE),
                                        LZ_N(CLOCK_BOOTTIME),
                                        LZ_N(CLOCK_REALTIME_ALARM),
                                        LZ_N(CLOCK_BOOTTIME_ALARM),
                                        LZ_N(CLOCK_TAI)};
static const struct lz_name clock_flags[] = {LZ_N(TIMER_ABSTIME)};
static const struct lz_name random_flags[] = {LZ_N(GRND_NONBLOCK), LZ_N(GRND_RANDOM),
                                              LZ_N(GRND_INSECURE)};
static const struct lz_name arch_commands[] = {
    LZ_N(ARCH_SET_GS),    LZ_N(ARCH_SET_FS),    LZ_N(ARCH_GET_FS),          LZ_N(ARCH_GET_GS),
    LZ_N(ARCH_GET_CPUID), LZ_N(ARCH_SET_CPUID), {0x3001, "ARCH_CET_STATUS"}};
static const struct lz_name prctl_commands[] = {LZ_N(PR_SET_PDEATHSIG),
                                                LZ_N(PR_GET_PDEATHSIG),
                                                LZ_N(PR_GET_DUMPABLE),
                                                LZ_N(PR_SET_DUMPABLE),
                                                LZ_N(PR_GET_KEEPCAPS),
                                                LZ_N(PR_SET_KEEPCAPS),
                                                LZ_N(PR_SET_NAME),
                                                LZ_N(PR_GET_NAME),
                                                LZ_N(PR_GET_SECCOMP),
                                                LZ_N(PR_SET_SECCOMP),
                                                LZ_N(PR_CAPBSET_READ),
                                                LZ_N(PR_CAPBSET_DROP),
                                                LZ_N(PR_GET_TSC),
                                                LZ_N(PR_SET_TSC),
                                                LZ_N(PR_GET_SECUREBITS),
                                                LZ_N(PR_SET_SECUREBITS),
                                                LZ_N(PR_SET_TIMERSLACK),
                                                LZ_N(PR_GET_TIMERSLACK),
                                                LZ_N(PR_SET_MM),
                                                LZ_N(PR_SET_PTRACER),
                                                LZ_N(PR_SET_CHILD_SUBREAPER),
                                                LZ_N(PR_GET_CHILD_SUBREAPER),
                                                LZ_N(PR_SET_NO_NEW_PRIVS),
                                                LZ_N(PR_GET_NO_NEW_PRIVS),
                                                LZ_N(PR_SET_THP_DISABLE),
                                                LZ_N(PR_GET_THP_DISABLE),
                                                LZ_N(PR_CAP_AMBIENT),
                                                LZ_N(PR_SET_VMA)};
static const struct lz_name policies[] = {LZ_N(SCHED_OTHER), LZ_N(SCHED_FIFO), LZ_N(SCHED_RR),
                                          LZ_N(SCHED_BATCH), LZ_N(SCHED_IDLE)};
static const struct lz_name membarrier[] = {LZ_N(MEMBARRIER_CMD_QUERY),
                                            LZ_N(MEMBARRIER_CMD_GLOBAL),
                                            LZ_N(MEMBARRIER_CMD_GLOBAL_EXPEDITED),
                                            LZ_N(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED),
                                            LZ_N(MEMBARRIER_CMD_PRIVATE_EXPEDITED),
                                            LZ_N(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)};
static const struct lz_name rseq_flags[] = {LZ_N(RSEQ_FLAG_UNREGISTER)};

const struct lz_names lz_names_process[] = {
    LZ_NAMES("sighow", signal_how, 0),       LZ_NAMES("sa", action_flags, 0),
    LZ_NAMES("ss", stack_flags, 0),          LZ_NAMES("si", codes, 0),
    LZ_NAMES("si_segv", segv_codes, 0),      LZ_NAMES("si_bus", bus_codes, 0),
    LZ_NAMES("si_fpe", fpe_codes, 0),        LZ_NAMES("si_ill", ill_codes, 0),
    LZ_NAMES("si_trap", trap_codes, 0),      LZ_NAMES("si_chld", child_codes, 0),
    LZ_NAMES("clone", clone_flags, 0),       LZ_NAMES("wait", wait_flags, 0),
    LZ_NAMES("wait_type", wait_types, 0),    LZ_NAMES("rlimit", limits, 0),
    LZ_NAMES("rusage_of", usage_of, 0),      LZ_NAMES("priority", priority_of, 0),
    LZ_NAMES("itimer", timers, 0),           LZ_NAMES("clock", clocks, 0),
    LZ_NAMES("clock_flags", clock_flags, 0), LZ_NAMES("random", random_flags, 0),
    LZ_NAMES("arch", arch_commands, 0),      LZ_NAMES("prctl", prctl_commands, 0),
    LZ_NAMES("sched", policies, 0),          LZ_NAMES("membarrier", membarrier, 0),
    LZ_NAMES("rseq", rseq_flags, 0),         {0}};
