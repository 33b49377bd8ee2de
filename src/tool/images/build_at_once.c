/* SPDX-License-Identifier: MIT
 * Builds kinds that are built once, from the hashes of all keys. Under a memory limit, the hashes
 * may go to a file. Kind layered also uses the hashes of the exclude list. If different keys of the
 * two lists share a hash by chance, the build runs again with another seed. */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include "build.h"
#include "input/fill.h"
#include "output/progress.h"
#include "output/say.h"

/* ---- find the key of a hash in files, with one thread because this is rare ---- */

/* A hash, and where its key was found. Initialise with { .hash = ... }. */
struct find {
	uint64_t hash;
	char *file; /* name of the file with the key; NULL: the key was not found */
	uint64_t line;
	char *key;
	size_t len;
	char *text; /* the whole line of the key */
	size_t text_len;
};

enum { KEYS = 256 };

struct search {
	const struct fill *fill;
	const struct weir_builder *builder;
	struct lines *lines;
	struct keyer keyer;
	struct find *find;
};

static char *copy_of(const void *bytes, size_t len)
{
	char *copy = xmalloc(len + 1);
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

/* Records where the key was found. Also records the normalised key, since the two lists may spell
 * the same key differently. */
static void found(struct search *s, const struct chunk *chunk, const struct iovec *line,
                  const struct iovec *text)
{
	void *room = xmalloc(WEIR_TEXT_ROOM(text->iov_len));
	struct iovec key = *text;
	(void)!weir_text_key(&s->fill->keying.normal, text->iov_base, text->iov_len, room, &key);
	s->find->file = copy_of(chunk->file, strlen(chunk->file));
	s->find->line = chunk_line(s->lines, chunk, line->iov_base);
	s->find->text = copy_of(line->iov_base, line->iov_len);
	s->find->text_len = line->iov_len;
	s->find->key = copy_of(key.iov_base, key.iov_len);
	s->find->len = key.iov_len;
	free(room);
}

/* Compares the hashes of a line's keys with the wanted hash. Skips a line that cannot be a key. */
static void compare_line(struct search *s, const struct chunk *chunk, struct iovec line)
{
	const char *why;
	const bool keyed = keying_any(&s->fill->keying);
	keyer_clear(&s->keyer);
	if (keyed && !keyer_take(&s->keyer, line, &why))
		return;
	const struct iovec *keys = keyed ? s->keyer.keys : &line;
	for (size_t i = 0; i < (keyed ? s->keyer.n : 1) && !s->find->key; i++)
		if (weir_builder_hash(s->builder, keys[i].iov_base, keys[i].iov_len) ==
		    s->find->hash)
			found(s, chunk, &line, &keys[i]);
}

static int search(struct search *s)
{
	struct chunk chunk = { 0 };
	struct iovec lines[KEYS];
	int got = 0;
	while (!s->find->key && (got = lines_next(s->lines, &chunk)) > 0) {
		size_t at = 0, n;
		keyer_chunk(&s->keyer, &chunk);
		while ((n = chunk_keys(s->lines, &chunk, &at, lines, KEYS)) > 0)
			for (size_t i = 0; i < n && !s->find->key; i++)
				compare_line(s, &chunk, lines[i]);
	}
	chunk_free(&chunk);
	return got < 0 ? -1 : 0;
}

/* Reads the files of @fill until a key has the hash find->hash. @builder: hashes the keys. Return:
 * 0, or -1 after a message. */
static int find_key(const struct fill *fill, const struct weir_builder *builder, struct find *find)
{
	struct lines_options from = fill->from;
	from.numbered = true;
	struct search s = { .fill = fill, .builder = builder, .lines = lines_open(&from),
	                    .find = find };
	/* An exclude list excludes every key that a lookup of one of its texts probes. */
	keyer_begin(&s.keyer, &fill->keying, fill->what == KEYING_EXCLUDE ? KEYING_LOOKUP :
	                                                                     fill->what);
	progress_begin("finding a key of both lists");
	int result = search(&s);
	progress_end();
	keyer_end(&s.keyer);
	lines_close(s.lines);
	return result;
}

static void find_free(struct find *find)
{
	free(find->file);
	free(find->key);
	free(find->text);
}

/* ---- the build ---- */

static const char *temporary_folder(void)
{
	const char *folder = getenv("TMPDIR");
	return folder && *folder ? folder : "/tmp";
}

/* Refuses a kind with an exclude list if --exclude is missing. A job that forgets its list would
 * publish a set that may answer yes for keys of the list. With -k, the user leaves the list out on
 * purpose. */
static int check_list_given(const struct build *build)
{
	if (build->wish.kind_given || !weir_kind_can(build->params.kind, WEIR_CAN_EXCLUDE))
		return TOOL_OK;
	say("%s: is of kind %s, and what it excludes would be answered yes again: --exclude=FILE "
	    "gives the list, -k %s says that there is none",
	    build->like ? build->like : build->output,
	    weir_kind_name(build->params.kind), weir_kind_name(build->params.kind));
	return TOOL_NO;
}

static bool reads_input(const struct lines_options *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (strcmp(from->names[i], "-") == 0)
			return true;
	return false;
}

/* A set with WEIR_TEXT_CLOSED accepts only keys of the prefix lengths or numbers of labels that
 * were known when the set was made. */
bool build_lookups_unknown(const struct build *build)
{
	const bool closed = build->fill.keying.normal.steps & WEIR_TEXT_CLOSED;
	return keying_probes_several(&build->fill.keying) &&
	       (build->params.fp_rate != 0.0 || closed);
}

int build_excludes(struct build *build)
{
	const struct lines_options list = build->exclude.from;
	if (!list.n)
		return check_list_given(build);
	if (reads_input(&list) && (!build->fill.from.n || reads_input(&build->fill.from)))
		return misuse("--exclude -: the keys are read from standard input, so nothing is "
		              "left there for the list");
	if (!weir_kind_can(build->params.kind, WEIR_CAN_EXCLUDE))
		return misuse("--exclude %s: kind %s has no exclude list", list.names[0],
		              weir_kind_name(build->params.kind));
	build->exclude = build->fill;
	build->exclude.what = KEYING_EXCLUDE;
	build->exclude.from.names = list.names;
	build->exclude.from.n = list.n;
	const int64_t bytes = lines_total_bytes(&build->exclude.from);
	if (bytes < 0)
		return TOOL_TROUBLE;
	build->exclude.bytes = (uint64_t)bytes;
	build->exclude_found.hinted = true;
	fill_prepare(&build->exclude, &build->exclude_found);
	return TOOL_OK;
}

/* Return: the folder for hashes that do not fit in memory, or NULL if the hashes must fit. They
 * must fit if the limit is the memory of the machine. Under the limit of a control group, a folder
 * in a memory file system does not help, because the group counts its files. */
static const char *spill_folder(const struct build *build)
{
	const char *folder = temporary_folder();
	struct statfs fs;
	if (build->limit == BY_OPTION)
		return folder;
	return build->limit == BY_GROUP && statfs(folder, &fs) == 0 &&
	       fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC ? folder : NULL;
}

static int new_builder(struct build *build, uint64_t kept, struct weir_builder **out)
{
	struct weir_builder_options options = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_params params;
	int status = build_share(build, kept, &options, &params);
	if (status)
		return status;
	options.threads = build->fill.threads;
	options.progress = progress_reported;
	options.spill_folder = spill_folder(build);
	while (build->params.seed == 0 && !build->params.secret)
		if (getrandom(&build->params.seed, sizeof build->params.seed, 0) < 0)
			return trouble("no random numbers for a seed: %s", weir_strerror(errno));
	params.seed = build->params.seed;
	return weir_builder_create(out, &params, &options) ? trouble_refused() : TOOL_OK;
}

/* Refuses the exclude list if it has no keys at all, or if one of its files has no keys. If the
 * list is empty by mistake, the set may answer yes for every key that should be excluded. @keys:
 * number of keys that a pass found in the list. */
static int check_list(const struct build *build, uint64_t keys)
{
	static const char so[] = "excludes the keys of the other lists";
	const struct fill_found *found = &build->exclude_found;
	return keys ? guard_keyless(&build->guard, &found->keyless, so) :
	              guard_empty(&build->guard, &build->exclude.from, found->bad,
	                          "excludes nothing");
}

/* Reads the exclude list. Call after all keys were added. */
static int exclude(struct build *build, struct weir_builder *builder)
{
	uint64_t keys;
	if (!build->exclude.from.n)
		return TOOL_OK;
	progress_begin("first level");
	int err = weir_builder_seal(builder);
	progress_end();
	if (err)
		return build_refused(build);
	build->exclude.keying.normal = build->found.noted;
	if (fill_exclude(&build->exclude, builder, &keys))
		return TOOL_TROUBLE;
	return check_list(build, keys);
}

static int include(struct build *build, struct spool *spool, struct weir_builder *builder)
{
	int err;
	if (spool->first) {
		build->keys = spool->keys;
		err = fill_gather_spool(&build->fill, spool, builder);
	} else {
		err = fill_gather(&build->fill, builder, &build->keys);
	}
	return err ? TOOL_TROUBLE : TOOL_OK;
}

/* Return: true if there are more different keys than -n allows. A full disk has the same errno, so
 * the function also checks the code of the library's error. */
static bool too_many(int err)
{
	struct weir_error_info info = WEIR_ERROR_INFO_INIT;
	weir_error_last(&info);
	return err == -ENOSPC && info.code == WEIR_ERROR_MORE_KEYS;
}

/* Builds with the current seed. @both: set to true if a key of the set and a key of the exclude
 * list have the same hash, built.equal_hash. Then no filter is built. */
static int try(struct build *build, struct spool *spool, struct weir_builder *builder, bool *both)
{
	*both = false;
	int status = include(build, spool, builder);
	if (status)
		return status;
	status = exclude(build, builder);
	if (status)
		return status;
	build->built = (struct weir_build_report)WEIR_BUILD_REPORT_INIT;
	progress_begin("building");
	int err = weir_builder_finish(&build->filter, builder, &build->built);
	progress_end();
	*both = err == -EEXIST;
	if (!err || *both)
		return TOOL_OK;
	(void)build_refused(build);
	return too_many(err) ? TOOL_NO : TOOL_TROUBLE;
}

static bool read_again(const struct build *build)
{
	return build->fill.bytes && build->exclude.bytes;
}

static int one_hash(const struct find *in, const struct find *ex)
{
	say("%s:%llu '%.*s' and %s:%llu '%.*s' have one hash by chance, so that no "
	    "lookup can tell them apart: leave out -s, or give --new-seed or another key",
	    in->file, (unsigned long long)in->line, (int)in->len, in->key, ex->file,
	    (unsigned long long)ex->line, (int)ex->len, ex->key);
	return TOOL_NO;
}

/* Reports an included prefix or domain that the lookup of an excluded text probes. */
static int covered(const struct build *build, const struct find *in, const struct find *ex)
{
	say("%s:%llu '%.*s' covers what %s:%llu excludes, '%.*s': leave one of them out%s",
	    in->file, (unsigned long long)in->line, (int)in->text_len, in->text, ex->file,
	    (unsigned long long)ex->line, (int)ex->text_len, ex->text,
	    build->built.equal > 1 ? "; there are more" : "");
	return TOOL_NO;
}

static int in_both(const struct build *build, const struct find *in, const struct find *ex)
{
	say("%s:%llu '%.*s' is excluded by %s:%llu: a key can be in one of the lists only%s",
	    in->file, (unsigned long long)in->line, (int)in->len, in->key, ex->file,
	    (unsigned long long)ex->line, build->built.equal > 1 ? "; more are in both" : "");
	return TOOL_NO;
}

/* Finds the two keys with an equal hash. Return: TOOL_OK if the keys differ and another seed may
 * help, else another status after a message. */
static int explain(const struct build *build, const struct weir_builder *builder, bool may_change)
{
	const uint64_t hash = build->built.equal_hash;
	struct find in = { .hash = hash }, ex = { .hash = hash };
	int status = TOOL_TROUBLE;
	if (!read_again(build))
		return trouble("a key is in both lists, or two keys have one hash by chance; a "
		               "pipe cannot be read again to find out: give files, or try again");
	if (find_key(&build->fill, builder, &in) || find_key(&build->exclude, builder, &ex))
		status = TOOL_TROUBLE; /* find_key() has printed a message */
	else if (!in.key || !ex.key)
		trouble("the files have changed while they were read");
	else if (in.len != ex.len || memcmp(in.key, ex.key, in.len) != 0)
		status = may_change ? TOOL_OK : one_hash(&in, &ex);
	else
		status = (keying_probes_several(&build->fill.keying) ? covered : in_both)(
			build, &in, &ex);
	find_free(&in);
	find_free(&ex);
	return status;
}

/* Counts the keys of the exclude list, since their number determines the width of the
 * fingerprints. */
static int count_excluded(struct build *build)
{
	build->exclude.keying.normal = build->found.noted;
	if (!build->exclude.from.n || build->params.layered.exclude_keys || !build->exclude.bytes)
		return TOOL_OK;
	if (fill_count(&build->exclude, &build->params.layered.exclude_keys))
		return TOOL_TROUBLE;
	return check_list(build, build->params.layered.exclude_keys);
}

/* Finds the number of lookups per answer, if the asked rate or the exclude list depends on it.
 * Reads files in an extra pass, and keeps the texts of a pipe in a spool. */
static int find_lookups(struct build *build, struct spool *spool)
{
	uint64_t keys;
	if (!build_lookups_unknown(build) &&
	    !(keying_probes_several(&build->fill.keying) && build->exclude.from.n))
		return TOOL_OK;
	if (build->fill.bytes ? fill_count(&build->fill, &keys) :
	                        fill_spool(&build->fill, &build->params, spool))
		return TOOL_TROUBLE;
	build->params.text = build->found.noted;
	if (build->params.fp_rate != 0.0)
		build->params.fp_rate = model_rate(&build->model, &build->found.noted,
		                                   build->params.fp_rate);
	return TOOL_OK;
}

static int try_seeds(struct build *build, struct spool *spool)
{
	const bool may_change = build->params.seed == 0 && !build->params.secret;
	bool both = true;
	int status = find_lookups(build, spool);
	if (!status)
		status = count_excluded(build);
	while (!status && both) {
		struct weir_builder *builder = NULL;
		status = new_builder(build, spool->bytes, &builder);
		if (!status)
			status = try(build, spool, builder, &both);
		if (!status && both) {
			status = explain(build, builder, may_change);
			build->params.seed = may_change ? 0 : build->params.seed;
		}
		weir_builder_destroy(builder);
	}
	return status;
}

int build_at_once(struct build *build)
{
	struct spool spool = build_spool(build);
	int status = try_seeds(build, &spool);
	spool_free(&spool);
	return status;
}
