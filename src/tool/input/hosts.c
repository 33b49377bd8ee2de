/* SPDX-License-Identifier: MIT
 * Finds the domains in a line of a hosts file ("0.0.0.0 a.example b.example # why"), of dnsmasq's
 * configuration ("address=/a.example/b.example/0.0.0.0"), or of a list ("a.example"). */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "keyer.h"

#define ADBLOCK "not a domain: it looks like a rule of an Adblock list, which --hosts cannot take"

enum { MOST_NAME = 253 };

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Finds the next word from *@at on, and moves *@at behind the word. Return: false at the end. */
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

/* Return: true if the word is an IP address, perhaps with a zone. */
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

static bool wrong(struct iovec what, const char **why, const char *reason)
{
	static _Thread_local char text[256];
	int shown = what.iov_len > 60 ? 60 : (int)what.iov_len;
	snprintf(text, sizeof text, "'%.*s': %s", shown, (const char *)what.iov_base, reason);
	*why = text;
	return false;
}

static bool no_domain(struct iovec line, const char **why)
{
	return wrong(line, why, "no domain after an address, nor between slashes, nor alone");
}

static bool begins(struct iovec word, const char *with)
{
	size_t len = strlen(with);
	return word.iov_len >= len && memcmp(word.iov_base, with, len) == 0;
}

static bool has(struct iovec word, const char *what)
{
	return memmem(word.iov_base, word.iov_len, what, strlen(what)) != NULL;
}

/* Return: true if the line looks like a rule of an ad blocker. */
static bool is_adblock(struct iovec line)
{
	return begins(line, "||") || begins(line, "@@") || begins(line, "!") ||
	       begins(line, "[Adblock") || has(line, "^") || has(line, "##") || has(line, "#@#") ||
	       has(line, "#?#");
}

static bool is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c > 127;
}

/* Checks that a word is a domain: nonempty labels separated by dots, perhaps with "*." or a dot in
 * front and a dot at the end. Return: the fault, or NULL. */
static const char *fault_of(struct iovec word)
{
	const char *at = word.iov_base, *end = at + word.iov_len;
	at += begins(word, "*.") ? 2 : begins(word, ".");
	end -= end > at && end[-1] == '.';
	if (end - at > MOST_NAME)
		return "not a domain: it has more than 253 bytes";
	if (end - at <= 0 || (end - at == 1 && *at == '-'))
		return "not a domain";
	for (const char *label = at; at <= end; at++) {
		if (at == end || *at == '.') {
			if (at == label)
				return "not a domain: a label of it is empty";
			label = at + 1;
		} else if (!is_letter((unsigned char)*at)) {
			return "not a domain: a domain has letters, digits, - and _ between dots";
		}
	}
	return NULL;
}

/* Return: true if the word is a name of this machine or its network, as at the head of a usual
 * hosts file: it has no dot, is an address, or is localhost.localdomain. As a key of a domain set,
 * "local" would match every name that ends in .local, such as a printer's. */
static bool is_local(struct iovec word)
{
	static const char whole[] = "localhost.localdomain";
	struct iovec bare = word;
	bare.iov_len -= bare.iov_len > 1 && ((const char *)bare.iov_base)[bare.iov_len - 1] == '.';
	return !memchr(bare.iov_base, '.', bare.iov_len) || is_address(bare) ||
	       (bare.iov_len == sizeof whole - 1 &&
	        strncasecmp(bare.iov_base, whole, bare.iov_len) == 0);
}

/* Adds one word of a line as a key. A local name is only counted, unless keep_local is set. */
static bool name(struct keyer *k, struct iovec word, struct iovec line, const char **why)
{
	const char *reason = fault_of(word);
	if (reason)
		return wrong(word, why, is_adblock(line) ? ADBLOCK : reason);
	if (k->how->keep_local || !is_local(word))
		return keyer_text(k, word, why);
	k->local++;
	return true;
}

/* Adds the domains between slashes. The text after the last slash is an address or a server. @line:
 * the line, for messages. */
static bool dnsmasq(struct keyer *k, struct iovec line, const char *at, const char **why)
{
	const char *end = (const char *)line.iov_base + line.iov_len;
	const char *slash = memchr(at, '/', (size_t)(end - at));
	if (!slash)
		return no_domain(line, why);
	for (; slash; slash = memchr(at, '/', (size_t)(end - at))) {
		struct iovec word = { (void *)at, (size_t)(slash - at) };
		if (word.iov_len == 1 && *at == '#')
			return wrong(line, why, "# is every domain, and no key finds all of them");
		if (word.iov_len && !name(k, word, line, why))
			return false;
		at = slash + 1;
	}
	return true;
}

/* Return: the start of the comment, or @end. A comment begins at a # after a blank or at the start.
 * @any: true for a line that begins with an address, where a comment begins at the first #. */
static const char *comment(const char *from, const char *end, bool any)
{
	for (const char *at = from; at < end; at++)
		if (*at == '#' && (any || at == from || blank(at[-1])))
			return at;
	return end;
}

bool hosts_texts(struct keyer *k, struct iovec line, const char **why)
{
	const char *at = line.iov_base, *end = at + line.iov_len, *last = comment(at, end, false);
	const char *slash = memmem(at, line.iov_len, "=/", 2);
	struct iovec word, second;
	const bool any = word_next(&at, last, &word), address = any && is_address(word);
	if (slash && slash < last && !address) /* dnsmasq writes a server's port after # */
		return dnsmasq(k, line, slash + 2, why);
	if (!any)
		return true;
	line.iov_len = (size_t)(last - (const char *)line.iov_base);
	if (!address) {
		if (!word_next(&at, last, &second))
			return name(k, word, line, why);
		return is_adblock(line) ? wrong(line, why, ADBLOCK) : no_domain(line, why);
	}
	last = comment(at, last, true);
	if (!word_next(&at, last, &second))
		return no_domain(line, why);
	do
		if (!name(k, second, line, why))
			return false;
	while (word_next(&at, last, &second));
	return true;
}
