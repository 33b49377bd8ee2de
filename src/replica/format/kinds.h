/* SPDX-License-Identifier: MIT
 * Which kinds can be the same on every node. */
#ifndef WEIR_REPLICA_KINDS_H
#define WEIR_REPLICA_KINDS_H

#include <stddef.h>
#include <stdint.h>

enum weir_replicable {
	WEIR_REPLICABLE_NOT,
	WEIR_REPLICABLE_IMAGES,  /* built once: images alone */
	WEIR_REPLICABLE_INSERTS, /* an insert may come twice, and inserts in any order */
};

enum weir_replicable weir__replicable(uint32_t kind);
/* Return: 0; -ENOTSUP with the reason. */
int weir__replicable_check(uint32_t kind);
/* The kind of that name. Return: 0; -ENOTSUP it is unknown, or cannot be replicated. */
int weir__replicable_named(uint32_t *out, const char *name, size_t len);

#endif
