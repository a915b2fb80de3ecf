/* Calls that are refused, each twice, and what the program is told; then the same of descriptors
 * that cannot take them, where the kernel answers. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/memfd.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void told(const char *what, long ret)
{
	printf("%s %s\n", what, ret < 0 ? strerrorname_np(errno) : "done");
}

#define TWICE(call) ((void)(call), told(#call, call))
#define ONCE(call) told(#call, call)

static void refused(void)
{
	struct ethtool_value command = {.cmd = 0xbad};
	struct ifreq request = {.ifr_name = "lo", .ifr_data = (char *)&command};
	int udp = socket(AF_INET, SOCK_DGRAM, 0), memory = memfd_create("", 0);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	TWICE(syscall(SYS_bpf, 0, 0, 0));
	TWICE(syscall(SYS_seccomp, 1, 1 << 3, page));
	TWICE(syscall(SYS_perf_event_open, 0, 0, 0, 0, 0));
	TWICE(syscall(SYS_userfaultfd, 0));
	TWICE(syscall(SYS_modify_ldt, 0, 0, 0));
	TWICE(syscall(SYS_ptrace, 0, 0, 0, 0));
	TWICE(syscall(SYS_io_uring_setup, 1, 0));
	TWICE(syscall(SYS_pkey_alloc, 0, 0));
	TWICE(personality(READ_IMPLIES_EXEC));
	TWICE(prctl(PR_SET_MM, PR_SET_MM_BRK, page, 0, 0));
	TWICE(syscall(SYS_arch_prctl, 0x1023, 17));
	TWICE(madvise(page, 4096, MADV_FREE));
	TWICE((long)mremap(page, 4096, 4096, MREMAP_MAYMOVE | 4));
	TWICE((long)mmap(0, 1 << 21, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0));
	TWICE(memfd_create("", MFD_HUGETLB));
	TWICE(shmget(IPC_PRIVATE, 1 << 21, SHM_HUGETLB | IPC_CREAT));
	TWICE(syscall(SYS_pkey_mprotect, page, 4096, 1, 0));
	TWICE(socket(44, SOCK_RAW, 0));
	TWICE(setsockopt(udp, SOL_PACKET, PACKET_RX_RING, page, 16));
	TWICE(ioctl(udp, SIOCETHTOOL, &request));
	TWICE(ioctl(memory, 0xdead, 0));
}

static void answered(void)
{
	int path = open("/", O_PATH), null = open("/dev/null", O_RDONLY), tsc = 0;
	struct ifreq request = {.ifr_name = "lo"};
	char page[16] = {0};

	ONCE(ioctl(-1, 0xdead, 0));
	ONCE(ioctl(path, 0xdead, 0));
	ONCE(ioctl(-1, SIOCETHTOOL, &request));
	ONCE(ioctl(null, SIOCETHTOOL, &request));
	ONCE(setsockopt(-1, SOL_PACKET, PACKET_RX_RING, page, 16));
	ONCE(setsockopt(null, SOL_PACKET, PACKET_RX_RING, page, 16));
	ONCE(prctl(PR_GET_TSC, &tsc));
	printf("the counter: %d\n", tsc);
	printf("cpuid: %ld\n", syscall(SYS_arch_prctl, ARCH_GET_CPUID));
}

int main(int argc, char **argv)
{
	argc > 1 ? refused() : answered();
	return 0;
}
