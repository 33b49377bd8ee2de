/* SPDX-License-Identifier: MIT
 * weir apply: makes a new image from an old image and deltas. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <weir/weir.h>
#include "commands.h"
#include "images/delta.h"
#include "images/guard.h"
#include "images/images.h"
#include "images/saving.h"
#include "input/file.h"
#include "output/progress.h"
#include "output/say.h"
#include "output/units.h"

static const char help[] =
	"Usage: weir apply [OPTION]... -o NEW OLD DELTA...\n"
	"Make the new image of the old one and what weir delta saved; of several deltas\n"
	"each goes on where the one before ended. NEW is byte for byte the image that\n"
	"the last delta was made to, as a plain one. It is checked before it is saved.\n"
	"\n"
	"  -o, --output=NEW  the image to write; may be OLD\n"
	"      --max-memory=SIZE  of both images; default: half of the memory that is\n"
	"                    available\n"
	"      --mode=OCTAL  permissions of the file, as of weir build\n"
	"      --allow-shrink  as of weir build\n"
	"      --force       replace a file that is no image, or one of another kind, key\n"
	"                    or sets, or to whose keys something else is done\n"
	"      --json        print the result as JSON\n"
	"      --no-progress  no progress line on a terminal\n"
	"  -q, --quiet       no progress line, no report\n"
	"  -h, --help        this text\n"
	"\n"
	"Exit status: 0 done, 1 refused and nothing written, 2 an error.\n";

enum { ALLOW_SHRINK = 256, LINE = 64, PADDING = 4 << 20 };

static const struct option options[] = {
	{ "allow-shrink", no_argument, NULL, ALLOW_SHRINK },
	DELTA_OPTIONS,
	{ 0 },
};

struct apply {
	struct delta_how how;
	char *old_image;
	char **deltas;
	size_t n;
	bool allow_shrink;
	struct weir_location made; /* the new image in memory */
	struct weir_image_info info;
};

static int64_t save(const void *what, struct weir_location to, const struct weir_save_options *file)
{
	const struct apply *a = what;
	struct weir_load_options reading = WEIR_LOAD_OPTIONS_INIT;
	reading.progress = file->progress;
	return weir_image_copy(to, a->made, &reading, file);
}

static int report(const struct apply *a)
{
	struct report r = report_new();
	report_text(&r, "output", NULL, a->how.output);
	report_count(&r, "deltas", "deltas", a->n);
	report_count(&r, "generation", "generation", a->info.generation);
	report_bytes(&r, "file_bytes", "file", a->made.bytes);
	delta_put(&r, &a->how);
	return TOOL_OK;
}

static bool is_regular(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Return: true if all files are regular. The library returns -EINVAL both for a file that is not
 * regular and for a delta that was made from another image, so -EINVAL alone does not tell the two
 * apart. */
static bool all_read(const struct apply *a)
{
	bool all = is_regular(a->old_image);
	for (size_t i = 0; all && i < a->n; i++)
		all = is_regular(a->deltas[i]);
	return all;
}

/* Reports @err for the delta whose name the library's message begins with. If the message
 * begins with no delta's name, reports @err for the old image. Return: TOOL_TROUBLE. */
static int failed(const struct apply *a, int err)
{
	for (size_t i = 0; i < a->n; i++)
		if (detail_without(a->deltas[i]) != weir_error_detail())
			return trouble_delta(err, a->deltas[i]);
	return trouble_weir(err, a->old_image);
}

/* Makes the new image in memory. Each file is read once, so the bytes saved are exactly the bytes
 * checked, even if the files change in between. */
static int make(struct apply *a)
{
	struct weir_load_options reading = WEIR_LOAD_OPTIONS_INIT;
	struct weir_delta_info last = WEIR_DELTA_INFO_INIT;
	const char *name = a->deltas[a->n - 1];
	int err = weir_delta_inspect(weir_location_path(name), &last);
	if (err)
		return trouble_delta(err, name);
	reading.max_bytes = delta_most_bytes(&a->how);
	reading.progress = progress_reported;
	size_t bytes = last.new_bytes;
	void *room = NULL;
	if (bytes / 2 > reading.max_bytes + PADDING) /* weir_image_copy() will refuse the size */
		bytes = PADDING;
	if (posix_memalign(&room, LINE, bytes))
		return trouble("%s: no memory for the %s of the image that it makes", name,
		               show_bytes(SHOW, bytes));
	progress_begin("reading");
	const int64_t made = weir_image_copy(
		weir_location_room(room, bytes),
		weir_location_chain(a->old_image, (const char *const *)a->deltas, a->n), &reading,
		NULL);
	progress_end();
	a->made = weir_location_memory(room, made < 0 ? 0 : (size_t)made);
	err = made < 0 ? (int)made : weir_image_inspect(a->made, &a->info);
	if (!err)
		return TOOL_OK;
	(void)failed(a, err);
	/* If all files are regular, -EINVAL means that a delta was made from another image. */
	return err == -EINVAL && all_read(a) ? TOOL_NO : TOOL_TROUBLE;
}

/* Refuses an image that has shrunk, unless --allow-shrink or WEIR_MARK_SHRINK_ALLOWED in the new
 * image allows the shrink. */
static int check_shrunk(const struct apply *a)
{
	const struct guard guard = {
		.allow_overfull = true,
		.allow_shrink = a->allow_shrink || a->info.marks & WEIR_MARK_SHRINK_ALLOWED,
		.max_memory = delta_most_bytes(&a->how),
	};
	struct weir_stats stats = WEIR_STATS_INIT;
	if (guard.allow_shrink)
		return TOOL_OK;
	int err = weir_image_measure(a->made, WEIR_EXACT, NULL, &stats);
	return err ? trouble_weir(err, NULL) : guard_check(&guard, &stats, a->how.output);
}

/* Checks that the new image keeps the traits of the image that it replaces. Loads the new image if
 * it is a router, because the names of its sets are known only after a load. */
static int check_traits(const struct apply *a)
{
	const struct image_how how = { .max_memory = delta_most_bytes(&a->how) };
	struct weir_load_options reading = WEIR_LOAD_OPTIONS_INIT;
	struct place_fresh fresh = { .kind = a->info.shape.kind, .steps = a->info.text.steps };
	struct weir_filter *f = NULL;
	int status = TOOL_OK;
	reading.keyless = true;
	if (fresh.kind == WEIR_ROUTER) {
		int err = weir_load(&f, a->made, &reading);
		status = err ? trouble_weir(err, NULL) : place_fresh_of(&fresh, f);
	}
	fresh.key = a->info.keyed ? a->info.seed_fingerprint : 0;
	if (!status)
		status = place_keeps(a->how.output, &fresh, a->how.force, &how);
	weir_destroy(f);
	return status;
}

/* Checks that the new image may replace an image at the output path. */
static int check_image(const struct apply *a)
{
	if (!image_begins(a->how.output))
		return TOOL_OK;
	int status = check_traits(a);
	return status ? status : check_shrunk(a);
}

static int run(struct apply *a)
{
	const bool changes = place_is_one_of(a->how.output, &a->old_image, 1);
	int status = place_check(a->how.output, a->how.force && !changes, &a->how.saving);
	if (!status && place_is_one_of(a->how.output, a->deltas, a->n))
		status = trouble("%s: is one of the deltas: give the image another name",
		                 a->how.output);
	if (!status && !is_there(a->old_image, SAY_IMAGE))
		status = TOOL_TROUBLE;
	for (size_t i = 0; !status && i < a->n; i++)
		status = is_there(a->deltas[i], SAY_DELTA) ? TOOL_OK : TOOL_TROUBLE;
	if (!status)
		status = make(a);
	if (!status)
		status = check_image(a);
	if (status)
		return status;
	int err = -EAGAIN;
	if (changes)
		err = saving_try(save, a, a->how.output, &a->how.saving);
	else
		status = saving_anew(save, a, a->how.output, a->how.force, &a->how.saving, &err);
	if (status)
		return status;
	if (!err)
		return report(a);
	say_weir(err, NULL); /* the message names the path */
	return saving_refused(err) ? TOOL_NO : TOOL_TROUBLE;
}

int cmd_apply(int argc, char **argv)
{
	struct apply a = { .how.max_memory = image_max_memory(), .info = WEIR_IMAGE_INFO_INIT };
	for (int option; (option = option_next(argc, argv, "o:qh", options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (option == ALLOW_SHRINK)
			a.allow_shrink = true;
		else if (!delta_option(option, &a.how))
			return misuse_reported();
	}
	int status = delta_named(&a.how, "NEW is missing: where to save the image", argv + optind,
	                         argc - optind);
	if (!status && !image_named(a.how.output))
		status = misuse("-o -: the image is written to a file");
	if (!status && argc - optind < 2)
		status = misuse("an image and at least one delta are needed");
	if (status)
		return status;
	a.old_image = argv[optind];
	a.deltas = argv + optind + 1;
	a.n = (size_t)(argc - optind - 1);
	status = run(&a);
	free((void *)(uintptr_t)a.made.memory);
	return status;
}
