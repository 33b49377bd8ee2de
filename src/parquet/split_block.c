/* SPDX-License-Identifier: MIT
 * Exports and imports split-block filters. The array of a split filter is Parquet's bitset. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <weir/parquet.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "kinds/split/split.h"
#include "parquet/thrift.h"

enum { BLOCK = 32, WORD = 8 };

static uint64_t bitset_bytes(const struct weir_filter *f)
{
	return (uint64_t)BLOCK * f->array.shape.field[0];
}

/* ---- export ---- */

static int check_form(uint32_t form, uint32_t flags)
{
	if (form > WEIR_PARQUET_BITSET)
		return weir__fail(-EINVAL, "form %" PRIu32 ": WEIR_PARQUET_HEADER (0) or "
		                  "WEIR_PARQUET_BITSET (1)", form);
	if (flags & ~(uint32_t)WEIR_PARQUET_ANY_SIZE)
		return weir__fail(-EINVAL, "flags 0x%" PRIx32 ": all known flags are 0x%x", flags,
		                  WEIR_PARQUET_ANY_SIZE);
	return 0;
}

static int check_size(uint64_t bytes, uint32_t flags)
{
	if (bytes > WEIR_PARQUET_MOST_BYTES)
		return weir__fail(-EFBIG, "%" PRIu64 " bytes of bits: Parquet has a number of 32 "
		                  "bits with a sign for them, so %" PRIu64 " at most", bytes,
		                  (uint64_t)WEIR_PARQUET_MOST_BYTES);
	if (flags & WEIR_PARQUET_ANY_SIZE)
		return 0;
	if (bytes > WEIR_SPLIT_STRICT)
		return weir__fail(-EFBIG, "%" PRIu64 " bytes of bits: strict readers take 128 MiB "
		                  "at most; WEIR_PARQUET_ANY_SIZE exports them all the same",
		                  bytes);
	if (bytes & (bytes - 1))
		return weir__fail(-EINVAL, "%" PRIu64 " bytes of bits: strict readers take powers "
		                  "of two alone: make the filter with split.any_reader, or "
		                  "export it with WEIR_PARQUET_ANY_SIZE", bytes);
	return 0;
}

int64_t weir_parquet_bytes(const struct weir_filter *f, uint32_t form, uint32_t flags)
{
	unsigned char header[WEIR_PARQUET_HEADER_ROOM];
	if (f->kind->id != WEIR_SPLIT)
		return weir__fail(-ENOTSUP, "the filter is of kind %s: Parquet has those of kind "
		                  "split", f->kind->name);
	const uint64_t bytes = bitset_bytes(f);
	int err = check_form(form, flags);
	if (!err)
		err = check_size(bytes, flags);
	if (err)
		return err;
	return (int64_t)(bytes + (form == WEIR_PARQUET_HEADER ?
	                                  weir__parquet_header_put(header, bytes) : 0));
}

/* Load each word atomically, since other threads may insert ([BITS-ONLY-SET]). Words in memory are
 * in the file's byte order ([LITTLE-ENDIAN]). On a big-endian machine the load swaps the bytes, and
 * WEIR__LE64 swaps them back. */
static void copy_out(const struct weir_filter *f, unsigned char *out)
{
	for (uint64_t i = 0; i < bitset_bytes(f) / WORD; i++) {
		const uint64_t word = WEIR__LE64(weir__word_load_relaxed(f->array.words + i));
		memcpy(out + WORD * i, &word, WORD);
	}
}

int64_t weir_parquet_export(const struct weir_filter *f, uint32_t form, uint32_t flags, void *out,
                            size_t size)
{
	unsigned char header[WEIR_PARQUET_HEADER_ROOM], *to = out;
	const int64_t bytes = weir_parquet_bytes(f, form, flags);
	if (bytes < 0)
		return bytes;
	if (size < (uint64_t)bytes)
		return weir__fail(-ENOSPC, "room for %zu bytes: the filter takes %" PRId64
		                  " (weir_parquet_bytes)", size, bytes);
	if (form == WEIR_PARQUET_HEADER) {
		const size_t n = weir__parquet_header_put(header, bitset_bytes(f));
		memcpy(to, header, n);
		to += n;
	}
	copy_out(f, to);
	return bytes;
}

/* ---- import ---- */

static int check_options(struct weir_parquet_options *out,
                         const struct weir_parquet_options *options)
{
	*out = (struct weir_parquet_options)WEIR_PARQUET_OPTIONS_INIT;
	int err = weir__options_copy(out, sizeof *out, options, "weir_parquet_options");
	if (!err)
		err = check_form(out->form, 0);
	if (!err && out->capacity > WEIR__MOST_KEYS)
		err = weir__fail(-EINVAL, "capacity %" PRIu64 ": allowed: 1 to 2^48 keys, or 0",
		                 out->capacity);
	if (!err && out->fp_rate != 0 && !(out->fp_rate >= 1e-9 && out->fp_rate <= WEIR__MOST_RATE))
		err = weir__fail(-EINVAL, "fp_rate %.10g: allowed: 1e-9 to 0.5, or 0",
		                out->fp_rate);
	if (!out->max_bytes)
		out->max_bytes = WEIR_PARQUET_MOST_BYTES;
	return err;
}

/* Check the header and the sizes. @out: receives the offset and the size of the bits. */
static int find_bits(struct weir_parquet_header *out, const void *bytes, size_t len,
                     const struct weir_parquet_options *o)
{
	*out = (struct weir_parquet_header){ 0, len };
	int err = o->form == WEIR_PARQUET_HEADER ? weir__parquet_header_get(out, bytes, len) : 0;
	if (err)
		return err;
	if (!out->bitset_bytes || out->bitset_bytes % BLOCK)
		return weir__fail(-EBADMSG, "%" PRIu64 " bytes of bits: blocks have 32, and there "
		                  "is one at least", out->bitset_bytes);
	if (out->bitset_bytes > len - out->header_bytes)
		return weir__fail(-EBADMSG, "numBytes is %" PRIu64 ", and %zu bytes follow the "
		                  "header", out->bitset_bytes, len - out->header_bytes);
	if (out->bitset_bytes > o->max_bytes || out->bitset_bytes > WEIR_PARQUET_MOST_BYTES)
		return weir__fail(-EFBIG, "%" PRIu64 " bytes of bits: max_bytes is %" PRIu64,
		                  out->bitset_bytes, o->max_bytes);
	return 0;
}

/* Return: the largest number of shards, a power of two, that divides the lines and gives each shard
 * at least WEIR__SHARD_LINES lines, or else 1. */
static uint32_t shards_of(uint64_t lines)
{
	_Static_assert(WEIR_PARQUET_MOST_BYTES / 64 / WEIR__SHARD_LINES <= WEIR__MOST_SHARDS,
	               "no import has too many shards");
	uint32_t shards = 1;
	while (lines % (2 * shards) == 0 && lines / (2 * shards) >= WEIR__SHARD_LINES)
		shards *= 2;
	return shards;
}

static int make(struct weir_filter **out, const unsigned char *bits, uint64_t bytes)
{
	const uint64_t lines = (bytes + 63) / 64;
	struct weir_memory memory;
	struct weir_layout layout = {
		.kind = &weir__kind_split,
		.hashing = weir__hashing_seeded(weir__kind_split.hash, 0),
		.shape = { WEIR_SPLIT, .field = { (uint32_t)(bytes / BLOCK) } },
		.shards = shards_of(lines),
		.lines = lines,
		.capacity = 1,
	};
	int err = weir__memory_alloc(&memory, 64 * lines, 0, NULL, 0);
	if (err)
		return err;
	memcpy(memory.bits, bits, bytes);
	err = weir__filter_make(out, &layout, &memory, 0);
	if (err)
		weir__memory_free(&memory);
	return err;
}

/* Set the capacity and the rate, which the bytes do not contain. */
static int complete(struct weir_filter *f, const struct weir_parquet_options *o)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	int err = o->capacity ? 0 : weir_measure(f, WEIR_EXACT, &stats);
	if (err)
		return err;
	/* The estimate is infinite if all bits are set. */
	const double most = 8 * (double)f->bytes, keys = round(stats.keys_estimated);
	f->capacity = o->capacity ? o->capacity : (uint64_t)fmin(fmax(keys, 1), most);
	f->fp_rate = o->fp_rate;
	if (o->fp_rate > 0)
		return 0;
	p.kind = WEIR_SPLIT, p.capacity = f->capacity, p.max_bytes = f->bytes;
	f->fp_rate = weir_plan_make(&p, &plan) ? WEIR__MOST_RATE : fmax(plan.fp_rate, 1e-9);
	return 0;
}

int64_t weir_parquet_import(struct weir_filter **out, const void *bytes, size_t len,
                            const struct weir_parquet_options *options)
{
	struct weir_parquet_options o;
	struct weir_parquet_header h;
	struct weir_filter *f;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: weir_parquet_import needs a place for the "
		                  "filter");
	int err = check_options(&o, options);
	if (!err)
		err = find_bits(&h, bytes, len, &o);
	if (!err)
		err = make(&f, (const unsigned char *)bytes + h.header_bytes, h.bitset_bytes);
	if (err)
		return err;
	err = complete(f, &o);
	if (err) {
		weir_destroy(f);
		return err;
	}
	*out = f;
	return (int64_t)(h.header_bytes + h.bitset_bytes);
}
