/* SPDX-License-Identifier: MIT
 * weir parquet: lists the filters of a Parquet file, by row group and column. */
#include <stdio.h>
#include <stdlib.h>
#include <weir/weir.h>
#include "commands.h"
#include "images/images.h"
#include "input/parquet.h"
#include "output/report.h"
#include "output/say.h"
#include "output/units.h"

static const char help[] =
	"Usage: weir parquet [OPTION]... FILE\n"
	"List the Bloom filters of a Parquet file: by row group and column, with the rows\n"
	"of the row group, the filter's size and place, and the keys and the rate that\n"
	"its bits stand for. weir query FILE:COLUMN looks values up in them.\n"
	"\n"
	"      --all    columns without a filter too\n"
	"      --max-memory=SIZE  for the footer and one filter; default: half of the\n"
	"               memory that is available\n"
	"      --json   as JSON: an object with the columns and an array of their filters\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit status: 0 done, 1 no column has a filter, 2 an error.\n";

enum { JSON = 256, MAX_MEMORY, ALL };

static const struct option options[] = {
	{ "all", no_argument, NULL, ALL },
	{ "max-memory", required_argument, NULL, MAX_MEMORY },
	{ "json", no_argument, NULL, JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct listing {
	const char *path;
	struct weir_parquet *file;
	uint64_t max_memory, filters;
	bool all, as_json;
	json_t *json; /* an array */
	struct table table;
};

/* Writes for example "INT32" or "FIXED_LEN_BYTE_ARRAY(16) UUID". */
static void put_type(const struct weir_parquet_column *column, char *out, size_t room)
{
	const char *logical = weir_parquet_logical_name(column->logical);
	char length[24] = "";
	if (column->type == WEIR_PARQUET_FIXED)
		snprintf(length, sizeof length, "(%u)", column->type_length);
	snprintf(out, room, "%s%s%s%s", weir_parquet_type_name(column->type), length,
	         logical ? " " : "", logical ? logical : "");
}

/* Return: the reason why weir cannot read the filter of a column chunk. */
static const char *lack(const struct weir_parquet_chunk *chunk)
{
	return chunk->encrypted ? "encrypted" : chunk->elsewhere ? "in another file" : "no filter";
}

static void add_json(struct listing *l, uint32_t group, uint32_t column, const char *path,
                     const struct weir_parquet_chunk *chunk, const struct weir_stats *stats)
{
	struct weir_parquet_column is = WEIR_PARQUET_COLUMN_INIT;
	struct report r = report_new();
	(void)!weir_parquet_inspect_column(l->file, column, &is);
	report_count(&r, "row_group", NULL, group);
	report_text(&r, "column", NULL, path);
	report_text(&r, "type", NULL, weir_parquet_type_name(is.type));
	report_count(&r, "type_length", NULL, is.type_length);
	if (weir_parquet_logical_name(is.logical))
		report_text(&r, "logical", NULL, weir_parquet_logical_name(is.logical));
	report_count(&r, "rows", NULL, chunk->rows);
	report_bool(&r, "filter", NULL, stats != NULL);
	if (stats) {
		uint64_t blocks = stats->shape.split.blocks;
		report_count(&r, "offset", NULL, chunk->filter_offset);
		report_count(&r, "bytes", NULL, 32 * blocks);
		report_count(&r, "blocks", NULL, blocks);
		report_estimate(&r, "keys_estimated", NULL, stats->keys_estimated);
		report_rate(&r, "fp_rate_estimated", NULL, stats->fp_rate_estimated);
	} else {
		report_text(&r, "lacks", NULL, lack(chunk));
	}
	json_array_append(l->json, r.json);
	report_free(&r);
}

static void add_row(struct listing *l, uint32_t group, uint32_t column, const char *path,
                    const struct weir_parquet_chunk *chunk, const struct weir_stats *stats)
{
	struct weir_parquet_column is = WEIR_PARQUET_COLUMN_INIT;
	char type[80];
	(void)!weir_parquet_inspect_column(l->file, column, &is);
	put_type(&is, type, sizeof type);
	table_add(&l->table, "%u", group);
	table_add(&l->table, "%s", path);
	table_add(&l->table, "%s", type);
	table_add(&l->table, "%s", show_count(SHOW, chunk->rows));
	if (!stats) {
		table_add(&l->table, "%s", lack(chunk));
		for (unsigned i = 0; i < 4; i++)
			table_add(&l->table, "%s", "");
		return;
	}
	uint64_t blocks = stats->shape.split.blocks;
	table_add(&l->table, "%s", show_bytes(SHOW, 32 * blocks));
	table_add(&l->table, "%llu", (unsigned long long)blocks);
	table_add(&l->table, "%llu", (unsigned long long)chunk->filter_offset);
	table_add(&l->table, "%s", show_estimate(SHOW, stats->keys_estimated));
	table_add(&l->table, "%s", show_rate(SHOW, stats->fp_rate_estimated));
}

/* Lists a column of a row group. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
static int list_chunk(struct listing *l, uint32_t group, uint32_t column, const char *path)
{
	struct weir_parquet_chunk chunk = WEIR_PARQUET_CHUNK_INIT;
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_filter *filter = NULL;
	int err = weir_parquet_inspect_chunk(l->file, group, column, &chunk);
	const bool lacks = !chunk.filter_offset || chunk.encrypted || chunk.elsewhere;
	if (!err && !lacks)
		err = weir_parquet_read(&filter, l->file, group, column);
	if (!err && filter)
		err = weir_measure(filter, WEIR_EXACT, &stats);
	weir_destroy(filter);
	if (err)
		return parquet_trouble(err, l->path, l->max_memory);
	l->filters += !lacks;
	if (!lacks || l->all)
		(l->as_json ? add_json : add_row)(l, group, column, path, &chunk,
		                                  lacks ? NULL : &stats);
	return TOOL_OK;
}

static int list_all(struct listing *l)
{
	const uint32_t columns = weir_parquet_columns(l->file);
	int status = TOOL_OK;
	for (uint32_t column = 0; column < columns && !status; column++) {
		char *bytes = parquet_path(l->file, column);
		char *path = plain_copy(bytes); /* escaped, even for JSON */
		for (uint32_t g = 0; g < weir_parquet_row_groups(l->file) && !status; g++)
			status = list_chunk(l, g, column, path);
		free(path);
		free(bytes);
	}
	return status;
}

static void print_all(const struct listing *l)
{
	if (!l->as_json) {
		table_print(&l->table, stdout);
		return;
	}
	struct report r = report_new();
	report_text(&r, "file", NULL, l->path);
	report_count(&r, "columns", NULL, weir_parquet_columns(l->file));
	report_count(&r, "row_groups", NULL, weir_parquet_row_groups(l->file));
	json_put(r.json, "filters", json_incref(l->json));
	report_print(&r, true, stdout);
	report_free(&r);
}

static int run(struct listing *l)
{
	static const char *const heads[] = { "group", "column", "type", "rows", "bytes", "blocks",
		                             "offset", "keys", "rate" };
	l->table = (struct table)TABLE_INIT("rllrrrrrr");
	l->json = json_array();
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		table_add(&l->table, "%s", heads[i]);
	l->file = parquet_open(l->path, l->max_memory);
	int status = l->file ? list_all(l) : TOOL_TROUBLE;
	if (!status && !l->filters && !l->all && !l->as_json)
		say("%s: no column has a filter", l->path);
	else if (!status)
		print_all(l);
	if (!status && !l->filters)
		status = TOOL_NO;
	weir_parquet_close(l->file);
	table_free(&l->table);
	json_decref(l->json);
	return status;
}

int cmd_parquet(int argc, char **argv)
{
	struct listing l = { .max_memory = image_max_memory() };
	for (int option; (option = option_next(argc, argv, "h", options)) != -1;) {
		switch (option) {
		case JSON: l.as_json = true; break;
		case ALL: l.all = true; break;
		case MAX_MEMORY:
			if (!parse_bytes("--max-memory", optarg, &l.max_memory))
				return misuse_reported();
			break;
		case 'h': fputs(help, stdout); return TOOL_OK;
		default: return misuse_reported();
		}
	}
	if (optind != argc - 1)
		return misuse(optind == argc ? "the file is missing" : "one file at a time");
	l.path = argv[optind];
	return run(&l);
}
