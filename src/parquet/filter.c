/* SPDX-License-Identifier: MIT
 * Describes a column of a row group, and reads its filter. */
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "parquet/footer.h"
#include "parquet/thrift.h"

enum { HEADER_MOST = 256 }; /* limit of a filter's header, which takes about 16 bytes */

static int find_chunk(const struct weir_parquet *p, uint32_t row_group, uint32_t column,
                      const struct weir_chunk **chunk)
{
	int err = weir__parquet_check(p, column);
	if (err)
		return err;
	if (row_group >= p->footer.n_groups)
		return weir__fail(-EINVAL, "%s: row group %u: it has %u, from 0", p->name,
		                  row_group, p->footer.n_groups);
	*chunk = &p->footer.chunks[(uint64_t)row_group * p->footer.n_columns + column];
	return 0;
}

int weir_parquet_inspect_chunk(const struct weir_parquet *p, uint32_t row_group, uint32_t column,
                               struct weir_parquet_chunk *out)
{
	const struct weir_chunk *chunk = NULL;
	int err = weir__size_check(out, sizeof *out, "weir_parquet_chunk");
	if (!err)
		err = find_chunk(p, row_group, column, &chunk);
	if (err)
		return err;
	struct weir_parquet_chunk all = { .struct_size = out->struct_size,
		                          .rows = p->footer.rows[row_group],
		                          .values = chunk->values,
		                          .filter_offset = chunk->filter_at,
		                          .filter_length = chunk->filter_bytes,
		                          .encrypted = chunk->encrypted,
		                          .elsewhere = chunk->elsewhere };
	memcpy(out, &all, out->struct_size);
	return 0;
}

/* Check that the column has a filter that weir can read. */
static int check_chunk(const struct weir_parquet *p, const struct weir_chunk *chunk,
                       uint32_t row_group, uint32_t column)
{
	if (chunk->encrypted)
		return weir__fail(-ENOTSUP, "%s: column %u is encrypted, which weir cannot read",
		                  p->name, column);
	if (chunk->elsewhere)
		return weir__fail(-ENOTSUP, "%s: column %u of row group %u is in another file: "
		                  "open that one", p->name, column, row_group);
	if (!chunk->filter_at)
		return weir__fail(-ENOENT, "%s: column %u of row group %u has no filter", p->name,
		                  column, row_group);
	return 0;
}

/* Read and check a filter's header. @length: receives the bytes of header and bits. */
static int read_header(const struct weir_parquet *p, const struct weir_chunk *chunk,
                       uint64_t *length)
{
	unsigned char bytes[HEADER_MOST];
	struct weir_parquet_header header;
	const uint64_t at = chunk->filter_at;
	const uint64_t room = chunk->filter_bytes ? chunk->filter_bytes : chunk->filter_room;
	const size_t n = room < sizeof bytes ? (size_t)room : sizeof bytes;
	int err = weir__parquet_read(p, bytes, n, at);
	if (err)
		return err;
	err = weir__parquet_header_get(&header, bytes, n);
	if (err)
		return weir__fail(err, "%s: filter at byte %llu: %s", p->name,
		                  (unsigned long long)at, weir_error_detail());
	if (header.bitset_bytes > room - header.header_bytes)
		return weir__fail(-EBADMSG, "%s: filter at byte %llu: numBytes is %llu, and there "
		                  "is room for %llu", p->name, (unsigned long long)at,
		                  (unsigned long long)header.bitset_bytes,
		                  (unsigned long long)(room - header.header_bytes));
	if (p->max_filter_bytes && header.bitset_bytes > p->max_filter_bytes)
		return weir__fail(-EFBIG, "%s: filter at byte %llu: its %llu bytes are more than "
		                  "max_filter_bytes, %llu", p->name, (unsigned long long)at,
		                  (unsigned long long)header.bitset_bytes,
		                  (unsigned long long)p->max_filter_bytes);
	*length = header.header_bytes + header.bitset_bytes;
	return 0;
}

int weir_parquet_read(struct weir_filter **out, const struct weir_parquet *p, uint32_t row_group,
                      uint32_t column)
{
	const struct weir_chunk *chunk = NULL;
	uint64_t length = 0;
	int err = find_chunk(p, row_group, column, &chunk);
	if (!err)
		err = check_chunk(p, chunk, row_group, column);
	if (!err)
		err = read_header(p, chunk, &length);
	if (err)
		return err;
	unsigned char *bytes = malloc(length);
	if (!bytes)
		return weir__fail(-ENOMEM, "%s: no memory for a filter of %llu bytes", p->name,
		                  (unsigned long long)length);
	err = weir__parquet_read(p, bytes, length, chunk->filter_at);
	if (!err) {
		int64_t taken = weir_parquet_import(out, bytes, length, NULL);
		if (taken < 0)
			err = weir__fail((int)taken, "%s: filter at byte %llu: %s", p->name,
			                 (unsigned long long)chunk->filter_at, weir_error_detail());
	}
	free(bytes);
	return err;
}
