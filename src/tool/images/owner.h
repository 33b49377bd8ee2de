/* SPDX-License-Identifier: MIT
 * Who may read an image before and after it is replaced. */
#ifndef WEIR_TOOL_OWNER_H
#define WEIR_TOOL_OWNER_H

#include <stdbool.h>
#include <sys/stat.h>

struct owner {
	bool there;
	struct stat st;
};

struct owner owner_of(const char *path);

/* A job as root that takes a file away from its server must not go unnoticed: where user, group or
 * permissions of a replaced file are others now, a message says so. @mode_given: not of those. */
void owner_report(const struct owner *before, const char *path, bool mode_given);

#endif
