/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/show.h"

#include <common/base/print.h>
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* ---- addresses ---- */

static void show_unix(struct lz_show *s, const struct sockaddr_un *a, size_t len)
{
	const size_t n = len - offsetof(struct sockaddr_un, sun_path);
	const bool abstract = n && !a->sun_path[0];

	if (len <= offsetof(struct sockaddr_un, sun_path))
		return;
	fputs(abstract ? ", sun_path=@" : ", sun_path=", s->to);
	const char *path = a->sun_path + abstract;
	const size_t shown = abstract ? n - 1 : strnlen(path, n);
	lz_show_quoted(s, (const uint8_t *)path, shown, shown, false);
}

static void show_inet(struct lz_show *s, const struct sockaddr_in *a)
{
	char text[INET_ADDRSTRLEN] = "";

	inet_ntop(AF_INET, &a->sin_addr, text, sizeof(text));
	lz_print(s->to, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")", ntohs(a->sin_port),
	         text);
}

static void show_inet6(struct lz_show *s, const struct sockaddr_in6 *a)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(AF_INET6, &a->sin6_addr, text, sizeof(text));
	fprintf(s->to, ", sin6_port=htons(%u), sin6_flowinfo=htonl(%u), ", ntohs(a->sin6_port),
	        ntohl(a->sin6_flowinfo));
	lz_print(s->to, "inet_pton(AF_INET6, \"%s\", &sin6_addr), sin6_scope_id=%u", text,
	         a->sin6_scope_id);
}

static void show_netlink(struct lz_show *s, const struct sockaddr_nl *a)
{
	fprintf(s->to, ", nl_pid=%u, nl_groups=%08x", a->nl_pid, a->nl_groups);
}

static void show_address_bytes(struct lz_show *s, const struct sockaddr_storage *a, size_t len)
{
	const void *at = a;

	fputs("{sa_family=", s->to);
	lz_show_name(s, "family", a->ss_family);
	if (a->ss_family == AF_UNIX)
		show_unix(s, at, len);
	else if (a->ss_family == AF_INET && len >= sizeof(struct sockaddr_in))
		show_inet(s, at);
	else if (a->ss_family == AF_INET6 && len >= sizeof(struct sockaddr_in6))
		show_inet6(s, at);
	else if (a->ss_family == AF_NETLINK && len >= sizeof(struct sockaddr_nl))
		show_netlink(s, at);
	else if (len > sizeof(a->ss_family)) {
		fputs(", sa_data=", s->to);
		lz_show_quoted(s, (const uint8_t *)at + 2, len - 2, len - 2, false);
	}
	fputc('}', s->to);
}

void lz_show_sockaddr(struct lz_show *s, uint64_t addr, uint64_t len)
{
	struct sockaddr_storage a = {0};

	if (len > sizeof(a))
		len = sizeof(a);
	if (!addr || len < sizeof(a.ss_family) || lz_show_bytes(s, addr, &a, len) < len)
		lz_show_address(s, addr);
	else
		show_address_bytes(s, &a, len);
}

/* Its length is behind the next argument. */
static void show_peer(struct lz_show *s, uint64_t v, unsigned i)
{
	uint32_t len;

	if (!v || lz_show_failed(s) || i + 1 >= LZ_STRACE_ARGS ||
	    lz_show_bytes(s, s->ev->args[i + 1], &len, sizeof(len)) < sizeof(len))
		lz_show_address(s, v);
	else
		lz_show_sockaddr(s, v, len);
}

/* Before the call, where that is known, and after it, where that differs. */
static void show_peer_length(struct lz_show *s, uint64_t v, unsigned i)
{
	uint32_t before = 0, after = 0;

	(void)i;
	const bool ended =
	    !lz_show_failed(s) && lz_show_bytes(s, v, &after, sizeof(after)) == sizeof(after);
	s->out = false;
	const bool begun = lz_show_bytes(s, v, &before, sizeof(before)) == sizeof(before);
	if (begun && ended && before != after)
		fprintf(s->to, "[%u => %u]", before, after);
	else if (begun || ended)
		fprintf(s->to, "[%u]", ended ? after : before);
	else
		lz_show_address(s, v);
}

/* ---- messages ---- */

static void show_message(struct lz_show *s, uint64_t v, unsigned i)
{
	struct msghdr m;
	const bool out = s->out;

	(void)i;
	s->out = false;
	if (!v || (out && lz_show_failed(s)) || lz_show_bytes(s, v, &m, sizeof(m)) < sizeof(m)) {
		lz_show_address(s, v);
		return;
	}
	s->out = out;
	if (out)
		lz_show_bytes(s, v, &m, sizeof(m));
	fputs("{msg_name=", s->to);
	lz_show_sockaddr(s, (uintptr_t)m.msg_name, m.msg_namelen);
	fprintf(s->to, ", msg_namelen=%u, msg_iov=", m.msg_namelen);
	lz_show_vectors(s, (uintptr_t)m.msg_iov, m.msg_iovlen,
	                out ? (uint64_t)s->ev->result : UINT64_MAX);
	fprintf(s->to, ", msg_iovlen=%zu", m.msg_iovlen);
	if (m.msg_controllen) {
		fputs(", msg_control=", s->to);
		lz_show_address(s, (uintptr_t)m.msg_control);
	}
	fprintf(s->to, ", msg_controllen=%zu, msg_flags=", m.msg_controllen);
	lz_show_flags(s, "msg", (uint32_t)m.msg_flags);
	fputc('}', s->to);
}

/* ---- options ---- */

/* Its names are those of IP. */
static void show_protocol(struct lz_show *s, uint64_t v, unsigned i)
{
	(void)i;
	if (s->ev->args[0] == AF_INET || s->ev->args[0] == AF_INET6)
		lz_show_name(s, "protocol", (uint32_t)v);
	else
		lz_show_int(s, (int)v);
}

static void show_option(struct lz_show *s, uint64_t v, unsigned i)
{
	static const struct {
		uint64_t level;
		const char *table;
	} own[] = {
	    {SOL_SOCKET, "so"}, {IPPROTO_TCP, "tcp"}, {IPPROTO_IP, "ip"}, {IPPROTO_IPV6, "ipv6"}};

	for (size_t k = 0; k < sizeof(own) / sizeof(*own); k++)
		if (own[k].level == s->ev->args[i - 1]) {
			lz_show_name(s, own[k].table, (uint32_t)v);
			return;
		}
	lz_show_hex(s, (uint32_t)v);
}

static void show_option_value(struct lz_show *s, uint64_t v, unsigned i)
{
	uint32_t len = (uint32_t)s->ev->args[i + 1];
	int value;

	if (s->out && lz_show_bytes(s, s->ev->args[i + 1], &len, sizeof(len)) < sizeof(len))
		len = 0;
	if (!v || (s->out && lz_show_failed(s)))
		lz_show_address(s, v);
	else if (len == sizeof(value) &&
	         lz_show_bytes(s, v, &value, sizeof(value)) == sizeof(value))
		fprintf(s->to, "[%d]", value);
	else
		lz_show_buffer(s, v, len, false);
}

const struct lz_form lz_forms_net[] = {{"peer", show_peer},
                                       {"peerlen", show_peer_length},
                                       {"msghdr", show_message},
                                       {"sockopt", show_option},
                                       {"protocol", show_protocol},
                                       {"optval", show_option_value},
                                       {0}};
