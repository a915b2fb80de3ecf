/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `lizard serve`: a recording served to a remote debugger, on a pipe or on a loopback port. */
#include "cmds/base/cmds.h"
#include "cmds/base/options.h"
#include "cmds/pack/pack.h"
#include "cmds/peer.h"
#include "replayer/rsp/rsp.h"

#include <common/base/thread.h>
#include <lizard/error.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct options {
	int port; /* -1: stdin and stdout */
	bool at_end, echo;
	const char *what;
};

static void usage(FILE *to)
{
	fputs("usage: lizard serve [options] PROG|RECORDING\n\n"
	      "Serves a recording to GDB's `target remote`, on stdin and stdout or on a port.\n\n"
	      "  -s, --port PORT  listen on this port, for connections from this machine only\n"
	      "                   (0: any free one); the port is printed on stderr\n"
	      "  -e, --end        begin at the end of the recording\n"
	      "      --echo       show what the program writes\n"
	      "  -h, --help       this text\n"
	      "      --version    the version\n",
	      to);
}

/* 0: go on; 1: done; -1: wrong. */
static int parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
	    {"port", required_argument, NULL, 's'}, {"end", no_argument, NULL, 'e'},
	    {"echo", no_argument, NULL, 'E'},       {"help", no_argument, NULL, 'h'},
	    {"version", no_argument, NULL, 'V'},    {0}};
	char *end;
	int c;

	o->port = -1;
	while ((c = lz_option(argc, argv, "+s:eh", longs)) != -1) {
		if (c == 's') {
			o->port = (int)strtol(optarg, &end, 10);
			if (*end || !*optarg || o->port < 0 || o->port > 65535)
				return lz_fail("'%s' is not a port", optarg);
		} else if (c == 'e') {
			o->at_end = true;
		} else if (c == 'E') {
			o->echo = true;
		} else if (c == 'h') {
			usage(stdout);
			return 1;
		} else if (c == 'V') {
			printf("lizard " LIZARD_VERSION "\n");
			return 1;
		} else {
			return lz_fail("see `lizard serve --help`");
		}
	}
	if (argc - optind != 1)
		return lz_fail("one recording is wanted; see `lizard serve --help`");
	o->what = argv[optind];
	return 0;
}

static int listen_on(int port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	socklen_t len = sizeof at;
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return lz_fail_errno("opening a socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &len) < 0) {
		lz_fail_errno("listening on port %d of this machine", port);
		close(fd);
		return -1;
	}
	fprintf(stderr, "lizard: listening on 127.0.0.1:%d; in GDB: target remote :%d\n",
	        ntohs(at.sin_port), ntohs(at.sin_port));
	return fd;
}

/* One debugger after another, until one kills instead of detaching. */
static int serve_port(struct lz_session *s, struct lz_rsp_options *r, int port)
{
	int listener = listen_on(port), rc = -1;
	bool again = true;

	if (listener < 0)
		return -1;
	r->disconnect = &again;
	while (again) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0 && errno == EINTR)
			continue;
		if (fd < 0) {
			rc = lz_fail_errno("accepting a connection");
			break;
		}
		if (!lz_peer_is_us(fd)) {
			lz_warn("a connection was refused: %s", lz_error());
			close(fd);
			continue;
		}
		r->in = r->out = fd;
		rc = lz_rsp_serve(s, r);
		close(fd);
		if (rc < 0)
			lz_warn("%s", lz_error());
	}
	r->disconnect = NULL;
	close(listener);
	return rc;
}

/* What is computed for somebody who is gone may not heed an interrupt. */
static _Atomic bool serving_pipe;

static void *watch_peer(void *arg)
{
	enum { GRACE_MS = 1000 };
	struct pollfd out = {.fd = STDOUT_FILENO};

	(void)arg;
	while (poll(&out, 1, -1) <= 0)
		;
	if (out.revents & (POLLERR | POLLHUP))
		poll(NULL, 0, GRACE_MS);
	if (out.revents & (POLLERR | POLLHUP) && serving_pipe)
		_exit(1);
	return NULL;
}

/* Whoever reads the answers may be killed. */
static int end_with_peer(void)
{
	pthread_t thread;

	serving_pipe = true;
	return lz_thread_start(&thread, "lizard-peer", watch_peer, NULL);
}

static int serve(const struct options *o, const char *dir)
{
	int echo[2] = {-1, -1};

	if (o->echo && pipe2(echo, O_CLOEXEC) < 0)
		return lz_fail_errno("making a pipe for the program's output");
	if (echo[0] >= 0)
		fcntl(echo[0], F_SETFL, O_NONBLOCK);
	struct lz_session_options so = {.echo_fd = echo[1]};
	struct lz_session *s = lz_session_open(dir, &so);
	struct lz_rsp_options r = {
	    .in = STDIN_FILENO, .out = STDOUT_FILENO, .echo = echo[0], .host_files = o->port < 0};

	if (!s)
		return -1;
	int rc = o->at_end ? lz_session_seek_end(s) : 0;

	if (rc == 0)
		rc = o->port < 0 ? lz_rsp_serve(s, &r) : serve_port(s, &r, o->port);
	serving_pipe = false;
	lz_session_close(s);
	return rc;
}

int lz_cmd_serve(int argc, char **argv)
{
	struct options o = {0};
	int rc = parse(argc, argv, &o), failed = rc < 0 ? 2 : 1;

	if (rc == 1)
		return 0;
	if (rc == 0) {
		char *dir = lz_find(o.what);

		/* Ctrl-C is the debugger's: it comes as a byte of the protocol. */
		if (o.port < 0) {
			setpgid(0, 0);
			signal(SIGINT, SIG_IGN);
			signal(SIGTTOU, SIG_IGN);
		}
		signal(SIGPIPE, SIG_IGN);
		rc = dir && (o.port >= 0 || end_with_peer() == 0) ? serve(&o, dir) : -1;
		free(dir);
	}
	if (rc < 0)
		lz_warn("%s", lz_error());
	return rc < 0 ? failed : 0;
}
