/* SPDX-License-Identifier: MIT
 * Notices of one name in one folder, from inotify: a file was renamed to it, written there and
 * closed, or removed. Everything may go wrong with it, and then there are no notices: whoever
 * waits for one waits for a time as well. */
#ifndef WEIR_SRC_NOTICE_H
#define WEIR_SRC_NOTICE_H

#include <stdbool.h>

struct weir_notice {
	int fd;           /* -1: none could be had yet */
	int watch;        /* of the folder; -1: none */
	const char *folder;
	const char *name; /* in the folder */
};

/* @folder and @name stay the caller's. Nothing is opened before the first weir__notice_renew(). */
struct weir_notice weir__notice(const char *folder, const char *name);
/* Watch what the folder's path names now: a watch stays with its folder when that is renamed or
 * removed. */
void weir__notice_renew(struct weir_notice *n);
/* Read what has come; never waits. Return: whether it concerns the name, or cannot be told. */
bool weir__notice_read(struct weir_notice *n);
void weir__notice_close(struct weir_notice *n);

#endif
