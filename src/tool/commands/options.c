/* SPDX-License-Identifier: MIT
 * getopt_long() with messages of this command, which suggest the option that a user probably
 * meant. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "commands.h"
#include "output/say.h"

/* Return: the number of options that --NAME or --NAME=VALUE names or abbreviates. @takes: set to
 * true if the option takes a value. */
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

/* Return: the end of a message, such as ": did you mean --rate?", or "". */
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

/* Refuses a number after an option with an optional value, since getopt_long() reads the number as
 * a file's name. The number is accepted if a file of that name exists. Return: true after a
 * message. */
static bool refuse_separate_value(const struct option *option, const char *next)
{
	if (option->has_arg != optional_argument || optarg || !next || !*next ||
	    next[strspn(next, "0123456789")] || access(next, F_OK) == 0)
		return false;
	say("--%s %s: there is no file '%s': to give the option that value, write --%s=%s",
	    option->name, next, next, option->name, next);
	return true;
}

int option_next(int argc, char **argv, const char *letters, const struct option *options)
{
	char quiet[64]; /* a leading colon silences getopt_long() */
	int before = optind, at = -1;
	snprintf(quiet, sizeof quiet, ":%s", letters);
	int option = getopt_long(argc, argv, quiet, options, &at);
	if (at >= 0 && option != '?' && option != ':' &&
	    refuse_separate_value(&options[at], argv[optind]))
		return '?';
	if (option != '?' && option != ':')
		return option;
	/* After a long option, optind has moved to the next argument. Within a group of letters,
	 * optind moves only after the last letter. */
	const char *argument = optind > before ? argv[optind - 1] : "";
	if (strncmp(argument, "--", 2) == 0)
		report_long(argument, options);
	else if (option == ':')
		say("option requires an argument -- '%c'", optopt);
	else
		say("invalid option -- '%c'", optopt);
	return '?';
}
