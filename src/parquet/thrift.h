/* SPDX-License-Identifier: MIT
 * Reads Thrift's compact protocol, as Parquet's metadata uses it, from untrusted bytes.
 *
 * [THRIFT-BOUNDS]  The reader never reads beyond @end, whatever a length or a count says.
 * [THRIFT-FIRST-FAULT]  The first fault is kept. After a fault every call reads nothing and returns
 *    0, false or an empty slice. So a caller checks for a fault once, at the end, and its loops
 *    over fields or elements end too.
 * [THRIFT-ENDS]  Each call reads at least a byte or ends a loop, and no function recurses. So the
 *    number of bytes bounds the time and the stack of a parse. */
#ifndef WEIR_SRC_PARQUET_THRIFT_H
#define WEIR_SRC_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of a field or an element. */
enum weir_thrift_type {
	WEIR_THRIFT_STOP, WEIR_THRIFT_TRUE, WEIR_THRIFT_FALSE, WEIR_THRIFT_I8, WEIR_THRIFT_I16,
	WEIR_THRIFT_I32, WEIR_THRIFT_I64, WEIR_THRIFT_DOUBLE, WEIR_THRIFT_BINARY, WEIR_THRIFT_LIST,
	WEIR_THRIFT_SET, WEIR_THRIFT_MAP, WEIR_THRIFT_STRUCT, WEIR_THRIFT_UUID,
};

enum { WEIR_THRIFT_DEPTH = 64 }; /* most levels of nesting in a skipped value */

struct weir_thrift {
	const unsigned char *from, *at, *end;
	const char *fault; /* NULL: none */
	size_t fault_at;   /* offset from @from */
};

/* The current field of a struct. Start from { 0 }. */
struct weir_field {
	int32_t id;
	enum weir_thrift_type type;
	uint32_t seen; /* bit i: field i was read, for i below 32; a duplicate is a fault */
};

struct weir_slice {
	const unsigned char *at;
	uint32_t bytes;
};

struct weir_thrift weir__thrift(const void *bytes, size_t n);
/* Record a fault at the next byte, unless @t already has a fault. */
void weir__thrift_fault(struct weir_thrift *t, const char *what);

/* Read the number and type of the struct's next field. Return: false at the end of the struct. */
bool weir__thrift_field(struct weir_thrift *t, struct weir_field *field);
/* Record @fault unless field @id was read. */
void weir__thrift_need(struct weir_thrift *t, const struct weir_field *field, int id,
                       const char *fault);

/* Read the field's value. A value of another type is a fault. */
int32_t weir__thrift_i32(struct weir_thrift *t, const struct weir_field *field);
int64_t weir__thrift_i64(struct weir_thrift *t, const struct weir_field *field);
struct weir_slice weir__thrift_binary(struct weir_thrift *t, const struct weir_field *field);
void weir__thrift_struct(struct weir_thrift *t, const struct weir_field *field);
/* Read the number of elements of a list of @type. The elements follow. Return: the number, at most
 * the number of bytes left. */
uint32_t weir__thrift_list(struct weir_thrift *t, const struct weir_field *field,
                           enum weir_thrift_type type);
/* Read a list element that is a string. */
struct weir_slice weir__thrift_element(struct weir_thrift *t);
/* Skip the field's value, which may have any type. */
void weir__thrift_skip(struct weir_thrift *t, const struct weir_field *field);

/* ---- the header of a filter: Parquet's BloomFilterHeader ---- */

/* numBytes is a signed 32-bit integer, and a block has 32 bytes. */
#define WEIR_PARQUET_MOST_BYTES (UINT64_C(0x7fffffff) / 32 * 32)

enum { WEIR_PARQUET_HEADER_ROOM = 24 }; /* most bytes of a header that weir writes */

/* The contents of a header. */
struct weir_parquet_header {
	size_t header_bytes;
	uint64_t bitset_bytes; /* the size of the bits after the header: one or more blocks */
};

/* Write the header of a bitset. Return: the bytes of the header. */
size_t weir__parquet_header_put(unsigned char out[WEIR_PARQUET_HEADER_ROOM], uint64_t bitset_bytes);
/* Read an untrusted header. The bits after the header may be missing.
 * Return: 0; -EBADMSG if it breaks the format; -ENOTSUP if it names another algorithm, hash or
 * compression. */
int weir__parquet_header_get(struct weir_parquet_header *out, const void *bytes, size_t n);

#endif
