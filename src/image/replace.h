/* SPDX-License-Identifier: MIT
 * Replaces a file at once: the old file, its permissions, the temporary file, and the steps. */
#ifndef WEIR_SRC_IMAGE_REPLACE_H
#define WEIR_SRC_IMAGE_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* ---- the target of a save: an open folder and a name in it ---- */

struct weir_target {
	int folder;              /* the folder, to which all later calls are relative */
	bool private;            /* only this user and root can write to the folder */
	char base[NAME_MAX + 1]; /* the file's name in the folder */
	bool exists;             /* a regular file has the name and will be replaced */
	struct stat old;         /* state of the old file */
	bool old_acl;            /* the old file has an access control list, or may have one */
	int held;                /* descriptor of the old file, while it is open; -1: none */
	bool unlocked;           /* weir__target_hold() could not lock the file */
	uint64_t commit;         /* the expected commit record, or WEIR_REPLACES_NOTHING */
};

/* Find folder and name of @path. The file need not exist. After a failure nothing is open. */
int weir__target_find(struct weir_target *target, const char *path);
/* Read the old file's state again just before the rename: its permissions may have changed. */
void weir__target_look_again(struct weir_target *target);
/* Check that the old file, if any, is empty or an image. Return: 0; -EEXIST; or the errno of a
 * read. */
int weir__target_check_image(const struct weir_target *target, const char *path);
void weir__target_close(const struct weir_target *target);
/* Check that the old file still has this commit record (WEIR_REPLACES_NOTHING: that it is missing
 * or empty) and is not mapped live. After a success no process can map the old file live until
 * weir__target_release(), unless the lock failed (unlocked). Return: 0; -EAGAIN; or an errno of
 * open. */
int weir__target_hold(struct weir_target *target, uint64_t commit, const char *path);
/* Make the check of weir__target_hold() before the new file is written, then close the old file. */
int weir__target_look(struct weir_target *target, uint64_t commit, const char *path);
/* Report that the old file was replaced, removed or changed since the caller read it. Return:
 * -EAGAIN. */
int weir__target_is_another(const char *path);
/* Check that the held file is still as weir__target_hold() found it. Return: 0 or -EAGAIN. */
int weir__target_check_held(const struct weir_target *target, const char *path);
/* Close the old file after the rename. If the old file could not be locked, check that no process
 * has mapped it live since weir__target_hold(). Return: 0 or -ENOTRECOVERABLE. */
int weir__target_release(struct weir_target *target, const char *path);

/* ---- the permissions of a new file: the caller's, or no wider than the replaced file's ---- */

/* Return: the permissions to create the new file with; the umask removes some of them.
 * @given: the permissions that the caller of the save gave, or 0. */
mode_t weir__rights_at_first(const struct weir_target *target, unsigned given);
/* Set the owner of the written file @fd. @mode: receives the permissions that the caller must set.
 * Return: 0 or an errno. */
int weir__rights_settle(const struct weir_target *target, unsigned given, int fd, mode_t *mode);
/* Give a new file the owner and group of @old, or only the group, if this process may. */
void weir__owner_keep(int fd, const struct stat *old);
/* Return: true if the file has an access control list, or if that cannot be determined. */
bool weir__acl_has(int fd);
/* Remove an access control list inherited from the folder. Return: true if the file has none
 * now. */
bool weir__acl_drop(int fd);

/* ---- the file that a save writes, before it gets its final name ---- */

/* ".weir-new-", the checksum of the target's name, "-", a number (random, but for the two fixed
 * names in temporary.c), the terminating 0 */
enum { WEIR_TEMPORARY_NAME = 10 + 16 + 1 + 16 + 1 };

struct weir_temporary {
	const struct weir_target *target; /* the new file is in the target's folder */
	const char *path;                 /* the caller's path, for error messages */
	int fd;                           /* the file, open for writing */
	bool named;                       /* the file has a temporary name */
	char name[WEIR_TEMPORARY_NAME];
};

/*
 * Remove files that killed savers of the target left, and create the new file.
 * @mode: the permissions of the new file, from which the system removes those in the umask.
 * @named: true: create the file with a name; false: without a name, which a link can give later.
 */
int weir__temporary_begin(struct weir_temporary *t, const struct weir_target *target,
                          const char *path, mode_t mode, bool named);
/* Link the file, which has no name, to a temporary name. Return: 0; 1 the system refuses; or a
 * negative errno. */
int weir__temporary_link(struct weir_temporary *t);
/* Give the file the fixed name that claims the target ([TEMP-CLAIM]), or a random name
 * ([TEMP-STICKY]). Return: as weir__temporary_link(), or -EAGAIN if another saver claims the
 * target. */
int weir__temporary_claim(struct weir_temporary *t);
/* Link the file, which has no name, to @name. Return: 0 or an errno. */
int weir__temporary_link_as(const struct weir_temporary *t, const char *name);
/* Remove the file's temporary name if it has one, and close the file. */
void weir__temporary_end(struct weir_temporary *t);

/* ---- replacing a file: write a file without a name, then give it the old file's name ---- */

/* A result of weir__replace_publish(): the system cannot link a file without a name. */
enum { WEIR_REPLACE_NAMED = 1 };

struct weir_replace {
	const char *path;          /* the caller's path, for error messages */
	unsigned mode;             /* the caller's permissions; 0: not given */
	bool only_images;          /* the caller's option: replace only empty files and images */
	uint64_t replaces;         /* the caller's commit record, WEIR_REPLACES_NOTHING or 0 */
	mode_t last;               /* the final permissions of the new file */
	struct weir_target target;
	struct weir_temporary new; /* the new file */
};

/*
 * Open the new file. After a failure nothing is open or left on the disk.
 * @mode: as in struct weir_save_options.  @named: create the file with a temporary name.
 */
int weir__replace_begin(struct weir_replace *r, const char *path, unsigned mode, bool named);
/* Publish the complete new file: set its permissions, sync it, rename it, sync the folder.
 * Return: 0; WEIR_REPLACE_NAMED; or a negative errno. */
int weir__replace_publish(struct weir_replace *r);
/* Close everything, and remove the new file if it was not published. */
void weir__replace_end(struct weir_replace *r);

#endif
