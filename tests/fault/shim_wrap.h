/* SPDX-License-Identifier: MIT
 * Macros for the files of wrapped calls. */
#ifndef WEIR_TESTS_FAULT_SHIM_WRAP_H
#define WEIR_TESTS_FAULT_SHIM_WRAP_H

#include "shim.h"

static inline bool strikes(const char *what)
{
	return shim_strikes(&(struct shim_call){ .what = what, .fd = -1 });
}

/* __wrap_NAME: fail with @failed on its turn, else call through. */
#define WRAP(type, name, failed, parameters, arguments) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return strikes(#name) ? (failed) : __real_##name arguments; \
	}

/* A failure of these calls does not matter, so the shim can only kill the process there. */
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
