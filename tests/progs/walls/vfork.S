# The same with a command of a shell, in a child.
	mov $58, %eax
	syscall
	test %eax, %eax
	jz child
	int3
child:	mov $157, %eax		# prctl(PR_SET_TSC, PR_TSC_ENABLE): the loader reads the clock
	mov $26, %edi
	mov $1, %esi
	syscall
	mov $59, %eax
	lea shell(%rip), %rdi
	lea args(%rip), %rsi
	xor %edx, %edx
	syscall
	int3
shell:	.asciz "/bin/sh"
option:	.asciz "-c"
command: .asciz "echo a command ran >owned"
	.balign 8
args:	.quad shell, option, command, 0
