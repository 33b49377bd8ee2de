/* SPDX-License-Identifier: MIT
 * Image files as the subcommands open and save them. */
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "decode.h"
#include "images.h"
#include "owner.h"
#include "plain.h"
#include "progress.h"
#include "room.h"
#include "say.h"
#include "show.h"
#include "tool.h"
#include "units.h"

/* A pipe, a socket, a device. */
static bool is_stream(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* Where it is not a stream, and where it cannot be opened: -1. Then the library opens the path, or
 * fails with a sentence. */
static int open_stream(const char *path)
{
	return is_stream(path) ? open_to_read(path) : -1;
}

static void close_stream(int fd)
{
	if (fd >= 0)
		close(fd);
}

static volatile sig_atomic_t caught;

static int on_progress(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	progress_at(total ? (double)done / (double)total : -1.0, 0);
	return caught;
}

static struct weir_load_options begin(const struct image_how *how, const char *what)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	options.hash_key = how->hash_key;
	if (how->progress) {
		options.progress = on_progress;
		progress_begin(what);
	}
	return options;
}

static void end(const struct image_how *how)
{
	if (how->progress)
		progress_end();
}

uint64_t image_max_memory(void)
{
	return room_half("");
}

static char refusal[200];

/* @needed: 0 if it is not known. */
static int refuse(const struct image_how *how, uint64_t needed)
{
	snprintf(refusal, sizeof refusal, "needs %s%s than --max-memory allows (%s)",
	         needed ? show_bytes(SHOW, needed) : "",
	         needed ? " of memory: more" : "more memory", show_bytes(SHOW, how->max_memory));
	return -EFBIG;
}

const char *image_trouble(int err, const char *path)
{
	const char *detail = weir_error_detail();
	char *shown = plain_copy(path); /* escaped, as all of the sentence */
	size_t len = strlen(shown);
	bool led = strncmp(detail, shown, len) == 0 && strncmp(detail + len, ": ", 2) == 0;
	free(shown);
	if (err == -EFBIG && *refusal)
		return refusal;
	return led ? detail + len + 2 : detail;
}

/* Return: @err, after a message if it is one. */
static int settle(int err, const char *path, const struct image_how *how)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	if (err == -EFBIG) {
		bool known = !is_stream(path) && weir_image_info(path, &info) == 0;
		(void)refuse(how, known ? info.bytes : 0);
		say("%s: %s", path, refusal);
	} else if (err == -EKEYREJECTED && !how->hash_key) {
		say("%s: is keyed: give the key that it was built with, --keyed-by=FILE", path);
	} else if (err) {
		say_weir(err, path);
	}
	return err;
}

int image_load(struct weir_filter **out, const char *path, const struct image_how *how)
{
	struct weir_load_options options = begin(how, "reading");
	options.max_bytes = how->max_memory ? how->max_memory : 1; /* 0 would be no limit */
	int fd = open_stream(path);
	int err = fd < 0 ? weir_load(out, path, &options) : weir_load_fd(out, fd, &options);
	close_stream(fd);
	end(how);
	return settle(err, path, how);
}

static int image_map(struct weir_filter **out, const char *path, const struct image_how *how)
{
	struct weir_load_options options = begin(how, "verifying");
	options.no_verify = !how->check;
	int err = weir_map(out, path, WEIR_MAP_READ, &options);
	end(how);
	return settle(err, path, how);
}

int image_open(struct weir_filter **out, const char *path, const struct image_how *how)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	if (is_stream(path))
		return image_load(out, path, how);
	int err = weir_image_info(path, &info);
	if (err)
		return settle(err, path, how);
	return info.compressed ? image_load(out, path, how) : image_map(out, path, how);
}

int image_stats(const char *path, bool exact, const struct image_how *how, struct weir_stats *out)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	int err = weir_image_info(path, &info);
	if (err)
		return settle(err, path, how);
	struct weir_load_options options = begin(how, "reading");
	options.no_verify = true;
	if (info.compressed)
		options.max_bytes = how->max_memory ? how->max_memory : 1;
	err = exact ? weir_image_stats_exact(path, &options, out) :
	              weir_image_stats(path, &options, out);
	end(how);
	return settle(err, path, how);
}

/* The memory that weir_image_verify() takes, of which image.h has the most. */
static uint64_t needed_to_verify(const struct weir_image_info *info)
{
	const uint64_t mib = 1 << 20, shard = info->bytes / info->shards;
	uint64_t needed = (shard < mib ? shard : mib) + UINT64_C(8) * info->shards;
	if (info->compressed)
		needed += 2 * mib + (shard < 8 * mib ? shard : 8 * mib);
	return needed;
}

int image_verify(const char *path, const struct image_how *how)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	uint64_t needed = 12 << 20;
	int err = 0, fd = open_stream(path);
	if (fd < 0) {
		err = weir_image_info(path, &info);
		needed = err ? 0 : needed_to_verify(&info);
	}
	if (!err && needed > how->max_memory)
		err = refuse(how, needed);
	if (!err) {
		struct weir_load_options options = begin(how, "verifying");
		err = fd < 0 ? weir_image_verify(path, &options) :
		               weir_image_verify_fd(fd, &options);
		end(how);
	}
	close_stream(fd);
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
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && stat(path, &st)) {
		say("%s: is a link that does not lead to a file: %s", path, strerror(errno));
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

static void on_signal(int number)
{
	caught = number;
}

int image_save(const struct weir_filter *f, const char *path, const struct image_saving *how)
{
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	struct owner owner = owner_of(path);
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
	if (!err)
		owner_report(&owner, path, how->mode != 0);
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
