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

#define WEIR_PARQUET_OPTIONS_INIT WEIR__INIT(weir_parquet_options)

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

/* ---- the filters of a file ---- */

/** How a column's values are stored. The numbers are the format's. */
enum weir_parquet_type {
	WEIR_PARQUET_BOOLEAN = 0, WEIR_PARQUET_INT32 = 1, WEIR_PARQUET_INT64 = 2,
	WEIR_PARQUET_INT96 = 3, WEIR_PARQUET_FLOAT = 4, WEIR_PARQUET_DOUBLE = 5,
	WEIR_PARQUET_BYTES = 6, /* BYTE_ARRAY */
	WEIR_PARQUET_FIXED = 7, /* FIXED_LEN_BYTE_ARRAY */
};

/** What the values stand for. */
enum weir_parquet_logical {
	WEIR_PARQUET_NONE = 0,     /* what the type says; integers have a sign */
	WEIR_PARQUET_STRING = 1,   /* UTF-8: text, enums, JSON */
	WEIR_PARQUET_UNSIGNED = 2, /* an integer without a sign */
	WEIR_PARQUET_DATE = 3,     /* days since 1970-01-01 */
	WEIR_PARQUET_TIME = 4,
	WEIR_PARQUET_TIMESTAMP = 5,
	WEIR_PARQUET_DECIMAL = 6,  /* value * 10^scale */
	WEIR_PARQUET_UUID = 7,     /* 16 bytes, big-endian */
	WEIR_PARQUET_OTHER = 8,    /* something else, or unknown to this version */
};

struct weir_parquet; /* opaque: an opened file, and what its footer says */

/** How to open a file. Start from WEIR_PARQUET_FILE_OPTIONS_INIT; 0 always means "not given". */
struct weir_parquet_file_options {
	size_t struct_size;
	uint64_t max_footer_bytes; /* of its footer, which takes up to some 30 times that in memory;
	                              0: 64 MiB */
	uint64_t max_filter_bytes; /* of the bits of one filter; 0: 2 GiB */
};

#define WEIR_PARQUET_FILE_OPTIONS_INIT WEIR__INIT(weir_parquet_file_options)

/** A column. Start from WEIR_PARQUET_COLUMN_INIT. */
struct weir_parquet_column {
	size_t struct_size;
	uint32_t type;        /* enum weir_parquet_type */
	uint32_t type_length; /* bytes of a value, of WEIR_PARQUET_FIXED; else 0 */
	uint32_t logical;     /* enum weir_parquet_logical */
	int32_t scale;        /* of WEIR_PARQUET_DECIMAL; else 0 */
};

#define WEIR_PARQUET_COLUMN_INIT WEIR__INIT(weir_parquet_column)

/** A column in a row group. Start from WEIR_PARQUET_CHUNK_INIT. */
struct weir_parquet_chunk {
	size_t struct_size;
	uint64_t rows;          /* of the row group */
	uint64_t values;        /* of the column, with those that are NULL */
	uint64_t filter_offset; /* byte of the file where its filter's header begins; 0: it has no
	                           filter */
	uint64_t filter_length; /* bytes of header and bits, as in the footer; 0: not there */
	uint32_t encrypted;     /* 1: its filter cannot be read for that; else 0 */
	uint32_t elsewhere;     /* 1: it is in another file, which this one only describes */
};

#define WEIR_PARQUET_CHUNK_INIT WEIR__INIT(weir_parquet_chunk)

/**
 * Open a Parquet file and read its footer: columns, row groups, where the filters are. The file is
 * read, never mapped, so that nobody who shortens it ends the process.
 * @out: receives the file; untouched on failure.
 * @path: a regular file.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: -EBADMSG it is no Parquet file, or its footer breaks the format; -ENOTSUP its footer is
 *   encrypted; -EFBIG the footer is above max_footer_bytes; -EINVAL @path is NULL, no regular
 *   file, or an option is out of its range; -EISDIR; -ENOMEM; what the system answers.
 * Threads: any.  Progress: blocking (the file, memory).  Cost: some 10 ns a byte of the footer.
 * Source: parquet.thrift of the Parquet format.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_open(struct weir_parquet **out, const char *path,
                                               const struct weir_parquet_file_options *options);

/**
 * Close a file. Filters that were read from it stay.
 * @p: NULL is allowed.
 * Return: 0.  Errors: none.  Threads: nobody else may use it.  Progress: blocking (memory).
 */
WEIR_API int weir_parquet_close(struct weir_parquet *p);

/**
 * How many columns there are, counted as leaves of the schema.
 * Return: the number; columns are numbered from 0 in the order of the schema.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_parquet_columns(const struct weir_parquet *p);

/**
 * How many row groups there are.
 * Return: the number; they are numbered from 0 in the order of the file.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_parquet_row_groups(const struct weir_parquet *p);

/**
 * What a column is.
 * @column: its number.
 * @out: receives it.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL there is no such column, or struct_size is wrong.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_inspect_column(const struct weir_parquet *p,
                                                         uint32_t column,
                                                         struct weir_parquet_column *out);

/**
 * A column's path: its name, behind those of the groups it is in, with dots between: a.b.c. A name
 * may have a dot itself. They are the file's bytes, of any value but NUL.
 * @column: its number.
 * @out: receives as much as fits and a final NUL byte.
 * @room: bytes of @out, 0 for nothing.
 * Return: the path's length in bytes without the NUL byte, whatever @room is; 0 there is no such
 *   column.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API size_t weir_parquet_path(const struct weir_parquet *p, uint32_t column, char *out,
                                  size_t room);

/**
 * Find a column by its path.
 * @path: as weir_parquet_path() has it.
 * @column: receives its number; untouched on failure.
 * Return: 0 or a negative errno.
 * Errors: -ENOENT there is none of that path; -EEXIST several have it.
 * Threads: any.  Progress: wait-free.  Cost: some 10 ns a column.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_find(const struct weir_parquet *p, const char *path,
                                               uint32_t *column);

/**
 * What the footer says of a column in a row group.
 * @row_group, @column: their numbers.
 * @out: receives it.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL there is no such row group or column, or struct_size is wrong.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_inspect_chunk(const struct weir_parquet *p,
                                                        uint32_t row_group, uint32_t column,
                                                        struct weir_parquet_chunk *out);

/**
 * Read the filter of a column in a row group. Where it says no to a value, the row group has none
 * of that value and need not be read. A row group without a filter may have any value.
 * @out: receives the filter, a copy of kind split; untouched on failure.
 * @row_group, @column: their numbers.
 * Return: 0 or a negative errno.
 * Errors: -ENOENT it has no filter; -ENOTSUP it is encrypted, in another file, or made by another
 *   algorithm; -EBADMSG its bytes break the format; -EFBIG above max_filter_bytes; -EINVAL there
 *   is no such row group or column; -ENOMEM; what reading the file answers.
 * Threads: any.  Order: publish the filter with release order.  Progress: blocking (the file,
 *   memory).  Cost: two reads and a copy.
 * Source: BloomFilter.md of the Parquet format.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_read(struct weir_filter **out,
                                                 const struct weir_parquet *p,
                                                 uint32_t row_group, uint32_t column);

/**
 * The hash of a value, for weir_contains_hash() and weir_insert_hash() of a filter of kind split.
 * @out: receives it; untouched on failure.
 * @type: enum weir_parquet_type, the column's.
 * @value: an int32_t, int64_t, float or double of this machine, or the bytes. As the format has it,
 *   0.0 and -0.0 are two values, and so is each NaN: who looks up a zero asks for both.
 * @bytes: of the value: 4 or 8 for the numbers.
 * Return: 0 or a negative errno.
 * Errors: -ENOTSUP BOOLEAN and INT96, which no filter has; -EINVAL an unknown type, or a number of
 *   another size.
 * Threads: any.  Progress: wait-free.  Cost: some nanoseconds.
 * Source: XXH64 with seed 0 of the plain encoding, as BloomFilter.md of the Parquet format says.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_hash(uint64_t *out, uint32_t type, const void *value,
                                               size_t bytes);

/**
 * The format's name of a type.
 * @type: enum weir_parquet_type.
 * Return: "INT32" and so on, valid for ever; NULL there is none of that number.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_parquet_type_name(uint32_t type);

/**
 * A name of what values stand for.
 * @logical: enum weir_parquet_logical.
 * Return: "DATE" and so on, valid for ever; NULL of WEIR_PARQUET_NONE, or there is none of that
 *   number.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_parquet_logical_name(uint32_t logical);

WEIR_END_DECLS

#endif
