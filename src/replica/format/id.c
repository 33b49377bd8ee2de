/* SPDX-License-Identifier: MIT
 * The text form of ids, random ids, and lists of ids. */
#include "id.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <weir/error.h>

bool weir__number_read(uint64_t *out, const char *text, size_t len)
{
	uint64_t n = 0;
	if (!len || (len > 1 && text[0] == '0'))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n))
			return false;
	}
	*out = n;
	return true;
}

static bool read_two(uint64_t *a, uint64_t *b, char between, const char *text, size_t len)
{
	const char *at = len ? memchr(text, between, len) : NULL;
	const size_t first = at ? (size_t)(at - text) : 0;
	uint64_t one;
	if (!at || !weir__number_read(&one, text, first) ||
	    !weir__number_read(b, at + 1, len - first - 1))
		return false;
	*a = one;
	return true;
}

bool weir__log_id_read(struct weir_log_id *out, const char *text, size_t len)
{
	struct weir_log_id id;
	const bool is = read_two(&id.epoch, &id.n, '-', text, len);
	if (is)
		*out = id;
	return is;
}

bool weir__version_read(struct weir_version *out, const char *text, size_t len)
{
	struct weir_version version;
	const bool is = read_two(&version.era, &version.number, '.', text, len);
	if (is)
		*out = version;
	return is;
}

const char *weir__log_id_write(char text[WEIR_ID_TEXT], struct weir_log_id id)
{
	snprintf(text, WEIR_ID_TEXT, "%" PRIu64 "-%" PRIu64, id.epoch, id.n);
	return text;
}

const char *weir__version_write(char text[WEIR_ID_TEXT], struct weir_version version)
{
	snprintf(text, WEIR_ID_TEXT, "%" PRIu64 ".%" PRIu64, version.era, version.number);
	return text;
}

bool weir__hex_read(uint64_t *out, const char *text, size_t len)
{
	uint64_t n = 0;
	for (size_t i = 0; i < len && len == WEIR_HEX_TEXT - 1; i++) {
		const char c = text[i];
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
		n = n << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (len != WEIR_HEX_TEXT - 1)
		return false;
	*out = n;
	return true;
}

const char *weir__hex_write(char text[WEIR_HEX_TEXT], uint64_t value)
{
	snprintf(text, WEIR_HEX_TEXT, "%016" PRIx64, value);
	return text;
}

int weir__draw(uint64_t *out)
{
	uint64_t drawn = 0;
	while (!drawn) {
		if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
			return weir_fail(-EIO, "the system gives no random number: %s",
			                 strerror(errno));
	}
	*out = drawn;
	return 0;
}

bool weir__has(const struct weir_has *has, uint64_t id)
{
	for (uint32_t i = 0; i < has->n; i++)
		if (has->id[i] == id)
			return true;
	return false;
}

bool weir__has_add(struct weir_has *has, uint64_t id)
{
	if (weir__has(has, id))
		return true;
	const bool room = has->n < WEIR_HAS;
	has->n += room;
	memmove(has->id + 1, has->id, (has->n - 1) * sizeof *has->id);
	has->id[0] = id;
	return room;
}
