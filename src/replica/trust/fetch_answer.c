/* SPDX-License-Identifier: MIT
 * Answers of HTTP (RFC 9110): status, size, range and validator. */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <weir/error.h>
#include "trust/fetch_answer.h"

enum { DATES_APART = 60 }; /* seconds, from which a date of change is a strong validator */

/* Not again, unless said. */
static int refuse(struct weir_fetched *f, int err)
{
	f->err = err;
	return err;
}

static int refuse_again(struct weir_fetched *f, int err)
{
	f->again = true;
	return refuse(f, err);
}

/* The one header of that name, or NULL: one that is there twice says nothing. */
static const char *header(const struct weir_fetched *f, const char *name)
{
	struct curl_header *h = NULL;
	if (curl_easy_header(f->curl, name, 0, CURLH_HEADER, -1, &h) != CURLHE_OK ||
	    h->amount != 1)
		return NULL;
	return h->value;
}

/* Is one there, even twice, that says something else? */
static const char *other_than(const struct weir_fetched *f, const char *name, const char *only)
{
	struct curl_header *h = NULL;
	for (size_t i = 0; curl_easy_header(f->curl, name, i, CURLH_HEADER, -1, &h) == CURLHE_OK;
	     i++)
		if (strcasecmp(h->value, only) != 0)
			return h->value;
	return NULL;
}

/* ---- validators ---- */

static bool is_strong_etag(const char *tag)
{
	size_t len = tag ? strlen(tag) : 0;
	if (len < 2 || len > WEIR_FETCH_VALIDATOR || tag[0] != '"' || tag[len - 1] != '"')
		return false;
	for (size_t i = 1; i < len - 1; i++)
		if (tag[i] <= ' ' || tag[i] == '"' || tag[i] == 0x7f)
			return false;
	return true;
}

/* Was it changed well before it was sent? Else it may change again within the same second. */
static bool is_strong_date(const char *changed, const char *sent)
{
	if (!changed || !sent || strlen(changed) > WEIR_FETCH_VALIDATOR)
		return false;
	time_t from = curl_getdate(changed, NULL), to = curl_getdate(sent, NULL);
	return from != -1 && to != -1 && to >= DATES_APART && from <= to - DATES_APART;
}

static void keep_validator(struct weir_fetched *f)
{
	const char *tag = header(f, "ETag"), *changed = header(f, "Last-Modified");
	f->validator[0] = '\0';
	if (is_strong_etag(tag))
		strcpy(f->validator, tag);
	else if (!other_than(f, "ETag", "") && is_strong_date(changed, header(f, "Date")))
		strcpy(f->validator, changed);
}

/* A tag must come with each range; a date need not (RFC 9110, 15.3.7). */
static bool is_same(const struct weir_fetched *f)
{
	bool is_tag = f->validator[0] == '"';
	const char *now = header(f, is_tag ? "ETag" : "Last-Modified");
	if (is_tag)
		return now && strcmp(now, f->validator) == 0;
	return !other_than(f, "Last-Modified", f->validator);
}

/* ---- answers ---- */

/* @want: how many bytes the answer must have. */
static int check_length(struct weir_fetched *f, uint64_t want)
{
	curl_off_t says = -1;
	if (curl_easy_getinfo(f->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &says) || says < 0)
		return 0; /* it says nothing: the bytes are counted */
	if ((uint64_t)says != want)
		return refuse(f, weir_fail(-EBADMSG, "%s: the server sends %" PRIu64 " bytes: the "
		                           "manifest's image has %" PRIu64 ", %" PRIu64
		                           " of them are still wanted", f->url, (uint64_t)says,
		                           f->bytes, want));
	return 0;
}

static int check_coding(struct weir_fetched *f)
{
	const char *coding = other_than(f, "Content-Encoding", "identity");
	if (!coding)
		coding = other_than(f, "Transfer-Encoding", "chunked");
	return coding ? refuse(f, weir_fail(-EBADMSG, "%s: the server sends it encoded (%s), which "
	                                    "was not asked for", f->url, coding)) : 0;
}

static int take_whole(struct weir_fetched *f)
{
	f->got = 0; /* also if only the rest was asked for: it is another one now */
	int err = check_coding(f);
	if (!err)
		err = check_length(f, f->bytes);
	if (!err)
		keep_validator(f);
	return err;
}

static int take_rest(struct weir_fetched *f)
{
	char want[96];
	const char *range = header(f, "Content-Range");
	if (!f->asked_rest)
		return refuse(f, weir_fail(-EPROTO, "%s: the server sends a part (206), though all "
		                           "was asked for", f->url));
	if (!is_same(f)) {
		f->validator[0] = '\0';
		f->got = 0;
		return refuse_again(f, weir_fail(-EIO, "%s: it has changed on the server while it "
		                                 "was fetched", f->url));
	}
	snprintf(want, sizeof want, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, f->got, f->bytes - 1,
	         f->bytes);
	if (!range || strcasecmp(range, want) != 0)
		return refuse(f, weir_fail(-EBADMSG, "%s: the server sends the part \"%s\": wanted "
		                           "is \"%s\"", f->url, range ? range : "", want));
	int err = check_coding(f);
	return err ? err : check_length(f, f->bytes - f->got);
}

static int refuse_status(struct weir_fetched *f, long status)
{
	if (status == 416 && f->asked_rest) {
		f->validator[0] = '\0';
		f->got = 0;
		return refuse_again(f, weir_fail(-EIO, "%s: the server has no such part (416)",
		                                 f->url));
	}
	if (status == 408 || status == 429 || (status >= 500 && status != 501 && status != 505))
		return refuse_again(f, weir_fail(-EIO, "%s: the server answers %ld", f->url,
		                                 status));
	if (status >= 300 && status < 400)
		return refuse(f, weir_fail(-EPROTO, "%s: the server answers %ld: redirects are not "
		                           "followed", f->url, status));
	int err = status == 404 || status == 410 ? -ENOENT :
	          status == 401 || status == 403 ? -EACCES : -EPROTO;
	return refuse(f, weir_fail(err, "%s: the server answers %ld", f->url, status));
}

/* When all headers are there. */
static int judge(struct weir_fetched *f)
{
	long status = 0;
	f->judged = true;
	(void)curl_easy_getinfo(f->curl, CURLINFO_RESPONSE_CODE, &status);
	return status == 200 ? take_whole(f) :
	       status == 206 ? take_rest(f) : refuse_status(f, status);
}

void weir__fetch_answer_begin(struct weir_fetched *f)
{
	f->asked_rest = f->got > 0;
	f->judged = f->again = false;
	f->headers = 0;
	f->err = 0;
}

size_t weir__fetch_header(char *text, size_t size, size_t n, void *fetched)
{
	struct weir_fetched *f = fetched;
	(void)text;
	f->headers += size * n;
	if (f->headers <= WEIR_FETCH_HEADERS)
		return size * n;
	refuse(f, weir_fail(-EPROTO, "%s: the server sends more than %d bytes of headers", f->url,
	                    WEIR_FETCH_HEADERS));
	return 0;
}

size_t weir__fetch_body(char *bytes, size_t size, size_t n, void *fetched)
{
	struct weir_fetched *f = fetched;
	size_t len = size * n;
	if (!f->judged && judge(f))
		return 0;
	if (len > f->bytes - f->got) {
		refuse(f, weir_fail(-EBADMSG, "%s: the server sends more than the %" PRIu64
		                    " bytes of the manifest's image", f->url, f->bytes));
		return 0;
	}
	if (len)
		memcpy(f->to + f->got, bytes, len);
	f->got += len;
	if (f->here)
		atomic_store_explicit(f->here, f->got, memory_order_relaxed);
	return len;
}

int weir__fetch_answer_end(struct weir_fetched *f)
{
	if (!f->judged && judge(f))
		return f->err;
	if (f->got < f->bytes) /* an end without Content-Length may be a break as well */
		return refuse_again(f, weir_fail(-EIO, "%s: only %" PRIu64 " of %" PRIu64 " bytes "
		                                 "came", f->url, f->got, f->bytes));
	return 0;
}
