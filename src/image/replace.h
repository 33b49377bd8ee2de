/* SPDX-License-Identifier: MIT
 * Replacing a file at once: the file that is to be replaced, its rights, the temporary one that
 * takes its place, and the steps from one to the other. */
#ifndef WEIR_SRC_IMAGE_REPLACE_H
#define WEIR_SRC_IMAGE_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* ---- where a save goes to: a folder, which stays open, and a name in it ---- */

struct weir_target {
	int folder;              /* the only look-up by path: all later calls are relative to it */
	bool private;            /* nobody but this process's user and root writes to it */
	char base[NAME_MAX + 1]; /* the file's name in the folder */
	bool exists;             /* a regular file has the name, to be replaced */
	struct stat old;         /* that file */
	bool old_acl;            /* it has an access control list, or may have one */
	int held;                /* that file, opened by weir__target_hold(); -1: it was not */
	bool unlocked;           /* but it could not be locked: read-only, or a reader's lock */
	uint64_t commit;         /* its commit record, or WEIR_REPLACES_NOTHING */
};

/* Find the place of @path, which need not exist; nothing is open after a failure. */
int weir__target_find(struct weir_target *target, const char *path);
/* Look at the file once more, just before it is replaced: its rights may be others by now. */
void weir__target_look_again(struct weir_target *target);
/* Is the file there, if any, empty or an image? Return: 0; -EEXIST it is neither; or why it cannot
 * be read. */
int weir__target_check_image(const struct weir_target *target, const char *path);
void weir__target_close(const struct weir_target *target);
/* Is the file there still the image with this commit record, or with WEIR_REPLACES_NOTHING none or
 * empty, and has no process mapped it live? From then on none can map it so, until
 * weir__target_release(), unless the file cannot be locked (unlocked). Return: 0; -EAGAIN; or the
 * errno of open. */
int weir__target_hold(struct weir_target *target, uint64_t commit, const char *path);
/* The same, and the file is not held: before the new one is written. */
int weir__target_look(struct weir_target *target, uint64_t commit, const char *path);
/* Another file stands there. Return: -EAGAIN. */
int weir__target_is_another(const char *path);
/* Is the file that is held still what weir__target_hold() found?  Return: 0 or -EAGAIN. */
int weir__target_check_held(const struct weir_target *target, const char *path);
/* The file has been replaced. Where it could not be locked, look whether it was mapped live
 * meanwhile. Return: 0; or -ENOTRECOVERABLE. */
int weir__target_release(struct weir_target *target, const char *path);

/* ---- the rights of a new file: never wider than those of the one it replaces ---- */

/* The permissions to create the new file with; the umask takes some away.
 * @given: the caller's, or 0. */
mode_t weir__rights_at_first(const struct weir_target *target, unsigned given);
/* Give the written file @fd its owner. @mode: the permissions to give it after that. Return: 0 or
 * an errno. */
int weir__rights_settle(const struct weir_target *target, unsigned given, int fd, mode_t *mode);
/* Give a new file owner and group of another one, as far as this process may. */
void weir__owner_keep(int fd, const struct stat *old);
/* Has the file an access control list? True also if that cannot be asked. */
bool weir__acl_has(int fd);
/* Remove the list that a new file has from its folder. Return: whether it has none now. */
bool weir__acl_drop(int fd);

/* ---- the file that a save writes, before it has the name that it is for ---- */

/* ".weir-new-", the checksum of the target's name, "-", a random number, the end */
enum { WEIR_TEMPORARY_NAME = 10 + 16 + 1 + 16 + 1 };

struct weir_temporary {
	const struct weir_target *target; /* in its folder it stands */
	const char *path;                 /* as the caller gave it, for sentences */
	int fd;                           /* to write to */
	bool named;                       /* it has the name */
	char name[WEIR_TEMPORARY_NAME];
};

/*
 * Remove what dead savers of the target left, and create the file.
 * @mode: its permissions, less the umask.
 * @named: with a name from the start; else without, if the system can name it later.
 */
int weir__temporary_begin(struct weir_temporary *t, const struct weir_target *target,
                          const char *path, mode_t mode, bool named);
/* Link the file, which has no name, to its temporary one. Return: 0; 1 the system refuses; or a
 * negative errno. */
int weir__temporary_link(struct weir_temporary *t);
/* Give the file the one name that claims the target (T4), or a random one (T5). Return: as
 * weir__temporary_link(), or -EAGAIN another saver has it. */
int weir__temporary_claim(struct weir_temporary *t);
/* Link the file, which has no name, to @name. Return: 0 or an errno. */
int weir__temporary_link_as(const struct weir_temporary *t, const char *name);
/* Take the temporary name away, if it still has it, and close the file. */
void weir__temporary_end(struct weir_temporary *t);

/* Replacing a file at once: the new one is written without a name, then gets the old one's. */

/* The system takes no link to a file without a name: write another one that has a name. */
enum { WEIR_REPLACE_NAMED = 1 };

struct weir_replace {
	const char *path;          /* as the caller gave it, for sentences */
	unsigned mode;             /* likewise; 0: none */
	bool only_images;          /* likewise: what is neither empty nor one stays */
	uint64_t replaces;         /* likewise: a commit record, WEIR_REPLACES_NOTHING or 0 */
	mode_t last;               /* its permissions in the end */
	struct weir_target target;
	struct weir_temporary new; /* to write to */
};

/*
 * Open the new file. Nothing is left behind on failure.
 * @mode: as in struct weir_save_options.
 * @named: give it a temporary name from the start.
 */
int weir__replace_begin(struct weir_replace *r, const char *path, unsigned mode, bool named);
/* The new file is complete: give it its rights, sync it, switch the name, sync the folder.
 * Return: 0; WEIR_REPLACE_NAMED; or a negative errno. */
int weir__replace_publish(struct weir_replace *r);
/* Close everything. Remove the new file if it was not published. */
void weir__replace_end(struct weir_replace *r);

#endif
