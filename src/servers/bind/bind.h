/* SPDX-License-Identifier: MIT
 * BIND's headers, with what its own build defines before them: they are installed without its
 * config.h. */
#ifndef WEIR_SERVERS_BIND_H
#define WEIR_SERVERS_BIND_H

#include <stdbool.h>

#define HAVE_STDATOMIC_H 1
#define HAVE_THREAD_LOCAL 1
#define HAVE_THREADS_H 1

#include <isc/buffer.h>
#include <isc/log.h>
#include <isc/mem.h>
#include <isc/netaddr.h>
#include <isc/result.h>
#include <isc/sockaddr.h>
#include <dns/log.h>
#include <dns/message.h>
#include <dns/name.h>
#include <dns/rdata.h>
#include <dns/rdatalist.h>
#include <dns/rdataset.h>
#include <dns/result.h>
#include <isccfg/cfg.h>
#include <isccfg/grammar.h>
#include <ns/client.h>
#include <ns/hooks.h>
#include <ns/log.h>
#include <ns/query.h>

/* A line of named's log, from any thread. */
#define SAY(level, ...) \
	isc_log_write(ns_lctx, NS_LOGCATEGORY_GENERAL, NS_LOGMODULE_HOOKS, level, \
	              "weir-blocklist: " __VA_ARGS__)

/* ---- whether the named that loads the plugin is one that it was built for ---- */

/* A plugin reads named's own structs, which change between branches (9.18, 9.20) and are not told
 * apart by the version of the plugin interface. Another branch is refused; of another release of
 * the same branch the log has a warning.
 * Return: whether to go on. */
bool version_fits(void);

#endif
