/* SPDX-License-Identifier: MIT
 * Notices of one name in one folder, from inotify: a file was renamed to it, written there and
 * closed, or removed. If anything goes wrong with inotify, no notice comes: a caller that waits for
 * one needs a time limit as well. */
#ifndef WEIR_SRC_NOTICE_H
#define WEIR_SRC_NOTICE_H

#include <stdbool.h>

struct weir_notice {
	int fd;           /* -1: not opened yet, or that failed */
	int watch;        /* of the folder; -1: none */
	const char *folder;
	const char *name; /* in the folder */
	const char *mark; /* not NULL: also each name that goes on with it */
};

/* The strings stay the caller's. Nothing is opened before the first weir__notice_renew(). */
struct weir_notice weir__notice(const char *folder, const char *name, const char *mark);
/* Watch the folder that the path names now. A watch stays with its folder when that is renamed or
 * removed, so this is called again before each wait. */
void weir__notice_renew(struct weir_notice *n);
/* Read the notices that have come; never waits. Return: whether one concerns the name, or may. */
bool weir__notice_read(struct weir_notice *n);
void weir__notice_close(struct weir_notice *n);

#endif
