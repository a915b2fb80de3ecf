/* makecontext and swapcontext: two coroutines and main take turns
 * watch: left; log_text
 */
#include <string.h>
#include <ucontext.h>
#include "check.h"

static ucontext_t main_context, co[2];
static char stacks[2][65536], log_text[64];
static int left = 2;

static void note(char c)
{
	log_text[strlen(log_text)] = c;
}

static void body(int me)
{
	for (int i = 0; i < 4; i++) {
		note((char)(me ? 'A' + i : 'a' + i));
		if (i % 2)
			swapcontext(&co[me], &co[!me]);
		else
			swapcontext(&co[me], &main_context);
	}
	left--;
	swapcontext(&co[me], &main_context);
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&co[i]);
		co[i].uc_stack.ss_sp = stacks[i];
		co[i].uc_stack.ss_size = sizeof(stacks[i]);
		co[i].uc_link = &main_context;
		makecontext(&co[i], (void (*)(void))body, 1, i);
	}
	for (int turn = 0; turn < 20 && left; turn++) {
		note('.');
		swapcontext(&main_context, &co[turn % 2]);
	}
	printf("%s left %d\n", log_text, left);
	CHECK(strchr(log_text, 'd') && strchr(log_text, 'D') && left == 0);
	DONE("coroutine");
}
