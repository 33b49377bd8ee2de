/* SPDX-License-Identifier: MIT
 * Images that are changed in place. */
#ifndef WEIR_TOOL_LIVE_H
#define WEIR_TOOL_LIVE_H

#include <weir/weir.h>
#include "images.h"

/* Map an image for inserts in place, whether it is live or not. It is live from then on. Return: 0,
 * or a negative errno after a message. */
int live_open(struct weir_filter **out, const char *path, const struct image_how *how);

/* Seal it. Return: TOOL_OK; TOOL_NO after a message if another process has it mapped live, which
 * has to seal it then; TOOL_TROUBLE after a message. */
int live_seal(struct weir_filter *f, const char *path);

#endif
