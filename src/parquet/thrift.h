/* SPDX-License-Identifier: MIT
 * Reads Thrift's compact protocol, as Parquet's metadata has it, from bytes that nobody vouches
 * for.
 *
 * T1  No byte beyond @end is read, whatever a length or a count says.
 * T2  The first fault stays: from then on every call reads nothing and answers 0, false or nothing.
 *     So a caller asks once, at the end, and a loop over fields or elements ends by itself.
 * T3  Each call takes a byte at least, or ends a loop; nothing calls itself. So a parse takes time
 *     and stack that the number of bytes bounds. */
#ifndef WEIR_SRC_PARQUET_THRIFT_H
#define WEIR_SRC_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a field or an element. */
enum weir_thrift_type {
	WEIR_THRIFT_STOP, WEIR_THRIFT_TRUE, WEIR_THRIFT_FALSE, WEIR_THRIFT_I8, WEIR_THRIFT_I16,
	WEIR_THRIFT_I32, WEIR_THRIFT_I64, WEIR_THRIFT_DOUBLE, WEIR_THRIFT_BINARY, WEIR_THRIFT_LIST,
	WEIR_THRIFT_SET, WEIR_THRIFT_MAP, WEIR_THRIFT_STRUCT, WEIR_THRIFT_UUID,
};

enum { WEIR_THRIFT_DEPTH = 64 }; /* of values within values that are passed over */

struct weir_thrift {
	const unsigned char *from, *at, *end;
	const char *fault; /* NULL: none */
	size_t fault_at;   /* its byte, from @from */
};

/* A struct that is being read: its field's number and type. Start from { 0 }. */
struct weir_field {
	int32_t id;
	enum weir_thrift_type type;
	uint32_t seen; /* bit i: field i, below 32; none may come twice */
};

struct weir_slice {
	const unsigned char *at;
	uint32_t bytes;
};

struct weir_thrift weir__thrift(const void *bytes, size_t n);
/* Record a fault at the next byte, unless there is one. */
void weir__thrift_fault(struct weir_thrift *t, const char *what);

/* The head of the struct's next field. Return: false at its end. */
bool weir__thrift_field(struct weir_thrift *t, struct weir_field *field);
/* Has the field @id come? A fault if not. */
void weir__thrift_need(struct weir_thrift *t, const struct weir_field *field, int id,
                       const char *fault);

/* The field's value. Another type is a fault. */
int32_t weir__thrift_i32(struct weir_thrift *t, const struct weir_field *field);
int64_t weir__thrift_i64(struct weir_thrift *t, const struct weir_field *field);
struct weir_slice weir__thrift_binary(struct weir_thrift *t, const struct weir_field *field);
void weir__thrift_struct(struct weir_thrift *t, const struct weir_field *field);
/* The elements follow, each of @type. Return: how many, no more than bytes are left. */
uint32_t weir__thrift_list(struct weir_thrift *t, const struct weir_field *field,
                           enum weir_thrift_type type);
/* An element that is a string. */
struct weir_slice weir__thrift_element(struct weir_thrift *t);
/* Whatever it is. */
void weir__thrift_skip(struct weir_thrift *t, const struct weir_field *field);

/* ---- a filter's header: Parquet's BloomFilterHeader ---- */

/* numBytes has 32 bits with a sign, and a block 32 bytes. */
#define WEIR_PARQUET_MOST_BYTES (UINT64_C(0x7fffffff) / 32 * 32)

enum { WEIR_PARQUET_HEADER_ROOM = 24 }; /* bytes that a header takes at most, as written here */

/* What a header says of the bits behind it. */
struct weir_parquet_header {
	size_t header_bytes;
	uint64_t bitset_bytes; /* whole blocks, one at least */
};

/* Put the header of so many bytes. Return: its own bytes. */
size_t weir__parquet_header_put(unsigned char out[WEIR_PARQUET_HEADER_ROOM], uint64_t bitset_bytes);
/* Read a header, of which nothing is certain; the bits need not be there.
 * Return: 0; -EBADMSG it breaks the format; -ENOTSUP it is of a filter of another sort. */
int weir__parquet_header_get(struct weir_parquet_header *out, const void *bytes, size_t n);

#endif
