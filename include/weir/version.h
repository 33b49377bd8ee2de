/* SPDX-License-Identifier: MIT
 * The versions of the headers and of the library in use. */
#ifndef WEIR_VERSION_H
#define WEIR_VERSION_H

#include <weir/export.h>

#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 3
#define WEIR_VERSION_PATCH 0
#define WEIR_VERSION_STRING "0.3.0"

WEIR_BEGIN_DECLS

/**
 * The version of the library in use, which may be newer than the headers.
 * Return: a static string such as "0.3.0".
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: a constant.
 */
WEIR_API const char *weir_version(void);

WEIR_END_DECLS

#endif
