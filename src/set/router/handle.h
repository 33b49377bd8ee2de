/* SPDX-License-Identifier: MIT
 * The handle of routers is one of filters (R1). */
#ifndef WEIR_SRC_SET_ROUTER_HANDLE_H
#define WEIR_SRC_SET_ROUTER_HANDLE_H

#include "router/router.h"
#include "set/generation.h"

static inline struct weir_handle *weir__router_handle(struct weir_router_handle *h)
{
	return (struct weir_handle *)(void *)h;
}

static inline const struct weir_handle *weir__router_handle_of(const struct weir_router_handle *h)
{
	return (const struct weir_handle *)(const void *)h;
}

#endif
