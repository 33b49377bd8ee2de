/* SPDX-License-Identifier: MIT
 * weir build: makes a filter from files of keys. */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "commands.h"
#include "host/memory_limit.h"
#include "images/build.h"
#include "images/images.h"
#include "images/saving.h"
#include "images/shape.h"
#include "input/file.h"
#include "input/keying.h"
#include "output/progress.h"
#include "output/say.h"
#include "output/units.h"

#define KIND_LINE(number, constant, name, summary) \
	"                " #name ": " summary "\n"

static const char help[] =
	"Usage: weir build [OPTION]... -o IMAGE [FILE|-]...\n"
	"Make a filter of the lines of the FILEs, or of standard input, and save it to\n"
	"IMAGE. Files in gzip, zstd, xz or bzip2 format are decompressed.\n"
	"\n"
	"  -o, --output=IMAGE   the image to write (- for standard output); replaced as a\n"
	"                       whole or not at all\n"
	"  -p, --rate=RATE      false positives among lookups of absent keys: 1%, 0.01,\n"
	"                       1/100; default: that of the image that is replaced,\n"
	"                       else 1%, or what -m leaves\n"
	"  -n, --keys=N         make room for N different keys (K, M, G, T: powers of\n"
	"                       1000) and read the input once; without it a first pass\n"
	"                       counts the lines of files; of a pipe, 8 bytes a key are\n"
	"                       kept in memory\n"
	"  -m, --memory=SIZE    the filter's bytes (K, M, G, T: powers of 1024); with -n\n"
	"                       and -p: at most that\n"
	"  -k, --kind=KIND      the kind of filter:\n"
	WEIR_SIMPLE_KINDS(KIND_LINE)
	"  -z, --words=Z        blocked: words of a cache line a key touches, 1, 2, 4 or\n"
	"                       8; counting, frequency: of a block; default: chosen by\n"
	"                       the rate\n"
	"  -g, --bits=G         blocked: bits a key sets in each word; default: chosen by\n"
	"                       the rate\n"
	"      --probes=K       classic: bits a key sets; default: chosen by the rate\n"
	"      --counter-bits=N  counting: bits of a counter, 4, 8 or 16, default 4;\n"
	"                       frequency: 8, 16 or 32, default 16\n"
	"      --counters-per-word=N  counting, frequency: counters of each word;\n"
	"                       default: chosen by the rate\n"
	"      --fingerprint-bits=N  cuckoo: 12 or 16; fuse, layered: 1 to 32; default:\n"
	"                       chosen by the rate\n"
	"      --once           counting, cuckoo: a key takes the room of one, however\n"
	"                       often it is a line; none can be removed\n"
	"      --max-keys=N     growing: keys that it may grow to; default: 21,845 times\n"
	"                       -n\n"
	"      --exclude=FILE   layered: keys that are always answered no; may be given\n"
	"                       again; they are read, not kept\n"
	"      --exclude-keys=N  layered: about how many they are; default: counted in a\n"
	"                       first pass over files\n"
	"  -s, --seed=SEED      seed of the hash, 1 or more; default: that of the image\n"
	"                       that is replaced, else random\n"
	"      --new-seed       a random seed, whatever is replaced\n"
	"      --like=IMAGE     size, layout and seed of IMAGE, so that the two can be\n"
	"                       merged; the size is doubled until the keys fit\n"
	"      --keyed-by=FILE  hash the keys by SipHash-2-4 with the key in FILE, 16\n"
	"                       bytes or 32 hexadecimal digits: who has the image, but\n"
	"                       not the key, finds no keys that collide\n";

/* The help text is split in two, because compilers need not accept a longer string literal. */
static const char help_more[] =
	"Done to keys, and by weir query and add, since the image has it; default: what\n"
	"the image that is replaced, or that of --like, has:\n"
	"      --trim           blanks around a key go, and a carriage return at its end\n"
	"      --lowercase      A to Z become a to z\n"
	"      --cidr           keys are IPv4 and IPv6 addresses and prefixes: query\n"
	"                       finds the addresses in them\n"
	"      --suffixes       keys are domains: query finds all domains below them\n"
	"      --plain-keys     none of these four: keys are taken byte by byte\n"
	"Other than was done to those of the image that is replaced is refused without\n"
	"--force, since servers that follow it refuse that.\n"
	KEYING_HELP_FILE
	"  -0, --null           keys end with a NUL byte instead of a newline\n"
	"      --skip-empty     an empty line is not a key\n"
	"      --as-is          take the bytes as they are, whatever they look like\n"
	"  -t, --threads=T      default: the CPUs this process may use\n"
	"      --max-memory=SIZE  of the whole process; default: what the machine has, or\n"
	"                       its control group leaves, whichever is less\n"
	"      --zstd[=LEVEL]   compress the image for transport, 1 to 19, default 3; a\n"
	"                       compressed image cannot be mapped\n"
	"      --mode=OCTAL     permissions of the image; default: those of the file that\n"
	"                       is replaced, else 644 less the umask\n"
	"      --min-keys=N     refuse a set of fewer than N different keys, as after an\n"
	"                       export that was cut short (units as for -n); default: 1\n"
	"      --allow-overfull  save a set that answers more than twice RATE of the\n"
	"                       absent keys with yes; without this it is refused\n"
	"      --allow-empty    save a set without keys; without this it is refused\n"
	"      --allow-shrink   replace an image of more than ten times as many keys;\n"
	"                       without this it is refused\n"
	"      --force          replace a file that is neither empty nor a whole image, a\n"
	"                       keyed one, or one to whose keys something else was done;\n"
	"                       without this it is refused\n"
	"      --json           print what was built as JSON\n"
	"      --no-progress    no progress line on a terminal\n"
	"  -q, --quiet          no progress line, no report; hints and warnings stay\n"
	"  -h, --help           this text\n"
	"\n"
	"An image that is replaced leaves its seed, rate and layout to the new one, so\n"
	"that servers go on following, and its size while at least half of its room is\n"
	"used; else that is doubled, or halved, as often as needed. That is for an image\n"
	"of your own or root's that nobody else may write; with -n, -m, another -p or -k\n"
	"size and layout are new.\n"
	"Counting, frequency and cuckoo hold a key as often as it is a line, but with\n"
	"--once.\n"
	"A key is a line without its newline, byte by byte: a carriage return before the\n"
	"newline is part of the key.\n"
	"Exit status: 0 done, 1 refused and nothing written, 2 an error.\n";

enum {
	LIKE = 256, MAX_MEMORY, ZSTD, JSON, NO_PROGRESS, KEYED_BY, MODE, ALLOW_OVERFULL,
	ALLOW_SHRINK, ALLOW_EMPTY, MIN_KEYS, NEW_SEED, FORCE, EXCLUDE, ONCE
};

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "rate", required_argument, NULL, 'p' },
	{ "keys", required_argument, NULL, 'n' },
	{ "memory", required_argument, NULL, 'm' },
	{ "kind", required_argument, NULL, 'k' },
	{ "words", required_argument, NULL, 'z' },
	{ "bits", required_argument, NULL, 'g' },
	{ "probes", required_argument, NULL, SHAPE_PROBES },
	SHAPE_OPTIONS,
	{ "once", no_argument, NULL, ONCE },
	{ "exclude", required_argument, NULL, EXCLUDE },
	{ "seed", required_argument, NULL, 's' },
	{ "new-seed", no_argument, NULL, NEW_SEED },
	{ "like", required_argument, NULL, LIKE },
	{ "keyed-by", required_argument, NULL, KEYED_BY },
	{ "mode", required_argument, NULL, MODE },
	{ "min-keys", required_argument, NULL, MIN_KEYS },
	{ "allow-overfull", no_argument, NULL, ALLOW_OVERFULL },
	{ "allow-shrink", no_argument, NULL, ALLOW_SHRINK },
	{ "allow-empty", no_argument, NULL, ALLOW_EMPTY },
	{ "force", no_argument, NULL, FORCE },
	KEYING_OPTIONS_STEPS,
	{ "plain-keys", no_argument, NULL, KEYING_PLAIN },
	KEYING_OPTIONS_FILE,
	KEYING_OPTIONS_LINES,
	{ "threads", required_argument, NULL, 't' },
	{ "max-memory", required_argument, NULL, MAX_MEMORY },
	{ "zstd", optional_argument, NULL, ZSTD },
	{ "json", no_argument, NULL, JSON },
	{ "no-progress", no_argument, NULL, NO_PROGRESS },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Applies an option that shapes the filter. Return: 1 if applied, 0 after a message about a wrong
 * value, -1 if @option is unknown. */
static int filter_option(int option, struct weir_params *params)
{
	switch (option) {
	case 'p': return parse_rate("--rate", optarg, &params->fp_rate);
	case 'n': return parse_keys("--keys", optarg, &params->capacity);
	case 'm': return parse_bytes("--memory", optarg, &params->max_bytes);
	case 's': return parse_number("--seed", optarg, 1, UINT64_MAX, &params->seed);
	case ONCE: params->flags |= WEIR_ONCE; return 1;
	default: return shape_option(option, params);
	}
}

static void exclude(struct lines_options *list, char *name)
{
	list->names = xrealloc(list->names, (list->n + 1) * sizeof *list->names);
	list->names[list->n++] = name;
}

static int option_taken(int option, struct build *build, bool *progress)
{
	switch (option) {
	case 'o': build->output = optarg; break;
	case LIKE: build->like = optarg; break;
	case EXCLUDE: exclude(&build->exclude.from, optarg); break;
	case 't':
		build->threads_given = true;
		return parse_small("--threads", optarg, THREADS_MOST, &build->fill.threads);
	case MAX_MEMORY:
		build->limit = BY_OPTION;
		return parse_bytes("--max-memory", optarg, &build->max_memory);
	case ZSTD: return parse_zstd(optarg, &build->saving.zstd_level);
	case MODE: return parse_mode(optarg, &build->saving.mode);
	case MIN_KEYS: return parse_keys("--min-keys", optarg, &build->guard.min_keys);
	case ALLOW_OVERFULL: build->guard.allow_overfull = true; break;
	case ALLOW_SHRINK: build->guard.allow_shrink = true; break;
	case ALLOW_EMPTY: build->guard.allow_empty = true; break;
	case FORCE: build->force = true; break;
	case NEW_SEED: build->wish.new_seed = true; break;
	case KEYED_BY: return (build->params.secret = keyfile_read(optarg)) != NULL;
	case JSON: build->as_json = true; break;
	case NO_PROGRESS: *progress = false; break;
	case 'q': build->quiet = true; break;
	default: return keying_option(option, &build->fill.keying, &build->fill.from);
	}
	return 1;
}

/* Refuses options that exclude each other. @shaped: true if an option shapes the filter. */
static int contradictions(const struct build *build, bool shaped)
{
	if (build->like && shaped)
		return misuse("--like takes size, layout and seed from %s: leave out the options "
		              "that choose them (-p -n -m -k -z -g -s, --once, --max-keys, those "
		              "of one kind)",
		              build->like);
	if (build->params.secret && build->params.seed)
		return misuse("--keyed-by takes the place of the seed: leave out -s");
	if (build->wish.new_seed && (build->params.seed || build->like || build->params.secret))
		return misuse("--new-seed is a random one: leave out -s, --like and --keyed-by");
	if (build->guard.min_keys && build->guard.allow_empty)
		return misuse("--min-keys refuses an empty set, and --allow-empty saves one: "
		              "leave out one of them");
	return TOOL_OK;
}

/* Return: TOOL_OK, or TOOL_TROUBLE after a message. @helped: set to true if --help was given and
 * printed. */
static int parse(int argc, char **argv, struct build *build, bool *helped)
{
	bool progress = true, shaped = false;
	for (int option;
	     (option = option_next(argc, argv, "o:p:n:m:k:z:g:s:0t:qh", options)) != -1;) {
		if (option == 'h') {
			*helped = fputs(help, stdout) >= 0 && fputs(help_more, stdout) >= 0;
			return TOOL_OK;
		}
		int taken = filter_option(option, &build->params);
		shaped = shaped || taken >= 0;
		build->wish.kind_given |= option == 'k';
		if (taken < 0)
			taken = option_taken(option, build, &progress);
		if (taken <= 0)
			return misuse_reported();
	}
	if (!keying_fits(&build->fill.keying))
		return misuse_reported();
	if (!build->output || !*build->output)
		return misuse("-o IMAGE is missing: where to save the filter");
	progress_allow(progress && !build->quiet);
	build->guard.memory_given = build->params.max_bytes > 0;
	build->fill.from.names = argv + optind;
	build->fill.from.n = (size_t)(argc - optind);
	return contradictions(build, shaped);
}

/* Checks that the image may be saved to the output path. Called before any keys are read. */
static int check_output(struct build *build)
{
	int status = place_check(build->output, build->force, &build->saving);
	if (!status)
		status = place_is_not_read(build->output, &build->fill.from);
	if (!status && build->exclude.from.n)
		status = place_is_not_read(build->output, &build->exclude.from);
	return status;
}

static int check_replaced(const struct build *build)
{
	const struct image_how how = { .progress = true, .max_memory = build->guard.max_memory };
	return build->force ? TOOL_OK : place_is_whole(build->output, build->stats.bytes, &how);
}

static int finish(struct build *build)
{
	int err = weir_measure(build->filter, WEIR_EXACT, &build->stats);
	if (err)
		return trouble_weir(err, NULL);
	const uint64_t bytes = build_filter_memory(build->stats.bytes);
	const uint64_t left = bytes < build->max_memory ? build->max_memory - bytes : 0;
	if (left < build->guard.max_memory)
		build->guard.max_memory = left;
	build->guard.keys = build->keys;
	build->guard.different = build->built.keys;
	int few = guard_few(&build->guard, &build->stats, &build->fill.from, build->output);
	int status = guard_check(&build->guard, &build->stats, build->output);
	status = status ? status : few;
	if (!status)
		status = check_replaced(build);
	if (status)
		return status;
	build->probe.rate = NAN;
	if (!build->quiet && probe_tells(&build->stats))
		build->probe = probe_rate(build->filter, build->fill.from.delimiter,
		                          build->stats.fp_rate);
	build->saving.marks = guard_marks(&build->guard);
	status = image_save_anew(build->filter, build->output, build->force, &build->saving);
	if (!status)
		build_report(build);
	return status;
}

/* Lowers the memory limit to what the control group leaves, even if --max-memory allows more. */
static void limit_memory(struct build *build)
{
	const uint64_t left = memory_left(), half = image_max_memory();
	if (left < build->max_memory) {
		build->max_memory = left;
		build->limit = BY_GROUP;
	}
	build->guard.max_memory = half < build->max_memory ? half : build->max_memory;
#ifdef __GLIBC__
	/* Make malloc() return freed memory to the system, because max_memory counts the whole
	 * process. By default malloc() keeps up to 64 MiB of freed memory, and more in each
	 * thread's arena. */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_ARENA_MAX, 1);
#endif
}

int cmd_build(int argc, char **argv)
{
	struct build build = { .params = WEIR_PARAMS_INIT, .stats = WEIR_STATS_INIT,
	                       .fill.from.delimiter = '\n', .guard.option = "-n" };
	bool helped = false;
	build.fill.threads = threads_default();
	build.max_memory = memory_of_machine();
	int status = parse(argc, argv, &build, &helped);
	limit_memory(&build);
	if (status || helped)
		return status;
	status = check_output(&build);
	if (!status)
		status = build_make(&build);
	if (!status)
		status = finish(&build);
	weir_destroy(build.filter);
	free(build.exclude.from.names);
	return status;
}
