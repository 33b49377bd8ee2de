/* SPDX-License-Identifier: MIT
 * Tries of libcurl. From 7.88 on it writes to a TLS connection as to others, without a SIGPIPE
 * (CURLOPT_NOSIGNAL does not ignore that signal), and its limits are known to work. */
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <weir/error.h>
#include <weir/version.h>
#include "trust/fetch.h"
#include "trust/fetch_answer.h"

enum {
	SLOWEST = 1000,       /* bytes a second, on average over stall_s */
	LONGEST_PAUSE = 30000, /* milliseconds */
	SLICE = 50,           /* of waiting, after which stop() is asked */
	HEADER = WEIR_FETCH_VALIDATOR + 32,
};

static CURLcode started;

static void start(void)
{
	started = curl_global_init(CURL_GLOBAL_DEFAULT); /* counted, and never undone */
}

static int start_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start);
	return started ? weir_fail(-ENOTSUP, "libcurl cannot be used: %s",
	                           curl_easy_strerror(started)) : 0;
}

static bool stopped(const struct weir_fetch_options *o)
{
	return o->stop && o->stop(o->context);
}

/* ---- the handle ---- */

static CURLcode set_security(CURL *c, const struct weir_fetch_options *o)
{
	const char *protocols = o->allow_http ? "https,http" : "https";
	CURLcode e = curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, protocols);
	e = e ? e : curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	e = e ? e : curl_easy_setopt(c, CURLOPT_PROXY, "");
	e = e ? e : curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	e = e ? e : curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	e = e ? e : curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
	e = e ? e : curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
	e = e ? e : curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (!e && o->ca_file) {
		e = curl_easy_setopt(c, CURLOPT_CAINFO, o->ca_file);
		e = e ? e : curl_easy_setopt(c, CURLOPT_CAPATH, NULL);
	}
	return e;
}

static CURLcode set_limits(CURL *c, const struct weir_fetch_options *o)
{
	long connect_ms = o->connect_ms ? o->connect_ms : 10000;
	long stall_s = o->stall_s ? o->stall_s : 30;
	CURLcode e = curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
	e = e ? e : curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, (long)SLOWEST);
	e = e ? e : curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, stall_s);
	e = e ? e : curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	/* a name that is still looked for is not waited for at the end */
	return e ? e : curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L);
}

static CURLcode set_request(struct weir_fetched *f, const struct weir_fetch_url *url, char *error)
{
	CURL *c = f->curl;
	CURLcode e = curl_easy_setopt(c, CURLOPT_URL, url->shown);
	if (!e && url->user)
		e = curl_easy_setopt(c, CURLOPT_USERNAME, url->user);
	if (!e && url->password)
		e = curl_easy_setopt(c, CURLOPT_PASSWORD, url->password);
	e = e ? e : curl_easy_setopt(c, CURLOPT_USERAGENT, "weir/" WEIR_VERSION_STRING);
	e = e ? e : curl_easy_setopt(c, CURLOPT_HTTP_CONTENT_DECODING, 0L);
	e = e ? e : curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, weir__fetch_header);
	e = e ? e : curl_easy_setopt(c, CURLOPT_HEADERDATA, f);
	e = e ? e : curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, weir__fetch_body);
	e = e ? e : curl_easy_setopt(c, CURLOPT_WRITEDATA, f);
	return e ? e : curl_easy_setopt(c, CURLOPT_ERRORBUFFER, error);
}

/* ---- a try ---- */

static bool add(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);
	*list = longer ? longer : *list;
	return longer;
}

/* @list: receives what else is asked; freed by the caller. What came without a strong validator
 * cannot be gone on with. */
static int ask(struct weir_fetched *f, struct curl_slist **list)
{
	char range[HEADER], if_range[HEADER];
	if (!f->validator[0])
		f->got = 0;
	snprintf(range, sizeof range, "Range: bytes=%" PRIu64 "-", f->got);
	snprintf(if_range, sizeof if_range, "If-Range: %s", f->validator);
	bool all = add(list, "Accept-Encoding: identity") &&
	           (!f->got || (add(list, range) && add(list, if_range)));
	if (!all || curl_easy_setopt(f->curl, CURLOPT_HTTPHEADER, *list))
		return weir_fail(-ENOMEM, "%s: no memory to fetch it", f->url);
	return 0;
}

/* What libcurl says. @f->again: another try may help. */
static int transfer_failed(struct weir_fetched *f, CURLcode code, const char *error)
{
	const char *why = error[0] ? error : curl_easy_strerror(code);
	int err = -EPROTO;
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		err = -ETIMEDOUT;
		f->again = true;
		break;
	case CURLE_COULDNT_RESOLVE_HOST: case CURLE_COULDNT_CONNECT: case CURLE_PARTIAL_FILE:
	case CURLE_RECV_ERROR: case CURLE_SEND_ERROR: case CURLE_GOT_NOTHING: case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM: case CURLE_SSL_CONNECT_ERROR:
		err = -EIO;
		f->again = true;
		break;
	case CURLE_PEER_FAILED_VERIFICATION: case CURLE_SSL_ISSUER_ERROR:
		err = -EKEYREJECTED;
		break;
	case CURLE_SSL_CACERT_BADFILE:
		err = -EINVAL;
		break;
	case CURLE_OUT_OF_MEMORY:
		err = -ENOMEM;
		break;
	default:
		break;
	}
	return weir_fail(err, "%s: %s", f->url, why);
}

/* libcurl's own way of waiting would ask stop() once a second. */
static CURLcode transfer(CURLM *all, const struct weir_fetch_options *o)
{
	for (int running = 1, left; running;) {
		if (stopped(o))
			return CURLE_ABORTED_BY_CALLBACK;
		if (curl_multi_perform(all, &running) != CURLM_OK)
			return CURLE_OUT_OF_MEMORY;
		const CURLMsg *end = curl_multi_info_read(all, &left);
		if (end && end->msg == CURLMSG_DONE)
			return end->data.result;
		if (curl_multi_poll(all, NULL, 0, SLICE, NULL) != CURLM_OK)
			return CURLE_OUT_OF_MEMORY;
	}
	return CURLE_GOT_NOTHING;
}

static CURLcode perform(struct weir_fetched *f, const struct weir_fetch_options *o)
{
	if (curl_multi_add_handle(f->all, f->curl) != CURLM_OK)
		return CURLE_OUT_OF_MEMORY;
	CURLcode code = transfer(f->all, o);
	(void)curl_multi_remove_handle(f->all, f->curl);
	return code;
}

static int try_once(struct weir_fetched *f, const struct weir_fetch_options *o, char *error)
{
	struct curl_slist *list = NULL;
	error[0] = '\0';
	int err = ask(f, &list);
	weir__fetch_answer_begin(f);
	if (!err) {
		CURLcode code = perform(f, o);
		if (code == CURLE_ABORTED_BY_CALLBACK)
			err = weir_fail(-ECANCELED, "%s: stopped by the caller after %" PRIu64
			                " of %" PRIu64 " bytes", f->url, f->got, f->bytes);
		else if (f->err)
			err = f->err; /* with its sentence: it is the last since */
		else
			err = code ? transfer_failed(f, code, error) : weir__fetch_answer_end(f);
	}
	if (err && f->got == f->bytes)
		f->got = 0; /* no rest can be asked for */
	(void)curl_easy_setopt(f->curl, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(list);
	return err;
}

/* Return: whether it was not stopped. */
static bool pause_for(const struct weir_fetch_options *o, unsigned ms)
{
	for (unsigned left = ms; left; left -= left < SLICE ? left : SLICE) {
		struct timespec slice = { .tv_nsec = (left < SLICE ? left : SLICE) * 1000000L };
		if (stopped(o))
			return false;
		nanosleep(&slice, NULL);
	}
	return !stopped(o);
}

static int try_all(struct weir_fetched *f, const struct weir_fetch_options *o, char *error)
{
	unsigned tries = o->tries ? o->tries : 5, pause_ms = o->pause_ms ? o->pause_ms : 500;
	for (unsigned i = 1;; i++) {
		int err = try_once(f, o, error);
		if (!err || !f->again)
			return err;
		if (i == tries)
			return weir_fail(err, "%s (try %u of %u)", weir_error_detail(), i, tries);
		if (!pause_for(o, pause_ms))
			return weir_fail(-ECANCELED, "%s: stopped by the caller after %" PRIu64
			                 " of %" PRIu64 " bytes", f->url, f->got, f->bytes);
		if (pause_ms < LONGEST_PAUSE) /* a longer one is the caller's wish */
			pause_ms = pause_ms < LONGEST_PAUSE / 2 ? 2 * pause_ms : LONGEST_PAUSE;
	}
}

int weir__fetch_check(const struct weir_fetch_options *o)
{
	struct weir_fetch_url url;
	int err = start_once();
	if (err)
		return err;
	err = weir__fetch_url(&url, o->base_url, o->allow_http, "");
	weir__fetch_url_free(&url);
	return err;
}

static int fetch(const struct weir_fetch_options *o, const struct weir_fetch_url *url, void *to,
                 uint64_t bytes)
{
	char error[CURL_ERROR_SIZE] = "";
	struct weir_fetched f = { .all = curl_multi_init(), .curl = curl_easy_init(),
	                          .url = url->shown, .to = to, .bytes = bytes, .here = o->here };
	CURLcode code = f.all && f.curl ? set_security(f.curl, o) : CURLE_OUT_OF_MEMORY;
	code = code ? code : set_limits(f.curl, o);
	code = code ? code : set_request(&f, url, error);
	int err = code ? weir_fail(code == CURLE_OUT_OF_MEMORY ? -ENOMEM : -ENOTSUP,
	                           "%s: libcurl cannot be set up: %s", url->shown,
	                           curl_easy_strerror(code)) : try_all(&f, o, error);
	curl_easy_cleanup(f.curl);
	curl_multi_cleanup(f.all);
	return err;
}

int weir__fetch(const struct weir_fetch_options *o, const char *path, void *to, uint64_t bytes)
{
	struct weir_fetch_url url;
	int err = start_once();
	if (err)
		return err;
	if (!*path || bytes == 0)
		return weir_fail(-EINVAL, *path ? "%s: an image of 0 bytes" :
		                                  "\"%s\" is no path below a base URL", path);
	err = weir__fetch_url(&url, o->base_url, o->allow_http, path);
	if (!err)
		err = fetch(o, &url, to, bytes);
	weir__fetch_url_free(&url);
	return err;
}
