/* SPDX-License-Identifier: MIT
 * Filters of kind split in the form that Parquet gives them, which Arrow, Impala, Spark and DuckDB
 * read and write.
 *
 * What a column's value is as a key: the bytes of its plain encoding, so an int32 is four bytes and
 * an int64 or a double eight, little-endian; of a byte array its bytes without their length.
 */
#ifndef WEIR_PARQUET_H
#define WEIR_PARQUET_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/filter.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

/* ---- split blocks, in and out ---- */

/** How the bytes begin. */
enum weir_parquet_form {
	WEIR_PARQUET_HEADER = 0, /* with BloomFilterHeader, in Thrift's compact protocol, as at a
	                            column's bloom_filter_offset */
	WEIR_PARQUET_BITSET = 1, /* the blocks alone, each 32 bytes */
};

/** For flags. */
enum weir_parquet_flags {
	/* Export any number of blocks up to 2 GiB. Else a power of two up to 128 MiB, which is all
	 * that strict readers take. */
	WEIR_PARQUET_ANY_SIZE = 1u << 0,
};

/** How to import. Start from WEIR_PARQUET_OPTIONS_INIT; 0 always means "not given". */
struct weir_parquet_options {
	size_t struct_size;   /* sizeof(struct weir_parquet_options) */
	uint32_t form;        /* enum weir_parquet_form */
	uint64_t capacity;    /* keys it was made for; 0: the distinct keys that it has, estimated
	                         from its bits */
	double fp_rate;       /* for them; 0: what capacity and size give */
	uint64_t max_bytes;   /* of bits, or the import is refused; 0: 2 GiB */
};

#define WEIR_PARQUET_OPTIONS_INIT { sizeof(struct weir_parquet_options), 0, 0, 0.0, 0 }

/**
 * Complete parameters for a filter that every reader takes: kind split, and of the sizes that are
 * powers of two the least that has the rate, up to 128 MiB.
 * @params: from WEIR_PARAMS_INIT, with capacity and fp_rate; max_bytes, if it is not 0, is a
 *   limit. kind and max_bytes are set; fp_rate becomes 0, so that weir_create() and weir_plan()
 *   give the rate of that size, which is better than asked.
 * Return: 0 or a negative errno; @params is untouched then.
 * Errors: -EINVAL capacity or fp_rate is missing or out of its range; -EFBIG it would take more
 *   than the limit.
 * Threads: any.  Progress: wait-free.  Cost: some hundred microseconds.
 * Source: BloomFilter.md of the Parquet format.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_params(struct weir_params *params);

/**
 * The bytes of an export.
 * @f: of kind split.
 * @form: enum weir_parquet_form.
 * @flags: enum weir_parquet_flags, or'ed.
 * Return: how many, or a negative errno.
 * Errors: -ENOTSUP another kind; -EINVAL an unknown form or flag, or the size is no power of two;
 *   -EFBIG the size is above 128 MiB, or with WEIR_PARQUET_ANY_SIZE above 2 GiB less 32 bytes,
 *   since numBytes has 32 bits with a sign.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API int64_t weir_parquet_bytes(const struct weir_filter *f, uint32_t form, uint32_t flags);

/**
 * Write a filter as Parquet has it.
 * @f: of kind split.
 * @form: enum weir_parquet_form.
 * @flags: enum weir_parquet_flags, or'ed.
 * @out: receives the bytes.
 * @size: bytes of room there.
 * Return: the bytes written, or a negative errno; nothing is written then.
 * Errors: as weir_parquet_bytes(); -ENOSPC @size is less than that.
 * Threads: any, also beside inserts.  Order: every insert that happens-before the call is in the
 *   bytes.  Progress: wait-free.  Cost: a copy.
 * Source: BloomFilter.md of the Parquet format.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_parquet_export(const struct weir_filter *f, uint32_t form,
                                                     uint32_t flags, void *out, size_t size);

/**
 * Make a filter of bytes that Parquet has. It is a copy, and takes inserts.
 * @out: receives the filter; untouched on failure.
 * @bytes: they need not be aligned.
 * @len: how many. With a header more may follow than belong to the filter, since a column need not
 *   say where its filter ends; a bare bitset is all of them.
 * @options: NULL for the defaults.
 * Return: the bytes that belong to the filter, or a negative errno.
 * Errors: -EBADMSG no header, or one that breaks the format, less bytes than it says, or a bitset
 *   that is no whole number of blocks; -ENOTSUP another algorithm, hash or compression; -EFBIG
 *   more than options->max_bytes; -EINVAL an option is out of its range; -ENOMEM.
 * Threads: any.  Order: publish the filter with release order.  Progress: blocking (memory).
 * Cost: a copy. No memory is taken for bytes that are not there.
 * Source: BloomFilter.md and parquet.thrift of the Parquet format.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_parquet_import(struct weir_filter **out, const void *bytes,
                                                     size_t len,
                                                     const struct weir_parquet_options *options);

WEIR_END_DECLS

#endif
