/* A daemon by double fork: its own session, no terminal, the parents gone; it is found by its file, asked through a FIFO,
 * and ends when it is told to. */
#include "check.h"
#include <fcntl.h>
#include <sys/stat.h>

static int answer(int in, int out)
{
	char line[32];
	ssize_t n;

	while ((n = read(in, line, sizeof(line))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			line[i] ^= 0x20;
		if (write(out, line, (size_t)n) != n)
			return 1;
	}
	return 0;
}

static int daemonize(void *arg)
{
	const int *said = arg;
	char text[16];

	CHECK(setsid() == getpid());
	signal(SIGHUP, SIG_IGN);
	if (fork() > 0)
		_exit(3);
	umask(027);
	CHECK(getsid(0) != getpid());
	CHECK(close(0) == 0 && open("/dev/null", O_RDWR) == 0);
	int file = open("pid", O_CREAT | O_EXCL | O_WRONLY, 0666);
	CHECK(file > 0 && dprintf(file, "%d\n", getpid()) > 1 && close(file) == 0);
	CHECK(write(said[1], "", 1) == 1 && close(said[1]) == 0);
	int in = open("in", O_RDONLY), out = open("out", O_WRONLY);
	CHECK(in >= 0 && out >= 0 && chdir("/") == 0 && getcwd(text, sizeof(text)));
	int ret = answer(in, out);
	/* the one who waits for the end of "out" learns it from this */
	_exit(ret);
}

int main(void)
{
	char dir[] = "/tmp/lizard-daemon-XXXXXX", got[16] = "";
	struct stat st;
	int said[2], pid = 0;

	CHECK(mkdtemp(dir) && chdir(dir) == 0 && pipe(said) == 0);
	CHECK(mkfifo("in", 0600) == 0 && mkfifo("out", 0600) == 0);
	ends_with(child(daemonize, said), 3);
	CHECK(read(said[0], got, 1) == 1);
	FILE *f = fopen("pid", "r");
	CHECK(f && fscanf(f, "%d", &pid) == 1 && fclose(f) == 0);
	CHECK(stat("pid", &st) == 0 && (st.st_mode & 0777) == 0640);
	CHECK(kill(pid, 0) == 0 && kill(pid, SIGHUP) == 0 && waitpid(pid, NULL, 0) == -1 && errno == ECHILD);
	int to = open("in", O_WRONLY), from = open("out", O_RDONLY);
	CHECK(write(to, "Hello", 5) == 5 && read(from, got, sizeof(got)) == 5 && !memcmp(got, "hELLO", 5));
	CHECK(close(to) == 0 && read(from, got, sizeof(got)) == 0);
	CHECK(unlink("in") == 0 && unlink("out") == 0 && unlink("pid") == 0 && rmdir(dir) == 0);
	DONE();
}
