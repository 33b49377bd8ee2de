/* SPDX-License-Identifier: MIT
 * Escaped output. */
#include <string.h>
#include <unistd.h>
#include <weir/error.h>
#include "plain.h"

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

