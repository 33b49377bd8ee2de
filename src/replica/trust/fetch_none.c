/* SPDX-License-Identifier: MIT
 * A build without libcurl. */
#include <errno.h>
#include <weir/error.h>
#include "trust/fetch.h"

static int none(void)
{
	return weir_fail(-ENOTSUP, "this build fetches nothing by HTTP: it was made without "
	                 "libcurl: install libcurl4-openssl-dev, and build weir again");
}

int weir__fetch_check(const struct weir_fetch_options *o)
{
	(void)o;
	return none();
}

int weir__fetch(const struct weir_fetch_options *o, const char *path, void *to, uint64_t bytes)
{
	(void)o, (void)path, (void)to, (void)bytes;
	return none();
}
