/* SPDX-License-Identifier: MIT
 * The live mark of a mapped image. */
#ifndef WEIR_SRC_IMAGE_SEAL_H
#define WEIR_SRC_IMAGE_SEAL_H

#include "image/map.h"

/* Mark the file of a WEIR_MAP_LIVE mapping live and sync the mark. This comes before any insert. */
int weir__mark_live(struct weir_mapping *mapping);

#endif
