/* SPDX-License-Identifier: MIT
 * Replacing a file at once: a reader always finds either the old file or the new one, whole, even
 * after a crash or on a full disk. tests/fault/test_power_cut.c replays what this file does, cut
 * off after every call. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include "ground/error.h"
#include "image/permissions.h"
#include "image/replace.h"

static int fail(const struct weir_replace *r, int error, const char *what)
{
	return weir__fail(-error, "%s: cannot %s: %s", r->path, what, weir_strerror(error));
}

int weir__replace_begin(struct weir_replace *r, const char *path, unsigned mode, bool named)
{
	r->path = path;
	r->mode = mode;
	r->only_images = false;
	int err = weir__target_find(&r->target, path);
	if (err)
		return err;
	err = weir__temporary_begin(&r->new, &r->target, path,
	                            weir__rights_at_first(&r->target, mode), named);
	if (err)
		weir__target_close(&r->target);
	return err;
}

/* Return: 0 or an errno. */
static int sync_retrying(int fd)
{
	while (fsync(fd))
		if (errno != EINTR)
			return errno;
	return 0;
}

static int switch_name(struct weir_replace *r)
{
	if (!r->new.named) {
		int error = weir__temporary_link_as(&r->new, r->target.base);
		if (error != EEXIST)
			return error ? WEIR_REPLACE_NAMED : 0;
		int err = weir__temporary_link(&r->new);
		if (err)
			return err < 0 ? err : WEIR_REPLACE_NAMED;
	}
	if (renameat(r->target.folder, r->new.name, r->target.folder, r->target.base))
		return fail(r, errno, "rename the new file over the old");
	r->new.named = false;
	return 0;
}

int weir__replace_publish(struct weir_replace *r)
{
	weir__target_look_again(&r->target);
	int error = weir__rights_settle(&r->target, r->mode, r->new.fd);
	if (error)
		return fail(r, error, "set the permissions");
	error = sync_retrying(r->new.fd);
	if (error)
		return fail(r, error, "sync the new file");
	int err = r->only_images ? weir__target_check_image(&r->target, r->path) : 0;
	if (!err)
		err = switch_name(r);
	if (err)
		return err;
	error = sync_retrying(r->target.folder);
	/* EINVAL: a file system whose folders need no sync. */
	return error && error != EINVAL ?
	       weir__fail(-error, "%s: the new file is in place, but its directory cannot be synced"
	                  ", "
	                  "so a power cut may bring the old one back: %s", r->path,
	                  weir_strerror(error)) : 0;
}

void weir__replace_end(struct weir_replace *r)
{
	weir__temporary_end(&r->new);
	weir__target_close(&r->target);
}
