/* SPDX-License-Identifier: MIT
 * The plugin links none of BIND's libraries: their names change with each security update, and
 * named has already loaded them. The file name of libns contains the version, as in
 * libns-9.18.49-1~deb12u3-Debian.so. This file compares that version with the version of the
 * headers. */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include "bind.h"

bool version_fits(void)
{
	static const char built[] = WEIR_BIND_VERSION; /* such as 9.18.49; "": unknown */
	Dl_info info;
	if (!built[0] || !dladdr((void *)(uintptr_t)ns_query_done, &info) || !info.dli_fname)
		return true;
	const char *file = strrchr(info.dli_fname, '/');
	const char *runs = strstr(file ? file : info.dli_fname, "libns-");
	if (!runs)
		return true; /* a BIND built from source: its file is named libns.so and a number */
	runs += strlen("libns-");
	size_t all = strspn(runs, "0123456789."), branch = (size_t)(strrchr(built, '.') - built);
	if (strncmp(runs, built, branch + 1) != 0) {
		LOG(ISC_LOG_ERROR, "built for BIND %s, and this is %.*s: build it again", built,
		    (int)all, runs);
		return false;
	}
	if (strlen(built) != all || strncmp(runs, built, all) != 0)
		LOG(ISC_LOG_WARNING, "built for BIND %s, and this is %.*s: build it again soon",
		    built, (int)all, runs);
	return true;
}
