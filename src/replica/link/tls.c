/* SPDX-License-Identifier: MIT
 * OpenSSL over a nonblocking socket. OpenSSL's socket BIO writes without MSG_NOSIGNAL, so this file
 * has its own BIO. */
#include "wire.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <weir/error.h>

struct own {
	struct weir_tls tls;
	SSL_CTX *context;
	BIO_METHOD *method;
};

static const char *why(void)
{
#ifdef ERR_SYSTEM_ERROR /* OpenSSL 3: the first error has the errno, which the last error lacks */
	if (ERR_SYSTEM_ERROR(ERR_peek_error()))
		return weir_strerror(-ERR_GET_REASON(ERR_peek_error()));
#endif
	const char *text = ERR_reason_error_string(ERR_peek_last_error());
	return text ? text : "no reason is given";
}

/* ---- the BIO ---- */

static int bio_answer(BIO *b, ssize_t n, int again)
{
	BIO_clear_retry_flags(b);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_flags(b, again | BIO_FLAGS_SHOULD_RETRY);
	return (int)n;
}

static int bio_write(BIO *b, const char *data, int len)
{
	const struct weir_stream *s = BIO_get_data(b);
	return bio_answer(b, send(s->fd, data, (size_t)len, MSG_NOSIGNAL), BIO_FLAGS_WRITE);
}

static int bio_read(BIO *b, char *data, int room)
{
	const struct weir_stream *s = BIO_get_data(b);
	return bio_answer(b, recv(s->fd, data, (size_t)room, 0), BIO_FLAGS_READ);
}

static long bio_control(BIO *b, int command, long number, void *pointer)
{
	(void)b, (void)number, (void)pointer;
	return command == BIO_CTRL_FLUSH;
}

/* ---- a connection ---- */

static int64_t failed(struct weir_stream *s, int answer, short *events)
{
	int what = SSL_get_error(s->tls, answer);
	long verdict = SSL_get_verify_result(s->tls);
	*events = what == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
	if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE)
		return -EAGAIN;
	if (verdict != X509_V_OK && SSL_get_verify_mode(s->tls) != SSL_VERIFY_NONE)
		return weir_fail(-EKEYREJECTED, "%s: its certificate is refused: %s: see ca_file "
		                 "(--ca-file) and server_name (--server-name)", s->peer,
		                 X509_verify_cert_error_string(verdict));
	if (what == SSL_ERROR_ZERO_RETURN || (what == SSL_ERROR_SYSCALL && !ERR_peek_error()))
		return weir__stream_failed(s, 0);
	return weir_fail(-EPROTO, "%s: TLS: %s", s->peer, why());
}

static int64_t tls_write(struct weir_stream *s, const void *data, size_t len, short *events)
{
	ERR_clear_error();
	int n = SSL_write(s->tls, data, len < INT32_MAX ? (int)len : INT32_MAX);
	return n > 0 ? n : failed(s, n, events);
}

static int64_t tls_read(struct weir_stream *s, void *data, size_t room, short *events)
{
	ERR_clear_error();
	int n = SSL_read(s->tls, data, room < INT32_MAX ? (int)room : INT32_MAX);
	return n > 0 ? n : failed(s, n, events);
}

static void tls_end(struct weir_stream *s)
{
	if (SSL_is_init_finished(s->tls))
		(void)SSL_shutdown(s->tls); /* best effort */
	SSL_free(s->tls);
	s->tls = NULL;
}

/* Set the name or address that the certificate must have. SNI sends a name but not an address. */
static bool expect(SSL *ssl, const char *name)
{
	unsigned char room[16];
	if (inet_pton(AF_INET, name, room) == 1 || inet_pton(AF_INET6, name, room) == 1)
		return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

static int begin(struct weir_tls *t, struct weir_stream *s, const char *name, uint64_t end)
{
	static const struct weir_transport over_tls = { tls_read, tls_write, tls_end };
	struct own *own = (struct own *)t;
	short events;
	int64_t err;
	ERR_clear_error();
	SSL *ssl = SSL_new(own->context);
	BIO *bio = ssl ? BIO_new(own->method) : NULL;
	if (!bio || !expect(ssl, name)) {
		BIO_free(bio);
		SSL_free(ssl);
		return weir_fail(-ENOMEM, "%s: no memory for TLS, or '%.100s' is not a host name",
		                 s->peer,
		                 name);
	}
	BIO_set_data(bio, s);
	BIO_set_init(bio, 1);
	SSL_set_bio(ssl, bio, bio);
	s->tls = ssl;
	s->by = &over_tls;
	do {
		ERR_clear_error();
		int answer = SSL_connect(ssl);
		err = answer == 1 ? 0 : failed(s, answer, &events);
		if (err == -EAGAIN && (err = weir__stream_wait(s, events, end)) == 0)
			err = -EAGAIN;
	} while (err == -EAGAIN);
	return err != -ETIMEDOUT ? (int)err :
		weir_fail(-ETIMEDOUT, "%s: no answer of TLS in time: raise connect_ms, or see "
		          "whether it is a port without TLS", s->peer);
}

/* ---- settings of all connections ---- */

/* Refuse a key file with a passphrase. OpenSSL's default would wait for a passphrase from the
 * terminal. */
static int no_passphrase(char *text, int room, int writing, void *context)
{
	(void)text, (void)room, (void)writing, (void)context;
	return 0;
}

static int load_files(SSL_CTX *c, const struct weir_link_options *o)
{
	if (o->ca_file ? SSL_CTX_load_verify_locations(c, o->ca_file, NULL) != 1 :
	                 SSL_CTX_set_default_verify_paths(c) != 1)
		return weir_fail(-EINVAL, "TLS: authorities (ca_file, --ca-file) of %s: %s",
		                 o->ca_file ? o->ca_file : "the system", why());
	SSL_CTX_set_default_passwd_cb(c, no_passphrase);
	if (!o->cert_file != !o->key_file)
		return weir_fail(-EINVAL, "TLS: set a certificate and its key together");
	if (o->cert_file && SSL_CTX_use_certificate_chain_file(c, o->cert_file) != 1)
		return weir_fail(-EINVAL, "TLS: certificate (cert_file, --cert-file) %s: %s",
		                 o->cert_file, why());
	if (o->key_file && SSL_CTX_use_PrivateKey_file(c, o->key_file, SSL_FILETYPE_PEM) != 1)
		return weir_fail(-EINVAL, "TLS: key (key_file, --key-file) %s: %s", o->key_file,
		                 why());
	return 0;
}

static void free_it(struct weir_tls *t)
{
	struct own *own = (struct own *)t;
	SSL_CTX_free(own->context);
	BIO_meth_free(own->method);
	free(own);
}

int weir__tls_make(struct weir_tls **out, const struct weir_link_options *o)
{
	struct own *t = calloc(1, sizeof *t);
	if (!t)
		return weir_fail(-ENOMEM, "no memory for TLS");
	ERR_clear_error();
	t->tls = (struct weir_tls){ begin, free_it };
	t->context = SSL_CTX_new(TLS_client_method());
	t->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "weir");
	bool made = t->context && t->method && BIO_meth_set_write(t->method, bio_write) &&
		BIO_meth_set_read(t->method, bio_read) &&
		BIO_meth_set_ctrl(t->method, bio_control) &&
		SSL_CTX_set_min_proto_version(t->context, TLS1_2_VERSION) == 1;
	int err = made ? load_files(t->context, o) : weir_fail(-ENOMEM, "no memory for TLS");
	if (err) {
		free_it(&t->tls);
		return err;
	}
	SSL_CTX_set_mode(t->context, SSL_MODE_ENABLE_PARTIAL_WRITE |
	                             SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_verify(t->context, o->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	*out = &t->tls;
	return 0;
}
