/* SPDX-License-Identifier: MIT
 * The growing kind's tables of kernels by the shape of a layer: one for each instruction set. */
#ifndef WEIR_SRC_GROWING_KERNELS_H
#define WEIR_SRC_GROWING_KERNELS_H

#include "growing/growing.h"
#include "kinds/blocked/kernels.h"

_Static_assert((int)WEIR_GROWING_Z == (int)WEIR_BLOCKED_Z &&
                       (int)WEIR_GROWING_G == (int)WEIR_BLOCKED_G,
               "its shape begins as that of its layers");

WEIR_BLOCKED_TABLES(growing);

#endif
