/* SPDX-License-Identifier: MIT
 * Compares the rights of a file with those of the one that it replaced. */
#include "output/say.h"
#include "owner.h"

struct owner owner_of(const char *path)
{
	struct owner owner = { .there = false };
	owner.there = stat(path, &owner.st) == 0 && S_ISREG(owner.st.st_mode);
	return owner;
}

static unsigned permissions(const struct owner *owner)
{
	return (unsigned)(owner->st.st_mode & 0777);
}

void owner_report(const struct owner *before, const char *path, bool mode_given)
{
	struct owner now = owner_of(path);
	if (!before->there || !now.there)
		return;
	if (before->st.st_uid == now.st.st_uid && before->st.st_gid == now.st.st_gid &&
	    (mode_given || (permissions(before) & ~permissions(&now)) == 0))
		return;
	say("%s: was of user %u, group %u, mode %04o; is of user %u, group %u, mode %04o now: see "
	    "that its readers still may (--mode; a directory with the set-group-ID bit keeps the "
	    "group)",
	    path, (unsigned)before->st.st_uid, (unsigned)before->st.st_gid, permissions(before),
	    (unsigned)now.st.st_uid, (unsigned)now.st.st_gid, permissions(&now));
}
