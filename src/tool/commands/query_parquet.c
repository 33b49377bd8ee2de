/* SPDX-License-Identifier: MIT
 * weir query for a column of a Parquet file. Users skip row groups by the answer, so a false
 * negative loses rows. Therefore a row group without a filter counts as one that may contain any
 * value, and text that is not exactly a value of the column is an error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>
#include "commands.h"
#include "input/keying.h"
#include "input/parquet.h"
#include "output/report.h"
#include "output/say.h"
#include "query.h"

enum { LINES = 512 };

struct asking {
	const struct parquet_query *how;
	struct parquet_column column;
	struct lines *lines;
	struct keyer keyer;
	bool keyed, plain;
	uint64_t asked, selected, bad;
	uint64_t *maybe; /* for each row group, the number of lines that may be in it */
	/* the fields below describe only the group of lines that is looked up now */
	uint64_t in[WEIR_BITMAP_WORDS(LINES)];    /* bitmap of the lines that are looked up */
	/* for each row group, a bitmap of the lines that may be in it */
	uint64_t (*held)[WEIR_BITMAP_WORDS(LINES)];
	uint64_t *hashes;
	uint32_t *of; /* for each hash, the number of its line */
	size_t n, room;
};

static bool bit(const uint64_t *bitmap, size_t i)
{
	return bitmap[i / 64] >> i % 64 & 1;
}

static void set(uint64_t *bitmap, size_t i)
{
	bitmap[i / 64] |= UINT64_C(1) << i % 64;
}

static void is_bad(struct asking *a, const struct chunk *chunk, const char *line, const char *why)
{
	const bool first = a->bad++ == 0;
	if (a->keyer.open ? lines_torn(a->lines) : first && !keyer_passes(&a->keyer))
		keyer_report(&a->keyer, a->lines, chunk, line, why);
}

/* ---- hashes ---- */

/* Adds the hashes of a line's text. Return: NULL, or the reason why the text is not a value. */
static const char *add(struct asking *a, struct iovec text, uint32_t line)
{
	struct parquet_value value;
	const char *why = parquet_value(&a->column.is, a->how->stored, text, &value);
	if (why)
		return why;
	if (a->room - a->n < value.n) {
		a->room = a->room ? 2 * a->room : 2 * LINES;
		a->hashes = xrealloc(a->hashes, a->room * sizeof *a->hashes);
		a->of = xrealloc(a->of, a->room * sizeof *a->of);
	}
	for (unsigned i = 0; i < value.n; i++, a->n++) {
		a->hashes[a->n] = value.hash[i];
		a->of[a->n] = line;
	}
	set(a->in, line);
	return NULL;
}

static const char *add_keyed(struct asking *a, struct iovec text, uint32_t line)
{
	const char *why = NULL;
	keyer_clear(&a->keyer);
	if (!keyer_take(&a->keyer, text, &why))
		return why;
	for (size_t i = 0; i < a->keyer.n && !why; i++)
		why = add(a, a->keyer.keys[i], line);
	return why;
}

static void hash_lines(struct asking *a, const struct chunk *chunk, const struct iovec *lines,
                       size_t n)
{
	a->n = 0;
	memset(a->in, 0, sizeof a->in);
	for (size_t i = 0; i < n; i++) {
		size_t before = a->n;
		const char *why = a->keyed ? add_keyed(a, lines[i], (uint32_t)i) :
		                             add(a, lines[i], (uint32_t)i);
		if (!why)
			continue;
		a->n = before;
		a->in[i / 64] &= ~(UINT64_C(1) << i % 64);
		is_bad(a, chunk, lines[i].iov_base, why);
	}
}

/* ---- answers ---- */

static void ask_group(struct asking *a, uint32_t group)
{
	uint64_t bitmap[WEIR_BITMAP_WORDS(LINES)], *held = a->held[group];
	const struct weir_filter *filter = a->column.groups[group].filter;
	memset(held, 0, sizeof a->held[group]);
	if (!filter)
		memcpy(held, a->in, sizeof a->in);
	for (size_t at = 0, some; filter && at < a->n; at += some) {
		some = a->n - at < LINES ? a->n - at : LINES;
		weir_contains_keys(filter, weir_keys_hashes(a->hashes + at, some), bitmap);
		for (size_t i = 0; i < some; i++)
			if (bit(bitmap, i))
				set(held, a->of[at + i]);
	}
	for (size_t w = 0; w < WEIR_BITMAP_WORDS(LINES); w++)
		a->maybe[group] += (uint64_t)__builtin_popcountll(held[w]);
}

/* Return: the number of row groups that may contain the given line. */
static uint32_t held_by(const struct asking *a, size_t line)
{
	uint32_t n = 0;
	for (uint32_t g = 0; g < a->column.n; g++)
		n += bit(a->held[g], line);
	return n;
}

static void put_text(const struct asking *a, struct iovec line, size_t number)
{
	char before = '\t';
	if (a->plain)
		(void)!plain_write(line.iov_base, line.iov_len, stdout);
	else
		(void)!fwrite(line.iov_base, 1, line.iov_len, stdout);
	for (uint32_t g = 0; g < a->column.n; g++)
		if (bit(a->held[g], number)) {
			printf("%c%u", before, g);
			before = ',';
		}
	putchar(a->how->from.delimiter); /* close_stdout() reports a failure */
}

static void put_object(const struct asking *a, struct iovec line, size_t number)
{
	struct report r = report_new();
	json_t *groups = json_array();
	report_bytes_of(&r, "key", line.iov_base, line.iov_len);
	for (uint32_t g = 0; g < a->column.n; g++)
		if (bit(a->held[g], number))
			json_array_append_new(groups, json_integer(g));
	json_put(r.json, "row_groups", groups);
	fputs(a->selected ? ",\n    " : "{\n  \"keys\": [\n    ", stdout);
	put_json(r.json, stdout);
	report_free(&r);
}

static void answer(struct asking *a, const struct iovec *lines, size_t n)
{
	for (uint32_t g = 0; g < a->column.n; g++)
		ask_group(a, g);
	for (size_t i = 0; i < n; i++) {
		if (!bit(a->in, i))
			continue;
		a->asked++;
		if ((held_by(a, i) == 0) != a->how->invert)
			continue;
		if (a->how->as_json)
			put_object(a, lines[i], i);
		else if (!a->how->count && !a->how->first_only)
			put_text(a, lines[i], i);
		a->selected++;
	}
}

/* Looks up all lines in this thread alone. With first_only, stops after the first group of lines
 * that has a selected line. */
static void ask_all(struct asking *a)
{
	struct chunk chunk = { 0 };
	struct iovec lines[LINES];
	bool enough = false;
	while (!enough && lines_next(a->lines, &chunk) > 0) {
		size_t at = 0, n;
		keyer_chunk(&a->keyer, &chunk);
		if (chunk.first)
			hint_lines(a->lines, &chunk, &a->how->keying, HINT_LOOKUP);
		while (!enough && (n = chunk_keys(a->lines, &chunk, &at, lines, LINES)) > 0) {
			hash_lines(a, &chunk, lines, n);
			answer(a, lines, n);
			enough = a->how->first_only && a->selected;
		}
		fflush(stdout); /* show answers at once to a user who types lines */
	}
	chunk_free(&chunk);
}

/* ---- the end ---- */

static json_t *groups_of(const struct asking *a)
{
	json_t *all = json_array();
	for (uint32_t g = 0; g < a->column.n; g++) {
		struct report r = report_new();
		report_count(&r, "row_group", NULL, g);
		report_count(&r, "rows", NULL, a->column.groups[g].rows);
		report_bool(&r, "filter", NULL, a->column.groups[g].filter != NULL);
		report_count(&r, "maybe", NULL, a->maybe[g]);
		json_array_append(all, r.json);
		report_free(&r);
	}
	return all;
}

static void put_figure(const char *key, uint64_t value)
{
	printf("  \"%s\": %llu,\n", key, (unsigned long long)value);
}

/* Prints the count, or the rest of the JSON object after its member "keys". */
static void print_counts(const struct asking *a)
{
	const bool invert = a->how->invert;
	const uint64_t maybe = invert ? a->asked - a->selected : a->selected;
	if (!a->how->as_json) {
		if (a->how->count)
			printf("%llu\n", (unsigned long long)a->selected);
		return;
	}
	fputs(a->selected ? "\n  ],\n" : "{\n  \"keys\": [],\n", stdout);
	put_figure("lines", a->asked);
	put_figure("maybe", maybe);
	put_figure("absent", a->asked - maybe);
	put_figure("passed_over", a->bad);
	json_t *groups = groups_of(a);
	fputs("  \"row_groups\": ", stdout);
	put_json(groups, stdout);
	fputs("\n}\n", stdout);
	json_decref(groups);
}

static int conclude(const struct asking *a)
{
	if (a->how->first_only && a->selected)
		return TOOL_OK;
	say_unanswered(a->bad, a->how->keying.skip_bad);
	print_counts(a);
	if (lines_failed(a->lines) || (a->bad && !a->how->keying.skip_bad))
		return TOOL_TROUBLE;
	return a->selected ? TOOL_OK : TOOL_NO;
}

static int ask(struct asking *a, const char *argument)
{
	const size_t n = a->column.n + 1; /* at least 1, so that no array is empty */
	if (a->column.lacking && !a->how->first_only)
		say("%s: %u of %u row groups have no filter, and may hold any value", argument,
		    a->column.lacking, a->column.n);
	a->keyed = keying_any(&a->how->keying);
	a->plain = plain_wanted(stdout);
	struct lines_options from = a->how->from;
	keying_prepare(&a->how->keying, &from);
	from.numbered = true;
	a->held = xmalloc(n * sizeof *a->held);
	a->maybe = xmalloc(n * sizeof *a->maybe);
	memset(a->maybe, 0, n * sizeof *a->maybe);
	keyer_begin(&a->keyer, &a->how->keying, KEYING_LOOKUP);
	a->lines = lines_open(&from);
	ask_all(a);
	int status = conclude(a);
	lines_say_marked(lines_marked(a->lines));
	lines_close(a->lines);
	keyer_end(&a->keyer);
	free(a->held);
	free(a->maybe);
	free(a->hashes);
	free(a->of);
	return status;
}

int parquet_query(const struct parquet_query *how, const char *argument)
{
	struct asking a = { .how = how };
	if (how->keying.normal.steps & (WEIR_TEXT_CIDR | WEIR_TEXT_SUFFIXES))
		return misuse("--cidr, --suffixes: not for the column of a Parquet file");
	int status = parquet_load(&a.column, argument, how->max_memory);
	if (!status && !parquet_readable(&a.column.is, how->stored, argument))
		status = TOOL_TROUBLE;
	if (!status)
		status = ask(&a, argument);
	parquet_free(&a.column);
	return status;
}
