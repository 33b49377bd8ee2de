/* SPDX-License-Identifier: MIT
 * The live mark of a mapped image. */
#ifndef WEIR_SRC_IMAGE_SEAL_H
#define WEIR_SRC_IMAGE_SEAL_H

#include "image/map.h"

/* Mark a live mapping's file live, on the disk too, before its first insert. */
int weir__mark_live(struct weir_mapping *mapping);

#endif
