/* SPDX-License-Identifier: MIT
 * weir__tls_make() of a build without OpenSSL. */
#include "wire.h"
#include <errno.h>
#include <weir/error.h>

int weir__tls_make(struct weir_tls **out, const struct weir_link_options *o)
{
	(void)out, (void)o;
	return weir_fail(-ENOTSUP, "TLS: this build of weir has no OpenSSL: install libssl-dev, "
	                 "and build it again");
}
