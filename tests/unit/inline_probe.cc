/* SPDX-License-Identifier: MIT
 * inline_probe.c as C++. */
#include "inline_probe.c"
