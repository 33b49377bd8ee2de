/* SPDX-License-Identifier: MIT
 * Escaped output. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weir/error.h>
#include "plain.h"
#include "say.h"

bool plain_wanted(FILE *to)
{
	return to == stderr || isatty(fileno(to));
}

bool plain_write(const char *text, size_t len, FILE *to)
{
	char part[4096];
	while (len) {
		size_t taken = weir_escape(part, sizeof part, text, len);
		if (fputs(part, to) < 0)
			return false;
		text += taken;
		len -= taken;
	}
	return true;
}

void plain_put(const char *text, FILE *to)
{
	if (plain_wanted(to))
		plain_write(text, strlen(text), to);
	else
		fputs(text, to);
}

char *plain_bytes(const char *text, size_t len)
{
	enum { LONGEST = 4 }; /* of one byte */
	size_t room = len * LONGEST + 2 * LONGEST + 1;
	char *copy = need(room);
	weir_escape(copy, room, text, len);
	return copy;
}

char *plain_copy(const char *text)
{
	return plain_bytes(text, strlen(text));
}
