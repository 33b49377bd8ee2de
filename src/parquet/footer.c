/* SPDX-License-Identifier: MIT
 * Reads a footer: FileMetaData, its row groups and their column chunks. */
#include <errno.h>
#include <stdlib.h>
#include <weir/parquet.h>
#include "ground/error.h"
#include "parquet/footer.h"

/* ---- the space of each filter: the bytes up to the next filter, or to the footer ----
 * If filters could share bytes, a small file could have any number of large filters. */

static uint64_t count(const struct weir_footer *footer, uint64_t chunks)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < chunks; i++)
		n += weir__chunk_has_filter(&footer->chunks[i]);
	return n;
}

static int by_offset(const void *a, const void *b)
{
	const struct weir_chunk *x = *(struct weir_chunk *const *)a;
	const struct weir_chunk *y = *(struct weir_chunk *const *)b;
	return (x->filter_at > y->filter_at) - (x->filter_at < y->filter_at);
}

static void set_space(struct weir_chunk *const *in_order, uint64_t n, uint64_t end,
                      struct weir_thrift *t)
{
	for (uint64_t i = n; i-- && !t->fault; end = in_order[i]->filter_at) {
		struct weir_chunk *chunk = in_order[i];
		chunk->filter_room = end - chunk->filter_at;
		if (!chunk->filter_room || chunk->filter_bytes > chunk->filter_room)
			weir__thrift_fault(t, "two filters lie in the same bytes of the file");
	}
}

int weir__footer_rooms(struct weir_footer *footer, uint64_t filters_end, struct weir_thrift *t)
{
	const uint64_t chunks = (uint64_t)footer->n_groups * footer->n_columns;
	const uint64_t n = count(footer, chunks);
	struct weir_chunk **in_order = malloc((n + 1) * sizeof *in_order);
	uint64_t at = 0;
	if (!in_order)
		return -ENOMEM;
	for (uint64_t i = 0; i < chunks; i++)
		if (weir__chunk_has_filter(&footer->chunks[i]))
			in_order[at++] = &footer->chunks[i];
	qsort(in_order, n, sizeof *in_order, by_offset);
	set_space(in_order, n, filters_end, t);
	free(in_order);
	return 0;
}

/* ---- the footer ---- */

/* Field numbers from the format's definition. */
enum { FILE_SCHEMA = 2, FILE_ROW_GROUPS = 4 };
enum { GROUP_COLUMNS = 1, GROUP_ROWS = 3 };
enum { CHUNK_FILE = 1, CHUNK_META = 3, CHUNK_CRYPTO = 8, CHUNK_ENCRYPTED_META = 9 };
enum { META_TYPE = 1, META_PATH = 3, META_VALUES = 5, META_FILTER_AT = 14,
       META_FILTER_BYTES = 15 };

enum { MAGIC_BYTES = 4 };

struct reading {
	struct weir_thrift t;
	struct weir_footer footer;
	uint64_t filters_end;
};

static uint64_t not_negative(struct weir_thrift *t, int64_t value, const char *fault)
{
	if (value < 0)
		weir__thrift_fault(t, fault);
	return value < 0 ? 0 : (uint64_t)value;
}

/* ---- a column chunk ---- */

static void read_meta(struct reading *r, uint32_t column, struct weir_chunk *chunk)
{
	struct weir_thrift *t = &r->t;
	struct weir_field field = { 0 };
	while (weir__thrift_field(t, &field)) {
		switch (field.id) {
		case META_TYPE:
			if (weir__thrift_i32(t, &field) !=
			    weir__footer_column(&r->footer, column)->type)
				weir__thrift_fault(t, "a column chunk is of another type than its "
				                   "column");
			break;
		case META_PATH: weir__schema_match(&r->footer, column, t, &field); break;
		case META_VALUES:
			chunk->values = not_negative(t, weir__thrift_i64(t, &field),
			                             "a number of values is negative");
			break;
		case META_FILTER_AT:
			chunk->filter_at = not_negative(t, weir__thrift_i64(t, &field),
			                                "a filter's offset is negative");
			break;
		case META_FILTER_BYTES:
			chunk->filter_bytes = (uint32_t)not_negative(
				t, weir__thrift_i32(t, &field), "a filter's length is negative");
			break;
		default: weir__thrift_skip(t, &field);
		}
	}
	weir__thrift_need(t, &field, META_TYPE, "a column chunk has no type");
	weir__thrift_need(t, &field, META_PATH, "a column chunk has no path");
	weir__thrift_need(t, &field, META_VALUES, "a column chunk has no number of values");
}

static void check_filter(struct reading *r, const struct weir_chunk *chunk)
{
	if (!weir__chunk_has_filter(chunk))
		return;
	if (chunk->filter_at < MAGIC_BYTES || chunk->filter_at >= r->filters_end ||
	    chunk->filter_bytes > r->filters_end - chunk->filter_at)
		weir__thrift_fault(&r->t, "a filter lies outside of the file's data");
}

static struct weir_chunk read_chunk(struct reading *r, uint32_t column)
{
	struct weir_chunk chunk = { 0 };
	struct weir_field field = { 0 };
	while (weir__thrift_field(&r->t, &field)) {
		switch (field.id) {
		case CHUNK_META:
			weir__thrift_struct(&r->t, &field);
			read_meta(r, column, &chunk);
			break;
		case CHUNK_FILE:
			chunk.elsewhere = weir__thrift_binary(&r->t, &field).bytes != 0;
			break;
		case CHUNK_CRYPTO:
		case CHUNK_ENCRYPTED_META:
			chunk.encrypted = true;
			weir__thrift_skip(&r->t, &field);
			break;
		default: weir__thrift_skip(&r->t, &field);
		}
	}
	if (!chunk.encrypted)
		weir__thrift_need(&r->t, &field, CHUNK_META, "a column chunk has no metadata");
	check_filter(r, &chunk);
	return chunk;
}

/* ---- row groups ---- */

static int read_chunks(struct reading *r, const struct weir_field *field)
{
	struct weir_footer *footer = &r->footer;
	uint32_t n = weir__thrift_list(&r->t, field, WEIR_THRIFT_STRUCT);
	if (n != footer->n_columns)
		weir__thrift_fault(&r->t, "a row group has another number of columns than the "
		                   "schema");
	for (uint32_t i = 0; i < n && !r->t.fault; i++) {
		struct weir_chunk chunk = read_chunk(r, i);
		uint64_t at = (uint64_t)footer->n_groups * n + i;
		if (!weir__footer_grow(&footer->chunks, at, sizeof chunk))
			return -ENOMEM;
		footer->chunks[at] = chunk;
	}
	return 0;
}

static int read_group(struct reading *r)
{
	struct weir_footer *footer = &r->footer;
	struct weir_field field = { 0 };
	uint64_t rows = 0;
	int err = 0;
	while (!err && weir__thrift_field(&r->t, &field)) {
		if (field.id == GROUP_COLUMNS)
			err = read_chunks(r, &field);
		else if (field.id == GROUP_ROWS)
			rows = not_negative(&r->t, weir__thrift_i64(&r->t, &field),
			                    "a number of rows is negative");
		else
			weir__thrift_skip(&r->t, &field);
	}
	weir__thrift_need(&r->t, &field, GROUP_COLUMNS, "a row group has no columns");
	weir__thrift_need(&r->t, &field, GROUP_ROWS, "a row group has no number of rows");
	if (err || !weir__footer_grow(&footer->rows, footer->n_groups, sizeof rows))
		return -ENOMEM;
	footer->rows[footer->n_groups++] = rows;
	return 0;
}

static int read_groups(struct reading *r, const struct weir_field *file)
{
	int err = 0;
	weir__thrift_need(&r->t, file, FILE_SCHEMA, "row groups come before the schema");
	uint32_t n = weir__thrift_list(&r->t, file, WEIR_THRIFT_STRUCT);
	for (uint32_t i = 0; i < n && !err && !r->t.fault; i++)
		err = read_group(r);
	return err;
}

static int read_file(struct reading *r)
{
	struct weir_field field = { 0 };
	int err = 0;
	while (!err && weir__thrift_field(&r->t, &field)) {
		if (field.id == FILE_SCHEMA)
			err = weir__schema_read(&r->footer, &r->t, &field);
		else if (field.id == FILE_ROW_GROUPS)
			err = read_groups(r, &field);
		else
			weir__thrift_skip(&r->t, &field);
	}
	weir__thrift_need(&r->t, &field, FILE_SCHEMA, "there is no schema");
	weir__thrift_need(&r->t, &field, FILE_ROW_GROUPS, "there are no row groups");
	return err;
}

/* Bytes after FileMetaData are ignored. A file with encrypted columns has the footer's signature
 * there. */
int weir__footer_read(struct weir_footer *out, const char *name, const void *bytes, size_t n,
                      uint64_t filters_end)
{
	struct reading r = { .t = weir__thrift(bytes, n), .filters_end = filters_end };
	int err = read_file(&r);
	if (!err && !r.t.fault)
		err = weir__footer_rooms(&r.footer, filters_end, &r.t);
	if (err)
		err = weir__fail(err, "%s: no memory for its footer of %zu bytes", name, n);
	else if (r.t.fault)
		err = weir__fail(-EBADMSG, "%s: byte %zu of its footer: %s", name, r.t.fault_at,
		                 r.t.fault);
	if (err)
		weir__footer_free(&r.footer);
	else
		*out = r.footer;
	return err;
}

void weir__footer_free(struct weir_footer *footer)
{
	free(footer->elements);
	free(footer->columns);
	free(footer->rows);
	free(footer->chunks);
}
