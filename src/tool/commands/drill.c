/* SPDX-License-Identifier: MIT
 * weir drill: rehearses, on the user's machine with the user's keys, the replacement of a set that
 * is in use. */
#include <stdio.h>
#include "commands.h"
#include "drill/drill.h"
#include "output/progress.h"
#include "output/say.h"
#include "output/units.h"

static const char help[] =
	"Usage: weir drill [OPTION]... [FILE|-]...\n"
	"Rehearse a server: readers look up the lines of the FILEs, inserters add new\n"
	"keys, and a loader rebuilds the set and swaps it in under that load. Then print\n"
	"what it did to the readers, what it took, and whether a key was lost: none may\n"
	"be.\n"
	"\n"
	"  -r, --readers=R        reader threads; default: one for each CPU beyond two,\n"
	"                         at least 1\n"
	"  -w, --inserters=W      inserter threads, 0 for none; default 1\n"
	"  -d, --duration=D       seconds; default 10. The first quarter is left without\n"
	"                         reloads, to compare with\n"
	"      --every=T          begin a reload every T seconds, 0.5 or 2; 0: one after\n"
	"                         the other; default 1\n"
	"      --inserts=N        new keys to insert in that time, spread over all of it;\n"
	"                         default: as many as the files have, 100K at least\n"
	"  -p, --rate=RATE        false positives among lookups of absent keys; default\n"
	"                         1%\n"
	"  -n, --keys=N           room for N keys; default: the keys of the files and the\n"
	"                         inserts\n"
	"      --pace=SHARE       the share of a core that the loader takes, 0.001 to 1,\n"
	"                         10% or 0.1; default: all of it\n"
	"      --copy             reload by copying the current filter instead of from\n"
	"                         the files' keys and the inserters' records\n"
	"      --keep-previous    keep the filter before; every fourth swap is then taken\n"
	"                         back\n"
	"      --flavor=FLAVOR    of liburcu: bp (default), memb, qsbr, mb\n"
	"      --pin              each thread on a CPU of its own, while there are as\n"
	"                         many\n"
	"  -s, --seed=SEED        seed of the hash and of what is random, 1 or more;\n"
	"                         default: random\n"
	"  -0, --null             keys end with a NUL byte instead of a newline\n"
	"      --skip-empty       an empty line is not a key\n"
	"      --as-is            take the bytes as they are\n"
	"      --json             the figures as JSON\n"
	"      --no-progress      no status line on a terminal\n"
	"  -h, --help             this text\n"
	"\n"
	"The keys are kept as hashes, 8 bytes each, and looked up by hash: hashing is not\n"
	"in the figures. A reader times every second block of 512 lookups one by one, for\n"
	"the latency, and the others as a whole, for the lookups a second. Every lookup\n"
	"is of a key that must be there: of the files, or one whose insert had returned.\n"
	"At the end all of them are looked up once more. A filter answers yes for a lost\n"
	"key as often as for any absent one, so one lookup finds the loss with a\n"
	"probability of 1 - RATE. The new keys are bounded, since a filter with more than\n"
	"its capacity would hide losses; if over half of its bits are set at the end, the\n"
	"report warns of it.\n"
	"Exit status: 0 nothing was lost, 1 something was, 2 an error.\n";

enum { EVERY = 256, INSERTS, PACE, COPY, KEEP_PREVIOUS, FLAVOR, PIN, SKIP_EMPTY, AS_IS, JSON,
       NO_PROGRESS };

static const struct option options[] = {
	{ "readers", required_argument, NULL, 'r' },
	{ "inserters", required_argument, NULL, 'w' },
	{ "duration", required_argument, NULL, 'd' },
	{ "every", required_argument, NULL, EVERY },
	{ "inserts", required_argument, NULL, INSERTS },
	{ "rate", required_argument, NULL, 'p' },
	{ "keys", required_argument, NULL, 'n' },
	{ "pace", required_argument, NULL, PACE },
	{ "copy", no_argument, NULL, COPY },
	{ "keep-previous", no_argument, NULL, KEEP_PREVIOUS },
	{ "flavor", required_argument, NULL, FLAVOR },
	{ "pin", no_argument, NULL, PIN },
	{ "seed", required_argument, NULL, 's' },
	{ "null", no_argument, NULL, '0' },
	{ "skip-empty", no_argument, NULL, SKIP_EMPTY },
	{ "as-is", no_argument, NULL, AS_IS },
	{ "json", no_argument, NULL, JSON },
	{ "no-progress", no_argument, NULL, NO_PROGRESS },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static bool threads(const char *option, uint64_t least, unsigned *out)
{
	uint64_t number;
	if (!parse_number(option, optarg, least, THREADS_MOST, &number))
		return false;
	*out = (unsigned)number;
	return true;
}

/* Applies an option with a value. Return: 1 if applied, 0 after a message about a wrong value, -1
 * if @option is unknown. */
static int value_option(int option, struct drill *d)
{
	switch (option) {
	case 'r': return threads("--readers", 1, &d->readers);
	case 'w': return threads("--inserters", 0, &d->inserters);
	case 'd': return parse_seconds("--duration", optarg, 1, 86400, &d->seconds);
	case EVERY: return parse_seconds("--every", optarg, 0, 86400, &d->every);
	case INSERTS: return d->inserts_given = parse_keys("--inserts", optarg, &d->inserts);
	case PACE: return parse_share("--pace", optarg, 0.001, &d->pace);
	case 'p': return parse_rate("--rate", optarg, &d->params.fp_rate);
	case 'n': return parse_keys("--keys", optarg, &d->params.capacity);
	case FLAVOR: return flavor_find(optarg, &d->flavor);
	case 's': return parse_number("--seed", optarg, 1, UINT64_MAX, &d->params.seed);
	default: return -1;
	}
}

static bool flag_option(int option, struct drill *d, bool *progress)
{
	switch (option) {
	case COPY: d->by_copy = true; break;
	case KEEP_PREVIOUS: d->keep_previous = true; break;
	case PIN: d->pin = true; break;
	case '0': d->fill.from.delimiter = '\0'; break;
	case SKIP_EMPTY: d->fill.from.skip_empty = true; break;
	case AS_IS: d->fill.from.as_is = true; break;
	case JSON: d->as_json = true; break;
	case NO_PROGRESS: *progress = false; break;
	default: return false;
	}
	return true;
}

/* Return: TOOL_OK, or TOOL_TROUBLE after a message. @helped: set to true if --help was given and
 * printed. */
static int parse(int argc, char **argv, struct drill *d, bool *helped)
{
	bool progress = true;
	for (int option;
	     (option = option_next(argc, argv, "r:w:d:p:n:s:0h", options)) != -1;) {
		if (option == 'h') {
			*helped = fputs(help, stdout) >= 0;
			return TOOL_OK;
		}
		int taken = value_option(option, d);
		if (taken < 0)
			taken = flag_option(option, d, &progress);
		if (!taken)
			return misuse_reported();
	}
	progress_allow(progress);
	d->fill.from.names = argv + optind;
	d->fill.from.n = (size_t)(argc - optind);
	return TOOL_OK;
}

static int rehearse(struct drill *d)
{
	int status = drill_prepare(d);
	if (!status)
		status = drill_run(d);
	if (!status)
		status = drill_check(d);
	if (status)
		return status;
	drill_report(d);
	return atomic_load(&d->lost) ? TOOL_NO : TOOL_OK;
}

int cmd_drill(int argc, char **argv)
{
	static struct drill d = { .params = WEIR_PARAMS_INIT, .stats = WEIR_STATS_INIT,
	                          .fill.from.delimiter = '\n', .inserters = 1, .seconds = 10,
	                          .every = 1, .flavor = { "bp", NULL } };
	bool helped = false;
	d.fill.threads = threads_default();
	d.readers = d.fill.threads > 3 ? d.fill.threads - 2 : 1;
	d.params.fp_rate = 0.01;
	int status = parse(argc, argv, &d, &helped);
	if (status || helped)
		return status;
	status = rehearse(&d);
	drill_free(&d);
	return status;
}
