/* SPDX-License-Identifier: MIT
 * A Parquet file's footer: which columns it has, and where in the file each row group's filter of
 * each column is. A function of bytes alone, which nobody vouches for.
 *
 * F1  An array grows as its elements are read, so that a count that the bytes do not bear out costs
 *     nothing: memory is at most some 30 times the bytes.
 * F2  A name is where it stands in the bytes; a path is put together when it is asked for. Kept
 *     paths could be as many times the bytes as the columns are deep. */
#ifndef WEIR_SRC_PARQUET_FOOTER_H
#define WEIR_SRC_PARQUET_FOOTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/parquet.h>
#include "parquet/thrift.h"

enum { WEIR_PARQUET_DEPTH = 64 }; /* of columns within groups */

/* A node of the schema: a column, or a group of nodes. */
struct weir_element {
	struct weir_slice name;
	uint32_t parent;   /* its number; of the root, 0, itself */
	uint32_t children; /* of a group */
	bool is_group;
	uint8_t type;      /* of a column: enum weir_parquet_type */
	uint8_t logical;   /* enum weir_parquet_logical */
	uint32_t length;   /* of WEIR_PARQUET_FIXED, bytes */
	int32_t scale;     /* of WEIR_PARQUET_DECIMAL */
};

/* A column in a row group. */
struct weir_chunk {
	uint64_t values;
	uint64_t filter_at; /* byte of the file; 0: it has none */
	uint64_t filter_room; /* bytes up to the next filter, or to the footer */
	uint32_t filter_bytes; /* header and bits; 0: not recorded */
	bool encrypted, elsewhere; /* elsewhere: in another file */
};

struct weir_footer {
	struct weir_element *elements;
	uint32_t *columns; /* the numbers of the elements that are columns */
	uint64_t *rows;    /* of each row group */
	struct weir_chunk *chunks; /* row group after row group, all columns */
	uint32_t n_elements, n_columns, n_groups;
};

/*
 * Read a footer.
 * @out: receives it; to be freed, and its names are in @bytes. Untouched on failure.
 * @name: the file's, for sentences.
 * @bytes: @n bytes of FileMetaData. @filters_end: where in the file the footer begins: a filter
 *   ends before.
 * Return: 0; -EBADMSG; -ENOTSUP; -ENOMEM.
 */
int weir__footer_read(struct weir_footer *out, const char *name, const void *bytes, size_t n,
                      uint64_t filters_end);
void weir__footer_free(struct weir_footer *footer);

/* A column's element. */
static inline const struct weir_element *weir__footer_column(const struct weir_footer *footer,
                                                             uint32_t column)
{
	return &footer->elements[footer->columns[column]];
}

/* schema.c: the element list that follows, made a tree; and whether a list of names that follows is
 * the path of a column. Both record a fault in @t. Return: 0 or -ENOMEM. */
int weir__schema_read(struct weir_footer *footer, struct weir_thrift *t,
                      const struct weir_field *field);
void weir__schema_match(const struct weir_footer *footer, uint32_t column, struct weir_thrift *t,
                        const struct weir_field *field);
/* The elements from below the root to a column. Return: how many. */
unsigned weir__schema_path(const struct weir_footer *footer, uint32_t column,
                           const struct weir_element *path[WEIR_PARQUET_DEPTH]);

/* A filter that can be read: of others the footer's numbers say nothing of this file. */
static inline bool weir__chunk_has_filter(const struct weir_chunk *chunk)
{
	return chunk->filter_at && !chunk->encrypted && !chunk->elsewhere;
}

/* The room of each filter, that of none in another's. Records a fault in @t.
 * Return: 0 or -ENOMEM. */
int weir__footer_rooms(struct weir_footer *footer, uint64_t filters_end, struct weir_thrift *t);

/* schema.c: room for one element more in an array of @n, whose room is the next power of two.
 * @size: bytes of an element. Return: false, with the array as it was, if there is no memory. */
bool weir__footer_grow(void *array, uint64_t n, size_t size);

/* ---- an opened file ---- */

struct weir_parquet {
	char *name; /* for sentences */
	int fd;
	uint64_t filters_end; /* where its footer begins */
	uint64_t max_filter_bytes;
	unsigned char *bytes; /* of the footer, in which its names are */
	struct weir_footer footer;
};

/* Read exactly @n bytes. Return: 0 or a negative errno. */
int weir__parquet_read(const struct weir_parquet *p, void *out, uint64_t n, uint64_t at);
/* Is there such a column? Return: 0 or -EINVAL. */
int weir__parquet_check(const struct weir_parquet *p, uint32_t column);

#endif
