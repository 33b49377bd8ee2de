/* SPDX-License-Identifier: MIT
 * Parquet's BloomFilterHeader, in Thrift's compact protocol. */
#ifndef WEIR_SRC_PARQUET_HEADER_H
#define WEIR_SRC_PARQUET_HEADER_H

#include <stddef.h>
#include <stdint.h>

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
