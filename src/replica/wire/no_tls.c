/* SPDX-License-Identifier: MIT
 * A build without OpenSSL. */
#include <errno.h>
#include <weir/error.h>
#include "stream.h"

int weir__tls_make(struct weir_tls **out, const char *ca_file, const char *cert_file,
                   const char *key_file, bool insecure)
{
	(void)out, (void)ca_file, (void)cert_file, (void)key_file, (void)insecure;
	return weir_fail(-ENOTSUP, "TLS: this build of weir has no OpenSSL: install "
	                 "libssl-dev, and build it again");
}

void weir__tls_free(struct weir_tls *t)
{
	(void)t;
}

int weir__tls_begin(struct weir_byte_stream *s, struct weir_tls *t, const char *name,
                    uint32_t milliseconds)
{
	(void)s, (void)t, (void)name, (void)milliseconds;
	return -ENOTSUP;
}

void weir__tls_end(struct weir_byte_stream *s)
{
	s->tls = NULL;
}

int64_t weir__tls_write(struct weir_byte_stream *s, const void *data, size_t len, short *events)
{
	(void)s, (void)data, (void)len, (void)events;
	return -ENOTSUP;
}

int64_t weir__tls_read(struct weir_byte_stream *s, void *data, size_t room, short *events)
{
	(void)s, (void)data, (void)room, (void)events;
	return -ENOTSUP;
}
