/* SPDX-License-Identifier: MIT
 * weir replicate follow: writes each generation to a file, which servers follow. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <weir/error.h>
#include <weir/handle.h>
#include <weir/image.h>
#include "commands/commands.h"
#include "images/images.h"
#include "images/saving.h"
#include "input/file.h"
#include "output/say.h"
#include "replicate.h"

enum {
	/* Seconds. If two followers write one file, each sees within this time that the other has
	 * replaced the file, even if a network file system caches the attributes of files. */
	SOON_S = 120,
	MOST_TRIES = 5,
};

struct following {
	const struct replicate *r;
	atomic_bool another; /* a new generation was published; set by the node's thread */
	bool saved;
	bool force;          /* --force, cleared after the first file is written */
	/* time of the last call of is_from_other_follower(), if that call found a whole image by
	 * another writer; 0: it found none, or a new generation has been published since */
	time_t again;
	struct weir_replica_version generation; /* generation of the last save */
	struct stat file;    /* the file, after this or another follower has written it */
};

/* Return: monotonic seconds, always above SOON_S, so that an .again of 0 is never recent. */
static time_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + SOON_S + 1;
}

/* Return: the generation number for an image, such as 3000000014 for generation 3.14. */
static uint64_t number_of(struct weir_replica_version v)
{
	return v.era * 1000000000 + v.number;
}

static void report(void *context, int result, const char *sentence)
{
	struct following *f = context;
	if (result == 1)
		atomic_store(&f->another, true);
	if (result != 1 || !f->r->quiet)
		say("%s", sentence);
}

/* Return: weir_save_options.replaces for the file at @path. If the file's head is damaged, the
 * value is 0, which lets a save replace any file. For a live image, which has no commit record, the
 * value does not matter, because a save always refuses to replace a live image. */
static uint64_t current_commit(const char *path)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	struct stat st;
	if (stat(path, &st) != 0 || st.st_size == 0)
		return WEIR_REPLACES_NOTHING;
	if (weir_image_inspect(weir_location_path(path), &info) != 0)
		return 0;
	return info.live ? WEIR_REPLACES_NOTHING : info.commit;
}

static bool is_as_saved(const struct following *f)
{
	struct stat st;
	const struct stat *was = &f->file;
	return stat(f->r->output, &st) == 0 && st.st_dev == was->st_dev &&
	       st.st_ino == was->st_ino && st.st_size == was->st_size &&
	       st.st_mtim.tv_sec == was->st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

/* Return: true if the file is an undamaged image with the set's seed, and its generation is the
 * last saved generation or a later one. The image may still belong to another set. */
static bool is_valid_image(struct following *f, const struct weir_replica *replica)
{
	const struct image_how how = { .only_files = true,
		                       .wordless = true,
		                       .max_memory = image_max_memory() };
	struct weir_handle_stats ours = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	struct weir_image_info its = WEIR_IMAGE_INFO_INIT;
	const char *path = f->r->output;
	if (stat(path, &f->file) != 0 || weir_image_inspect(weir_location_path(path), &its) != 0 ||
	    weir_handle_measure(weir_replica_handle(replica), &ours, &filter) != 0 ||
	    its.generation < number_of(f->generation) ||
	    its.seed_fingerprint != filter.seed_fingerprint)
		return false;
	/* is_as_saved() checks that the file has not changed since the stat() above. */
	return image_verify(path, &how) == 0 && is_as_saved(f);
}

/* Return: true if another follower of the same set probably wrote the file. A single whole image by
 * another writer is no proof, so the function returns true only for a second such image within
 * SOON_S. The caller keeps that file, since otherwise the two followers would replace each other's
 * files forever. An image that was copied to the path by mistake is replaced once, and does not
 * come back soon. */
static bool is_from_other_follower(struct following *f, const struct weir_replica *replica)
{
	bool whole = is_valid_image(f, replica), soon = now() - f->again <= SOON_S;
	f->again = whole ? now() : 0;
	return whole && soon;
}

/* Writes the file. Retries if another follower replaces the file between current_commit() and the
 * save. */
static int write_file(const struct following *f, struct weir_replica *replica,
                      struct weir_save_options *o)
{
	const char *path = f->r->output;
	bool moved = true;
	int err = -EAGAIN;
	for (unsigned tries = 0; err == -EAGAIN && moved && tries < MOST_TRIES; tries++) {
		o->replaces = f->force ? 0 : current_commit(path);
		err = weir_replica_save(replica, path, o);
		moved = err == -EAGAIN && current_commit(path) != o->replaces;
	}
	return err;
}

/* Writes the file if the set has another generation than the file, or if the file was removed or
 * changed. A file that another follower of the set has probably written stays. */
static int save(struct following *f, struct weir_replica *replica)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	int err = weir_replica_measure(replica, &s);
	if (err)
		return err;
	bool another = atomic_exchange(&f->another, false) ||
	               !is_version(s.joined, f->generation);
	if (another)
		f->again = 0;
	f->saved = f->saved && !another && (is_as_saved(f) || is_from_other_follower(f, replica));
	if (f->saved)
		return 0;
	o.zstd_level = f->r->options.zstd_level;
	o.generation = number_of(s.joined);
	o.allow_uneven = true; /* other nodes serve the same bits already */
	o.written = &f->file;
	o.only_images = !f->force;
	err = write_file(f, replica, &o);
	f->generation = s.joined;
	f->saved = !err;
	f->force = f->force && err;
	return err;
}

/* Saves until a signal arrives, and retries a save that fails. Until a save works, the library
 * reports the error as the node's error. */
static void follow(struct following *f, struct weir_replica *replica, const sigset_t *ends)
{
	const struct timespec piece = { .tv_nsec = 200000000 };
	while (sigtimedwait(ends, NULL, &piece) < 0)
		(void)save(f, replica);
}

/* Saves for the first time. Does not print an error that the library has already reported as the
 * node's error. */
static int first_save(struct following *f, struct weir_replica *replica)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	int err = save(f, replica);
	if (!err)
		return TOOL_OK;
	const bool said = weir_replica_measure(replica, &s) == 0 &&
	                  strcmp(s.error, weir_error_detail()) == 0;
	return said ? TOOL_TROUBLE : trouble_weir(err, f->r->output);
}

/* Refuses a set that lacks traits of the image at the output path, as weir build does. */
static int keeps(const struct replicate *r, struct weir_replica *replica)
{
	const struct image_how how = { .only_files = true };
	struct weir_params p = WEIR_PARAMS_INIT;
	int err = weir_replica_params(replica, &p);
	if (err)
		return trouble_weir(err, NULL);
	const struct place_fresh fresh = { .kind = p.kind, .steps = p.text.steps,
		                           .key = place_key(r->options.secret) };
	return place_keeps(r->output, &fresh, r->force, &how);
}

int replicate_follow(struct replicate *r)
{
	struct following f = { .r = r, .force = r->force };
	struct weir_replica *replica;
	sigset_t ends;
	if (!r->output || r->count)
		return r->count ? misuse("'%s': an argument too many", r->arguments[0]) :
		                  misuse("-o FILE is missing");
	if (strcmp(r->output, "-") == 0)
		return misuse("-o -: a file is replaced, again and again; ./- is one of that name");
	int status = place_check(r->output, r->force, NULL);
	if (status)
		return status;
	r->options.report = report;
	r->options.context = &f;
	/* This node inserts nothing, so a short timeout of weir_replica_close() loses no keys. */
	r->options.confirm_ms = 1000;
	int err = weir_replica_open(&replica, &r->options);
	if (err)
		return trouble("%s", weir_error_detail());
	/* Block signals only after weir_replica_open(), so that a signal still ends the process
	 * while that call waits for the first image. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	status = keeps(r, replica);
	if (!status)
		status = first_save(&f, replica);
	if (status) {
		(void)weir_replica_close(replica);
		return status;
	}
	follow(&f, replica, &ends);
	err = weir_replica_close(replica);
	return err ? trouble("%s", weir_error_detail()) : TOOL_OK;
}
