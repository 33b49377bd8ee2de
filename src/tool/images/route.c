/* SPDX-License-Identifier: MIT
 * weir route --build makes a router of the lines of files, one set per file. weir plan --sets
 * prints the memory and the rates of a router. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "compound.h"
#include "images.h"
#include "input/file.h"
#include "input/keying.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"
#include "saving.h"
#include "shape.h"

enum { KEYS = 512 }; /* largest number of keys in one call of the library */

/* Splits NAME=FILE. An argument without = is both name and file. */
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

/* Passes the lines of a file to @take, unless @take is NULL. @keys: receives the number of lines.
 * Return: TOOL_OK, or TOOL_TROUBLE after a message. */
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
	const int64_t bytes = lines_total_bytes(&from);
	if (bytes < 0)
		return TOOL_TROUBLE;
	struct lines *lines = lines_open(&from);
	progress_begin(take ? "building" : "counting");
	while (ok && (more = lines_next(lines, &chunk)) > 0) {
		size_t at = 0, n;
		if (take && chunk.first && !b->quiet)
			hint_rows(lines, &chunk);
		for (; ok && (n = chunk_keys(lines, &chunk, &at, some, KEYS)) > 0; *keys += n)
			ok = !take || take(arg, some, n);
		progress_at(bytes ? (double)lines_done_bytes(lines) / (double)bytes : -1.0, *keys);
	}
	progress_end();
	chunk_free(&chunk);
	if (take)
		lines_say_marked(lines_marked(lines));
	lines_close(lines);
	return ok && !more ? TOOL_OK : TOOL_TROUBLE;
}

static int check_keys(const struct route_build *b, char *file, uint64_t keys)
{
	const struct lines_options from = { .names = &file, .n = 1 };
	return keys ? TOOL_OK : guard_empty(&b->guard, &from, 0, "makes it an empty set");
}

/* Refuses a pipe, which would be empty when it is read the second time. */
static int check_regular(char *file)
{
	struct stat st;
	if (stat(file, &st))
		return trouble_unopened(errno, file, SAY_KEYS);
	/* reading a folder fails with a clear message */
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return TOOL_OK;
	return trouble("%s: is not a regular file, and is to be read twice: give the number of its "
	               "keys with -n, or save it to a file first", file);
}

/* Counts the lines of each file, for params.router.keys. */
static int count_files(const struct route_build *b, char **files, size_t n, uint64_t *lines)
{
	int status = TOOL_OK;
	for (size_t i = 0; !status && i < n; i++) {
		status = check_regular(files[i]);
		if (!status)
			status = each_line(b, files[i], NULL, NULL, &lines[i]);
		if (!status)
			status = check_keys(b, files[i], lines[i]);
	}
	return status;
}

struct filling {
	struct weir_filter *router;
	uint32_t set;
};

static bool insert_lines(void *arg, const struct iovec *keys, size_t n)
{
	const struct filling *f = arg;
	int64_t new = weir_insert_into_keys(f->router, f->set, weir_keys_iov(keys, n), NULL);
	if (new < 0)
		say_weir((int)new, NULL);
	return new >= 0;
}

static void report(const struct route_build *b, const struct weir_filter *r)
{
	if (b->quiet)
		return;
	struct report report = report_new();
	report_text(&report, "image", "image", b->output);
	if (route_report(&report, r) == 0)
		report_print(&report, b->as_json, strcmp(b->output, "-") ? stdout : stderr);
	report_free(&report);
}

static int save(struct route_build *b, const struct weir_filter *r)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	int err = weir_measure(r, WEIR_EXACT, &stats);
	int status = err ? trouble_weir(err, NULL) : guard_check(&b->guard, &stats, b->output);
	b->saving.marks = guard_marks(&b->guard) & ~(uint32_t)WEIR_MARK_OVERFULL_ALLOWED;
	if (!status)
		status = image_save_anew(r, b->output, b->force, &b->saving);
	if (!status)
		report(b, r);
	return status;
}

/* Inserts the lines of a file into a set. @counted: the number of lines in the first pass; NULL:
 * there was no first pass. */
static int fill_set(const struct route_build *b, char *file, const uint64_t *counted,
                    struct filling *f)
{
	uint64_t keys;
	int status = each_line(b, file, insert_lines, f, &keys);
	if (!status && !counted)
		status = check_keys(b, file, keys);
	if (status || !counted || keys == *counted)
		return status;
	return trouble("%s: changed while it was read: it had %s lines, then %s: build again", file,
	               show_count(SHOW, *counted), show_count(SHOW, keys));
}

static int fill(struct route_build *b, const struct weir_params *p, char **files,
                const uint64_t *counted)
{
	struct weir_filter *r = NULL;
	int err = weir_create(&r, p);
	if (err)
		return trouble_refused();
	int status = TOOL_OK;
	for (uint32_t set = 0; !status && set < p->router.sets; set++)
		status = fill_set(b, files[set], counted ? &counted[set] : NULL,
		                  &(struct filling){ r, set });
	if (!status)
		status = save(b, r);
	weir_destroy(r);
	return status;
}

/* Checks that the image may be saved. Refuses a file that keys are read from, and an image with
 * sets that the new router lacks. */
static int check_output(struct route_build *b, const struct lines_options *read, const char **names)
{
	const struct image_how how = { .max_memory = b->guard.max_memory };
	struct place_fresh fresh = { .kind = WEIR_ROUTER, .key = place_key(b->params.secret),
	                             .sets = (uint32_t)read->n };
	memcpy(fresh.names, names, read->n * sizeof *names);
	int status = place_check(b->output, b->force, &b->saving);
	if (!status)
		status = place_is_not_read(b->output, read);
	return status ? status : place_keeps(b->output, &fresh, b->force, &how);
}

/* Parses the arguments, and checks the output path. Return: TOOL_OK, or the exit status after a
 * message. */
static int take_sets(struct route_build *b, char **arguments, size_t n, const char **names,
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
	return check_output(b, &read, names);
}

/* Reads each file twice, unless -n is given. The first pass counts the lines, to size the
 * router. */
int route_build(struct route_build *b, char **arguments, size_t n)
{
	const char *names[WEIR_ROUTER_SETS];
	char *files[WEIR_ROUTER_SETS];
	uint64_t lines[WEIR_ROUTER_SETS] = { 0 }, room[WEIR_ROUTER_SETS];
	struct weir_params p = b->params;
	int status = take_sets(b, arguments, n, names, files);
	p.kind = WEIR_ROUTER;
	p.router.sets = (uint32_t)n;
	p.router.names = names;
	if (status || p.capacity)
		return status ? status : fill(b, &p, files, NULL);
	status = count_files(b, files, n, lines);
	if (status)
		return status;
	memcpy(room, lines, sizeof room);
	room[0] += room[0] == 0; /* the capacity must not be 0 if all files are empty */
	p.router.keys = room;
	return fill(b, &p, files, lines);
}

/* ---- the cost of a router ---- */

/* Parses numbers of keys with commas between them. Return: their count; 0 after a message. */
static uint32_t parse_list(const char *text, uint64_t out[WEIR_ROUTER_SETS])
{
	char copy[2048];
	uint32_t n = 0;
	if (strlen(text) >= sizeof copy) {
		say("--keys: %zu characters: too many", strlen(text));
		return 0;
	}
	strcpy(copy, text);
	for (char *at = copy, *next; at; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = 0;
		if (n == WEIR_ROUTER_SETS) {
			say("--keys: more than %d numbers", WEIR_ROUTER_SETS);
			return 0;
		}
		if (!parse_keys("--keys", at, &out[n++]))
			return 0;
	}
	return n;
}

static void report_plan(const struct weir_plan *p, bool as_json)
{
	struct report r = report_new();
	report_count(&r, "sets", "sets", shape_number(&p->shape, "sets"));
	report_count(&r, "columns", "columns", shape_number(&p->shape, "columns"));
	report_count(&r, "rows_per_key", "rows of a key", shape_number(&p->shape, "rows_per_key"));
	report_count(&r, "capacity", "keys of each set", p->capacity);
	report_bytes(&r, "bytes", "memory", p->bytes);
	report_bytes(&r, "bytes_wasted", "of that wasted",
	             p->router.bytes_wasted > 0 ? (uint64_t)p->router.bytes_wasted : 0);
	report_real(&r, "bits_per_key", "bits a key and set",
	            p->bits_per_key / shape_number(&p->shape, "columns"));
	report_rate(&r, "fp_rate", "rate of a full set", p->fp_rate);
	report_real(&r, "false_sets", "false sets a lookup", p->router.false_sets);
	report_print(&r, as_json, stdout);
	report_free(&r);
}

int route_plan(struct weir_params *p, const char *keys, bool as_json)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	uint64_t each[WEIR_ROUTER_SETS];
	uint32_t n = keys ? parse_list(keys, each) : 0;
	if (keys && !n)
		return misuse_reported();
	if (n == 1)
		p->capacity = each[0];
	else if (n && n != p->router.sets)
		return misuse("--keys=%s: %u numbers for %u sets", keys, n, p->router.sets);
	else if (n)
		p->router.keys = each;
	int err = weir_plan_make(p, &plan);
	if (err)
		return trouble_refused();
	report_plan(&plan, as_json);
	return TOOL_OK;
}
