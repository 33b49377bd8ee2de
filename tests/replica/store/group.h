/* SPDX-License-Identifier: MIT
 * All tests of a file use one server. Its data is removed before each test. */
#ifndef WEIR_TESTS_REPLICA_STORE_GROUP_H
#define WEIR_TESTS_REPLICA_STORE_GROUP_H

#include "server.h"

static struct server server;
static const char *append_only = "no"; /* "yes": a restart keeps the data */

static inline int setup(void **state)
{
	(void)state;
	server_begin(&server, "--appendonly", append_only);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	server_end(&server);
	return 0;
}

static inline int clear(void **state)
{
	(void)state;
	ask(&server, NULL, "CONFIG SET maxmemory 0");
	ask(&server, NULL, "FLUSHALL");
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, clear)

#endif
