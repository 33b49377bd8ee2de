/* SPDX-License-Identifier: MIT
 * What a scraper could not read is refused here, where somebody reads the sentence. */
#include <stdbool.h>
#include <string.h>
#include "ground/error.h"
#include "metrics/labels.h"

static const char *const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char *const digits = "0123456789";

/* The end of a name, or NULL. Those that begin with __ are Prometheus's own. */
static const char *after_name(const char *at)
{
	const char *begin = at;
	at += strspn(at, letters);
	if (at == begin || strncmp(begin, "__", 2) == 0)
		return NULL;
	while (*at && (strchr(letters, *at) || strchr(digits, *at)))
		at++;
	return at;
}

/* Of a value in quotes likewise. */
static const char *after_value(const char *at)
{
	if (*at++ != '"')
		return NULL;
	while (*at && *at != '"') {
		if (*at == '\\' && (!at[1] || !strchr("\\\"n", at[1])))
			return NULL;
		at += *at == '\\' ? 2 : 1;
	}
	return *at == '"' ? at + 1 : NULL;
}

/* Does a name stand among those before it? */
static bool is_double(const char *labels, const char *name, size_t length)
{
	for (const char *at = labels; at < name; at++) {
		const char *end = after_name(at);
		if ((size_t)(end - at) == length && memcmp(at, name, length) == 0)
			return true;
		at = after_value(end + 1); /* its comma */
	}
	return false;
}

static int refuse(const char *labels, const char *at, const char *what)
{
	return weir__fail(-EINVAL, "labels: byte %zu: %s; allowed: name=\"value\",..., with \\\\, "
	                  "\\\" and \\n escaped", (size_t)(at - labels), what);
}

int weir__labels_check(const char *labels)
{
	char shown[WEIR_SENTENCE_BYTES];
	if (!labels || !*labels)
		return 0;
	size_t n = strlen(labels), fits = weir_escape(shown, sizeof shown, labels, n);
	if (fits < n || strcmp(shown, labels))
		return weir__fail(-EINVAL, "labels: %zu bytes: allowed: printable UTF-8, at most "
		                  "%d bytes", n, WEIR_SENTENCE_BYTES - 1);
	for (const char *at = labels;; at++) {
		const char *end = after_name(at);
		if (!end)
			return refuse(labels, at, "no name of a label");
		if (*end != '=')
			return refuse(labels, end, "no = after the name");
		if (is_double(labels, at, (size_t)(end - at)))
			return refuse(labels, at, "a name that stands there twice");
		at = after_value(end + 1);
		if (!at)
			return refuse(labels, end + 1, "no value in quotes");
		if (!*at)
			return 0;
		if (*at != ',')
			return refuse(labels, at, "no comma after the value");
	}
}
