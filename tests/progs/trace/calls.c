/* Many system calls that write into memory, with output buffers of a known filling: a byte that the
 * recorder misses shows when checkpoints are compared. Results may differ between machines. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <mqueue.h>
#include <net/if.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static char out[1 << 16];
static unsigned check;

/* A fresh buffer; what was in the last one becomes part of the result. */
static void *buf(void)
{
	for (size_t i = 0; i < sizeof(out); i += 7)
		check = check * 31 + (unsigned char)out[i];
	memset(out, 0xa5, sizeof(out));
	return out;
}

static void files(void)
{
	char name[] = "/tmp/lizard-calls-XXXXXX";
	int fd = mkstemp(name), fd2 = open("/proc/self/stat", O_RDONLY);
	struct iovec io[3] = {{out, 10}, {out + 100, 20}, {out + 1000, 3000}};
	off_t off = 3;
	loff_t in = 1, to = 0;
	int dir = open("/", O_RDONLY | O_DIRECTORY);

	write(fd, "0123456789abcdefghijklmnopqrstuvwxyz", 36);
	buf(), pread(fd, out, 20, 4);
	buf(), lseek(fd, 0, SEEK_SET), readv(fd, io, 3);
	buf(), preadv(fd, io, 3, 2);
	buf(), preadv2(fd, io, 3, 2, 0);
	buf(), read(fd2, out, 3000);
	buf(), stat(name, (void *)out), lstat(name, (void *)(out + 500)),
	    fstat(fd, (void *)(out + 1000));
	buf(), fstatat(AT_FDCWD, name, (void *)out, 0);
	buf(), syscall(SYS_statx, AT_FDCWD, name, 0, 0xfff, out);
	buf(), statfs("/", (void *)out), fstatfs(fd, (void *)(out + 300));
	buf(), syscall(SYS_getdents64, dir, out, 2000);
	lseek(dir, 0, SEEK_SET);
	buf(), syscall(SYS_getdents, dir, out, 2000);
	buf(), readlink("/proc/self/exe", out, 500),
	    readlinkat(AT_FDCWD, "/proc/self/cwd", out + 600, 500);
	buf(), syscall(SYS_getcwd, out, 500);
	buf(), fsetxattr(fd, "user.lizard", "green", 5, 0), fgetxattr(fd, "user.lizard", out, 100);
	buf(), flistxattr(fd, out, 500), getxattr(name, "user.lizard", out + 600, 0);
	int pipes[2];
	buf(), pipe(pipes), pipe2((int *)out, O_CLOEXEC);
	sendfile(pipes[1], fd, &off, 5);
	copy_file_range(fd, &in, fd, &to, 0, 0);
	buf(), splice(fd, &in, pipes[1], NULL, 6, 0), read(pipes[0], out, 100);
	write(pipes[1], "vm", 2);
	buf(), io[0].iov_len = 2, vmsplice(pipes[0], io, 1, 0);
	struct flock lk = {.l_type = F_WRLCK};
	buf(), fcntl(fd, F_GETLK, &lk), fcntl(fd, F_OFD_GETLK, memset(out, 0, sizeof(lk)));
	buf(), fcntl(fd, F_GETOWN_EX, out);
	struct {
		struct file_handle h;
		char room[128];
	} h = {.h.handle_bytes = 128};
	int mount;
	name_to_handle_at(AT_FDCWD, name, &h.h, &mount, 0);
	h.h.handle_bytes = 0;
	name_to_handle_at(AT_FDCWD, name, &h.h, &mount, 0);
	buf(), mincore((void *)((unsigned long)out & ~4095ul), 16384, (unsigned char *)out + 30000);
	int notify = inotify_init1(O_NONBLOCK);
	inotify_add_watch(notify, name, IN_ALL_EVENTS);
	write(fd, "x", 1);
	buf(), read(notify, out, 1000);
	unlink(name);
	close(fd), close(fd2), close(dir), close(notify), close(pipes[0]), close(pipes[1]);
}

/* The kernel writes the whole request back, which ends the name. */
static void interfaces(void)
{
	struct ethtool_value link = {.cmd = ETHTOOL_GLINK};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq *r = buf();

	strcpy(r->ifr_name, "lo");
	r->ifr_data = (char *)&link;
	ioctl(fd, SIOCETHTOOL, r);
	strcpy((char *)(r = buf()), "lo");
	strcpy(r->ifr_newname, "lo");
	ioctl(fd, SIOCSIFNAME, r);
	strcpy((char *)(r = buf()), "lo");
	ioctl(fd, SIOCGIFFLAGS, r);
	close(fd);
}

static void sockets(void)
{
	int s[2], one = 1;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0);
	char control[200], data[64];
	struct iovec io = {data, sizeof(data)};
	struct msghdr m = {.msg_iov = &io,
	                   .msg_iovlen = 1,
	                   .msg_control = control,
	                   .msg_controllen = sizeof(control)};

	bind(l, (void *)&a, n), listen(l, 3);
	buf(), n = 100, getsockname(l, (void *)out, &n);
	memcpy(&a, out, sizeof(a));
	connect(c, (void *)&a, sizeof(a));
	buf(), n = 7;
	int d = accept(l, (void *)out, &n);
	buf(), n = 100, getpeername(c, (void *)out, &n);
	setsockopt(c, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	buf(), n = 100, getsockopt(c, SOL_SOCKET, SO_SNDBUF, out, &n);
	/* only how long it would be */
	n = 0, getsockname(l, NULL, &n), buf(), out[0] = (char)n;
	n = 0, getpeername(c, NULL, &n), out[1] = (char)n;
	n = 0, getsockopt(c, SOL_SOCKET, SO_TYPE, NULL, &n), out[2] = (char)n;
	send(c, "hello world", 11, 0);
	buf(), recv(d, out, 5, 0);
	buf(), ioctl(d, FIONREAD, out);
	buf(), n = 50, recvfrom(d, out, 100, 0, (void *)(out + 200), &n);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
	/* A descriptor is sent along. */
	memcpy(data, "message", 8);
	io.iov_len = 8;
	m.msg_controllen = CMSG_SPACE(sizeof(int));
	struct cmsghdr *cm = CMSG_FIRSTHDR(&m);
	cm->cmsg_level = SOL_SOCKET, cm->cmsg_type = SCM_RIGHTS,
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &l, sizeof(l));
	sendmsg(s[0], &m, 0), sendmsg(s[0], &m, 0), sendmsg(s[0], &m, 0);
	memset(data, 1, sizeof(data)), memset(control, 2, sizeof(control));
	io.iov_len = sizeof(data), m.msg_controllen = sizeof(control);
	recvmsg(s[1], &m, 0);
	struct mmsghdr mm[4] = {{.msg_hdr = m}};
	mm[0].msg_hdr.msg_controllen = sizeof(control);
	recvmmsg(s[1], mm, 1, MSG_DONTWAIT, NULL);
	memset(&mm[1].msg_hdr, 0, sizeof(mm[1].msg_hdr));
	mm[1].msg_hdr.msg_iov = &io, mm[1].msg_hdr.msg_iovlen = 1;
	sendmmsg(s[0], mm + 1, 1, 0);
	recv(s[1], out, 3, MSG_TRUNC), recv(s[1], out, 3, MSG_TRUNC | MSG_DONTWAIT);
	close(l), close(c), close(d), close(s[0]), close(s[1]);
}

static void waiting(void)
{
	int p[2], e = epoll_create1(0), ev = eventfd(3, 0);
	struct epoll_event want = {.events = EPOLLIN, .data.u64 = 77};
	struct timespec t = {0, 1000000}, t2;
	struct timeval tv = {0, 2000};
	fd_set set;

	pipe(p);
	struct pollfd pf[2] = {{p[0], POLLIN, 0x7f}, {ev, POLLIN, 0x7f}};
	poll(pf, 2, 1), ppoll(pf, 1, &t, NULL);
	FD_ZERO(&set);
	FD_SET(p[0], &set);
	select(p[0] + 1, &set, NULL, NULL, &tv);
	FD_SET(ev, &set);
	t.tv_nsec = 5000;
	pselect(ev + 1, &set, NULL, NULL, &t, NULL);
	epoll_ctl(e, EPOLL_CTL_ADD, ev, &want), epoll_ctl(e, EPOLL_CTL_ADD, p[0], &want);
	buf(), epoll_wait(e, (void *)out, 10, 1), epoll_pwait(e, (void *)(out + 500), 10, 1, NULL);
	buf(), syscall(SYS_epoll_pwait2, e, out, 10, &t, NULL, 8);
	buf(), read(ev, out, 8);
	int tf = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec its = {{0, 0}, {0, 500000}};
	buf(), timerfd_settime(tf, 0, &its, (void *)out), timerfd_gettime(tf, (void *)(out + 64)),
	    read(tf, out + 200, 8);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 1000}, &t2),
	    nanosleep(&(struct timespec){0, 1000}, &t2);
	sigset_t mask;
	siginfo_t info;
	sigemptyset(&mask), sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	raise(SIGUSR1), sigpending((void *)buf());
	memset(&info, 3, sizeof(info)), sigwaitinfo(&mask, &info);
	sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 5});
	memset(&info, 3, sizeof(info)), sigtimedwait(&mask, &info, &t);
	int sf = signalfd(-1, &mask, 0);
	raise(SIGUSR1), buf(), read(sf, out, 500);
	timer_t tm;
	struct sigevent se = {.sigev_notify = SIGEV_NONE};
	timer_create(CLOCK_REALTIME, &se, &tm), timer_settime(tm, 0, &its, (void *)buf()),
	    timer_gettime(tm, (void *)(out + 100)), timer_delete(tm);
	struct itimerval iv = {{0, 0}, {100, 0}};
	buf(), setitimer(ITIMER_VIRTUAL, &iv, (void *)out),
	    getitimer(ITIMER_VIRTUAL, (void *)(out + 100));
	close(p[0]), close(p[1]), close(e), close(ev), close(tf), close(sf);
}

static void system_state(void)
{
	struct __user_cap_header_struct cap = {.version = 0};
	struct sched_param sp;
	gid_t groups[64];
	unsigned cpu, node;

	buf(), uname((void *)out), sysinfo((void *)(out + 500)), times((void *)(out + 1000));
	buf(), getrusage(RUSAGE_SELF, (void *)out), getrlimit(RLIMIT_STACK, (void *)(out + 300)),
	    prlimit(0, RLIMIT_NOFILE, NULL, (void *)(out + 400));
	buf(), gettimeofday((void *)out, (void *)(out + 100)), time((void *)(out + 200)),
	    clock_gettime(CLOCK_REALTIME, (void *)(out + 300)),
	    clock_getres(CLOCK_REALTIME, (void *)(out + 400));
	buf(), syscall(SYS_getresuid, out, out + 10, out + 20),
	    syscall(SYS_getresgid, out + 30, out + 40, out + 50);
	getgroups(64, groups);
	syscall(SYS_capget, &cap, NULL), buf(), syscall(SYS_capget, &cap, out);
	sched_getparam(0, &sp), buf(), sched_rr_get_interval(0, (void *)out),
	    syscall(SYS_sched_getattr, 0, out + 100, 48, 0);
	buf(), sched_getaffinity(0, 128, (void *)out), syscall(SYS_getcpu, &cpu, &node, NULL);
	buf(), syscall(SYS_getrandom, out, 777, 0);
	struct timex tx = {0};
	adjtimex(&tx), clock_adjtime(CLOCK_REALTIME, &tx);
	buf(), prctl(PR_GET_NAME, out), prctl(PR_GET_PDEATHSIG, out + 32),
	    prctl(PR_GET_CHILD_SUBREAPER, out + 64);
	buf(), syscall(SYS_arch_prctl, 0x1003, out);
	buf(), syscall(SYS_get_robust_list, 0, out, out + 8);
	buf(), sigaltstack(NULL, (void *)out),
	    syscall(SYS_rt_sigaction, SIGUSR2, NULL, out + 100, 8),
	    syscall(SYS_rt_sigprocmask, 0, NULL, out + 200, 8);
	buf(), syscall(SYS_get_mempolicy, out, out + 64, 1024, 0, 0);
	buf(), syscall(SYS_sysfs, 2, 0, out);
	buf(), syscall(SYS_syslog, 10, NULL, 0);
	int q = msgget(IPC_PRIVATE, 0600), sem = semget(IPC_PRIVATE, 3, 0600);
	struct {
		long type;
		char text[32];
	} msg = {5, "queued"};
	msgsnd(q, &msg, 8, 0), buf(), msgrcv(q, out, 100, 0, IPC_NOWAIT),
	    msgctl(q, IPC_STAT, (void *)(out + 200)), msgctl(q, IPC_RMID, NULL);
	buf(), semctl(sem, 0, IPC_STAT, out), semctl(sem, 0, GETALL, out + 500),
	    semctl(sem, 0, IPC_RMID);
	mqd_t mq = mq_open("/lizard-calls", O_CREAT | O_RDWR | O_NONBLOCK, 0600, NULL);
	if (mq >= 0) {
		unsigned prio;
		struct mq_attr at;
		mq_send(mq, "mq", 2, 3), mq_getattr(mq, &at), buf(),
		    mq_receive(mq, out, 60000, &prio), mq_close(mq), mq_unlink("/lizard-calls");
	}
}

static void terminals(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	char name[100];
	struct winsize ws;

	if (master < 0 || grantpt(master) || unlockpt(master) ||
	    ptsname_r(master, name, sizeof(name)))
		return;
	int slave = open(name, O_RDWR | O_NOCTTY);
	buf(), ioctl(slave, TCGETS, out), ioctl(slave, TIOCGWINSZ, &ws),
	    ioctl(slave, TIOCGPGRP, out + 200), ioctl(slave, TIOCOUTQ, out + 300);
	write(slave, "line\n", 5), buf(), read(master, out, 100);
	close(slave), close(master);
}

static void children(void)
{
	struct rusage ru;
	siginfo_t info;
	int status;

	if (fork() == 0)
		_exit(9);
	memset(&info, 1, sizeof(info)),
	    syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOWAIT, &ru);
	wait4(-1, &status, 0, &ru);
	check += (unsigned)status;
}

int main(void)
{
	files();
	sockets();
	interfaces();
	waiting();
	system_state();
	terminals();
	children();
	buf();
	puts("all is well");
	return 0;
}
