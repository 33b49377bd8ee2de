/* SPDX-License-Identifier: MIT
 * The only parser of URLs. */
#include <string.h>
#include "number.h"
#include "url.h"

bool weir__url_decode(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		int high = weir__hex_digit(from[1]), low = high < 0 ? -1 : weir__hex_digit(from[2]);
		if (low < 0 || (high | low) == 0)
			return false;
		*to++ = (char)(high << 4 | low);
		from += 2;
	}
	*to = '\0';
	return true;
}

bool weir__url_number(uint32_t *out, const char *text, uint32_t most)
{
	uint64_t n;
	size_t len = strlen(text);
	if (len > 10)
		return false;
	for (; len > 1 && *text == '0'; len--) /* which numbers of the replica's formats have not */
		text++;
	if (!weir__number_parse(&n, text, len))
		return false;
	*out = (uint32_t)n;
	return n <= most;
}

char *weir__url_user(char *at, char *end, const char **user, const char **password)
{
	char *sign = NULL;
	for (char *c = at; c < end; c++)
		if (*c == '@')
			sign = c;
	if (!sign)
		return at;
	*sign = '\0';
	char *colon = strchr(at, ':');
	if (colon)
		*colon = '\0';
	*user = *at ? at : NULL;
	*password = colon ? colon + 1 : NULL;
	return weir__url_decode(at) && (!colon || weir__url_decode(colon + 1)) ? sign + 1 : NULL;
}

enum weir_url_fault weir__url_host(char *at, char **name, uint16_t *port)
{
	uint32_t number = 0;
	char *colon = strrchr(at, ':');
	*name = at;
	if (*at == '[') { /* IPv6 */
		char *close = strchr(at, ']');
		if (!close || (close[1] && close[1] != ':'))
			return WEIR_URL_BRACKET;
		colon = close[1] ? close + 1 : NULL;
		*close = '\0';
		*name = at + 1;
	}
	if (colon)
		*colon = '\0';
	if (colon && (!weir__url_number(&number, colon + 1, 65535) || number == 0))
		return WEIR_URL_PORT;
	if (!**name || strlen(*name) > 255 || strpbrk(*name, " /?#@"))
		return WEIR_URL_HOST;
	if (colon)
		*port = (uint16_t)number;
	return WEIR_URL_FINE;
}
