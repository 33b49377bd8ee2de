/* SPDX-License-Identifier: MIT
 * weir route: prints the sets that may have each line, or builds the image of a router. */
#include <stdio.h>
#include <weir/weir.h>
#include "commands.h"
#include "images/compound.h"
#include "images/images.h"
#include "input/file.h"
#include "input/keying.h"
#include "output/progress.h"
#include "output/say.h"
#include "output/units.h"

static const char help[] =
	"Usage: weir route [OPTION]... IMAGE [FILE|-]...\n"
	"  or:  weir route --build [OPTION]... -o IMAGE NAME=FILE...\n"
	"Print each line of the FILEs, or of standard input, and behind tabs the names of\n"
	"the sets that may have it. Files in gzip, zstd, xz or bzip2 format are\n"
	"decompressed.\n"
	"\n"
	"      --json          an array with an object a line: key, sets\n"
	"With --build up to 64 sets are made, each of the lines of one FILE:\n"
	"  -o, --output=IMAGE  where it is saved (- for standard output); replaced as a\n"
	"                      whole or not at all\n"
	"  -p, --rate=RATE     false positives of each set: 1% by default\n"
	"  -n, --keys=N        room of each set; default: the lines of the longest FILE,\n"
	"                      which is why each is read twice\n"
	"  -s, --seed=N        of the hash; default: random\n"
	"      --mode=OCTAL    permissions of the image\n"
	"      --zstd[=LEVEL]  compress the image, 1 to 19, default 3\n"
	"      --allow-empty   a FILE may have no keys; without this it is refused\n"
	"      --allow-shrink  as of weir build\n"
	"      --force         replace a file that is neither empty nor a whole router,\n"
	"                      or one with a key or sets that the new one lacks;\n"
	"                      without this it is refused\n"
	"  -q, --quiet         no report\n"
	"Of both:\n"
	"  -0, --null          lines end with a NUL byte instead of a newline, in the\n"
	"                      output too\n"
	"      --skip-empty    pass over empty lines\n"
	"      --as-is         take the bytes as they are, whatever they look like\n"
	"      --keyed-by=FILE  the key of a keyed image\n"
	"      --max-memory=SIZE  of the image; default: half of the memory that is\n"
	"                      available\n"
	"      --no-progress   no progress line on a terminal\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit status: 0 a line has a set, or the image was built; 1 none has, or what\n"
	"stands there is not to be replaced; 2 an error.\n";

enum { JSON = 256, BUILD, MODE, ZSTD, FORCE, ALLOW_EMPTY, ALLOW_SHRINK };

static const struct option options[] = {
	{ "json", no_argument, NULL, JSON },
	{ "build", no_argument, NULL, BUILD },
	{ "output", required_argument, NULL, 'o' },
	{ "rate", required_argument, NULL, 'p' },
	{ "keys", required_argument, NULL, 'n' },
	{ "seed", required_argument, NULL, 's' },
	{ "mode", required_argument, NULL, MODE },
	{ "zstd", optional_argument, NULL, ZSTD },
	{ "allow-empty", no_argument, NULL, ALLOW_EMPTY },
	{ "allow-shrink", no_argument, NULL, ALLOW_SHRINK },
	{ "force", no_argument, NULL, FORCE },
	{ "quiet", no_argument, NULL, 'q' },
	KEYING_OPTIONS_LINES,
	IMAGE_OPTIONS_LOAD,
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

enum { KEYS = 512 }; /* largest number of keys in one call of the library */

struct route {
	struct route_build build;
	struct image_how how;
	bool builds, as_json;
	const char *of_build; /* an option that was given and needs --build, or NULL */
	/* set during the run */
	struct weir_filter *router;
	bool plain;       /* standard output is a terminal, so lines are escaped */
	uint64_t printed, routed;
};

static void put_text(const struct route *r, struct iovec line, uint64_t mask)
{
	if (r->plain)
		(void)!plain_write(line.iov_base, line.iov_len, stdout);
	else
		(void)!fwrite(line.iov_base, 1, line.iov_len, stdout);
	for (; mask; mask &= mask - 1) {
		putchar('\t');
		plain_put(weir_router_name(r->router, (uint32_t)__builtin_ctzll(mask)), stdout);
	}
	putchar(r->build.from.delimiter); /* close_stdout() reports a failure */
}

static void put_object(const struct route *r, struct iovec line, uint64_t mask)
{
	struct report one = report_new();
	json_t *sets = json_array();
	for (; mask; mask &= mask - 1)
		json_array_append_new(sets, json_string(weir_router_name(
			r->router, (uint32_t)__builtin_ctzll(mask))));
	report_bytes_of(&one, "key", line.iov_base, line.iov_len);
	json_put(one.json, "sets", sets);
	fputs(r->printed ? ",\n  " : "[\n  ", stdout);
	put_json(one.json, stdout);
	report_free(&one);
}

static void print_chunk(struct route *r, const struct lines *lines, const struct chunk *chunk)
{
	struct iovec keys[KEYS];
	uint64_t masks[KEYS];
	size_t at = 0, n;
	while ((n = chunk_keys(lines, chunk, &at, keys, KEYS)) > 0) {
		r->routed += weir_route_keys(r->router, weir_keys_iov(keys, n), masks);
		for (size_t i = 0; i < n; i++, r->printed++)
			(r->as_json ? put_object : put_text)(r, keys[i], masks[i]);
	}
}

static int print_all(struct route *r)
{
	struct chunk chunk = { 0 };
	struct lines *lines = lines_open(&r->build.from);
	int more;
	r->plain = !r->as_json && plain_wanted(stdout);
	while ((more = lines_next(lines, &chunk)) > 0) {
		if (chunk.first)
			hint_rows(lines, &chunk);
		print_chunk(r, lines, &chunk);
	}
	if (r->as_json)
		fputs(r->printed ? "\n]\n" : "[]\n", stdout);
	bool failed = more < 0 || lines_failed(lines);
	chunk_free(&chunk);
	lines_say_marked(lines_marked(lines));
	lines_close(lines);
	return failed ? TOOL_TROUBLE : r->routed ? TOOL_OK : TOOL_NO;
}

static int open_and_print(struct route *r, int argc, char **argv)
{
	const char *image;
	if (r->of_build)
		return misuse("%s: of --build alone", r->of_build);
	int status = image_arguments(argc, argv, false, &image, &r->build.from);
	if (!status)
		status = image_swapped(image, r->build.from.names, r->build.from.n);
	if (status)
		return status;
	progress_allow(r->how.progress);
	if (!is_there(image, SAY_ROUTER) || route_load(&r->router, image, false, &r->how))
		return TOOL_TROUBLE;
	status = print_all(r);
	weir_destroy(r->router);
	return status;
}

static int build(struct route *r, int argc, char **argv)
{
	struct route_build *b = &r->build;
	if (!b->output)
		return misuse("--build without -o: where is the image to be saved?");
	b->params.fp_rate = b->params.fp_rate > 0 ? b->params.fp_rate : 0.01;
	b->params.max_bytes = r->how.max_memory;
	b->params.secret = r->how.secret;
	b->guard.max_memory = r->how.max_memory;
	b->guard.allow_overfull = true;
	b->as_json = r->as_json;
	b->from.go_on = false;
	progress_allow(r->how.progress && !b->quiet);
	return route_build(b, argv + optind, (size_t)(argc - optind));
}

static bool build_option(int option, struct route *r)
{
	struct route_build *b = &r->build;
	switch (option) {
	case 'o': r->of_build = "-o"; b->output = optarg; return true;
	case ALLOW_EMPTY: r->of_build = "--allow-empty"; return b->guard.allow_empty = true;
	case ALLOW_SHRINK: r->of_build = "--allow-shrink"; return b->guard.allow_shrink = true;
	case FORCE: r->of_build = "--force"; return b->force = true;
	case 'q': r->of_build = "-q"; return b->quiet = true;
	case 'p': r->of_build = "-p"; return parse_rate("--rate", optarg, &b->params.fp_rate);
	case 'n': r->of_build = "-n"; return parse_keys("--keys", optarg, &b->params.capacity);
	case MODE: r->of_build = "--mode"; return parse_mode(optarg, &b->saving.mode);
	case ZSTD: r->of_build = "--zstd"; return parse_zstd(optarg, &b->saving.zstd_level);
	case 's':
		r->of_build = "-s";
		return parse_number("--seed", optarg, 1, UINT64_MAX, &b->params.seed);
	default: return false;
	}
}

static bool option_taken(int option, struct route *r)
{
	struct keying none = { 0 };
	int taken;
	switch (option) {
	case JSON: return r->as_json = true;
	case BUILD: return r->builds = true;
	case '?': return false;
	default:
		taken = keying_option(option, &none, &r->build.from);
		if (taken < 0)
			taken = image_option(option, &r->how);
		return taken < 0 ? build_option(option, r) : taken > 0;
	}
}

int cmd_route(int argc, char **argv)
{
	struct route r = { .build = { .params = WEIR_PARAMS_INIT,
		                      .from = { .delimiter = '\n', .go_on = true } },
		           .how = image_how() };
	for (int option; (option = option_next(argc, argv, "o:p:n:s:q0h", options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (!option_taken(option, &r))
			return misuse_reported();
	}
	return r.builds ? build(&r, argc, argv) : open_and_print(&r, argc, argv);
}
