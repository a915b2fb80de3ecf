/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What LLDB asks about the machine, the process and its program before it begins, and the ways of
 * talking that it proposes. */
#include "replayer/rsp/inside.h"

#include <common/base/cleanup.h>
#include <common/base/print.h>
#include <lizard/error.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Linux gives no such number to a process. */
enum { NO_PROCESS = 1 << 22 };

/* LLDB looks for a process's program on this machine under its number, and must not find another
 * process's. */
static void choose_pid(struct lz_rsp *p)
{
	uint32_t pid = lz_front_pid(p->front);
	char path[32];

	snprintf(path, sizeof path, "/proc/%u", pid);
	p->pid = access(path, F_OK) == 0 ? NO_PROCESS + pid : pid;
}

uint32_t lz_rsp_pid(const struct lz_rsp *p)
{
	return p->pid ? p->pid : lz_front_pid(p->front);
}

static const char triple[] = "x86_64-pc-linux-gnu";

/* KEY:HEX; */
static void print_hex(FILE *to, const char *key, const char *text)
{
	lz_auto_free char *hex = lz_hex(text, strlen(text));

	if (hex)
		lz_print(to, "%s:%s;", key, hex);
}

/* A resume is waited for without end. Other answers may take a while: a move is counted first, or
 * a library is read. */
enum { TIMEOUT_SECONDS = 60 };

static void print_host(struct lz_rsp *p, FILE *to)
{
	(void)p;
	print_hex(to, "triple", triple);
	fprintf(to,
	        "ptrsize:8;endian:little;vm-page-size:4096;watchpoint_exceptions_received:after;"
	        "default_packet_timeout:%d;",
	        TIMEOUT_SECONDS);
}

static void print_process(struct lz_rsp *p, FILE *to)
{
	fprintf(to, "pid:%x;", lz_rsp_pid(p));
	print_hex(to, "triple", triple);
	fputs("ostype:linux;endian:little;ptrsize:8;", to);
}

static void print_process_and_program(struct lz_rsp *p, FILE *to)
{
	lz_auto_free char *program = lz_front_program_here(p->front);

	fprintf(to, "pid:%u;", lz_rsp_pid(p));
	print_hex(to, "triple", triple);
	if (program)
		print_hex(to, "name", program);
	else
		lz_warn("%s", lz_error());
}

static int process_with_pid(struct lz_rsp *p, const char *pid)
{
	if (strtoul(pid, NULL, 10) != lz_rsp_pid(p))
		return lz_rsp_error(p, "the recording has no such process");
	return lz_rsp_print(p, print_process_and_program);
}

static int loaders_list(struct lz_rsp *p)
{
	uint64_t at = lz_front_loaders_list(p->front);

	if (!at)
		return lz_rsp_error(p, "the program has no list of libraries");
	return lz_rsp_reply(p, "%lx", (unsigned long)at);
}

int lz_rsp_identity_query(struct lz_rsp *p, const char *q, size_t len)
{
	if (strcmp(q, "qHostInfo") == 0)
		return lz_rsp_print(p, print_host);
	if (strcmp(q, "qProcessInfo") == 0)
		return lz_rsp_print(p, print_process);
	if (strncmp(q, "qProcessInfoPID:", 16) == 0)
		return process_with_pid(p, q + 16);
	if (strcmp(q, "qShlibInfoAddr") == 0)
		return loaders_list(p);
	if (strcmp(q, "qGDBServerVersion") == 0)
		return lz_rsp_reply(p, "name:lizard;version:%s;", LIZARD_VERSION);
	if (strncmp(q, "qEcho:", 6) == 0)
		return lz_wire_send(p->wire, q, len);
	return lz_rsp_reply(p, "%s", "");
}

int lz_rsp_identity_set(struct lz_rsp *p, const char *q)
{
	if (strcmp(q, "QThreadSuffixSupported") == 0) {
		p->lldb = true;
		choose_pid(p);
	} else if (strcmp(q, "QEnableErrorStrings") == 0) {
		p->error_strings = true;
	} else if (strcmp(q, "QListThreadsInStopReply") != 0) {
		return lz_rsp_reply(p, "%s", "");
	}
	return lz_rsp_reply(p, "OK");
}
