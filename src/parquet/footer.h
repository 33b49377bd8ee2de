/* SPDX-License-Identifier: MIT
 * Parses the footer of a Parquet file: its columns, and where the filter of each column lies in
 * each row group. The parser sees only the footer's bytes, which are untrusted.
 *
 * [ARRAYS-GROW]  An array grows as the parser reads its elements, so a false count costs nothing.
 *    Memory is at most about 30 times the footer's bytes.
 * [NAMES-POINT]  A name points into the footer's bytes, and weir_parquet_path() builds a path on
 *    request. Stored paths would take the footer's bytes times the depth of the columns. */
#ifndef WEIR_SRC_PARQUET_FOOTER_H
#define WEIR_SRC_PARQUET_FOOTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/parquet.h>
#include "parquet/thrift.h"

enum { WEIR_PARQUET_DEPTH = 64 }; /* most levels of groups around a column */

/* A node of the schema: a column, or a group of nodes. */
struct weir_element {
	struct weir_slice name;
	uint32_t parent;   /* index of the parent; the root, 0, is its own parent */
	uint32_t children; /* number of children; columns have none */
	bool is_group;
	uint8_t type;      /* columns only: enum weir_parquet_type */
	uint8_t logical;   /* enum weir_parquet_logical */
	uint32_t length;   /* WEIR_PARQUET_FIXED only: bytes of a value */
	int32_t scale;     /* WEIR_PARQUET_DECIMAL only */
};

/* A column in a row group. */
struct weir_chunk {
	uint64_t values;
	uint64_t filter_at; /* offset in the file; 0: no filter */
	uint64_t filter_room; /* bytes up to the next filter, or to the footer */
	uint32_t filter_bytes; /* size of header and bits; 0: the footer does not say it */
	bool encrypted,
		elsewhere; /* true: the chunk is in another file */
};

struct weir_footer {
	struct weir_element *elements;
	uint32_t *columns; /* indices of the elements that are columns */
	uint64_t *rows;    /* number of rows in each row group */
	struct weir_chunk *chunks; /* one per column, row group after row group */
	uint32_t n_elements, n_columns, n_groups;
};

/* Parse a footer.
 * @out: receives the footer; free it with weir__footer_free(). Its names point into @bytes.
 *   On failure @out is unchanged.
 * @name: the file's name, for error messages.
 * @bytes: @n bytes of FileMetaData. @filters_end: the footer's offset in the file; every filter
 *   ends before it.
 * Return: 0; -EBADMSG; -ENOTSUP; -ENOMEM. */
int weir__footer_read(struct weir_footer *out, const char *name, const void *bytes, size_t n,
                      uint64_t filters_end);
void weir__footer_free(struct weir_footer *footer);

/* Return: the element of a column. */
static inline const struct weir_element *weir__footer_column(const struct weir_footer *footer,
                                                             uint32_t column)
{
	return &footer->elements[footer->columns[column]];
}

/* In schema.c. weir__schema_read() reads the list of elements at @t and makes a tree of it.
 * weir__schema_match() checks that the list of names at @t is the column's path. Both record a
 * fault in @t. weir__schema_read() returns 0 or -ENOMEM. */
int weir__schema_read(struct weir_footer *footer, struct weir_thrift *t,
                      const struct weir_field *field);
void weir__schema_match(const struct weir_footer *footer, uint32_t column, struct weir_thrift *t,
                        const struct weir_field *field);
/* List the elements from below the root down to a column. Return: the number of elements. */
unsigned weir__schema_path(const struct weir_footer *footer, uint32_t column,
                           const struct weir_element *path[WEIR_PARQUET_DEPTH]);

/* Return: true if the column has a filter that weir can read. If the chunk is in another file,
 * filter_at is an offset in that file. */
static inline bool weir__chunk_has_filter(const struct weir_chunk *chunk)
{
	return chunk->filter_at && !chunk->encrypted && !chunk->elsewhere;
}

/* Set filter_room of each filter. Two filters that overlap are a fault in @t.
 * Return: 0 or -ENOMEM. */
int weir__footer_rooms(struct weir_footer *footer, uint64_t filters_end, struct weir_thrift *t);

/* In schema.c. Make space for one more element in an array of @n elements. The space is doubled
 * when @n is a power of two. @size: bytes of an element. Return: false if memory is short; then
 * the array is unchanged. */
bool weir__footer_grow(void *array, uint64_t n, size_t size);

/* ---- an opened file ---- */

struct weir_parquet {
	char *name; /* for error messages */
	int fd;
	uint64_t filters_end; /* the footer's offset */
	uint64_t max_filter_bytes;
	unsigned char *bytes; /* the footer's bytes; the names in @footer point into them */
	struct weir_footer footer;
};

/* Read exactly @n bytes at offset @at. Return: 0 or a negative errno. */
int weir__parquet_read(const struct weir_parquet *p, void *out, uint64_t n, uint64_t at);
/* Check that the column exists. Return: 0 or -EINVAL. */
int weir__parquet_check(const struct weir_parquet *p, uint32_t column);

#endif
