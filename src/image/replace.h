/* SPDX-License-Identifier: MIT
 * Replaces a file at once: the file to be replaced, its permissions, the temporary file that takes
 * its place, and the steps between them. */
#ifndef WEIR_SRC_IMAGE_REPLACE_H
#define WEIR_SRC_IMAGE_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* ---- the target of a save: a folder, which stays open, and a name in it ---- */

struct weir_target {
	int folder;              /* the only lookup by path: later calls are relative to it */
	bool private;            /* only this process's user and root can write to it */
	char base[NAME_MAX + 1]; /* the file's name in the folder */
	bool exists;             /* a regular file has the name and will be replaced */
	struct stat old;         /* that file */
	bool old_acl;            /* it has an access control list, or may have one */
	int held;                /* that file, opened by weir__target_hold(); -1: not opened */
	bool unlocked;           /* but not locked: it is read-only, or a reader has locked it */
	uint64_t commit;         /* its commit record, or WEIR_REPLACES_NOTHING */
};

/* Find the place of @path, which need not exist. After a failure nothing is open. */
int weir__target_find(struct weir_target *target, const char *path);
/* Look at the file again just before it is replaced, since its permissions may have changed. */
void weir__target_look_again(struct weir_target *target);
/* Is the file there, if any, empty or an image? Return: 0; -EEXIST it is neither; or the error of
 * reading it. */
int weir__target_check_image(const struct weir_target *target, const char *path);
void weir__target_close(const struct weir_target *target);
/* Is the file still the image with this commit record (with WEIR_REPLACES_NOTHING: missing or
 * empty), and has no process mapped it live? If so, no process can map it live until
 * weir__target_release(), unless the file cannot be locked (unlocked). Return: 0; -EAGAIN; or the
 * errno of open. */
int weir__target_hold(struct weir_target *target, uint64_t commit, const char *path);
/* The same check before the new file is written; it does not hold the file. */
int weir__target_look(struct weir_target *target, uint64_t commit, const char *path);
/* Reports that another file has the name. Return: -EAGAIN. */
int weir__target_is_another(const char *path);
/* Is the held file still what weir__target_hold() found?  Return: 0 or -EAGAIN. */
int weir__target_check_held(const struct weir_target *target, const char *path);
/* Call it after the file was replaced. If the file could not be locked, check whether it was mapped
 * live in between. Return: 0; or -ENOTRECOVERABLE. */
int weir__target_release(struct weir_target *target, const char *path);

/* ---- the permissions of a new file: the caller's, or no wider than the replaced file's ---- */

/* The permissions to create the new file with; the umask removes some of them.
 * @given: the caller's, or 0. */
mode_t weir__rights_at_first(const struct weir_target *target, unsigned given);
/* Set the owner of the written file @fd. @mode: receives the permissions to set after that. Return:
 * 0 or an errno. */
int weir__rights_settle(const struct weir_target *target, unsigned given, int fd, mode_t *mode);
/* Give a new file the owner and group of another one, or only the group, if this process may. */
void weir__owner_keep(int fd, const struct stat *old);
/* Does the file have an access control list? True also if that cannot be determined. */
bool weir__acl_has(int fd);
/* Remove the list that a new file inherited from its folder. Return: true if it has none now. */
bool weir__acl_drop(int fd);

/* ---- the file that a save writes, before it gets its final name ---- */

/* ".weir-new-", the checksum of the target's name, "-", a random number, the end */
enum { WEIR_TEMPORARY_NAME = 10 + 16 + 1 + 16 + 1 };

struct weir_temporary {
	const struct weir_target *target; /* its folder has the file */
	const char *path;                 /* as the caller gave it, for sentences */
	int fd;                           /* to write to */
	bool named;                       /* it has the temporary name */
	char name[WEIR_TEMPORARY_NAME];
};

/*
 * Remove files that dead savers of the target left, and create the new file.
 * @mode: its permissions, less the umask.
 * @named: create it with a name; otherwise without one, if the system can name it later.
 */
int weir__temporary_begin(struct weir_temporary *t, const struct weir_target *target,
                          const char *path, mode_t mode, bool named);
/* Link the file, which has no name, to its temporary name. Return: 0; 1 the system refuses; or a
 * negative errno. */
int weir__temporary_link(struct weir_temporary *t);
/* Give the file the single name that claims the target (T4), or a random one (T5). Return: as
 * weir__temporary_link(), or -EAGAIN another saver claims the target. */
int weir__temporary_claim(struct weir_temporary *t);
/* Link the file, which has no name, to @name. Return: 0 or an errno. */
int weir__temporary_link_as(const struct weir_temporary *t, const char *name);
/* Remove the file's temporary name, if there still is one, and close the file. */
void weir__temporary_end(struct weir_temporary *t);

/* Replaces a file at once: writes the new one without a name, then gives it the old one's. */

/* The system refuses links to a file without a name: write another file with a name. */
enum { WEIR_REPLACE_NAMED = 1 };

struct weir_replace {
	const char *path;          /* as the caller gave it, for sentences */
	unsigned mode;             /* the caller's; 0: not given */
	bool only_images;          /* the caller's: keep a file neither empty nor an image */
	uint64_t replaces;         /* the caller's: commit record, WEIR_REPLACES_NOTHING or 0 */
	mode_t last;               /* its final permissions */
	struct weir_target target;
	struct weir_temporary new; /* to write to */
};

/*
 * Open the new file. Nothing is left behind on failure.
 * @mode: as in struct weir_save_options.
 * @named: give it a temporary name from the start.
 */
int weir__replace_begin(struct weir_replace *r, const char *path, unsigned mode, bool named);
/* The new file is complete: set its permissions, sync it, switch the name, sync the folder.
 * Return: 0; WEIR_REPLACE_NAMED; or a negative errno. */
int weir__replace_publish(struct weir_replace *r);
/* Close everything, and remove the new file if it was not published. */
void weir__replace_end(struct weir_replace *r);

#endif
