/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that neither call back nor enter the kernel: calls to them leave
 * r15 alone and need no store and load. Whoever defines a function with such a
 * name gets it uninstrumented, since its callers don't prepare for it. */
#include "gcc.h"
#include "plugin.h"

static const char *const exempt_names[] = {
    /* string.h, strings.h */
    "memcpy", "mempcpy", "memmove", "memset", "memcmp", "bcmp", "bcopy", "bzero", "memchr",
    "memrchr", "rawmemchr", "memmem", "memccpy", "strlen", "strnlen", "strcpy", "stpcpy", "strncpy",
    "stpncpy", "strcat", "strncat", "strcmp", "strncmp", "strcasecmp", "strncasecmp", "strchr",
    "strrchr", "strchrnul", "index", "rindex", "strspn", "strcspn", "strpbrk", "strstr",
    "strcasestr", "strsep", "ffs", "ffsl", "ffsll",
    /* ctype.h, errno.h, stdlib.h */
    "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc", "tolower", "toupper", "isalpha",
    "isdigit", "isalnum", "isspace", "isupper", "islower", "isxdigit", "ispunct", "isprint",
    "iscntrl", "isgraph", "__errno_location", "abs", "labs", "llabs",
    /* math.h, single and double */
    "sqrt", "sqrtf", "sin", "sinf", "cos", "cosf", "tan", "tanf", "asin", "asinf", "acos", "acosf",
    "atan", "atanf", "atan2", "atan2f", "sinh", "cosh", "tanh", "exp", "expf", "exp2", "exp2f",
    "log", "logf", "log2", "log2f", "log10", "log10f", "log1p", "expm1", "pow", "powf", "fmod",
    "fmodf", "floor", "floorf", "ceil", "ceilf", "trunc", "truncf", "round", "roundf", "rint",
    "rintf", "nearbyint", "lround", "llround", "lrint", "llrint", "fabs", "fabsf", "fmin", "fmax",
    "fminf", "fmaxf", "hypot", "hypotf", "cbrt", "frexp", "ldexp", "modf", "scalbn", "copysign",
    "sincos", "sincosf",
    /* libgcc's helpers, which GCC calls without a statement */
    "__divti3", "__modti3", "__udivti3", "__umodti3", "__multi3", "__mulxc3", "__muldc3",
    "__mulsc3", "__divdc3", "__divsc3", "__divxc3", "__powidf2", "__powisf2", "__popcountdi2",
    "__tls_get_addr"};

static hash_set<nofree_string_hash> *names;

bool lz_name_is_exempt(const char *name)
{
	if (!names) {
		names = new hash_set<nofree_string_hash>;
		for (const char *n : exempt_names)
			names->add(n);
	}
	return names->contains(name);
}
