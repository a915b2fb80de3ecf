/* System V and POSIX semaphores and queues between processes: waiting on both sides, an undo at a child's end, types and
 * priorities, a limit of time, a notification. */
#include "check.h"
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <time.h>

union semun {
	int val;
	unsigned short *array;
};

static int sems, msgs;
static sem_t *named;
static char name[64];
static volatile sig_atomic_t notified;

static void op(int num, int by, int flags)
{
	struct sembuf b = {(unsigned short)num, (short)by, (short)flags};

	while (semop(sems, &b, 1) < 0)
		CHECK(errno == EINTR);
}

static int sem_child(void *arg)
{
	for (int i = 0; i < 20; i++) {
		op(0, -1, 0);
		work(100);
		op(1, 1, 0);
	}
	op(2, -3, SEM_UNDO); /* given back at its end */
	return 91;
}

static void sysv_semaphores(void)
{
	unsigned short v[3] = {0, 0, 5};
	struct timespec ms = {0, 1000000};
	struct sembuf more = {2, -6, 0};

	CHECK((sems = semget(IPC_PRIVATE, 3, IPC_CREAT | 0600)) >= 0);
	CHECK(semctl(sems, 0, SETALL, (union semun){.array = v}) == 0);
	pid_t pid = child(sem_child, NULL);
	for (int i = 0; i < 20; i++) {
		op(0, 1, 0);
		op(1, -1, 0);
	}
	ends_with(pid, 91);
	CHECK(semctl(sems, 2, GETVAL) == 5 && semctl(sems, 2, GETPID) == pid);
	CHECK(semtimedop(sems, &more, 1, &ms) == -1 && errno == EAGAIN);
	CHECK(semctl(sems, 0, GETALL, (union semun){.array = v}) == 0 && v[0] == 0 && v[2] == 5);
	CHECK(semctl(sems, 0, IPC_RMID) == 0);
}

struct message {
	long type;
	char text[16];
};

static int msg_child(void *arg)
{
	struct message m;

	for (int i = 0; i < 10; i++) {
		CHECK(msgrcv(msgs, &m, sizeof(m.text), 1, 0) == 5 && !memcmp(m.text, "work", 5));
		m = (struct message){2 + i % 2, "done"};
		CHECK(msgsnd(msgs, &m, 5, 0) == 0);
	}
	return 92;
}

static void sysv_queue(void)
{
	struct message m = {1, "work"};
	struct msqid_ds ds;

	CHECK((msgs = msgget(IPC_PRIVATE, IPC_CREAT | 0600)) >= 0);
	pid_t pid = child(msg_child, NULL);
	for (int i = 0; i < 10; i++)
		CHECK(msgsnd(msgs, &m, 5, 0) == 0);
	for (int i = 0; i < 5; i++)
		CHECK(msgrcv(msgs, &m, sizeof(m.text), 3, 0) == 5 && m.type == 3);
	for (int i = 0; i < 5; i++)
		CHECK(msgrcv(msgs, &m, sizeof(m.text), -9, 0) == 5 && m.type == 2);
	CHECK(msgrcv(msgs, &m, sizeof(m.text), 0, IPC_NOWAIT) == -1 && errno == ENOMSG);
	CHECK(msgctl(msgs, IPC_STAT, &ds) == 0 && ds.msg_lspid == pid && ds.msg_qnum == 0);
	ends_with(pid, 92);
	CHECK(msgctl(msgs, IPC_RMID, NULL) == 0);
}

static int posix_sem_child(void *arg)
{
	sem_t *mine = sem_open(name, 0);

	CHECK(mine != SEM_FAILED);
	usleep(10000);
	sem_post(mine);
	return 93;
}

static void posix_semaphore(void)
{
	struct timespec soon;
	int value;

	snprintf(name, sizeof(name), "/lizard-ipc-%d", getpid());
	CHECK((named = sem_open(name, O_CREAT | O_EXCL, 0600, 0)) != SEM_FAILED);
	pid_t pid = child(posix_sem_child, NULL);
	while (sem_wait(named) < 0)
		CHECK(errno == EINTR);
	ends_with(pid, 93);
	CHECK(sem_getvalue(named, &value) == 0 && value == 0);
	clock_gettime(CLOCK_REALTIME, &soon);
	CHECK(sem_timedwait(named, &soon) == -1 && errno == ETIMEDOUT);
	CHECK(sem_close(named) == 0 && sem_unlink(name) == 0);
}

static void on_usr1(int sig)
{
	notified++;
}

static int mq_child(void *arg)
{
	mqd_t q = mq_open(name, O_WRONLY);

	for (unsigned i = 0; i < 8; i++)
		CHECK(mq_send(q, "12345678", i + 1, i % 3) == 0); /* waits: there is room for two */
	return mq_close(q) == 0 ? 94 : 1;
}

static void posix_queue(void)
{
	struct mq_attr attr = {.mq_maxmsg = 2, .mq_msgsize = 32};
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	unsigned prio, sum = 0;
	char b[32];
	mqd_t q = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attr);

	if (q == (mqd_t)-1 && (errno == ENOSYS || errno == EACCES))
		return; /* not on this kernel */
	signal(SIGUSR1, on_usr1);
	CHECK(q != (mqd_t)-1 && mq_notify(q, &ev) == 0);
	pid_t pid = child(mq_child, NULL);
	while (!notified)
		usleep(1000);
	for (int i = 0; i < 8; i++)
		sum += (unsigned)mq_receive(q, b, sizeof(b), &prio);
	CHECK(sum == 36 && mq_getattr(q, &attr) == 0 && attr.mq_curmsgs == 0);
	ends_with(pid, 94);
	CHECK(mq_close(q) == 0 && mq_unlink(name) == 0);
}

int main(void)
{
	sysv_semaphores();
	sysv_queue();
	posix_semaphore();
	posix_queue();
	DONE();
}
