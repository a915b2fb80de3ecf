/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Semaphores, message queues, keys. */
#include "calls.h"

#include <linux/keyctl.h>
#include <mqueue.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <time.h>

static int semaphores(int n)
{
	int id = semget(IPC_PRIVATE, n, IPC_CREAT | 0600);

	SEE(id >= 0);
	return id;
}

RECIPE(semget)
{
	int id = OK(semget, IPC_PRIVATE, 3, IPC_CREAT | 0600);

	SEE(semctl(id, 0, IPC_RMID) == 0);
}

RECIPE(semop)
{
	int id = semaphores(2);

	SEE(OK(semop, id, ((struct sembuf[2]){{0, 5, 0}, {1, 2, 0}}), 2) == 0);
	SEE(semctl(id, 0, GETVAL) == 5 && semctl(id, 1, GETVAL) == 2);
	semctl(id, 0, IPC_RMID);
}

RECIPE(semtimedop)
{
	int id = semaphores(1);
	struct timespec soon = {0, 1000};

	SEE(OK(semtimedop, id, &((struct sembuf){0, 5, 0}), 1, NULL) == 0);
	FAILS(EAGAIN, semtimedop, id, &((struct sembuf){0, -6, 0}), 1, &soon);
	semctl(id, 0, IPC_RMID);
}

RECIPE(semctl)
{
	int id = semaphores(3);
	struct semid_ds *d = out(sizeof(*d));
	unsigned short all[3] = {4, 5, 6}, *got = out(16);

	SEE(OK(semctl, id, 0, SETALL, all) == 0);
	SEE(OK(semctl, id, 0, GETALL, got) == 0 && !memcmp(got, all, 6) && got[3] == 0xa5a5);
	SEE(OK(semctl, id, 1, GETVAL) == 5);
	SEE(OK(semctl, id, 0, IPC_STAT, d) == 0 && d->sem_nsems == 3);
	SEE(OK(semctl, 0, 0, IPC_INFO, out(40)) >= 0);
	SEE(OK(semctl, 0, 0, SEM_INFO, out(40)) >= 0);
	SEE(OK(semctl, id, 0, IPC_RMID) == 0);
}

struct message {
	long type;
	char text[32];
};

static int queue(void)
{
	int id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);

	SEE(id >= 0);
	return id;
}

RECIPE(msgget)
{
	int id = OK(msgget, IPC_PRIVATE, IPC_CREAT | 0600);

	SEE(msgctl(id, IPC_RMID, NULL) == 0);
}

RECIPE(msgsnd)
{
	int id = queue();
	struct msqid_ds d;

	SEE(OK(msgsnd, id, &((struct message){3, "text"}), 5, 0) == 0);
	SEE(msgctl(id, IPC_STAT, &d) == 0 && d.msg_qnum == 1);
	msgctl(id, IPC_RMID, NULL);
}

RECIPE(msgrcv)
{
	int id = queue();
	struct message *m = out(sizeof(*m));

	SEE(msgsnd(id, &(struct message){3, "text"}, 5, 0) == 0);
	SEE(OK(msgrcv, id, m, 32, 0, 0) == 5);
	SEE(m->type == 3 && !memcmp(m->text, "text\0\xa5", 6));
	FAILS(ENOMSG, msgrcv, id, m, 32, 0, IPC_NOWAIT);
	msgctl(id, IPC_RMID, NULL);
}

RECIPE(msgctl)
{
	int id = queue();
	struct msqid_ds *d = out(sizeof(*d));

	SEE(OK(msgctl, id, IPC_STAT, d) == 0 && d->msg_qbytes > 0);
	SEE(OK(msgctl, 0, IPC_INFO, out(32)) >= 0);
	SEE(OK(msgctl, 0, MSG_INFO, out(32)) >= 0);
	SEE(OK(msgctl, id, IPC_RMID, NULL) == 0);
}

/* ---- POSIX message queues ---- */

static char mq_name[64];

static int mqueue(void)
{
	struct mq_attr a = {.mq_maxmsg = 4, .mq_msgsize = 64};

	snprintf(mq_name, sizeof(mq_name), "lizard-calls-%d", getpid());
	int q = (int)syscall(SYS_mq_open, mq_name, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &a);
	if (q < 0)
		skip("no POSIX message queues");
	return q;
}

static void end_mqueue(void)
{
	syscall(SYS_mq_unlink, mq_name);
}

RECIPE(mq_open)
{
	mqueue();
	SEE(OK(mq_open, mq_name, O_RDWR, 0, NULL) >= 0);
	end_mqueue();
}

RECIPE(mq_unlink)
{
	mqueue();
	SEE(OK(mq_unlink, mq_name) == 0);
	FAILS(ENOENT, mq_unlink, mq_name);
}

RECIPE(mq_timedsend)
{
	int q = mqueue();
	char b[64];

	SEE(OK(mq_timedsend, q, "text", 4, 9, NULL) == 0);
	SEE(syscall(SYS_mq_timedreceive, q, b, 64, NULL, NULL) == 4);
	end_mqueue();
}

RECIPE(mq_timedreceive)
{
	int q = mqueue();
	unsigned *priority = out(4);
	char *b = out(64);

	SEE(syscall(SYS_mq_timedsend, q, "text", 4, 9, NULL) == 0);
	SEE(OK(mq_timedreceive, q, b, 64, priority, NULL) == 4);
	SEE(!memcmp(b, "text\xa5", 5) && *priority == 9);
	end_mqueue();
}

RECIPE(mq_notify)
{
	int q = mqueue();

	SEE(OK(mq_notify, q, &((struct sigevent){.sigev_notify = SIGEV_NONE})) == 0);
	FAILS(EBUSY, mq_notify, q, &((struct sigevent){.sigev_notify = SIGEV_NONE}));
	end_mqueue();
}

RECIPE(mq_getsetattr)
{
	struct mq_attr *a = out(64);

	SEE(OK(mq_getsetattr, mqueue(), NULL, a) == 0 && a->mq_msgsize == 64);
	end_mqueue();
}

/* ---- keys ---- */

static long key(void)
{
	long k =
	    syscall(SYS_add_key, "user", "lizard-calls", "secret", 6, KEY_SPEC_PROCESS_KEYRING);

	if (k < 0)
		skip("no keys for this user");
	return k;
}

RECIPE(add_key)
{
	long k = SYS(add_key, "user", "lizard-calls", "secret", 6, KEY_SPEC_PROCESS_KEYRING);
	char b[8] = {0};

	if (k == -EPERM || k == -EACCES)
		skip("no keys for this user");
	SEE(k > 0 && syscall(SYS_keyctl, KEYCTL_READ, k, b, 8) == 6 && !strcmp(b, "secret"));
}

RECIPE(request_key)
{
	long k = key();

	SEE(OK(request_key, "user", "lizard-calls", NULL, 0) == k);
}

RECIPE(keyctl)
{
	long k = key();
	char *b = out(64), *text = out(200);

	SEE(OK(keyctl, KEYCTL_READ, k, b, 64) == 6 && !memcmp(b, "secret\xa5", 7));
	SEE(OK(keyctl, KEYCTL_DESCRIBE, k, text, 200) > 0 && !memcmp(text, "user;", 5));
	SEE(OK(keyctl, KEYCTL_UPDATE, k, "new", 3) == 0);
	SYS(keyctl, KEYCTL_CAPABILITIES, out(16), 16);
	SYS(keyctl, KEYCTL_GET_SECURITY, k, out(64), 64);
}
