/* SPDX-License-Identifier: MIT
 * weir plan: prints the sizing calculator's results as a table of layouts. */
#include <stdio.h>
#include <weir/weir.h>
#include "commands.h"
#include "images/compound.h"
#include "images/shape.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"

static const char help[] =
	"Usage: weir plan [OPTION]... (two of -n, -p and -m, or all)\n"
	"Print what a filter will cost: from two of keys, rate and memory follows the\n"
	"third, for each layout. With all three -m is a limit.\n"
	"\n"
	"  -n, --keys=N       different keys: 250000, 1e6, 1.5M, 2G (K, M, G, T: powers\n"
	"                     of 1000)\n"
	"  -p, --rate=RATE    false positives among lookups of absent keys, when full:\n"
	"                     0.1%, 0.001, 1/1000\n"
	"  -m, --memory=SIZE  bytes: 65536, 64K, 512MiB (powers of 1024), 100MB (powers\n"
	"                     of 1000)\n"
	"  -k, --kind=KIND    this kind alone: one of those of weir build\n"
	"      --counter-bits=N  counting: 4, 8 or 16 (4); frequency: 8, 16 or 32 (16)\n"
	"      --counters-per-word=N  counting, frequency: counters of each word\n"
	"      --fingerprint-bits=N  cuckoo: 12 or 16; fuse, layered: 1 to 32\n"
	"      --max-keys=N   growing: keys that it may grow to; default: 21,845 times -n\n"
	"      --exclude-keys=N  layered: keys of the exclude list; default: none\n"
	"      --hash-bits=N  hashes of your own with 2^N values; default: 64\n"
	"      --sets=N       of a router of 1 to 64 sets instead: rate of each set;\n"
	"                     -n of the largest, or as many numbers, with commas between\n"
	"                     them\n"
	"      --json         the table as JSON\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status: 0 done, 2 an error.\n";

enum { SETS = 256, HASH_BITS };

static const struct option options[] = {
	{ "keys", required_argument, NULL, 'n' },
	{ "rate", required_argument, NULL, 'p' },
	{ "memory", required_argument, NULL, 'm' },
	{ "kind", required_argument, NULL, 'k' },
	SHAPE_OPTIONS,
	{ "hash-bits", required_argument, NULL, HASH_BITS },
	{ "sets", required_argument, NULL, SETS },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* A row of the table. A kind with the option -z (64-bit words per key) has a row for each number of
 * words. Any other kind has a single row. */
struct layout {
	uint32_t kind, words; /* @words: words per key; 0 without -z */
	char name[40];
};

static const uint32_t kinds[] = {
#define NUMBER(number, constant, name, summary) number,
	WEIR_SIMPLE_KINDS(NUMBER)
#undef NUMBER
};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST_WORDS = 8 };

static struct layout layout_of(uint32_t kind, uint32_t words)
{
	struct layout layout = { .kind = kind, .words = words };
	if (words)
		snprintf(layout.name, sizeof layout.name, "%s z=%u", weir_kind_name(kind), words);
	else
		snprintf(layout.name, sizeof layout.name, "%s", weir_kind_name(kind));
	return layout;
}

static bool is_default(const struct layout *layout, const struct weir_plan *chosen)
{
	return layout->kind == chosen->shape.kind &&
	       (!layout->words || layout->words == shape_number(&chosen->shape, "words_per_key"));
}

static void row(struct table *table, const struct layout *layout, const struct weir_plan *plan,
                bool marked)
{
	char shape[WEIR_SHAPE_TEXT];
	(void)!weir_shape_text(&plan->shape, shape); /* after a failure, @shape is empty */
	table_add(table, "%s", marked ? "*" : " ");
	table_add(table, "%s", layout->name);
	table_add(table, "%s", show_count(SHOW, plan->capacity));
	table_add(table, "%s", show_bytes(SHOW, plan->bytes));
	table_add(table, "%.2f", plan->bits_per_key);
	table_add(table, "%s", show_rate(SHOW, plan->fp_rate));
	table_add(table, "%s", shape);
}

static void row_missing(struct table *table, const struct layout *layout)
{
	table_add(table, " ");
	table_add(table, "%s", layout->name);
	for (int i = 0; i < 5; i++)
		table_add(table, "-");
}

static json_t *row_json(const struct weir_plan *plan, bool marked)
{
	struct report r = report_new();
	report_shape(&r, &plan->shape);
	report_count(&r, "capacity", NULL, plan->capacity);
	report_count(&r, "bytes", NULL, plan->bytes);
	report_real(&r, "bits_per_key", NULL, plan->bits_per_key);
	report_rate(&r, "fp_rate", NULL, plan->fp_rate);
	report_rate(&r, "fp_rate_floor", NULL, plan->fp_rate_floor);
	report_count(&r, "max_capacity", NULL, plan->growing.max_capacity);
	report_real(&r, "full_bits_per_key", NULL, plan->growing.full_bits_per_key);
	report_real(&r, "worst_bits_per_key", NULL, plan->growing.worst_bits_per_key);
	report_real(&r, "late_bits_per_key", NULL, plan->growing.late_bits_per_key);
	report_bool(&r, "default", NULL, marked);
	json_t *json = json_incref(r.json);
	report_free(&r);
	return json;
}

/* Adds a note on the bits per key of a kind that grows, at three moments: when the filter is full,
 * just after it adds its second layer, and just after it adds its last layer. */
static void note_growth(struct table *notes, const struct layout *layout,
                        const struct weir_plan *plan)
{
	char text[160];
	if (plan->growing.max_capacity == plan->capacity)
		return;
	snprintf(text, sizeof text, "grows to %s keys: then %.2f bits a key; just after the second "
	         "layer was added %.2f, after the last %.2f",
	         show_count(SHOW, plan->growing.max_capacity), plan->growing.full_bits_per_key,
	         plan->growing.worst_bits_per_key, plan->growing.late_bits_per_key);
	table_add(notes, "- %s:", layout->name);
	table_add(notes, "%s", text);
}

static json_t *row_missing_json(const struct layout *layout)
{
	struct report r = report_new();
	report_text(&r, "kind", NULL, weir_kind_name(layout->kind));
	if (layout->words)
		report_count(&r, "words_per_key", NULL, layout->words);
	report_text(&r, "error", NULL, refusal());
	report_bool(&r, "default", NULL, false);
	json_t *json = json_incref(r.json);
	report_free(&r);
	return json;
}

static void heading(struct table *table)
{
	static const char *const titles[] = { " ",        "layout", "keys", "memory",
	                                      "bits/key", "rate",   "of a key" };
	for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
		table_add(table, "%s", titles[i]);
}

/* The plans of all layouts, as a table and as rows of JSON. @missing: a table of notes on growth
 * and on layouts without a plan. */
struct plans {
	struct weir_plan chosen;
	struct table table, missing;
	json_t *rows;
};

static void plan_layout(struct plans *plans, struct weir_params params, const struct layout *layout)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	bool marked = is_default(layout, &plans->chosen);
	params.kind = layout->kind;
	(void)shape_own(&params);
	shape_set_words(&params, layout->words);
	if (weir_plan_make(&params, &plan) == 0) {
		row(&plans->table, layout, &plan, marked);
		note_growth(&plans->missing, layout, &plan);
		json_array_append_new(plans->rows, row_json(&plan, marked));
		return;
	}
	row_missing(&plans->table, layout);
	table_add(&plans->missing, "- %s:", layout->name);
	table_add(&plans->missing, "%s", refusal());
	json_array_append_new(plans->rows, row_missing_json(layout));
}

static void plan_kind(struct plans *plans, const struct weir_params *params, uint32_t kind)
{
	for (uint32_t words = shape_has(kind, "words_per_key"); words <= MOST_WORDS; words *= 2) {
		struct layout layout = layout_of(kind, words);
		plan_layout(plans, *params, &layout);
		if (!words)
			return;
	}
}

static void print_plans(const struct plans *plans, uint32_t hash_bits, bool as_json)
{
	const struct weir_plan *chosen = &plans->chosen;
	if (as_json) {
		struct report r = report_new();
		report_text(&r, "reason", NULL, chosen->reason);
		report_rate(&r, "fp_rate_floor", NULL, chosen->fp_rate_floor);
		json_put(r.json, "layouts", json_incref(plans->rows));
		report_print(&r, true, stdout);
		report_free(&r);
		return;
	}
	table_print(&plans->table, stdout);
	printf("\n* the default: %s\n", chosen->reason);
	table_print(&plans->missing, stdout);
	printf("No filter over %u-bit hashes has a rate below %s with %s key%s.\n", hash_bits,
	       show_rate(SHOW, chosen->fp_rate_floor), show_count(SHOW, chosen->capacity),
	       chosen->capacity == 1 ? "" : "s");
}

static int plan(const struct weir_params *params, const uint32_t *of, unsigned n, bool as_json)
{
	struct weir_params first = *params;
	struct plans plans = { WEIR_PLAN_INIT, TABLE_INIT("llrrrrl"), TABLE_INIT("ll"),
	                       json_array() };
	first.kind = of[0];
	(void)shape_own(&first);
	int status = weir_plan_make(&first, &plans.chosen) ? trouble_refused() : TOOL_OK;
	if (!status) {
		heading(&plans.table);
		for (unsigned i = 0; i < n; i++)
			plan_kind(&plans, params, of[i]);
		print_plans(&plans, params->hash_bits ? params->hash_bits : 64, as_json);
	}
	json_decref(plans.rows);
	table_free(&plans.table);
	table_free(&plans.missing);
	return status;
}

/* Refuses shape options (such as -z or --counter-bits) if no kind accepts their values at any size.
 * The message comes from a kind that has these options. */
static int numbers_had(const struct weir_params *params)
{
	struct weir_params one = *params;
	one.capacity = 1000;
	one.fp_rate = 0.5;
	one.max_bytes = 0;
	one.growing.max_capacity = one.layered.exclude_keys = 0;
	unsigned had = 0, asked = 0;
	for (unsigned i = 0; i < KINDS; i++) {
		struct weir_params own = one;
		struct weir_plan plan = WEIR_PLAN_INIT;
		own.kind = kinds[i];
		if (!shape_own(&own))
			continue;
		asked++;
		had += weir_plan_make(&own, &plan) == 0;
	}
	return asked && !had ? trouble_refused() : TOOL_OK;
}

static int plan_all(const struct weir_params *params, bool as_json)
{
	int status = numbers_had(params);
	return status ? status : plan(params, kinds, KINDS, as_json);
}

static int plan_one(const struct weir_params *params, bool as_json)
{
	return shape_fits(params) ? plan(params, &params->kind, 1, as_json) : misuse_reported();
}

static int plan_sets(const struct weir_params *params, uint32_t sets, const char *keys,
                     bool as_json)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	if (shape_asked(params, "counter_bits") || shape_asked(params, "counters_per_word") ||
	    shape_asked(params, "fingerprint_bits") || shape_asked(params, "max_capacity"))
		return misuse("--sets: a router has no options of one kind: leave them out");
	p.kind = WEIR_ROUTER;
	p.router.sets = sets;
	p.fp_rate = params->fp_rate;
	p.max_bytes = params->max_bytes;
	p.hash_bits = params->hash_bits;
	return route_plan(&p, keys, as_json);
}

int cmd_plan(int argc, char **argv)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	const char *keys = NULL;
	uint32_t sets = 0;
	bool as_json = false, one = false, ok = true;
	for (int option;
	     ok && (option = option_next(argc, argv, "n:p:m:k:h", options)) != -1;) {
		switch (option) {
		case 'n': keys = optarg; break;
		case SETS: ok = parse_small("--sets", optarg, WEIR_ROUTER_SETS, &sets); break;
		case HASH_BITS:
			ok = parse_small("--hash-bits", optarg, 64, &params.hash_bits);
			break;
		case 'p': ok = parse_rate("--rate", optarg, &params.fp_rate); break;
		case 'm': ok = parse_bytes("--memory", optarg, &params.max_bytes); break;
		case 'j': as_json = true; break;
		case 'h': fputs(help, stdout); return TOOL_OK;
		default:
			one |= option == 'k';
			ok = shape_option(option, &params) > 0;
		}
	}
	if (!ok)
		return misuse_reported();
	if (optind < argc)
		return misuse("'%s': plan takes no arguments", argv[optind]);
	if (sets && one)
		return misuse("--sets: a router has a layout of its own: leave out -k");
	if (sets)
		return plan_sets(&params, sets, keys, as_json);
	if (keys && !parse_keys("--keys", keys, &params.capacity))
		return misuse_reported();
	if ((params.capacity != 0) + (params.fp_rate != 0.0) + (params.max_bytes != 0) < 2)
		return misuse("give two of -n (keys), -p (rate) and -m (memory): the third "
		              "follows");
	return one ? plan_one(&params, as_json) : plan_all(&params, as_json);
}
