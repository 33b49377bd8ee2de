/* SPDX-License-Identifier: MIT
 * Arrays of a footer, which grow by doubling (F1). */
#include <stdlib.h>
#include "parquet/footer.h"

bool weir__footer_grow(void *array, uint64_t n, size_t size)
{
	void **at = array, *more;
	if (n & (n - 1)) /* no power of two: there is room */
		return true;
	more = n < SIZE_MAX / 2 / size ? realloc(*at, (n ? 2 * (size_t)n : 1) * size) : NULL;
	if (more)
		*at = more;
	return more != NULL;
}
