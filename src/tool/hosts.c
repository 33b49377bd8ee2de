/* SPDX-License-Identifier: MIT
 * The domains of a hosts file's line ("0.0.0.0 a.example b.example # why"), of dnsmasq's
 * ("address=/a.example/b.example/0.0.0.0"), or of a list's ("a.example"). */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include "keyer.h"

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word from *@at on. Return: false if there is none. */
static bool word_next(const char **at, const char *end, struct iovec *word)
{
	const char *from = *at;
	while (from < end && blank(*from))
		from++;
	const char *to = from;
	while (to < end && !blank(*to))
		to++;
	*at = to;
	*word = (struct iovec){ (void *)from, (size_t)(to - from) };
	return to > from;
}

/* An address, perhaps with a zone. */
static bool is_address(struct iovec word)
{
	char text[INET6_ADDRSTRLEN];
	unsigned char address[16];
	const char *zone = memchr(word.iov_base, '%', word.iov_len);
	size_t len = zone ? (size_t)(zone - (const char *)word.iov_base) : word.iov_len;
	if (len >= sizeof text || memchr(word.iov_base, 0, len))
		return false;
	memcpy(text, word.iov_base, len);
	text[len] = 0;
	return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static bool wrong(struct iovec line, const char **why)
{
	static _Thread_local char text[160];
	int shown = line.iov_len > 60 ? 60 : (int)line.iov_len;
	snprintf(text, sizeof text, "'%.*s': no domain after an address, nor between slashes, nor "
	         "alone", shown, (const char *)line.iov_base);
	*why = text;
	return false;
}

/* Between the slashes: after the last of them comes the address or server. @line: for a message. */
static bool dnsmasq(struct keyer *k, struct iovec line, const char *at, const char **why)
{
	const char *end = (const char *)line.iov_base + line.iov_len;
	const char *slash = memchr(at, '/', (size_t)(end - at));
	if (!slash)
		return wrong(line, why);
	for (; slash; slash = memchr(at, '/', (size_t)(end - at))) {
		if (slash > at &&
		    !keyer_text(k, (struct iovec){ (void *)at, (size_t)(slash - at) }, why))
			return false;
		at = slash + 1;
	}
	return true;
}

bool hosts_texts(struct keyer *k, struct iovec line, const char **why)
{
	const char *at = line.iov_base, *end = at + line.iov_len;
	const char *comment = memchr(at, '#', line.iov_len);
	const char *slash = memmem(at, line.iov_len, "=/", 2);
	struct iovec word, second;
	if (slash && (!comment || slash < comment)) /* a server may have a port after # */
		return dnsmasq(k, line, slash + 2, why);
	end = comment ? comment : end;
	if (!word_next(&at, end, &word))
		return true;
	bool more = word_next(&at, end, &second);
	if (!is_address(word))
		return more || memchr(word.iov_base, '=', word.iov_len) ? wrong(line, why) :
		                                                         keyer_text(k, word, why);
	if (!more)
		return wrong(line, why);
	do
		if (!keyer_text(k, second, why))
			return false;
	while (word_next(&at, end, &second));
	return true;
}
