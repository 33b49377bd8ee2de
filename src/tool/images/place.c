/* SPDX-License-Identifier: MIT
 * Checks the file that an image is to replace, and locks it against other processes. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "compound.h"
#include "input/file.h"
#include "output/say.h"
#include "saving.h"

enum { SILENT_TRIES = 20, TRY_US = 50000 };

static bool is_file(const struct stat *a, const struct stat *b)
{
	return S_ISREG(a->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Checks that a file can be created at @path. Return: false after a message. */
static bool can_be_made(const char *path)
{
	struct stat st;
	if (strcmp(path, "-") == 0) {
		if (isatty(STDOUT_FILENO))
			say("-o -: an image cannot go to a terminal: redirect standard output");
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
	char *copy = xmalloc(strlen(path) + 1);
	const char *folder = dirname(strcpy(copy, path));
	bool ok = access(folder, W_OK | X_OK) == 0;
	if (!ok)
		say("%s: cannot write in %s: %s", path, folder, strerror(errno));
	free(copy);
	return ok;
}

/* Stores the commit record of the image at @path for the next check. Refuses an image that has
 * changed since the previous check, because another process may have inserted keys and rely on
 * them. Accepts a file that was removed or emptied since then, because its replacement loses no
 * keys. */
static int note(struct image_saving *saving, const char *path, uint64_t commit)
{
	if (!saving)
		return TOOL_OK;
	if (saving->replaces && saving->replaces != commit && commit != WEIR_REPLACES_NOTHING) {
		say("%s: not replaced: another process inserted into it or replaced it; if it is "
		    "meant, run this again", path);
		return TOOL_NO;
	}
	saving->replaces = commit;
	return TOOL_OK;
}

static int refuse_to_replace(const char *path, struct image_saving *saving)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	if (access(path, R_OK) == 0 && !image_begins(path)) {
		say("%s: not replaced: it is neither a weir image nor empty: check the path, or "
		    "move the file away",
		    path);
		return TOOL_NO;
	}
	int err = weir_image_inspect(weir_location_path(path), &info);
	if (err)
		say("%s: not replaced: the image that stands there cannot be read, and servers "
		    "that follow it refuse one of another seed: %s; restore it, or if it is "
		    "meant, --force",
		    path, image_trouble(err, path));
	else if (info.live)
		say("%s: not replaced: it is live, so a process inserts into it or was killed "
		    "while it did: weir seal ends that, or if it is meant, --force",
		    path);
	return err ? TOOL_TROUBLE : info.live ? TOOL_NO : note(saving, path, info.commit);
}

int place_check(const char *path, bool force, struct image_saving *saving)
{
	struct stat st;
	if (!can_be_made(path))
		return TOOL_TROUBLE;
	if (strcmp(path, "-") != 0 && keyfile_is(path)) {
		say("%s: not replaced: it is the file that the key is read from: give the image "
		    "another name", path);
		return TOOL_NO;
	}
	if (force || strcmp(path, "-") == 0)
		return TOOL_OK;
	if (stat(path, &st) || st.st_size == 0) /* empty, such as a file from mktemp */
		return note(saving, path, WEIR_REPLACES_NOTHING);
	return refuse_to_replace(path, saving);
}

/* Return: the trait that an image loses by a change of its kind, and the command that keeps the
 * trait. */
static const char *lost_of(uint32_t kind)
{
	if (weir_kind_can(kind, WEIR_CAN_EXCLUDE))
		return ", without its list of keys that are excluded: weir build --exclude=FILE "
		       "makes one with a list";
	if (weir_kind_can(kind, WEIR_CAN_ROUTE))
		return ", without its sets: weir route --build makes one with sets";
	if (weir_kind_can(kind, WEIR_CAN_FORGET))
		return ", which forgets no key: a server makes windows";
	return "";
}

/* Return: true if there is an image at @path whose traits the new image must keep. With @force,
 * returns false, since the new image may have any traits. */
static bool inspect_replaced(const char *path, bool force, struct weir_image_info *info)
{
	*info = (struct weir_image_info)WEIR_IMAGE_INFO_INIT;
	return !force && strcmp(path, "-") && image_begins(path) &&
	       weir_image_inspect(weir_location_path(path), info) == 0;
}

int place_keeps_kind(const char *path, uint32_t kind, bool force)
{
	struct weir_image_info info;
	if (!inspect_replaced(path, force, &info) || info.shape.kind == kind)
		return TOOL_OK;
	say("%s: not replaced: is of kind %s, and would be of kind %s%s; give another name, or if "
	    "it is meant, --force",
	    path, weir_kind_name(info.shape.kind), weir_kind_name(kind),
	    lost_of(info.shape.kind));
	return TOOL_NO;
}

uint64_t place_key(const void *secret)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_filter *f;
	params.capacity = 1;
	params.fp_rate = 0.5;
	params.secret = secret;
	if (!secret || weir_create(&f, &params))
		return 0;
	const int err = weir_measure(f, WEIR_SAMPLED, &stats);
	weir_destroy(f);
	return err ? 0 : stats.seed_fingerprint;
}

int place_keeps_key(const char *path, uint64_t key, bool force)
{
	struct weir_image_info info;
	if (!inspect_replaced(path, force, &info) || !info.keyed || info.seed_fingerprint == key)
		return TOOL_OK;
	say("%s: not replaced: is keyed, and would %s: give its key, --keyed-by=FILE, or if it is "
	    "meant, --force",
	    path,
	    key ? "be keyed by another key, which servers that follow it refuse" :
	          "not be, so that others can choose keys that collide");
	return TOOL_NO;
}

const char *place_steps(char text[PLACE_STEPS], uint32_t before, uint32_t now)
{
	char was[NORMAL_STEPS], asked[NORMAL_STEPS];
	normal_options(was, before);
	normal_options(asked, now);
	if (!before)
		snprintf(text, PLACE_STEPS, "without %s", asked);
	else if (!now)
		snprintf(text, PLACE_STEPS, "with %s", was);
	else
		snprintf(text, PLACE_STEPS, "with %s, not with %s", was, asked);
	return text;
}

static int keeps_steps(const char *path, uint32_t steps, bool force)
{
	struct weir_image_info info;
	char how[PLACE_STEPS];
	if (!inspect_replaced(path, force, &info) || info.text.steps == steps)
		return TOOL_OK;
	say("%s: not replaced: the image was built %s, and " STEPS_REFUSED ": give another "
	    "name, or pass --force if you mean it",
	    path, place_steps(how, info.text.steps, steps));
	return TOOL_NO;
}

static bool has_set(const struct place_fresh *fresh, const char *name)
{
	for (uint32_t i = 0; i < fresh->sets; i++)
		if (strcmp(fresh->names[i], name) == 0)
			return true;
	return false;
}

/* Refuses a new router that lacks sets of the old router. The message names the first missing
 * set. */
static int keeps_sets(const char *path, const struct place_fresh *fresh, bool force,
                      const struct image_how *how)
{
	struct weir_image_info info;
	struct weir_filter *old;
	const char *lost = NULL;
	uint32_t n = 0;
	if (!fresh->sets || !inspect_replaced(path, force, &info) || info.shape.kind != WEIR_ROUTER)
		return TOOL_OK;
	if (route_load(&old, path, true, how))
		return TOOL_TROUBLE;
	for (uint32_t i = weir_router_sets(old); i-- > 0;)
		if (!has_set(fresh, weir_router_name(old, i))) {
			lost = weir_router_name(old, i);
			n++;
		}
	if (n)
		say("%s: not replaced: %u of its %u sets would be lost, the first is '%s': name "
		    "all sets, or if it is meant, --force",
		    path, n, weir_router_sets(old), lost);
	weir_destroy(old);
	return n ? TOOL_NO : TOOL_OK;
}

int place_keeps(const char *path, const struct place_fresh *fresh, bool force,
                const struct image_how *how)
{
	int status = place_keeps_kind(path, fresh->kind, force);
	if (!status)
		status = place_keeps_key(path, fresh->key, force);
	if (!status)
		status = keeps_steps(path, fresh->steps, force);
	return status ? status : keeps_sets(path, fresh, force, how);
}

int place_fresh_of(struct place_fresh *out, const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_text text = { 0 };
	int err = weir_measure(f, WEIR_SAMPLED, &stats);
	if (err)
		return trouble_weir(err, NULL);
	weir_text_of(f, &text);
	*out = (struct place_fresh){ .kind = stats.shape.kind, .steps = text.steps };
	if (stats.marks & WEIR_MARK_KEYED)
		out->key = stats.seed_fingerprint;
	if (out->kind == WEIR_ROUTER)
		out->sets = weir_router_sets(f);
	for (uint32_t i = 0; i < out->sets; i++)
		out->names[i] = weir_router_name(f, i);
	return TOOL_OK;
}

int place_check_delta(const char *path, bool force)
{
	struct weir_delta_info info = WEIR_DELTA_INFO_INIT;
	struct stat st;
	if (strcmp(path, "-") == 0)
		return misuse("-o -: the head of a delta is written last: give it a file");
	if (!can_be_made(path))
		return TOOL_TROUBLE;
	if (force || stat(path, &st) || st.st_size == 0 ||
	    weir_delta_inspect(weir_location_path(path), &info) == 0)
		return TOOL_OK;
	say("%s: not replaced: it is neither a delta nor empty: check the path, or move it away",
	    path);
	return TOOL_NO;
}

/* Return: true if @name names the file @file. The name "-" is standard input, as in lines.h. */
static bool reads(const char *name, const struct stat *file)
{
	struct stat st;
	int err = strcmp(name, "-") ? stat(name, &st) : fstat(STDIN_FILENO, &st);
	return !err && is_file(&st, file);
}

int place_is_not_read(const char *path, const struct lines_options *from)
{
	struct stat file;
	const char *name = NULL;
	if (strcmp(path, "-") == 0 || stat(path, &file))
		return TOOL_OK;
	if (!from->n && reads("-", &file))
		name = "-";
	for (size_t i = 0; !name && i < from->n; i++)
		if (reads(from->names[i], &file))
			name = from->names[i];
	if (!name)
		return TOOL_OK;
	say("%s: not replaced: it is %s%s, which the keys are read from: give the image another "
	    "name",
	    path, strcmp(name, "-") ? "the same file as " : "standard input",
	    strcmp(name, "-") ? name : "");
	return TOOL_NO;
}

int place_is_whole(const char *path, uint64_t bytes, const struct image_how *how)
{
	const uint64_t most = 2 * bytes + (1 << 20);
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	if (strcmp(path, "-") == 0 || access(path, F_OK) ||
	    weir_image_inspect(weir_location_path(path), &info) || info.live || info.bytes > most)
		return TOOL_OK;
	int err = image_verify(path, how);
	if (err != -EBADMSG)
		return TOOL_OK;
	say("%s: not replaced: the image that stands there is damaged: %s; look for the cause, or "
	    "if it is meant, --force",
	    path, image_trouble(err, path));
	return TOOL_TROUBLE;
}

bool place_is_one_of(const char *path, char **names, size_t n)
{
	struct stat file;
	bool is = false;
	if (strcmp(path, "-") == 0 || stat(path, &file))
		return false;
	for (size_t i = 0; !is && i < n; i++)
		is = reads(names[i], &file);
	return is;
}

/* Waits for a lock. Reports a wait of over a second. */
static void lock(int fd, int how, const char *path)
{
	for (unsigned tries = 0; flock(fd, how | LOCK_NB); tries++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return;
		if (tries == SILENT_TRIES) {
			say("%s: waits for its turn: another process has locked it, as weir add "
			    "does (lslocks shows which)",
			    path);
			while (flock(fd, how) && errno == EINTR)
				continue;
			return;
		}
		(void)usleep(TRY_US);
	}
}

int place_lock(const char *path, bool shared)
{
	struct stat locked, there;
	for (;;) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return -1;
		lock(fd, shared ? LOCK_SH : LOCK_EX, path);
		if (fstat(fd, &locked) || stat(path, &there) || is_file(&locked, &there))
			return fd;
		close(fd); /* the file was replaced: lock the new file */
	}
}

int place_check_unchanged(const char *path, int locked_fd, const char *lost)
{
	struct stat locked, there;
	if (locked_fd < 0 || fstat(locked_fd, &locked) ||
	    (stat(path, &there) == 0 && is_file(&locked, &there)))
		return TOOL_OK;
	say_gone(path, lost);
	return TOOL_NO;
}
