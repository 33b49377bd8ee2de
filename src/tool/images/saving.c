/* SPDX-License-Identifier: MIT
 * Saves images, and cleans up if a signal arrives during a save. On a file system without unnamed
 * files, the library must remove its temporary file. So a signal first only stops the save, and
 * then ends the process as usual. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "input/file.h"
#include "output/progress.h"
#include "output/say.h"
#include "output/units.h"
#include "saving.h"

/* ---- owner and permissions of a replaced image ---- */

struct owner {
	bool there;
	struct stat st;
};

static struct owner owner_of(const char *path)
{
	struct owner owner = { .there = false };
	owner.there = stat(path, &owner.st) == 0 && S_ISREG(owner.st.st_mode);
	return owner;
}

static unsigned permissions(const struct owner *owner)
{
	return (unsigned)(owner->st.st_mode & 0777);
}

/* Warns if the new file has another user or group than the replaced file, or fewer permissions. For
 * example, after a save by root, the server may be unable to read the file. @mode_given: ignore
 * permissions. */
static void owner_report(const struct owner *before, const char *path, bool mode_given)
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

/* ---- saving ---- */

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
#define ENDS (sizeof ends / sizeof *ends)

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

/* Catches the signals that end the process. An ignored signal (nohup) stays ignored. */
static void catch_ends(struct sigaction before[ENDS])
{
	const struct sigaction now = { .sa_handler = on_signal };
	for (size_t i = 0; i < ENDS; i++)
		if (sigaction(ends[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
			sigaction(ends[i], &now, NULL);
}

static void release_ends(const struct sigaction before[ENDS])
{
	for (size_t i = 0; i < ENDS; i++)
		sigaction(ends[i], &before[i], NULL);
	if (caught)
		raise(caught);
}

static int on_progress(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	progress_of(done, total);
	return caught;
}

int saving_try(saving_fn *save, const void *what, const char *path, const struct image_saving *how)
{
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	struct owner owner = owner_of(path);
	struct sigaction before[ENDS];
	bool to_stdout = strcmp(path, "-") == 0;
	options.zstd_level = how->zstd_level;
	options.mode = how->mode;
	options.marks = how->marks;
	options.allow_uneven = true; /* report_saturated() warns about uneven hashes */
	options.generation = how->generation;
	options.replaces = how->replaces;
	options.progress = on_progress;
	catch_ends(before);
	progress_begin("saving");
	const int64_t done = save(what, to_stdout ? weir_location_fd(STDOUT_FILENO) :
	                                            weir_location_path(path), &options);
	progress_end();
	release_ends(before);
	if (done < 0)
		return (int)done;
	owner_report(&owner, path, how->mode != 0);
	if (!to_stdout)
		say_saved(path);
	return 0;
}

int saving_anew(saving_fn *save, const void *what, const char *path, bool force,
                struct image_saving *how, int *err)
{
	/* The path may be a symbolic link whose target has changed since the last check. */
	int status = place_check(path, force, how);
	if (status)
		return status;
	const uint64_t replaced = how->replaces;
	*err = saving_try(save, what, path, how);
	if (*err != -EAGAIN)
		return TOOL_OK;
	status = place_check(path, force, how);
	if (!status && how->replaces != replaced)
		*err = saving_try(save, what, path, how);
	return status;
}

bool saving_refused(int err)
{
	return err == -EAGAIN || err == -ENOTRECOVERABLE;
}

static int64_t save_filter(const void *f, struct weir_location to,
                      const struct weir_save_options *options)
{
	return weir_save(f, to, options);
}

static int settle(int err, const char *path)
{
	if (err)
		say_weir(err, strcmp(path, "-") ? path : "standard output");
	return saving_refused(err) ? TOOL_NO : err ? TOOL_TROUBLE : TOOL_OK;
}

int image_save(const struct weir_filter *f, const char *path, const struct image_saving *how)
{
	return settle(saving_try(save_filter, f, path, how), path);
}

int image_save_anew(const struct weir_filter *f, const char *path, bool force,
                    struct image_saving *how)
{
	int err;
	int status = saving_anew(save_filter, f, path, force, how, &err);
	return status ? status : settle(err, path);
}

bool parse_zstd(const char *text, int *level)
{
	uint64_t number = 3;
	if (text && !parse_number("--zstd", text, 1, 19, &number))
		return false;
	*level = (int)number;
	return true;
}

bool parse_mode(const char *text, uint32_t *mode)
{
	char *end = NULL;
	unsigned long number = *text >= '0' && *text <= '7' ? strtoul(text, &end, 8) : 0;
	*mode = (uint32_t)number;
	if (number && number <= 0777 && !*end)
		return true;
	say("--mode '%s': allowed: 1 to 777, permissions in octal, such as 640", text);
	return false;
}
