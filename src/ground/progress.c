/* SPDX-License-Identifier: MIT
 * The answer of a progress function, as an error. */
#include "ground/error.h"
#include "ground/progress.h"

int weir__progress(weir_progress_fn *progress, void *arg, uint64_t done, uint64_t total,
                   const char *unit)
{
	if (!progress || progress(arg, done, total) == 0)
		return 0;
	return weir__fail(-ECANCELED,
	                  "stopped by the caller's progress function after %llu of %llu %s",
	                  (unsigned long long)done, (unsigned long long)total, unit);
}
