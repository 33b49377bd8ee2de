/* SPDX-License-Identifier: MIT
 * Numbers of text. */
#include "number.h"

bool weir__number_parse(uint64_t *out, const char *text, size_t len)
{
	uint64_t n = 0;
	if (len == 0 || (len > 1 && text[0] == '0'))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(text[i] - '0'), &n))
			return false;
	}
	*out = n;
	return true;
}

int weir__hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
	                              -1;
}

bool weir__is_hex(const char *text, size_t len, size_t digits)
{
	if (len != digits)
		return false;
	for (size_t i = 0; i < len; i++)
		if (weir__hex_digit(text[i]) < 0 || (text[i] >= 'A' && text[i] <= 'F'))
			return false;
	return true;
}

bool weir__hex_parse(uint64_t *out, const char *text, size_t len, size_t digits)
{
	uint64_t n = 0;
	if (digits > 16 || !weir__is_hex(text, len, digits))
		return false;
	for (size_t i = 0; i < len; i++)
		n = n << 4 | (uint64_t)weir__hex_digit(text[i]);
	*out = n;
	return true;
}
