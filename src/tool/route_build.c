/* SPDX-License-Identifier: MIT
 * weir route --build: a router of the lines of files, a set a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "images.h"
#include "place.h"
#include "report.h"
#include "route.h"
#include "say.h"
#include "show.h"
#include "tool.h"

enum { KEYS = 512 }; /* of one call */

/* NAME=FILE; a FILE alone has its own name for one. */
static bool take_set(char *argument, const char **name, char **file)
{
	char *sign = strchr(argument, '=');
	*name = argument;
	*file = sign ? sign + 1 : argument;
	if (sign)
		*sign = 0;
	if (!sign || (*argument && **file))
		return true;
	say("'%s=%s': NAME=FILE, or FILE alone", argument, *file);
	return false;
}

typedef bool take_fn(void *arg, const struct iovec *keys, size_t n);

/* Hand over the lines of a file, unless @take is NULL; how many there were through @keys. Return:
 * TOOL_OK, or TOOL_TROUBLE after a message. */
static int each_line(const struct route_build *b, char *file, take_fn *take, void *arg,
                     uint64_t *keys)
{
	*keys = 0;
	struct lines_options from = b->from;
	struct chunk chunk = { 0 };
	struct iovec some[KEYS];
	int more;
	bool ok = true;
	from.names = &file;
	from.n = 1;
	struct lines *lines = lines_open(&from);
	while (ok && (more = lines_next(lines, &chunk)) > 0) {
		size_t at = 0, n;
		for (; ok && (n = chunk_keys(lines, &chunk, &at, some, KEYS)) > 0; *keys += n)
			ok = !take || take(arg, some, n);
	}
	chunk_free(&chunk);
	lines_close(lines);
	return ok && !more ? TOOL_OK : TOOL_TROUBLE;
}

static int ask_keys(const struct route_build *b, char *file, uint64_t keys)
{
	const struct lines_options from = { .names = &file, .n = 1 };
	return keys ? TOOL_OK : guard_empty(&b->guard, &from, 0, "makes it an empty set");
}

/* A pipe that is read twice is empty the second time. */
static int ask_regular(char *file)
{
	struct stat st;
	if (stat(file, &st))
		return trouble_unopened(errno, file, SAY_KEYS);
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) /* reading a folder says what it is */
		return TOOL_OK;
	return trouble("%s: is not a regular file, and is to be read twice: give the number of its "
	               "keys with -n, or save it to a file first", file);
}

/* The size of each set is that of the lines that its file has. */
static int count_files(const struct route_build *b, char **files, size_t n, uint64_t *lines)
{
	int status = TOOL_OK;
	for (size_t i = 0; !status && i < n; i++) {
		status = ask_regular(files[i]);
		if (!status)
			status = each_line(b, files[i], NULL, NULL, &lines[i]);
		if (!status)
			status = ask_keys(b, files[i], lines[i]);
	}
	return status;
}

struct filling {
	struct weir_router *router;
	uint32_t set;
};

static bool insert_lines(void *arg, const struct iovec *keys, size_t n)
{
	const struct filling *f = arg;
	int64_t new = weir_router_insert_keys(f->router, f->set, weir_keys_iov(keys, n), NULL);
	if (new < 0)
		say_weir((int)new, NULL);
	return new >= 0;
}

static void report(const struct route_build *b, const struct weir_router *r)
{
	struct weir_router_stats s = WEIR_ROUTER_STATS_INIT;
	if (b->quiet || weir_router_stats(r, &s))
		return;
	struct report report = report_new();
	report_text(&report, "image", "image", b->output);
	route_report(&report, &s);
	report_print(&report, b->as_json, strcmp(b->output, "-") ? stdout : stderr);
	report_free(&report);
}

static int save_router(const void *r, const char *path, const struct weir_save_options *options)
{
	return path ? weir_router_save(r, path, options) :
	              weir_router_save_fd(r, STDOUT_FILENO, options);
}

static int save(const struct route_build *b, const struct weir_router *r)
{
	int status = place_ask(b->output, b->force); /* by now a link may lead elsewhere */
	if (!status)
		status = saving_run(save_router, r, b->output, &b->saving);
	if (!status)
		report(b, r);
	return status;
}

/* @counted: the lines of each file, or NULL where they were not. */
static int fill_set(const struct route_build *b, char *file, const uint64_t *counted,
                    struct filling *f)
{
	uint64_t keys;
	int status = each_line(b, file, insert_lines, f, &keys);
	if (!status && !counted)
		status = ask_keys(b, file, keys);
	if (status || !counted || keys == *counted)
		return status;
	return trouble("%s: changed while it was read: it had %s lines, then %s: build again", file,
	               show_count(SHOW, *counted), show_count(SHOW, keys));
}

static int fill(const struct route_build *b, const struct weir_router_options *o, char **files,
                const uint64_t *counted)
{
	struct weir_router *r = NULL;
	int err = weir_router_create(&r, o);
	if (err)
		return trouble_weir(err, NULL);
	int status = TOOL_OK;
	for (uint32_t set = 0; !status && set < o->sets; set++)
		status = fill_set(b, files[set], counted ? &counted[set] : NULL,
		                  &(struct filling){ r, set });
	if (!status)
		status = save(b, r);
	weir_router_destroy(r);
	return status;
}

/* May the image be saved there? Not over a file of keys, nor over an image of another kind. */
static int ask_place(const struct route_build *b, const struct lines_options *read)
{
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	int status = place_ask(b->output, b->force);
	if (!status)
		status = place_is_not_read(b->output, read);
	if (status || b->force || strcmp(b->output, "-") == 0 ||
	    weir_image_info(b->output, &info) || info.shape.kind == WEIR_ROUTER)
		return status;
	say("%s: not replaced: is of kind %s, and would be a router: give another name, or if it "
	    "is meant, --force", b->output, weir_kind_name(info.shape.kind));
	return TOOL_NO;
}

/* TOOL_OK, or what ends it after a message. */
static int take_sets(const struct route_build *b, char **arguments, size_t n, const char **names,
                     char **files)
{
	struct lines_options read = { .names = files, .n = n };
	if (!n || n > WEIR_ROUTER_SETS)
		return misuse("%zu sets: 1 to %d, NAME=FILE each", n, WEIR_ROUTER_SETS);
	for (size_t i = 0; i < n; i++) {
		if (!take_set(arguments[i], &names[i], &files[i]))
			return misuse_reported();
		if (strcmp(files[i], "-") == 0)
			return misuse("'-': files are read twice, so they are no standard input");
	}
	return ask_place(b, &read);
}

/* Each file is read twice: its lines are counted first, which sizes the router. */
int route_build(struct route_build *b, char **arguments, size_t n)
{
	const char *names[WEIR_ROUTER_SETS];
	char *files[WEIR_ROUTER_SETS];
	uint64_t lines[WEIR_ROUTER_SETS] = { 0 }, room[WEIR_ROUTER_SETS];
	struct weir_router_options o = b->options;
	int status = take_sets(b, arguments, n, names, files);
	o.sets = (uint32_t)n;
	o.names = names;
	if (status || o.capacity)
		return status ? status : fill(b, &o, files, NULL);
	status = count_files(b, files, n, lines);
	if (status)
		return status;
	memcpy(room, lines, sizeof room);
	room[0] += room[0] == 0; /* where all files are empty */
	o.keys = room;
	return fill(b, &o, files, lines);
}
