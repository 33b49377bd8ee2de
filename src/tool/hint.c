/* SPDX-License-Identifier: MIT
 * Keys that end in a carriage return, that are prefixes, or that are lines of a hosts file are keys
 * as any others; but hardly anybody means them so. */
#include <string.h>
#include "hint.h"
#include "say.h"

enum { LINES = 256 }; /* to judge by */

static bool ends_in_cr(struct iovec line)
{
	return line.iov_len && ((const char *)line.iov_base)[line.iov_len - 1] == '\r';
}

static bool is_prefix(struct iovec line)
{
	unsigned char key[WEIR_CIDR_KEY];
	line = weir_normal_trim(line.iov_base, line.iov_len);
	return line.iov_len && memchr(line.iov_base, '/', line.iov_len) &&
	       weir_normal_cidr(key, line.iov_base, line.iov_len) > 0;
}

static bool is_hosts_line(struct iovec line)
{
	unsigned char key[WEIR_CIDR_KEY];
	line = weir_normal_trim(line.iov_base, line.iov_len);
	const char *from = line.iov_base;
	size_t n = 0;
	while (n < line.iov_len && from[n] != ' ' && from[n] != '\t')
		n++;
	if (line.iov_len > 9 && !memcmp(from, "address=/", 9))
		return true;
	return n < line.iov_len && !memchr(from, '/', n) && weir_normal_cidr(key, from, n) > 0;
}

static bool all(bool (*is)(struct iovec line), const struct iovec *lines, size_t n)
{
	size_t asked = 0, found = 0;
	for (size_t i = 0; i < n; i++) {
		struct iovec bare = weir_normal_trim(lines[i].iov_base, lines[i].iov_len);
		if (is != ends_in_cr && (!bare.iov_len || *(const char *)bare.iov_base == '#'))
			continue;
		asked++;
		found += is(lines[i]);
	}
	return asked && found == asked;
}

void hint_encoding(const struct chunk *c)
{
	static const char *const marks[] = { "\xff\xfe", "\xfe\xff" };
	for (size_t i = 0; i < 2; i++)
		if (c->len >= 2 && memcmp(c->data, marks[i], 2) == 0)
			say("hint: %s: is in UTF-16, as the byte order mark shows, and lines are "
			    "taken byte by byte: iconv -f UTF-16 -t UTF-8 makes them what they "
			    "look like",
			    c->file);
}

void hint_lines(const struct lines *l, const struct chunk *c, const struct keying *how,
                bool building)
{
	if (how->plain)
		return;
	const uint32_t steps = how->normal.steps;
	struct iovec lines[LINES];
	size_t at = 0, n = chunk_keys(l, c, &at, lines, LINES);
	if (!(steps & WEIR_NORMAL_TRIM) && !how->hosts && !how->field && all(ends_in_cr, lines, n))
		say("hint: the lines end in a carriage return, which is part of the keys: --trim "
		    "takes it off");
	if (!building || how->hosts || how->field || steps & WEIR_NORMAL_CIDR)
		return;
	if (all(is_prefix, lines, n))
		say("hint: the lines are IP prefixes: --cidr finds the addresses in them");
	else if (all(is_hosts_line, lines, n))
		say("hint: the lines are those of a hosts file: --hosts takes their domains");
}
