/* SPDX-License-Identifier: MIT
 * OpenSSL over a socket that does not block. Its own socket BIO would write without MSG_NOSIGNAL,
 * so it gets one of ours. */
#include "stream.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <weir/error.h>

struct weir_tls {
	SSL_CTX *context;
	BIO_METHOD *method;
	bool insecure;
};

static const char *why(void)
{
#ifdef ERR_SYSTEM_ERROR /* OpenSSL 3: the first is of the file, those after it only name it */
	if (ERR_SYSTEM_ERROR(ERR_peek_error()))
		return weir_strerror(-ERR_GET_REASON(ERR_peek_error()));
#endif
	const char *text = ERR_reason_error_string(ERR_peek_last_error());
	return text ? text : "no reason is given";
}

/* ---- the BIO ---- */

static int bio_write(BIO *b, const char *data, int len)
{
	const struct weir_byte_stream *s = BIO_get_data(b);
	BIO_clear_retry_flags(b);
	ssize_t n = send(s->fd, data, (size_t)len, MSG_NOSIGNAL);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_retry_write(b);
	return (int)n;
}

static int bio_read(BIO *b, char *data, int room)
{
	const struct weir_byte_stream *s = BIO_get_data(b);
	BIO_clear_retry_flags(b);
	ssize_t n = recv(s->fd, data, (size_t)room, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_retry_read(b);
	return (int)n;
}

static long bio_control(BIO *b, int command, long number, void *pointer)
{
	(void)b, (void)number, (void)pointer;
	return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *make_method(void)
{
	BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "weir");
	if (m && BIO_meth_set_write(m, bio_write) && BIO_meth_set_read(m, bio_read) &&
	    BIO_meth_set_ctrl(m, bio_control))
		return m;
	BIO_meth_free(m);
	return NULL;
}

/* ---- what all connections share ---- */

static int take_files(struct weir_tls *t, const char *ca_file, const char *cert_file,
                      const char *key_file)
{
	if (ca_file ? SSL_CTX_load_verify_locations(t->context, ca_file, NULL) != 1 :
	              SSL_CTX_set_default_verify_paths(t->context) != 1)
		return weir_fail(-EINVAL, "TLS: authorities (ca_file, --ca-file) of %s: %s",
		                 ca_file ? ca_file : "the system", why());
	if (cert_file && SSL_CTX_use_certificate_chain_file(t->context, cert_file) != 1)
		return weir_fail(-EINVAL, "TLS: certificate (cert_file, --cert-file) %s: %s",
		                 cert_file, why());
	if (key_file && SSL_CTX_use_PrivateKey_file(t->context, key_file, SSL_FILETYPE_PEM) != 1)
		return weir_fail(-EINVAL, "TLS: key (key_file, --key-file) %s: %s", key_file,
		                 why());
	if (!cert_file != !key_file)
		return weir_fail(-EINVAL, "TLS: a certificate and its key are given together");
	if (cert_file && SSL_CTX_check_private_key(t->context) != 1)
		return weir_fail(-EINVAL, "TLS: key %s is not that of certificate %s", key_file,
		                 cert_file);
	return 0;
}

int weir__tls_make(struct weir_tls **out, const char *ca_file, const char *cert_file,
                   const char *key_file, bool insecure)
{
	ERR_clear_error();
	struct weir_tls *t = calloc(1, sizeof *t);
	if (!t)
		return weir_fail(-ENOMEM, "no memory for TLS");
	t->context = SSL_CTX_new(TLS_client_method());
	t->method = make_method();
	t->insecure = insecure;
	int err = t->context && t->method &&
		SSL_CTX_set_min_proto_version(t->context, TLS1_2_VERSION) == 1 ?
		take_files(t, ca_file, cert_file, key_file) :
		weir_fail(-ENOMEM, "no memory for TLS");
	if (err) {
		weir__tls_free(t);
		return err;
	}
	SSL_CTX_set_verify(t->context, insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	*out = t;
	return 0;
}

void weir__tls_free(struct weir_tls *t)
{
	if (!t)
		return;
	SSL_CTX_free(t->context);
	BIO_meth_free(t->method);
	free(t);
}

/* ---- a connection ---- */

/* What may be the remedy. */
static const char *hint(long verdict)
{
	switch (verdict) {
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
		return " (ca_file, --ca-file: whom to trust instead of the system's authorities)";
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		return " (server_name, --server-name: what it is of, if not of the URL's host)";
	default: return "";
	}
}

static int64_t failed(struct weir_byte_stream *s, int answer, short *events)
{
	int what = SSL_get_error(s->tls, answer);
	long verdict = SSL_get_verify_result(s->tls);
	if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE) {
		*events = what == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
		return -EAGAIN;
	}
	if (verdict != X509_V_OK && SSL_get_verify_mode(s->tls) != SSL_VERIFY_NONE)
		return weir_fail(-EKEYREJECTED, "%s: its certificate is refused: %s%s", s->peer,
		                 X509_verify_cert_error_string(verdict), hint(verdict));
	if (what == SSL_ERROR_ZERO_RETURN || (what == SSL_ERROR_SYSCALL && !ERR_peek_error()))
		return weir_fail(-ECONNRESET, "%s: the other end has closed the connection",
		                 s->peer);
	return weir_fail(-EPROTO, "%s: TLS: %s", s->peer, why());
}

static bool is_address(const char *name)
{
	unsigned char room[16];
	return inet_pton(AF_INET, name, room) == 1 || inet_pton(AF_INET6, name, room) == 1;
}

/* The name that must stand in the certificate. */
static bool expect(SSL *ssl, const char *name)
{
	if (is_address(name))
		return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(ssl, name) == 1;
}

static int shake_hands(struct weir_byte_stream *s, uint32_t milliseconds)
{
	for (;;) {
		short events = POLLIN;
		ERR_clear_error();
		int answer = SSL_connect(s->tls);
		if (answer == 1)
			return 0;
		int64_t err = failed(s, answer, &events);
		if (err == -EAGAIN)
			err = weir__stream_wait(s, events, milliseconds);
		if (err == -ETIMEDOUT)
			return weir_fail(-ETIMEDOUT, "%s: no answer of TLS within %u ms: it may be "
			                 "a port without TLS", s->peer, milliseconds);
		if (err)
			return (int)err;
	}
}

int weir__tls_begin(struct weir_byte_stream *s, struct weir_tls *t, const char *name,
                    uint32_t milliseconds)
{
	ERR_clear_error();
	SSL *ssl = SSL_new(t->context);
	BIO *bio = ssl ? BIO_new(t->method) : NULL;
	bool named = bio && (is_address(name) || SSL_set_tlsext_host_name(ssl, name) == 1);
	if (!named || (!t->insecure && !expect(ssl, name))) {
		BIO_free(bio);
		SSL_free(ssl);
		return weir_fail(-ENOMEM, "%s: no memory for TLS, or '%.100s' is no name", s->peer,
		                 name);
	}
	BIO_set_data(bio, s);
	BIO_set_init(bio, 1);
	SSL_set_bio(ssl, bio, bio);
	SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	s->tls = ssl;
	return shake_hands(s, milliseconds);
}

void weir__tls_end(struct weir_byte_stream *s)
{
	if (s->tls && SSL_is_init_finished(s->tls))
		(void)SSL_shutdown(s->tls); /* a word of farewell, if there is room for it */
	SSL_free(s->tls);
	s->tls = NULL;
}

static int at_most(size_t n)
{
	return n < INT32_MAX ? (int)n : INT32_MAX;
}

int64_t weir__tls_write(struct weir_byte_stream *s, const void *data, size_t len, short *events)
{
	ERR_clear_error();
	int n = SSL_write(s->tls, data, at_most(len));
	*events = POLLOUT;
	return n > 0 ? n : failed(s, n, events);
}

int64_t weir__tls_read(struct weir_byte_stream *s, void *data, size_t room, short *events)
{
	ERR_clear_error();
	int n = SSL_read(s->tls, data, at_most(room));
	*events = POLLIN;
	return n > 0 ? n : failed(s, n, events);
}
