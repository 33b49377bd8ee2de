/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "name.h"

/* One byte of a label. */
static char *put(char *to, unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		c = (unsigned char)(c + ('a' - 'A'));
	if (c <= ' ' || c >= 127) {
		*to++ = '\\';
		*to++ = (char)('0' + c / 100);
		*to++ = (char)('0' + c / 10 % 10);
		c = (unsigned char)('0' + c % 10);
	} else if (strchr("\".;\\()@$", c)) {
		*to++ = '\\';
	}
	*to++ = (char)c;
	return to;
}

void name_text(struct name *out, const unsigned char *wire, size_t bytes)
{
	const unsigned char *end = wire + bytes;
	char *to = out->text;
	out->labels = 0;
	while (wire < end && *wire && *wire <= 63 && out->labels < NAME_LABELS) {
		const unsigned char *next = wire + 1 + *wire;
		if (next > end)
			break;
		if (out->labels)
			*to++ = '.';
		out->at[out->labels++] = (uint16_t)(to - out->text);
		while (++wire < next)
			to = put(to, *wire);
	}
	out->len = (size_t)(to - out->text);
}
