/* SPDX-License-Identifier: MIT
 * Any bytes as a filter of Parquet's format: the filter is refused with an error text, or imported.
 * An imported filter exports the same bits. The first byte of the input chooses the form. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <weir/weir.h>
#include "fuzz_image.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	(void)seed; /* no checksum hides the parser from plain changes */
	return LLVMFuzzerMutate(data, size, max_size);
}

static void must(int holds)
{
	if (!holds)
		abort();
}

/* Check that the export equals the import, with a header and without. */
static void goes_round(const struct weir_filter *f, const uint8_t *bits)
{
	struct weir_filter *again = NULL;
	int64_t n = weir_parquet_bytes(f, WEIR_PARQUET_BITSET, WEIR_PARQUET_ANY_SIZE);
	int64_t whole = weir_parquet_bytes(f, WEIR_PARQUET_HEADER, WEIR_PARQUET_ANY_SIZE);
	must(n > 0 && whole > n);
	uint8_t *out = malloc((size_t)whole);
	must(out != NULL);
	must(weir_parquet_export(f, WEIR_PARQUET_HEADER, WEIR_PARQUET_ANY_SIZE, out,
	                         (size_t)whole) == whole);
	must(memcmp(out + (whole - n), bits, (size_t)n) == 0);
	must(weir_parquet_import(&again, out, (size_t)whole, NULL) == whole);
	weir_destroy(again);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weir_parquet_options o = WEIR_PARQUET_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	if (!size)
		return 0;
	o.form = data[0] & 1;
	int64_t n = weir_parquet_import(&f, data + 1, size - 1, &o);
	if (n < 0) {
		must(!f && weir_error_detail()[0]);
		return 0;
	}
	must(n >= 32 && (uint64_t)n < size);
	goes_round(f, data + 1 + n - weir_parquet_bytes(f, WEIR_PARQUET_BITSET,
	                                                WEIR_PARQUET_ANY_SIZE));
	must(weir_insert(f, data, size) >= 0 && weir_contains(f, data, size));
	weir_destroy(f);
	return 0;
}
