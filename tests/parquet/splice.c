/* SPDX-License-Identifier: MIT
 * Replaces a filter in a Parquet file by a filter of weir with the same size and the values from
 * standard input: splice FILE ROW_GROUP COLUMN. COLUMN must be an INT64. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weir/weir.h>
#include <weir/parquet.h>

static int failed(const char *what)
{
	fprintf(stderr, "splice: %s: %s\n", what, weir_error_detail());
	return 1;
}

/* Return: an empty filter of the same size as @theirs, or NULL. */
static struct weir_filter *like(const struct weir_filter *theirs)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	struct weir_stats stats = WEIR_STATS_INIT;
	if (weir_measure(theirs, WEIR_SAMPLED, &stats))
		return NULL;
	params.kind = WEIR_SPLIT;
	params.max_bytes = stats.bytes;
	params.fp_rate = 0.01;
	return weir_create(&f, &params) ? NULL : f;
}

static int insert_all(struct weir_filter *f)
{
	int64_t value;
	uint64_t hash;
	while (scanf("%" SCNd64, &value) == 1)
		if (weir_parquet_hash(&hash, WEIR_PARQUET_INT64, &value, sizeof value) ||
		    weir_insert_hash(f, hash) < 0)
			return -1;
	return 0;
}

static int overwrite(const char *path, const struct weir_filter *f, uint64_t at, uint64_t length)
{
	int64_t n = weir_parquet_bytes(f, WEIR_PARQUET_HEADER, 0);
	if (n < 0 || (length && (uint64_t)n != length))
		return -1;
	void *bytes = malloc((size_t)n);
	int fd = open(path, O_WRONLY);
	bool done = bytes && fd >= 0 &&
	            weir_parquet_export(f, WEIR_PARQUET_HEADER, 0, bytes, (size_t)n) == n &&
	            pwrite(fd, bytes, (size_t)n, (off_t)at) == n;
	free(bytes);
	return fd >= 0 && close(fd) == 0 && done ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct weir_parquet_chunk chunk = WEIR_PARQUET_CHUNK_INIT;
	struct weir_parquet *file = NULL;
	struct weir_filter *theirs = NULL, *ours = NULL;
	uint32_t column = 0, group = argc == 4 ? (uint32_t)atoi(argv[2]) : 0;
	if (argc != 4 || weir_parquet_open(&file, argv[1], NULL) ||
	    weir_parquet_find(file, argv[3], &column) ||
	    weir_parquet_inspect_chunk(file, group, column, &chunk) ||
	    weir_parquet_read(&theirs, file, group, column))
		return failed("FILE ROW_GROUP COLUMN");
	ours = like(theirs);
	if (!ours || insert_all(ours) ||
	    overwrite(argv[1], ours, chunk.filter_offset, chunk.filter_length))
		return failed(argv[1]);
	weir_destroy(ours);
	weir_destroy(theirs);
	weir_parquet_close(file);
	return 0;
}
