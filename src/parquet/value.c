/* SPDX-License-Identifier: MIT
 * The hash of a column's value: that of its plain encoding. */
#include <string.h>
#include <weir/parquet.h>
#include "filter/kinds.h"
#include "ground/error.h"
#include "hash/hash.h"

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

/* Bytes of a number, which the machine may have in the other order. */
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
