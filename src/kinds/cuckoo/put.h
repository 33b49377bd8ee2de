/* SPDX-License-Identifier: MIT
 * Putting a copy in. */
#ifndef WEIR_SRC_KINDS_CUCKOO_PUT_H
#define WEIR_SRC_KINDS_CUCKOO_PUT_H

#include "kinds/cuckoo/search.h"

/* WEIR_CUCKOO_ABSENT: unless an equal one is there. */
enum weir_cuckoo_put { WEIR_CUCKOO_ALWAYS, WEIR_CUCKOO_ABSENT };

/* Return: WEIR_NEW, WEIR_SEEN, -ENOSPC or -EAGAIN. */
int weir__cuckoo_put(const struct weir_array *a, struct weir_cuckoo_spot spot,
                     enum weir_cuckoo_put put, enum weir_cuckoo_wait wait);

#endif
