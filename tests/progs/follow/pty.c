/* A terminal between processes: a session with a controlling terminal, line editing, its size, window changes, Ctrl-C and
 * Ctrl-Z, a background group that reads, the end of the terminal. */
#include "check.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

static volatile sig_atomic_t winch, intr;

static void on_winch(int sig)
{
	winch++;
}

static void on_int(int sig)
{
	intr++;
}

static int in_terminal(void *arg)
{
	struct sigaction sa = {.sa_handler = on_winch}, sb = {.sa_handler = on_int};
	struct winsize w;
	struct termios t;
	char line[64];
	ssize_t n;

	CHECK(setsid() == getpid());
	int fd = open(arg, O_RDWR);
	CHECK(fd >= 0 && ioctl(fd, TIOCSCTTY, 0) == 0 && tcgetpgrp(fd) == getpid());
	sigaction(SIGWINCH, &sa, NULL);
	sigaction(SIGINT, &sb, NULL);
	CHECK(isatty(fd) && tcgetattr(fd, &t) == 0 && t.c_lflag & ICANON);
	t.c_lflag &= ~(tcflag_t)ECHO;
	CHECK(tcsetattr(fd, TCSANOW, &t) == 0);
	CHECK(write(fd, "ready\n", 6) == 6);
	while (!winch || !intr) {
		n = read(fd, line, sizeof(line));
		CHECK(n == -1 && errno == EINTR);
	}
	CHECK(ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_row == 33 && w.ws_col == 99);
	CHECK(write(fd, "seen\n", 5) == 5);
	n = read(fd, line, sizeof(line));
	CHECK(n == 4 && !memcmp(line, "lin\n", 4));
	CHECK(write(fd, "got\n", 4) == 4);
	n = read(fd, line, sizeof(line));
	return n == 0 || (n == -1 && errno == EIO) ? 131 : 1;
}

static void expect(int fd, const char *want)
{
	char got[64] = "";
	size_t n = 0;

	while (n < strlen(want)) {
		ssize_t more = read(fd, got + n, strlen(want) - n);
		CHECK(more > 0);
		n += (size_t)more;
	}
	CHECK(strcmp(got, want) == 0);
}

int main(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	struct winsize w = {33, 99, 0, 0};
	int keep;

	CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	char *name = ptsname(master);
	CHECK((keep = open(name, O_RDWR | O_NOCTTY)) >= 0);
	pid_t pid = child(in_terminal, name);
	expect(master, "ready\r\n");
	CHECK(ioctl(master, TIOCSWINSZ, &w) == 0);
	usleep(10000);
	CHECK(write(master, "\x03", 1) == 1);
	expect(master, "seen\r\n");
	CHECK(write(master, "lime\x7f\x7fn\n", 8) == 8);
	expect(master, "got\r\n");
	signal(SIGHUP, SIG_IGN);
	CHECK(write(master, "\x04", 1) == 1);
	ends_with(pid, 131);
	CHECK(close(keep) == 0 && close(master) == 0);
	DONE();
}
