/* SPDX-License-Identifier: MIT
 * What handle.c offers beside <weir/handle.h>. */
#ifndef WEIR_SRC_HANDLE_H
#define WEIR_SRC_HANDLE_H

#include <weir/handle.h>

/* Free a handle that nobody uses any more, and all it holds. */
void weir__handle_free(struct weir_handle *h);

#endif
