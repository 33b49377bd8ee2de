/* SPDX-License-Identifier: MIT
 * Bloom filters of Parquet files, which Arrow, Impala, Spark and DuckDB read and write. They are
 * filters of kind split. Read a filter from a file, or convert between a filter and its bytes.
 *
 *     struct weir_parquet *file;
 *     weir_parquet_open(&file, "orders.parquet", NULL);
 *     weir_parquet_find(file, "customer", &column);
 *     weir_parquet_read(&f, file, row_group, column);
 *     weir_parquet_hash(&hash, WEIR_PARQUET_INT64, &id, sizeof id);
 *     if (!weir_contains_hash(f, hash)) ...           the row group lacks this value: skip it
 *
 * The key of a value is the bytes of its plain encoding, little-endian: four bytes for an int32,
 * eight for an int64 or a double. For a byte array it is the bytes without their length.
 */
#ifndef WEIR_PARQUET_H
#define WEIR_PARQUET_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/filter.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

/* ---- export and import ---- */

/** Form of a filter's bytes. */
enum weir_parquet_form {
	WEIR_PARQUET_HEADER = 0, /* a BloomFilterHeader in Thrift's compact protocol, then the
	                            blocks, as at a column's bloom_filter_offset */
	WEIR_PARQUET_BITSET = 1, /* the blocks alone, 32 bytes each */
};

/** Flags of an export. */
enum weir_parquet_flags {
	/* Allow any number of blocks up to 2 GiB. Without this flag only a power of two up to 128
	 * MiB is allowed, since strict readers accept no other size. */
	WEIR_PARQUET_ANY_SIZE = 1u << 0,
};

/** How to import a filter. Start from WEIR_PARQUET_OPTIONS_INIT; 0 always means "not given". */
struct weir_parquet_options {
	size_t struct_size;   /* sizeof(struct weir_parquet_options) */
	uint32_t form;        /* enum weir_parquet_form */
	uint64_t capacity;    /* number of keys that the filter was made for; 0: its number of
	                         distinct keys, estimated from the bits */
	double fp_rate;       /* rate at capacity; 0: computed from capacity and size */
	uint64_t max_bytes;   /* refuse a filter whose bits take more bytes; 0: 2 GiB */
};

#define WEIR_PARQUET_OPTIONS_INIT WEIR__INIT(weir_parquet_options)

/**
 * Get the size of an export in bytes.
 * @f: of kind split.
 * @form: enum weir_parquet_form.
 * @flags: enum weir_parquet_flags, or'ed.
 * Return: the bytes, or a negative errno.
 * Errors: -ENOTSUP for another kind; -EINVAL for an unknown form or flag. Without
 *   WEIR_PARQUET_ANY_SIZE also -EINVAL if the size is not a power of two, and -EFBIG above 128 MiB;
 *   -EFBIG above 2 GiB less 32 bytes, since numBytes in the format is a signed 32-bit number.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API int64_t weir_parquet_bytes(const struct weir_filter *f, uint32_t form, uint32_t flags);

/**
 * Write a filter to memory in the form of the Parquet format.
 * @f: of kind split.
 * @form: enum weir_parquet_form.
 * @flags: enum weir_parquet_flags, or'ed.
 * @out: receives the bytes.
 * @size: size of @out in bytes.
 * Return: the number of bytes written; or a negative errno, and then nothing is written.
 * Errors: as weir_parquet_bytes(); -ENOSPC if @size is below the value of weir_parquet_bytes().
 * Threads: any, also during inserts.  Order: every insert that happens-before the call is in the
 *   bytes.  Progress: wait-free.  Cost: a copy.
 * Source: BloomFilter.md of the Parquet format.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_parquet_export(const struct weir_filter *f, uint32_t form,
                                                     uint32_t flags, void *out, size_t size);

/**
 * Make a filter from its bytes in the form of the Parquet format. It is a copy, and takes inserts.
 * @out: receives the filter; untouched on failure.
 * @bytes: @len bytes, which need not be aligned.
 * @len: number of bytes. WEIR_PARQUET_HEADER allows more bytes after the filter, since a column
 *   need not tell where its filter ends. With WEIR_PARQUET_BITSET all bytes are the filter.
 * @options: NULL for the defaults.
 * Return: the bytes that belong to the filter, or a negative errno.
 * Errors: -EBADMSG if the header is missing or breaks the format, fewer bytes follow than it tells,
 *   or a bitset is not a whole number of blocks; -ENOTSUP for another algorithm, hash or
 *   compression; -EFBIG if the filter is above options->max_bytes; -EINVAL if an option is out of
 *   its range; -ENOMEM.
 * Threads: any.  Order: publish the filter with release order.  Progress: blocking (memory).
 * Cost: a copy. The call allocates no memory for bytes that are missing.
 * Source: BloomFilter.md and parquet.thrift of the Parquet format.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_parquet_import(struct weir_filter **out, const void *bytes,
                                                     size_t len,
                                                     const struct weir_parquet_options *options);

/* ---- the filters of a file ---- */

/** Physical type of a column's values. The numbers are those of the Parquet format. */
enum weir_parquet_type {
	WEIR_PARQUET_BOOLEAN = 0, WEIR_PARQUET_INT32 = 1, WEIR_PARQUET_INT64 = 2,
	WEIR_PARQUET_INT96 = 3, WEIR_PARQUET_FLOAT = 4, WEIR_PARQUET_DOUBLE = 5,
	WEIR_PARQUET_BYTES = 6, /* BYTE_ARRAY */
	WEIR_PARQUET_FIXED = 7, /* FIXED_LEN_BYTE_ARRAY */
};

/** Logical type of a column's values. */
enum weir_parquet_logical {
	WEIR_PARQUET_NONE = 0,     /* only the physical type counts; integers are signed */
	WEIR_PARQUET_STRING = 1,   /* UTF-8: text, enums, JSON */
	WEIR_PARQUET_UNSIGNED = 2, /* an unsigned integer */
	WEIR_PARQUET_DATE = 3,     /* days since 1970-01-01 */
	WEIR_PARQUET_TIME = 4,
	WEIR_PARQUET_TIMESTAMP = 5,
	WEIR_PARQUET_DECIMAL = 6,  /* value * 10^scale */
	WEIR_PARQUET_UUID = 7,     /* 16 bytes, big-endian */
	WEIR_PARQUET_OTHER = 8,    /* any other type, perhaps unknown to this version */
};

struct weir_parquet; /* opaque: an open file and its parsed footer */

/** How to open a file. Start from WEIR_PARQUET_FILE_OPTIONS_INIT; 0 always means "not given". */
struct weir_parquet_file_options {
	size_t struct_size;        /* sizeof(struct weir_parquet_file_options) */
	uint64_t max_footer_bytes; /* refuse a larger footer; 0: 64 MiB. In memory a footer takes
	                              up to about 30 times its size */
	uint64_t max_filter_bytes; /* refuse a filter whose bits take more bytes; 0: 2 GiB */
};

#define WEIR_PARQUET_FILE_OPTIONS_INIT WEIR__INIT(weir_parquet_file_options)

/** A column. Start from WEIR_PARQUET_COLUMN_INIT. */
struct weir_parquet_column {
	size_t struct_size;   /* sizeof(struct weir_parquet_column) */
	uint32_t type;        /* enum weir_parquet_type */
	uint32_t type_length; /* for WEIR_PARQUET_FIXED the size of a value in bytes; else 0 */
	uint32_t logical;     /* enum weir_parquet_logical */
	int32_t scale;        /* for WEIR_PARQUET_DECIMAL; else 0 */
};

#define WEIR_PARQUET_COLUMN_INIT WEIR__INIT(weir_parquet_column)

/** A column in a row group. Start from WEIR_PARQUET_CHUNK_INIT. */
struct weir_parquet_chunk {
	size_t struct_size;     /* sizeof(struct weir_parquet_chunk) */
	uint64_t rows;          /* rows in the row group */
	uint64_t values;        /* values of the column, including NULL values */
	uint64_t filter_offset; /* offset of the filter's header in the file; 0: the column has no
	                           filter */
	uint64_t filter_length; /* bytes of header and bits; 0: the footer does not tell */
	uint32_t encrypted;     /* 1: the column is encrypted, so its filter cannot be read; else
	                           0 */
	uint32_t elsewhere;     /* 1: this file only describes the column, whose values are in
	                           another file; else 0 */
};

#define WEIR_PARQUET_CHUNK_INIT WEIR__INIT(weir_parquet_chunk)

/**
 * Open a Parquet file and read its footer: columns, row groups, and offsets of the filters. The
 * call never maps the file, so truncating the file cannot kill the process.
 * @out: receives the file; untouched on failure.
 * @path: a regular file.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: -EBADMSG if it is not a Parquet file, or its footer breaks the format; -ENOTSUP if its
 *   footer is encrypted; -EFBIG if the footer is above max_footer_bytes; -EINVAL if @path is NULL
 *   or not a regular file, or an option is out of its range; -EISDIR; -ENOMEM; the errno of opening
 *   and reading the file.
 * Threads: any.  Progress: blocking (the file, memory).  Cost: some 10 ns a byte of the footer.
 * Source: parquet.thrift of the Parquet format.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_open(struct weir_parquet **out, const char *path,
                                               const struct weir_parquet_file_options *options);

/**
 * Close a Parquet file. Filters that were read from the file stay valid.
 * @p: NULL is allowed.
 * Return: 0.  Errors: none.  Threads: the last user.  Progress: blocking (memory).
 */
WEIR_API int weir_parquet_close(struct weir_parquet *p);

/**
 * Count the columns of a Parquet file, which are the leaves of its schema.
 * Return: the number of columns. They are numbered from 0 in the order of the schema.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_parquet_columns(const struct weir_parquet *p);

/**
 * Count the row groups of a Parquet file.
 * Return: the number of row groups. They are numbered from 0 in the order of the file.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_parquet_row_groups(const struct weir_parquet *p);

/**
 * Get the type of a column.
 * @column: number of the column.
 * @out: from WEIR_PARQUET_COLUMN_INIT; receives the type.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if the file lacks this column, or struct_size is wrong.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_inspect_column(const struct weir_parquet *p,
                                                         uint32_t column,
                                                         struct weir_parquet_column *out);

/**
 * Get the path of a column: the names of its groups and its own name, joined by dots, as in a.b.c.
 * A name may contain a dot. The names are bytes of the file, of any value but NUL.
 * @column: number of the column.
 * @out: receives as much as fits and a final NUL byte.
 * @room: size of @out in bytes; with 0 nothing is written.
 * Return: the path's length in bytes without the NUL byte, for any @room; 0 if the file lacks this
 *   column.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API size_t weir_parquet_path(const struct weir_parquet *p, uint32_t column, char *out,
                                  size_t room);

/**
 * Find a column by its path.
 * @path: in the form of weir_parquet_path().
 * @column: receives the column's number; untouched on failure.
 * Return: 0 or a negative errno.
 * Errors: -ENOENT if no column has that path; -EEXIST if several have it.
 * Threads: any.  Progress: wait-free.  Cost: some 10 ns a column.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_find(const struct weir_parquet *p, const char *path,
                                               uint32_t *column);

/**
 * Get the footer's entry of a column in a row group.
 * @row_group, @column: number of the row group and of the column.
 * @out: from WEIR_PARQUET_CHUNK_INIT; receives the entry.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if the file lacks this row group or column, or struct_size is wrong.
 * Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_inspect_chunk(const struct weir_parquet *p,
                                                        uint32_t row_group, uint32_t column,
                                                        struct weir_parquet_chunk *out);

/**
 * Read the filter of a column in a row group. If the filter answers false for a value, the row
 * group lacks the value and need not be read. A row group without a filter may have any value.
 * @out: receives the filter, a copy of kind split; untouched on failure.
 * @row_group, @column: number of the row group and of the column.
 * Return: 0 or a negative errno.
 * Errors: -ENOENT if there is no filter; -ENOTSUP if the filter is encrypted, in another file, or
 *   made by another algorithm; -EBADMSG if its bytes break the format; -EFBIG if it is above
 *   max_filter_bytes; -EINVAL if the file lacks this row group or column; -ENOMEM; the errno of
 *   reading the file.
 * Threads: any.  Order: publish the filter with release order.  Progress: blocking (the file,
 *   memory).  Cost: two reads and a copy.
 * Source: BloomFilter.md of the Parquet format.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_read(struct weir_filter **out,
                                                 const struct weir_parquet *p,
                                                 uint32_t row_group, uint32_t column);

/**
 * Hash a value, for weir_contains_hash() and weir_insert_hash() of a filter of kind split.
 * @out: receives the hash; untouched on failure.
 * @type: the column's type, enum weir_parquet_type.
 * @value: an int32_t, int64_t, float or double of this machine, or the bytes. In this format 0.0
 *   and -0.0 are two values, so look up both to find a zero. Each NaN is a value of its own.
 * @bytes: size of the value: 4 or 8 for a number.
 * Return: 0 or a negative errno.
 * Errors: -ENOTSUP for BOOLEAN and INT96, which never have a filter; -EINVAL for an unknown type,
 *   or if @bytes does not fit the type.
 * Threads: any.  Progress: wait-free.  Cost: some nanoseconds.
 * Source: XXH64 with seed 0 of the plain encoding, as BloomFilter.md of the Parquet format says.
 */
WEIR_API WEIR_MUST_CHECK int weir_parquet_hash(uint64_t *out, uint32_t type, const void *value,
                                               size_t bytes);

/**
 * Get the name of a physical type in the Parquet format.
 * @type: enum weir_parquet_type.
 * Return: a static string, "INT32" and so on; NULL for an unknown number.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_parquet_type_name(uint32_t type);

/**
 * Get the name of a logical type.
 * @logical: enum weir_parquet_logical.
 * Return: a static string, "DATE" and so on; NULL for WEIR_PARQUET_NONE or an unknown number.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_parquet_logical_name(uint32_t logical);

WEIR_END_DECLS

#endif
