/* SPDX-License-Identifier: MIT
 * BIND's headers. BIND installs them without config.h, so this file first defines the macros that
 * BIND's own build defines. */
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

/* Write a line to named's log. Any thread may call this. */
#define LOG(level, ...) \
	isc_log_write(ns_lctx, NS_LOGCATEGORY_GENERAL, NS_LOGMODULE_HOOKS, level, \
	              "weir-blocklist: " __VA_ARGS__)

/* ---- check of the named that loads the plugin ---- */

/* A plugin reads named's own structs, which change between branches (9.18, 9.20). The version of
 * the plugin interface does not tell branches apart. So this function refuses another branch, and
 * logs a warning for another release of the same branch. Return: true if registration may
 * continue. */
bool version_fits(void);

#endif
