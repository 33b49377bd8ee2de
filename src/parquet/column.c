/* SPDX-License-Identifier: MIT
 * The columns of an opened file, their paths, and the hash of a column's value. */
#include <string.h>
#include <weir/parquet.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "hash/hash.h"
#include "parquet/footer.h"

/* ---- columns ---- */

uint32_t weir_parquet_columns(const struct weir_parquet *p)
{
	return p->footer.n_columns;
}

uint32_t weir_parquet_row_groups(const struct weir_parquet *p)
{
	return p->footer.n_groups;
}

int weir__parquet_check(const struct weir_parquet *p, uint32_t column)
{
	return column < p->footer.n_columns ?
	       0 : weir__fail(-EINVAL, "%s: column %u: it has %u, from 0", p->name, column,
	                      p->footer.n_columns);
}

int weir_parquet_inspect_column(const struct weir_parquet *p, uint32_t column,
                                struct weir_parquet_column *out)
{
	int err = weir__size_check(out, sizeof *out, "weir_parquet_column");
	if (!err)
		err = weir__parquet_check(p, column);
	if (err)
		return err;
	const struct weir_element *e = weir__footer_column(&p->footer, column);
	struct weir_parquet_column all = { .struct_size = out->struct_size, .type = e->type,
		                           .type_length = e->length, .logical = e->logical,
		                           .scale = e->scale };
	memcpy(out, &all, out->struct_size);
	return 0;
}

size_t weir_parquet_path(const struct weir_parquet *p, uint32_t column, char *out, size_t room)
{
	const struct weir_element *path[WEIR_PARQUET_DEPTH];
	size_t length = 0, left = room;
	unsigned depth = column < p->footer.n_columns ?
	                 weir__schema_path(&p->footer, column, path) : 0;
	for (unsigned i = 0; i < depth; i++) {
		for (uint32_t at = 0; at < path[i]->name.bytes && left > 1; at++, left--)
			*out++ = (char)path[i]->name.at[at];
		if (i + 1 < depth && left > 1) {
			*out++ = '.';
			left--;
		}
		length += path[i]->name.bytes + (i + 1 < depth);
	}
	if (room)
		*out = '\0';
	return length;
}

/* Return: true if @path is the column's path. */
static bool has_path(const struct weir_parquet *p, uint32_t column, const char *path, size_t len)
{
	const struct weir_element *names[WEIR_PARQUET_DEPTH];
	unsigned depth = weir__schema_path(&p->footer, column, names);
	for (unsigned i = 0; i < depth; i++) {
		size_t n = names[i]->name.bytes;
		bool dot = i + 1 < depth;
		if (len < n + dot || (n && memcmp(path, names[i]->name.at, n)) ||
		    (dot && path[n] != '.'))
			return false;
		path += n + dot;
		len -= n + dot;
	}
	return len == 0;
}

int weir_parquet_find(const struct weir_parquet *p, const char *path, uint32_t *column)
{
	size_t len = strlen(path);
	uint32_t found = UINT32_MAX;
	for (uint32_t i = 0; i < p->footer.n_columns; i++) {
		if (!has_path(p, i, path, len))
			continue;
		if (found != UINT32_MAX)
			return weir__fail(-EEXIST, "%s: columns %u and %u both have the path %s",
			                  p->name, found, i, path);
		found = i;
	}
	if (found == UINT32_MAX)
		return weir__fail(-ENOENT, "%s: has no column %s", p->name, path);
	*column = found;
	return 0;
}

/* ---- the hash of a value, which is the hash of its plain encoding ---- */

static const char *const types[] = {
	[WEIR_PARQUET_BOOLEAN] = "BOOLEAN", [WEIR_PARQUET_INT32] = "INT32",
	[WEIR_PARQUET_INT64] = "INT64",     [WEIR_PARQUET_INT96] = "INT96",
	[WEIR_PARQUET_FLOAT] = "FLOAT",     [WEIR_PARQUET_DOUBLE] = "DOUBLE",
	[WEIR_PARQUET_BYTES] = "BYTE_ARRAY", [WEIR_PARQUET_FIXED] = "FIXED_LEN_BYTE_ARRAY",
};

const char *weir_parquet_type_name(uint32_t type)
{
	return type < sizeof types / sizeof *types ? types[type] : NULL;
}

const char *weir_parquet_logical_name(uint32_t logical)
{
	static const char *const names[] = {
		[WEIR_PARQUET_STRING] = "STRING", [WEIR_PARQUET_UNSIGNED] = "UNSIGNED",
		[WEIR_PARQUET_DATE] = "DATE",     [WEIR_PARQUET_TIME] = "TIME",
		[WEIR_PARQUET_TIMESTAMP] = "TIMESTAMP", [WEIR_PARQUET_DECIMAL] = "DECIMAL",
		[WEIR_PARQUET_UUID] = "UUID",     [WEIR_PARQUET_OTHER] = "OTHER",
	};
	return logical < sizeof names / sizeof *names ? names[logical] : NULL;
}

static uint64_t hash_of(const void *bytes, size_t n)
{
	const struct weir_hashing how = weir__hashing_seeded(weir__kind_split.hash, 0);
	return weir__hash_by(&how, bytes, n);
}

/* Hash a number in little-endian order, whatever the order of the machine is. */
static uint64_t hash_of_number(const unsigned char *value, size_t n)
{
	unsigned char plain[sizeof(uint64_t)];
	for (size_t i = 0; i < n; i++)
		plain[i] = value[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : n - 1 - i];
	return hash_of(plain, n);
}

int weir_parquet_hash(uint64_t *out, uint32_t type, const void *value, size_t bytes)
{
	static const size_t number[] = { [WEIR_PARQUET_INT32] = 4, [WEIR_PARQUET_INT64] = 8,
		                         [WEIR_PARQUET_FLOAT] = 4, [WEIR_PARQUET_DOUBLE] = 8 };
	if (type > WEIR_PARQUET_FIXED)
		return weir__fail(-EINVAL, "type %u: 0 to 7 (enum weir_parquet_type)", type);
	if (type == WEIR_PARQUET_BOOLEAN || type == WEIR_PARQUET_INT96)
		return weir__fail(-ENOTSUP, "type %s: filters of such columns are not defined",
		                  types[type]);
	if (type == WEIR_PARQUET_BYTES || type == WEIR_PARQUET_FIXED) {
		*out = hash_of(value, bytes);
		return 0;
	}
	if (bytes != number[type])
		return weir__fail(-EINVAL, "bytes %zu: a value of type %s has %zu", bytes,
		                  types[type], number[type]);
	*out = hash_of_number(value, bytes);
	return 0;
}
