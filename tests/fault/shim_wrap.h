/* SPDX-License-Identifier: MIT
 * Macros that define wrapped calls. */
#ifndef WEIR_TESTS_FAULT_SHIM_WRAP_H
#define WEIR_TESTS_FAULT_SHIM_WRAP_H

#include "shim.h"

static inline bool strikes(const char *what)
{
	return shim_strikes(&(struct shim_call){ .what = what, .fd = -1 });
}

/* Define __wrap_NAME. The function returns @failed if shim_strikes() tells the call to fail.
 * Otherwise it calls the C library. */
#define WRAP(type, name, failed, parameters, arguments) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return strikes(#name) ? (failed) : __real_##name arguments; \
	}

/* Define __wrap_NAME for a call whose failure does not matter. The shim never lets such a call
 * fail, but it can kill the process before the call. */
#define WRAP_KILL(type, name, parameters, arguments) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		if (shim.die) \
			(void)strikes(#name); \
		return __real_##name arguments; \
	}

#endif
