/* Memory that calls other than write() and its kin take. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <signal.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/syscall.h>

char path[32] = "/dev/null", behind = 3;
struct pollfd polled[2] = {{-1, 1, 0}, {-1, 1, 0}};
struct timespec slept = {0, 1};
struct iovec vectors[2];
char first[8] = "first", second[8] = "second";
struct sockaddr_un peer = {AF_UNIX, "/nowhere"};
sigset_t blocked;
unsigned word = 7;
char part[8] = "partly", other[8] = "other";

int main(void)
{
	int fd = open(path, O_RDWR), s = socket(AF_UNIX, SOCK_STREAM, 0);

	poll(polled, 2, 0);
	nanosleep(&slept, 0);
	vectors[0] = (struct iovec){first, 5};
	vectors[1] = (struct iovec){second, 6};
	writev(fd, vectors, 2);
	connect(s, (void *)&peer, sizeof peer);
	sigprocmask(SIG_BLOCK, &blocked, 0);
	syscall(SYS_futex, &word, FUTEX_WAIT, 8, 0, 0, 0);
	write(fd, part, 3);
	return 0;
}
