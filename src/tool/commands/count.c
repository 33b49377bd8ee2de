/* SPDX-License-Identifier: MIT
 * weir count: prints how often each line is in the set. The number may be too high. It may be too
 * low if a counter is full, or after a removal of keys that were never added. */
#include <stdio.h>
#include <weir/weir.h>
#include "commands.h"
#include "images/shape.h"
#include "images/images.h"
#include "input/file.h"
#include "input/keying.h"
#include "output/progress.h"
#include "output/report.h"
#include "output/say.h"

static const char help[] =
	"Usage: weir count [OPTION]... IMAGE [FILE|-]...\n"
	"Print how often each line of the FILEs, or of standard input, is in the set, a\n"
	"tab and the line. The set is one of kind counting, frequency or\n"
	"cuckoo. Files in gzip, zstd, xz or bzip2 format are decompressed.\n"
	"A count is never too low, and by chance too high. Where a counter of a line is\n"
	"full, a plus sign follows: 15+ is 15 or more.\n"
	"\n"
	"      --json          an array with an object a line: key, count, full\n"
	"Done to keys as when the set was built. Of an address or a domain the counts of\n"
	"all that cover it are added up.\n"
	KEYING_HELP_FILE
	"  -0, --null          lines end with a NUL byte instead of a newline, in the\n"
	"                      output too\n"
	"      --skip-empty    pass over empty lines\n"
	"      --as-is         take the bytes as they are, whatever they look like\n"
	"      --keyed-by=FILE  the key of a keyed image, as weir build had it\n"
	"      --no-verify     start at once: do not compare the image's checksums first\n"
	"      --max-memory=SIZE  of an image that is read into memory: compressed, or\n"
	"                      from a pipe; default: half of the memory that is available\n"
	"      --no-progress   no progress line on a terminal while the image is read\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit status: 0 done, 2 an error.\n";

enum { JSON = 256 };

static const struct option options[] = {
	{ "json", no_argument, NULL, JSON },
	KEYING_OPTIONS_FILE,
	KEYING_OPTIONS_LINES,
	IMAGE_OPTIONS_OPEN,
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* The largest number of keys in one call of the library, and of lines that are counted at a
 * time. */
#define KEYS 512

struct count {
	struct lines_options from;
	struct keying keying;
	struct image_how how;
	bool as_json;
	/* set during the run */
	struct weir_filter *filter;
	struct lines *lines;
	uint64_t full; /* the value of a full counter */
	bool keyed;    /* keys are made from the lines; false: each line is a key */
	bool plain;    /* standard output is a terminal, so lines are escaped */
	uint64_t printed, bad;
};

/* The sum of the counts of a line's keys. */
struct sum {
	uint64_t count;
	bool in;   /* the line has at least one key */
	bool full; /* a counter is full, so the true count may be higher */
};

static void put_text(const struct count *c, struct iovec line, const struct sum *sum)
{
	printf("%llu%s\t", (unsigned long long)sum->count, sum->full ? "+" : "");
	if (c->plain)
		(void)!plain_write(line.iov_base, line.iov_len, stdout);
	else
		(void)!fwrite(line.iov_base, 1, line.iov_len, stdout);
	putchar(c->from.delimiter); /* close_stdout() reports a failure */
}

static void put_object(const struct count *c, struct iovec line, const struct sum *sum)
{
	struct report r = report_new();
	report_bytes_of(&r, "key", line.iov_base, line.iov_len);
	report_count(&r, "count", NULL, sum->count);
	report_bool(&r, "full", NULL, sum->full);
	fputs(c->printed ? ",\n  " : "[\n  ", stdout);
	put_json(r.json, stdout);
	report_free(&r);
}

static void sum_up(const struct count *c, struct sum *sum, int64_t count)
{
	sum->in = true;
	sum->full |= count == WEIR_COUNT_FULL;
	sum->count += count == WEIR_COUNT_FULL ? c->full : (uint64_t)count;
}

static void is_bad(struct count *c, const struct chunk *chunk, const struct keyer *keyer,
                   const char *line, const char *why)
{
	const bool first = c->bad++ == 0;
	if (keyer->open ? lines_torn(c->lines) : first && !keyer_passes(keyer))
		keyer_report(keyer, c->lines, chunk, line, why);
}

static int count_some(const struct count *c, struct weir_keys keys, int64_t *counts)
{
	int64_t counted = weir_count_keys(c->filter, keys, counts);
	return counted < 0 ? (int)counted : 0;
}

/* Return: 0 or a negative errno. */
static int ask_keyed(struct count *c, const struct chunk *chunk, struct keyer *keyer,
                     const struct iovec *lines, size_t n, struct sum *sums)
{
	int64_t counts[KEYS];
	const char *why;
	int err = 0;
	keyer_clear(keyer);
	for (size_t i = 0; i < n; i++) {
		if (!keyer_take(keyer, lines[i], &why))
			is_bad(c, chunk, keyer, lines[i].iov_base, why);
		else if (keyer->texts)
			sums[i].in = true;
	}
	for (size_t at = 0, some; !err && at < keyer->n; at += some) {
		some = keyer->n - at < KEYS ? keyer->n - at : KEYS;
		err = count_some(c, weir_keys_iov(keyer->keys + at, some), counts);
		for (size_t i = 0; !err && i < some; i++)
			sum_up(c, &sums[keyer->of[at + i]], counts[i]);
	}
	return err;
}

static int ask(struct count *c, const struct iovec *keys, size_t n, struct sum *sums)
{
	int64_t counts[KEYS];
	int err = count_some(c, weir_keys_iov(keys, n), counts);
	for (size_t i = 0; !err && i < n; i++)
		sum_up(c, &sums[i], counts[i]);
	return err;
}

static int print_chunk(struct count *c, const struct chunk *chunk, struct keyer *keyer)
{
	struct iovec lines[KEYS];
	size_t at = 0, n;
	while ((n = chunk_keys(c->lines, chunk, &at, lines, KEYS)) > 0) {
		struct sum sums[KEYS] = { { 0 } };
		int err = c->keyed ? ask_keyed(c, chunk, keyer, lines, n, sums) :
		                     ask(c, lines, n, sums);
		if (err)
			return err;
		for (size_t i = 0; i < n; i++) {
			if (!sums[i].in)
				continue;
			(c->as_json ? put_object : put_text)(c, lines[i], &sums[i]);
			c->printed++;
		}
	}
	fflush(stdout); /* show counts at once to a user who types lines */
	return 0;
}

/* Uses one thread, since printing takes longer than lookups. */
static int print_all(struct count *c)
{
	struct chunk chunk = { 0 };
	struct keyer keyer;
	int err = 0;
	c->keying.keep_local = true; /* also count names of this machine and its network */
	keyer_begin(&keyer, &c->keying, keying_probes_several(&c->keying) ? KEYING_LOOKUP :
	                                                                     KEYING_TEXT);
	while (!err && lines_next(c->lines, &chunk) > 0) {
		if (chunk.first)
			hint_lines(c->lines, &chunk, &c->keying, HINT_LOOKUP);
		keyer_chunk(&keyer, &chunk);
		err = print_chunk(c, &chunk, &keyer);
	}
	hint_slashed(&keyer.slashed);
	keyer_end(&keyer);
	chunk_free(&chunk);
	if (err)
		return trouble_weir(err, NULL);
	if (c->as_json)
		fputs(c->printed ? "\n]\n" : "[]\n", stdout);
	say_unanswered(c->bad, c->keying.skip_bad);
	return lines_failed(c->lines) || (c->bad && !c->keying.skip_bad) ? TOOL_TROUBLE : TOOL_OK;
}

static int count_lines(struct count *c, const char *image)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	int err = weir_measure(c->filter, WEIR_SAMPLED, &stats);
	if (err)
		return trouble_weir(err, image);
	if (!weir_can(c->filter, WEIR_CAN_COUNT))
		return trouble("%s: kind %s cannot count keys: weir query looks them up, and weir "
		               "build makes one that counts, with -k %s", image,
		               weir_kind_name(stats.shape.kind), shape_kinds(WEIR_CAN_COUNT));
	uint32_t bits = shape_number(&stats.shape, "counter_bits");
	c->full = (UINT64_C(1) << bits) - 1;
	weir_text_of(c->filter, &c->keying.normal);
	if (!keying_fits(&c->keying))
		return TOOL_TROUBLE;
	c->keyed = keying_any(&c->keying);
	c->plain = plain_wanted(stdout);
	keying_prepare(&c->keying, &c->from);
	c->lines = lines_open(&c->from);
	int status = print_all(c);
	lines_say_marked(lines_marked(c->lines));
	lines_close(c->lines);
	return status;
}

static bool option_taken(int option, struct count *c)
{
	if (option == JSON)
		return c->as_json = true;
	int taken = keying_option(option, &c->keying, &c->from);
	return (taken < 0 ? image_option(option, &c->how) : taken) > 0;
}

int cmd_count(int argc, char **argv)
{
	struct count c = { .from = { .delimiter = '\n', .go_on = true }, .how = image_how() };
	const char *image;
	for (int option; (option = option_next(argc, argv, "0h", options)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return TOOL_OK;
		}
		if (!option_taken(option, &c))
			return misuse_reported();
	}
	if (!keying_fits(&c.keying))
		return misuse_reported();
	int status = image_arguments(argc, argv, true, &image, &c.from);
	if (!status)
		status = image_swapped(image, c.from.names, c.from.n);
	progress_allow(c.how.progress);
	if (!status && image_open(&c.filter, image, &c.how))
		status = TOOL_TROUBLE;
	if (!status)
		status = count_lines(&c, image);
	weir_destroy(c.filter);
	return status;
}
