/* SPDX-License-Identifier: MIT
 * Set the thread's sentence and pass the code through: return weir__fail(-EINVAL, "capacity
 * %llu: ...", ...). */
#ifndef WEIR_SRC_ERROR_H
#define WEIR_SRC_ERROR_H

#include <errno.h>
#include <weir/error.h>

/* Sets the sentence; returns @err, a negative errno. Cut at 511 bytes. */
int weir__fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

#endif
