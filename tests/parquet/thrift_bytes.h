/* SPDX-License-Identifier: MIT
 * Writes footers, valid and invalid, with a second implementation of Thrift's compact protocol. */
#ifndef WEIR_TESTS_PARQUET_THRIFT_BYTES_H
#define WEIR_TESTS_PARQUET_THRIFT_BYTES_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum { T_TRUE = 1, T_FALSE, T_I8, T_I16, T_I32, T_I64, T_DOUBLE, T_BINARY, T_LIST, T_SET, T_MAP,
       T_STRUCT, T_UUID };

struct bytes {
	unsigned char at[1 << 16];
	size_t n;
};

static inline void put(struct bytes *b, unsigned byte)
{
	assert(b->n < sizeof b->at);
	b->at[b->n++] = (unsigned char)byte;
}

static inline void put_varint(struct bytes *b, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put(b, (unsigned)(value & 0x7f) | 0x80);
	put(b, (unsigned)value);
}

static inline void put_int(struct bytes *b, int64_t value)
{
	put_varint(b, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

/* Use the long form, which does not need the number of the previous field. */
static inline void put_field(struct bytes *b, int id, unsigned type)
{
	put(b, type);
	put_int(b, id);
}

static inline void put_i32(struct bytes *b, int id, int64_t value)
{
	put_field(b, id, T_I32);
	put_int(b, value);
}

static inline void put_i64(struct bytes *b, int id, int64_t value)
{
	put_field(b, id, T_I64);
	put_int(b, value);
}

static inline void put_string(struct bytes *b, const char *text)
{
	put_varint(b, strlen(text));
	for (; *text; text++)
		put(b, (unsigned char)*text);
}

static inline void put_text(struct bytes *b, int id, const char *text)
{
	put_field(b, id, T_BINARY);
	put_string(b, text);
}

/* Start a list. The caller puts the elements afterwards. */
static inline void put_list(struct bytes *b, int id, unsigned type, uint64_t n)
{
	put_field(b, id, T_LIST);
	put(b, 0xf0 | type);
	put_varint(b, n);
}

static inline void put_stop(struct bytes *b)
{
	put(b, 0);
}

/* A schema element for a group of @children elements. put_leaf() puts an INT32 element. */
static inline void put_group(struct bytes *b, const char *name, int children)
{
	put_text(b, 4, name);
	put_i32(b, 5, children);
	put_stop(b);
}

static inline void put_leaf(struct bytes *b, const char *name)
{
	put_i32(b, 1, 1);
	put_text(b, 4, name);
	put_stop(b);
}

/* A column chunk of the INT32 column @name. @offset: the offset of the column's filter; 0: omit the
 * field. @length: the length of the filter; 0: omit the field. */
static inline void put_chunk(struct bytes *b, const char *name, int64_t offset, int64_t length)
{
	put_field(b, 3, T_STRUCT);
	put_i32(b, 1, 1);
	put_list(b, 3, T_BINARY, 1);
	put_string(b, name);
	put_i64(b, 5, 100);
	if (offset)
		put_i64(b, 14, offset);
	if (length)
		put_i32(b, 15, length);
	put_stop(b);
	put_stop(b);
}

/* A schema of one column "a". */
static inline void put_schema(struct bytes *b)
{
	put_list(b, 2, T_STRUCT, 2);
	put_group(b, "root", 1);
	put_leaf(b, "a");
}

/* Start the list of row groups. For each group put the group's columns, then put_rows(). */
static inline void put_row_groups(struct bytes *b, uint64_t n)
{
	put_list(b, 4, T_STRUCT, n);
}

static inline void put_columns(struct bytes *b, uint64_t n)
{
	put_list(b, 1, T_STRUCT, n);
}

static inline void put_rows(struct bytes *b, int64_t rows)
{
	put_i64(b, 3, rows);
	put_stop(b);
}

#endif
