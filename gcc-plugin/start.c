/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entry point of programs that bring their own _start and no C library: there
 * is nobody else to set up the thread-local storage that __lizard_pos needs. */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <lizard/marker.h>
#include "runtime.h"

enum { NR_ARCH_PRCTL = 158, SET_FS = 0x1002, GET_FS = 0x1003 };

/* Present if a C library is linked after all: it sets up its own storage. */
extern int __libc_start_main() __attribute__((weak));

static unsigned char storage[16384] __attribute__((aligned(64)));

static long arch_prctl(long code, void *arg)
{
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"((long)NR_ARCH_PRCTL), "D"(code), "S"(arg)
	                 : "rcx", "r11", "memory");
	return result;
}

/* The linker's symbol for the ELF header in memory. */
extern const Elf64_Ehdr __ehdr_start __attribute__((weak, visibility("hidden")));

static const Elf64_Phdr *find_segment(const Elf64_Phdr *phdr, size_t n, uint32_t type)
{
	for (size_t i = 0; i < n; i++)
		if (phdr[i].p_type == type)
			return &phdr[i];
	return NULL;
}

/* Lays the program's initial thread-local data below the thread pointer. */
static void *make_storage(void)
{
	const Elf64_Ehdr *ehdr = &__ehdr_start;
	const Elf64_Phdr *phdr = (const Elf64_Phdr *)((uintptr_t)ehdr + (ehdr ? ehdr->e_phoff : 0));
	size_t n = ehdr ? ehdr->e_phnum : 0;
	const Elf64_Phdr *load = find_segment(phdr, n, PT_LOAD),
	                 *tls = find_segment(phdr, n, PT_TLS);
	uintptr_t bias = load ? (uintptr_t)ehdr + load->p_offset - load->p_vaddr : 0;
	unsigned char *thread = storage + sizeof(storage) - 256;
	size_t size;

	if (!load || !tls)
		return NULL;
	size = (tls->p_memsz + tls->p_align - 1) & -tls->p_align;
	if (size > sizeof(storage) - 256 || tls->p_align > 64)
		return NULL;
	for (size_t i = 0; i < tls->p_filesz; i++)
		thread[i - size] = ((const unsigned char *)(bias + tls->p_vaddr))[i];
	*(void **)thread = thread;
	return thread;
}

void __lizard_prepare(void);

__attribute__((used)) void __lizard_prepare(void)
{
	uintptr_t present = 0;
	void *thread;

	arch_prctl(GET_FS, &present);
	if (present || __libc_start_main)
		return;
	thread = make_storage();
	if (!thread)
		return;
	arch_prctl(SET_FS, thread);
	__lizard_begin();
}

__asm__(".text\n"
        ".globl __lizard_start\n"
        ".type __lizard_start, @function\n"
        "__lizard_start:\n"
        "	pushq %rdx\n"
        "	pushq %rdx\n"
        "	call __lizard_prepare\n"
        "	popq %rdx\n"
        "	popq %rdx\n"
        "	jmp _start\n"
        ".size __lizard_start, .-__lizard_start\n");
