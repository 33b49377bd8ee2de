/* SPDX-License-Identifier: MIT
 * Any bytes as a Parquet file: the file is refused with an error text, or opened. Every column of
 * an open file can be inspected, and every filter is refused or can be used. Anything else aborts.
 * An input begins with two bytes, the length of the footer. The rest is the file without its first
 * PAR1 and without the footer's length and PAR1 at its end. Run by libFuzzer (run-fuzz.sh), or over
 * the corpus by replay.c. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weir/weir.h>
#include <weir/parquet.h>
#include "fuzz_image.h"

enum { KEYS = 40, MOST_COLUMNS = 50, MOST_GROUPS = 50 };

static void use(struct weir_filter *f)
{
	struct weir_stats s = WEIR_STATS_INIT;
	MUST(weir_measure(f, WEIR_EXACT, &s) == 0);
	MUST(s.bytes >= 32 && s.fill >= 0 && s.fill <= 1 && s.fp_rate > 0);
	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t hash;
		MUST(weir_parquet_hash(&hash, WEIR_PARQUET_INT64, &i, sizeof i) == 0);
		(void)weir_contains_hash(f, hash);
		MUST(weir_insert_hash(f, hash) >= 0 && weir_contains_hash(f, hash));
	}
}

static bool is_verdict(int err)
{
	return err == -EBADMSG || err == -ENOTSUP || err == -EFBIG || err == -ENOENT;
}

static void ask(const struct weir_parquet *p, uint32_t column)
{
	struct weir_parquet_column is = WEIR_PARQUET_COLUMN_INIT;
	char path[64];
	uint32_t found;
	MUST(weir_parquet_inspect_column(p, column, &is) == 0);
	MUST(weir_parquet_type_name(is.type));
	size_t n = weir_parquet_path(p, column, path, sizeof path);
	MUST(strlen(path) == (n < sizeof path ? n : sizeof path - 1));
	if (n < sizeof path) {
		int err = weir_parquet_find(p, path, &found);
		MUST(err == -EEXIST || (err == 0 && found == column));
	}
	for (uint32_t g = 0; g < weir_parquet_row_groups(p) && g < MOST_GROUPS; g++) {
		struct weir_parquet_chunk chunk = WEIR_PARQUET_CHUNK_INIT;
		struct weir_filter *f = NULL;
		MUST(weir_parquet_inspect_chunk(p, g, column, &chunk) == 0);
		int err = weir_parquet_read(&f, p, g, column);
		MUST(err ? !f && is_verdict(err) : f != NULL);
		MUST(err != -ENOENT || !chunk.filter_offset);
		if (f)
			use(f);
		weir_destroy(f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weir_parquet_file_options o = WEIR_PARQUET_FILE_OPTIONS_INIT;
	struct weir_parquet *p = NULL;
	char path[64];
	if (size < 2)
		return 0;
	const uint8_t tail[8] = { data[0], data[1], 0, 0, 'P', 'A', 'R', '1' };
	int fd = memfd_create("file", 0);
	MUST(fd >= 0);
	MUST(write(fd, "PAR1", 4) == 4 && write(fd, data + 2, size - 2) == (ssize_t)size - 2 &&
	     write(fd, tail, sizeof tail) == sizeof tail);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	o.max_filter_bytes = 1 << 20;
	int err = weir_parquet_open(&p, path, &o);
	if (err)
		MUST(!p && is_verdict(err) &&
		     strncmp(weir_error_detail(), path, strlen(path)) == 0);
	else
		for (uint32_t c = 0; c < weir_parquet_columns(p) && c < MOST_COLUMNS; c++)
			ask(p, c);
	weir_parquet_close(p);
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	(void)seed;
	return LLVMFuzzerMutate(data, size, max_size);
}
