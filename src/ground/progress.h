/* SPDX-License-Identifier: MIT
 * Asking the caller of a long verb whether it may go on. */
#ifndef WEIR_SRC_GROUND_PROGRESS_H
#define WEIR_SRC_GROUND_PROGRESS_H

#include <weir/image.h>

/* Bytes of bits that are read, merged or counted at most before the caller is asked again: well
 * below a millisecond of work. */
enum { WEIR__PIECE = 1 << 20 };

/* Call the caller's progress function. @unit: of @done and @total, such as "bytes". Return: 0;
 * -ECANCELED the function asked to stop. */
int weir__progress(weir_progress_fn *progress, void *arg, uint64_t done, uint64_t total,
                   const char *unit);

#endif
