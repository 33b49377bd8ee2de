/* SPDX-License-Identifier: MIT
 * Image files as the subcommands open and save them. */
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "decode.h"
#include "images.h"
#include "progress.h"
#include "say.h"
#include "tool.h"
#include "units.h"

/* A pipe, a socket, a device. */
static bool is_stream(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int load(struct weir_filter **out, const char *path, const void *hash_key)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	options.hash_key = hash_key;
	if (!is_stream(path))
		return weir_load(out, path, &options);
	int fd = open_to_read(path);
	if (fd < 0)
		return weir_load(out, path, &options); /* fails the same way, with a sentence */
	int err = weir_load_fd(out, fd, &options);
	close(fd);
	return err;
}

static int map_or_load(struct weir_filter **out, const char *path, bool check, const void *hash_key)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	if (is_stream(path))
		return load(out, path, hash_key);
	int err = weir_image_info(path, &info);
	if (err)
		return err;
	if (info.compressed)
		return load(out, path, hash_key);
	options.no_verify = !check;
	options.hash_key = hash_key;
	return weir_map(out, path, WEIR_MAP_READ, &options);
}

/* The library's sentence; of a key, the option that gives it. */
static int say_why(int err, const char *path, const void *hash_key)
{
	if (err == -EKEYREJECTED && !hash_key)
		say("%s: is keyed: give the key that it was built with, --keyed-by=FILE", path);
	else if (err)
		say_weir(err, path);
	return err;
}

int image_open(struct weir_filter **out, const char *path, bool check, const void *hash_key)
{
	return say_why(map_or_load(out, path, check, hash_key), path, hash_key);
}

int image_load(struct weir_filter **out, const char *path, const void *hash_key)
{
	return say_why(load(out, path, hash_key), path, hash_key);
}

int image_check(const char *path, const void *hash_key)
{
	struct weir_filter *f;
	struct weir_stats stats = WEIR_STATS_INIT;
	if (!hash_key && !is_stream(path))
		return weir_image_stats(path, NULL, &stats);
	int err = map_or_load(&f, path, true, hash_key);
	if (!err)
		weir_destroy(f);
	return err;
}

bool image_place_ok(const char *path)
{
	struct stat st;
	if (strcmp(path, "-") == 0) {
		if (isatty(STDOUT_FILENO))
			say("-o -: an image is no text for a terminal: redirect standard output");
		return !isatty(STDOUT_FILENO);
	}
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		say("%s: %s, and an image replaces the file it is saved to (-o - writes to "
		    "standard output)",
		    path, S_ISDIR(st.st_mode) ? "is a directory" : "is not a regular file");
		return false;
	}
	char *copy = need(strlen(path) + 1);
	const char *folder = dirname(strcpy(copy, path));
	bool ok = access(folder, W_OK | X_OK) == 0;
	if (!ok)
		say("%s: cannot write in %s: %s", path, folder, strerror(errno));
	free(copy);
	return ok;
}

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
#define ENDS (sizeof ends / sizeof *ends)
static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

static int on_progress(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	progress_at(total ? (double)done / (double)total : -1.0, 0);
	return caught;
}

int image_save(const struct weir_filter *f, const char *path, const struct image_saving *how)
{
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	options.zstd_level = how->zstd_level;
	options.mode = how->mode;
	options.marks = how->marks;
	options.progress = on_progress;
	/* Where the file system has no unnamed files, a temporary file must be
	 * removed: stop in order, then end as the signal would. */
	struct sigaction before[ENDS], now = { .sa_handler = on_signal };
	for (size_t i = 0; i < ENDS; i++)
		if (sigaction(ends[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
			sigaction(ends[i], &now, NULL);
	progress_begin("saving");
	int err = strcmp(path, "-") == 0 ? weir_save_fd(f, STDOUT_FILENO, &options) :
	                                   weir_save(f, path, &options);
	progress_end();
	for (size_t i = 0; i < ENDS; i++)
		sigaction(ends[i], &before[i], NULL);
	if (caught)
		raise(caught);
	return err ? trouble_weir(err, strcmp(path, "-") ? path : "standard output") : TOOL_OK;
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
	say("--mode '%s': give permissions in octal, from 1 to 777, such as 640", text);
	return false;
}
