/* SPDX-License-Identifier: MIT
 * getopt_long() with messages of this command's own, which know what somebody meant. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "commands.h"
#include "output/say.h"

/* ---- the distance of Damerau and Levenshtein, row by row ---- */

enum { MOST = 32 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][MOST + 1] = { 0 };
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]),
			               least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

void nearest_offer(struct nearest *nearest, const char *typed, size_t len, const char *word)
{
	size_t word_len = strlen(word);
	if (!len || len > MOST || word_len > MOST)
		return;
	size_t d = distance(typed, len, word, word_len);
	size_t most = word_len < 6 ? 2 : word_len / 3;
	bool begins = len >= 2 && strncmp(typed, word, len) == 0;
	if ((!begins && (d >= len || d > most)) || (nearest->word && d >= nearest->distance))
		return;
	*nearest = (struct nearest){ word, d };
}

/* ---- options ---- */

/* How many of the options does this argument, --NAME or --NAME=VALUE, name or abbreviate? @takes:
 * whether the one it names may have a value. */
static unsigned named(const char *argument, const struct option *options, bool *takes)
{
	size_t len = strcspn(argument + 2, "=");
	unsigned n = 0;
	for (; options->name; options++) {
		if (strncmp(options->name, argument + 2, len))
			continue;
		*takes = options->has_arg != no_argument;
		if (strlen(options->name) == len)
			return 1;
		n++;
	}
	return n;
}

/* ": did you mean --rate?" */
static const char *meant(const char *argument, const struct option *options)
{
	static char text[64];
	struct nearest nearest = { 0 };
	for (; options->name; options++)
		nearest_offer(&nearest, argument + 2, strcspn(argument + 2, "="), options->name);
	if (nearest.word)
		snprintf(text, sizeof text, ": did you mean --%s?", nearest.word);
	return text;
}

static void report_long(const char *argument, const struct option *options)
{
	bool takes = false;
	unsigned n = named(argument, options, &takes);
	if (!n)
		say("unrecognized option '%s'%s", argument, meant(argument, options));
	else if (n > 1)
		say("option '%s' is ambiguous", argument);
	else if (takes)
		say("option '%s' requires an argument", argument);
	else
		say("option '%.*s' doesn't allow an argument", (int)strcspn(argument, "="),
		    argument);
}

int option_next(int argc, char **argv, const char *letters, const struct option *options)
{
	char quiet[64]; /* the colon keeps getopt_long() silent */
	int before = optind;
	snprintf(quiet, sizeof quiet, ":%s", letters);
	int option = getopt_long(argc, argv, quiet, options, NULL);
	if (option != '?' && option != ':')
		return option;
	/* A word of letters stays where it is until its last, a --NAME is passed at once. */
	const char *argument = optind > before ? argv[optind - 1] : "";
	if (strncmp(argument, "--", 2) == 0)
		report_long(argument, options);
	else if (option == ':')
		say("option requires an argument -- '%c'", optopt);
	else
		say("invalid option -- '%c'", optopt);
	return '?';
}
