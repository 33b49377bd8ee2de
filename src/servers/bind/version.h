/* SPDX-License-Identifier: MIT
 * Whether the named that loads the plugin is one that it was built for. */
#ifndef WEIR_SERVERS_BIND_VERSION_H
#define WEIR_SERVERS_BIND_VERSION_H

#include <stdbool.h>

/* A plugin reads named's own structs, which change between branches (9.18, 9.20) and are not told
 * apart by the version of the plugin interface. Another branch is refused; of another release of
 * the same branch the log has a warning.
 * Return: whether to go on. */
bool version_fits(void);

#endif
