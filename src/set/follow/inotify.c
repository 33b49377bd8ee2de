/* SPDX-License-Identifier: MIT
 * Notices from inotify. */
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>
#include "set/follow/follow.h"

/* IN_CREATE is missing, since a file is of no use before its writer closes it. IN_DELETE tells of a
 * removed file at once, also when its folder is removed. IN_DELETE_SELF of a removed folder comes
 * only after the last mapping of a file in it is gone, perhaps never. */
#define WATCHED \
	(IN_MOVED_TO | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | \
	 IN_MOVE_SELF | IN_ONLYDIR)

struct weir_notice weir__notice(const char *folder, const char *name, const char *mark)
{
	return (struct weir_notice){ .fd = -1, .watch = -1, .folder = folder, .name = name,
		                     .mark = mark };
}

/* For a folder that has a watch, inotify_add_watch() returns the existing watch. A new watch means
 * that the path now names another folder. */
void weir__notice_renew(struct weir_notice *n)
{
	if (n->fd < 0)
		n->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (n->fd < 0)
		return;
	int watch = inotify_add_watch(n->fd, n->folder, WATCHED);
	if (n->watch >= 0 && n->watch != watch)
		(void)inotify_rm_watch(n->fd, n->watch);
	n->watch = watch;
}

static bool names(const struct weir_notice *n, const char *name)
{
	const size_t length = strlen(n->name);
	if (strncmp(name, n->name, length))
		return false;
	return !name[length] ||
	       (n->mark && strncmp(name + length, n->mark, strlen(n->mark)) == 0);
}

/* Return: true if the event may concern the name. An overflow of the queue may have lost an event
 * about the name. If the folder was removed or renamed, its path may now lead to another folder and
 * file. */
static bool concerns(const struct weir_notice *n, const struct inotify_event *event)
{
	if (event->mask & IN_Q_OVERFLOW)
		return true;
	if (event->wd != n->watch)
		return false;
	return event->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF) ||
	       (event->len && names(n, event->name));
}

bool weir__notice_read(struct weir_notice *n)
{
	_Alignas(struct inotify_event) char events[4096];
	bool any = false;
	ssize_t got;
	while ((got = read(n->fd, events, sizeof events)) > 0)
		for (ssize_t at = 0; at < got;) {
			const struct inotify_event *event = (const void *)(events + at);
			any |= concerns(n, event);
			at += (ssize_t)(sizeof *event + event->len);
		}
	return any;
}

void weir__notice_close(struct weir_notice *n)
{
	if (n->fd >= 0)
		close(n->fd);
}
