/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replayer/strace/names.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static const struct lz_name families[] = {LZ_N(AF_UNSPEC), LZ_N(AF_UNIX),    LZ_N(AF_INET),
                                          LZ_N(AF_INET6),  LZ_N(AF_NETLINK), LZ_N(AF_PACKET),
                                          LZ_N(AF_VSOCK),  LZ_N(AF_ALG)};
static const struct lz_name types[] = {LZ_N(SOCK_STREAM),  LZ_N(SOCK_DGRAM),     LZ_N(SOCK_RAW),
                                       LZ_N(SOCK_RDM),     LZ_N(SOCK_SEQPACKET), LZ_N(SOCK_PACKET),
                                       LZ_N(SOCK_CLOEXEC), LZ_N(SOCK_NONBLOCK)};
static const struct lz_name accept_flags[] = {LZ_N(SOCK_CLOEXEC), LZ_N(SOCK_NONBLOCK)};
static const struct lz_name protocols[] = {
    LZ_N(IPPROTO_IP),   LZ_N(IPPROTO_ICMP),   LZ_N(IPPROTO_TCP), LZ_N(IPPROTO_UDP),
    LZ_N(IPPROTO_IPV6), LZ_N(IPPROTO_ICMPV6), LZ_N(IPPROTO_RAW)};
static const struct lz_name message_flags[] = {
    LZ_N(MSG_OOB),        LZ_N(MSG_PEEK),        LZ_N(MSG_DONTROUTE), LZ_N(MSG_CTRUNC),
    LZ_N(MSG_PROXY),      LZ_N(MSG_TRUNC),       LZ_N(MSG_DONTWAIT),  LZ_N(MSG_EOR),
    LZ_N(MSG_WAITALL),    LZ_N(MSG_FIN),         LZ_N(MSG_SYN),       LZ_N(MSG_CONFIRM),
    LZ_N(MSG_RST),        LZ_N(MSG_ERRQUEUE),    LZ_N(MSG_NOSIGNAL),  LZ_N(MSG_MORE),
    LZ_N(MSG_WAITFORONE), LZ_N(MSG_CMSG_CLOEXEC)};
static const struct lz_name shutdown_how[] = {LZ_N(SHUT_RD), LZ_N(SHUT_WR), LZ_N(SHUT_RDWR)};
static const struct lz_name levels[] = {LZ_N(SOL_SOCKET),         LZ_N(SOL_IP),   LZ_N(SOL_TCP),
                                        {IPPROTO_UDP, "SOL_UDP"}, LZ_N(SOL_IPV6), LZ_N(SOL_PACKET)};
static const struct lz_name socket_options[] = {
    LZ_N(SO_DEBUG),        LZ_N(SO_REUSEADDR),   LZ_N(SO_TYPE),           LZ_N(SO_ERROR),
    LZ_N(SO_DONTROUTE),    LZ_N(SO_BROADCAST),   LZ_N(SO_SNDBUF),         LZ_N(SO_RCVBUF),
    LZ_N(SO_KEEPALIVE),    LZ_N(SO_OOBINLINE),   LZ_N(SO_NO_CHECK),       LZ_N(SO_PRIORITY),
    LZ_N(SO_LINGER),       LZ_N(SO_REUSEPORT),   LZ_N(SO_PASSCRED),       LZ_N(SO_PEERCRED),
    LZ_N(SO_RCVLOWAT),     LZ_N(SO_SNDLOWAT),    {20, "SO_RCVTIMEO_OLD"}, {21, "SO_SNDTIMEO_OLD"},
    LZ_N(SO_BINDTODEVICE), LZ_N(SO_PEERNAME),    LZ_N(SO_ACCEPTCONN),     LZ_N(SO_PEERSEC),
    LZ_N(SO_SNDBUFFORCE),  LZ_N(SO_RCVBUFFORCE), LZ_N(SO_MARK),           LZ_N(SO_PROTOCOL),
    LZ_N(SO_DOMAIN)};
static const struct lz_name tcp_options[] = {
    LZ_N(TCP_NODELAY),      LZ_N(TCP_MAXSEG),       LZ_N(TCP_CORK),    LZ_N(TCP_KEEPIDLE),
    LZ_N(TCP_KEEPINTVL),    LZ_N(TCP_KEEPCNT),      LZ_N(TCP_SYNCNT),  LZ_N(TCP_LINGER2),
    LZ_N(TCP_DEFER_ACCEPT), LZ_N(TCP_WINDOW_CLAMP), LZ_N(TCP_INFO),    LZ_N(TCP_QUICKACK),
    LZ_N(TCP_CONGESTION),   LZ_N(TCP_USER_TIMEOUT), LZ_N(TCP_FASTOPEN)};
static const struct lz_name ip_options[] = {LZ_N(IP_TOS), LZ_N(IP_TTL), LZ_N(IP_RECVERR),
                                            LZ_N(IP_PKTINFO), LZ_N(IP_MTU_DISCOVER)};
static const struct lz_name ipv6_options[] = {LZ_N(IPV6_V6ONLY), LZ_N(IPV6_RECVERR),
                                              LZ_N(IPV6_RECVPKTINFO)};

const struct lz_names lz_names_net[] = {
    LZ_NAMES("family", families, 0),     LZ_NAMES("socket_type", types, 15),
    LZ_NAMES("accept", accept_flags, 0), LZ_NAMES("protocol", protocols, 0),
    LZ_NAMES("msg", message_flags, 0),   LZ_NAMES("shutdown", shutdown_how, 0),
    LZ_NAMES("sol", levels, 0),          LZ_NAMES("so", socket_options, 0),
    LZ_NAMES("tcp", tcp_options, 0),     LZ_NAMES("ip", ip_options, 0),
    LZ_NAMES("ipv6", ipv6_options, 0),   {0}};
