/* SPDX-License-Identifier: MIT
 * An opened Parquet file. */
#ifndef WEIR_SRC_PARQUET_FILE_H
#define WEIR_SRC_PARQUET_FILE_H

#include <stdint.h>
#include <weir/parquet.h>
#include "parquet/footer.h"

struct weir_parquet {
	char *name; /* for sentences */
	int fd;
	uint64_t filters_end; /* where its footer begins */
	uint64_t max_filter_bytes;
	unsigned char *bytes; /* of the footer, in which its names are */
	struct weir_footer footer;
};

/* Read exactly @n bytes. Return: 0 or a negative errno. */
int weir__parquet_read(const struct weir_parquet *p, void *out, uint64_t n, uint64_t at);
/* Is there such a column? Return: 0 or -EINVAL. */
int weir__parquet_check(const struct weir_parquet *p, uint32_t column);

#endif
