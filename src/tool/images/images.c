/* SPDX-License-Identifier: MIT
 * Opens image files for the subcommands. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "host/memory_limit.h"
#include "images.h"
#include "input/decode.h"
#include "input/file.h"
#include "output/progress.h"
#include "output/say.h"
#include "output/units.h"

/* Return: true if the path is an open pipe, a socket or a device. The path of an open pipe is in
 * /dev or /proc, or does not resolve. Any other FIFO gets false, so that the library refuses it
 * without an open. An open could block until a writer opens the FIFO. A writer that already waits
 * would take the tool for its reader. */
static bool is_stream(const char *path)
{
	struct stat st;
	if (stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return false;
	if (!S_ISFIFO(st.st_mode) || strncmp(path, "/dev/", 5) == 0 ||
	    strncmp(path, "/proc/", 6) == 0)
		return true;
	char *real = realpath(path, NULL);
	const bool named = real != NULL;
	free(real);
	return !named;
}

bool image_named(const char *path)
{
	return strcmp(path, "-") != 0;
}

int image_unnamed(const char *path, bool streams)
{
	return trouble("%s: names no image: %s, and ./- a file of that name", path,
	               streams ? "/dev/stdin is standard input, where an image is read from a "
	                         "pipe" :
	                         "an image is a file here: save what comes from a pipe first");
}

bool image_regular(const char *path)
{
	struct stat st;
	if (stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return true;
	say("%s: is not a regular file, but a pipe, a socket or a device: save what it holds to a "
	    "file first", path);
	return false;
}

int image_swapped(const char *image, char **others, size_t n)
{
	struct stat st;
	if (stat(image, &st) || !S_ISREG(st.st_mode) || image_begins(image))
		return TOOL_OK;
	for (size_t i = 0; i < n; i++)
		if (image_begins(others[i]))
			return trouble("%s is not an image, %s is one: swapped?", image, others[i]);
	return TOOL_OK;
}

/* Return: a descriptor of the stream at @path, or -1 if @path is not a stream or cannot be opened.
 * After -1, the library opens the path or reports the failure. */
static int open_stream(const char *path)
{
	return is_stream(path) ? open_to_read(path) : -1;
}

static void close_stream(int fd)
{
	if (fd >= 0)
		close(fd);
}

static struct weir_load_options begin(const struct image_how *how, const char *what)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	options.secret = how->secret;
	if (how->progress) {
		options.progress = progress_reported;
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
	return memory_half("");
}

/* Return: max_bytes for a load into memory, at least 1, since 0 would mean no limit. */
static uint64_t most_bytes(const struct image_how *how)
{
	return how->max_memory ? how->max_memory : 1;
}

static char too_large[200];

/* Formats the message that memory is short. @needed: bytes, or 0 if unknown. Return: -EFBIG. */
static int refuse(const struct image_how *how, uint64_t needed)
{
	snprintf(too_large, sizeof too_large, "needs %s%s than --max-memory allows (%s)",
	         needed ? show_bytes(SHOW, needed) : "",
	         needed ? " of memory: more" : "more memory", show_bytes(SHOW, how->max_memory));
	return -EFBIG;
}

const char *image_trouble(int err, const char *path)
{
	return err == -EFBIG && *too_large ? too_large :
	                                   opened_or(err, detail_without(path), SAY_IMAGE);
}

/* Prints a message if @err is an error, unless how->wordless is set. Return: @err. */
static int report_result(int err, const char *path, const struct image_how *how)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	if (err == -EFBIG) {
		bool known = !is_stream(path) &&
		             weir_image_inspect(weir_location_path(path), &info) == 0;
		(void)refuse(how, known ? info.bytes : 0);
		if (!how->wordless)
			say("%s: %s", path, too_large);
	} else if (how->wordless) {
		return err;
	} else if (err == -EKEYREJECTED && !how->secret) {
		say("%s: is keyed: give the key that it was built with, --keyed-by=FILE", path);
	} else if (err) {
		say_weir(err, path);
	}
	return err;
}

bool window_file(const char *path)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	return image_begins(path) && weir_image_inspect(weir_location_path(path), &info) == 0 &&
	       info.shape.kind == WEIR_WINDOW;
}

/* Sets the message for a window. Return: -ENOTSUP. Subcommands that accept a window call
 * window_load() or window_stats() instead. */
static int not_a_window(const char *path)
{
	return weir_fail(-ENOTSUP, "%s: is a window: weir query, weir info and weir verify read it",
	                 path);
}

/* Destroys a loaded filter that is a window. Return: -ENOTSUP for a window, else @err. */
static int no_window(int err, struct weir_filter **f, const char *path)
{
	if (err || !weir_can(*f, WEIR_CAN_FORGET))
		return err;
	weir_destroy(*f);
	*f = NULL;
	return not_a_window(path);
}

/* Return: the result @err of a map, with a clearer message if the image is a window. */
static int no_window_mapped(int err, const char *path)
{
	return err == -ENOTSUP && window_file(path) ? not_a_window(path) : err;
}

int image_read_ended(int err, const char *path, const struct image_how *how)
{
	end(how);
	return report_result(err, path, how);
}

/* @fd: the descriptor of a stream, or -1 for a file. */
static struct weir_location image_at(const char *path, int fd)
{
	return fd < 0 ? weir_location_path(path) : weir_location_fd(fd);
}

int image_load(struct weir_filter **out, const char *path, const struct image_how *how)
{
	struct weir_load_options options = begin(how, "reading");
	options.max_bytes = most_bytes(how);
	int fd = open_stream(path);
	int err = weir_load(out, image_at(path, fd), &options);
	close_stream(fd);
	end(how);
	return report_result(no_window(err, out, path), path, how);
}

int image_load_fd(struct weir_filter **out, int fd, const char *path, const struct image_how *how)
{
	struct weir_load_options options = begin(how, "reading");
	options.max_bytes = most_bytes(how);
	int err = weir_load(out, weir_location_fd(fd), &options);
	end(how);
	return report_result(no_window(err, out, path), path, how);
}

/* The image mapped last, and the messages for a page that cannot be read. The messages are
 * formatted before the map, because a signal handler must not format messages. */
static struct {
	const char *path;
	off_t bytes;
	char shrank[4600], has_no_page[4600];
} mapped = { .shrank = "weir: an image shrank while it was read: replace images by renaming\n" };

static void prepare_sentences(const char *path)
{
	char shown[4200];
	struct stat st = { 0 };
	(void)weir_escape(shown, sizeof shown, path, strlen(path));
	snprintf(mapped.shrank, sizeof mapped.shrank,
	         "%s: %s: shrank while it was read: replace images by renaming\n", said_as(),
	         shown);
	snprintf(mapped.has_no_page, sizeof mapped.has_no_page,
	         "%s: %s: a page of it cannot be read: it is sparse and its file system has no "
	         "room for the page, or the disk fails: free space there, or restore it\n",
	         said_as(), shown);
	mapped.path = stat(path, &st) == 0 ? path : NULL;
	mapped.bytes = st.st_size;
}

void image_lost(void)
{
	struct stat st;
	const bool shrank = !mapped.path || stat(mapped.path, &st) || st.st_size < mapped.bytes;
	const char *sentence = shrank ? mapped.shrank : mapped.has_no_page;
	(void)!write(STDERR_FILENO, sentence, strlen(sentence));
}

int image_open(struct weir_filter **out, const char *path, const struct image_how *how)
{
	if (is_stream(path))
		return image_load(out, path, how);
	struct weir_load_options options = begin(how, "verifying");
	options.no_verify = !how->check;
	prepare_sentences(path);
	int err = weir_load(out, weir_location_map(path, WEIR_MAP_READ), &options);
	end(how);
	/* After -EINVAL, load the image: it may be compressed, and then it cannot be mapped. */
	return err == -EINVAL ? image_load(out, path, how) :
	                        report_result(no_window_mapped(err, path), path, how);
}

int image_stats(const char *path, const struct weir_image_info *info, bool exact,
                const struct image_how *how, struct weir_stats *out)
{
	struct weir_load_options options = begin(how, "reading");
	prepare_sentences(path);
	options.no_verify = !how->check;
	/* A plain image is mapped, and needs no limit. But a compressed image may have replaced it
	 * since weir_image_inspect(), so the size of the plain image is the limit. */
	options.max_bytes = info->compressed ? most_bytes(how) : info->bytes;
	int err = weir_image_measure(weir_location_path(path), exact ? WEIR_EXACT : WEIR_SAMPLED,
	                             &options, out);
	end(how);
	return report_result(err, path, how);
}

/* Return: the upper bound on the memory of weir_image_verify(), as stated in weir/image.h. */
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
	int err = 0, fd = how->only_files ? -1 : open_stream(path);
	if (fd < 0) {
		err = weir_image_inspect(weir_location_path(path), &info);
		needed = err ? 0 : needed_to_verify(&info);
	}
	if (!err && needed > how->max_memory)
		err = refuse(how, needed);
	if (!err) {
		struct weir_load_options options = begin(how, "verifying");
		err = weir_image_verify(image_at(path, fd), &options, NULL);
		end(how);
	}
	close_stream(fd);
	return err;
}

/* ---- options ---- */

struct image_how image_how(void)
{
	return (struct image_how){ .check = true, .progress = true,
		                   .max_memory = image_max_memory() };
}

int image_option(int option, struct image_how *how)
{
	switch (option) {
	case IMAGE_KEYED_BY: return (how->secret = keyfile_read(optarg)) != NULL;
	case IMAGE_MAX_MEMORY: return parse_bytes("--max-memory", optarg, &how->max_memory);
	case IMAGE_NO_PROGRESS: how->progress = false; break;
	case IMAGE_NO_VERIFY: how->check = false; break;
	case IMAGE_LOCK_DIR: how->lock_dir = optarg; break;
	default: return -1;
	}
	return 1;
}

int image_arguments(int argc, char **argv, bool streams, const char **image,
                    struct lines_options *from)
{
	if (optind == argc)
		return misuse("the image is missing");
	*image = argv[optind++];
	from->names = argv + optind;
	from->n = (size_t)(argc - optind);
	return image_named(*image) ? TOOL_OK : image_unnamed(*image, streams);
}

/* ---- images that are changed in place ---- */

int live_open(struct weir_filter **out, const char *path, const struct image_how *how)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	options.secret = how->secret;
	options.lock_dir = how->lock_dir;
	options.progress = progress_reported;
	progress_begin("verifying");
	int err = no_window_mapped(weir_load(out, weir_location_map(path, WEIR_MAP_LIVE), &options),
	                           path);
	progress_end();
	if (err == -EKEYREJECTED && !how->secret)
		say("%s: is keyed: give the key that it was built with, --keyed-by=FILE", path);
	else if (err)
		say_weir(err, path);
	return err;
}

int live_seal(struct weir_filter *f, const char *path, const char *lost)
{
	int err = weir_seal(f);
	if (err == -EBUSY)
		say("%s: stays live, since another process has it mapped so: the last one to end "
		    "seals it, or weir seal does after that",
		    path);
	else if (err == -ESTALE)
		say_gone(path, lost);
	else if (err)
		say_weir(err, path);
	return err;
}

int live_status(int err)
{
	return err == -EBUSY || err == -ESTALE ? TOOL_NO : err ? TOOL_TROUBLE : TOOL_OK;
}
