/* SPDX-License-Identifier: MIT
 * Error reports about options. The reports follow getopt_long(): an exact name takes precedence
 * over longer names that begin with the name. */
#include <stdarg.h>
#include <stdbool.h>
#include "../../src/tool/commands/commands.h"
#include "../../src/tool/output/say.h"
#include "../test.h"

static char reported[200];

void say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(reported, sizeof reported, format, args);
	va_end(args);
}

/* "key" is a prefix of "keys" and precedes this name in the list. "rate" is a prefix of "rates" and
 * follows this name. */
static const struct option options[] = {
	{ "key", required_argument, NULL, 'k' },
	{ "keys", no_argument, NULL, 1000 },
	{ "rates", required_argument, NULL, 1001 },
	{ "rate", no_argument, NULL, 'r' },
	{ "seed", optional_argument, NULL, 1002 },
	{ 0 },
};

/* Asserts that a command line with only @word gives @option and reports @report. */
static void expect(const char *word, int option, const char *report)
{
	static char name[] = "weir";
	char copy[64];
	char *argv[] = { name, copy, NULL };
	snprintf(copy, sizeof copy, "%s", word);
	*reported = 0;
	optind = 0; /* restarts getopt */
	assert_int_equal(option_next(2, argv, "k:r", options), option);
	assert_string_equal(reported, report);
}

static void test_an_exact_name_precedes_longer_names(void **state)
{
	(void)state;
	expect("--key", '?', "option '--key' requires an argument");
	expect("--rate=1", '?', "option '--rate' doesn't allow an argument");
	expect("--rates", '?', "option '--rates' requires an argument");
	expect("--keys=1", '?', "option '--keys' doesn't allow an argument");
	expect("--key=1", 'k', "");
	expect("--rate", 'r', "");
}

static void test_abbreviations_are_reported(void **state)
{
	(void)state;
	expect("--ke", '?', "option '--ke' is ambiguous");
	expect("--ke=1", '?', "option '--ke=1' is ambiguous");
	expect("--see", 1002, "");
	expect("--see=1", 1002, "");
	expect("--seeds", '?', "unrecognized option '--seeds': did you mean --seed?");
	expect("-k", '?', "option requires an argument -- 'k'");
	expect("-x", '?', "invalid option -- 'x'");
	expect("-r", 'r', "");
	expect("word", -1, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_exact_name_precedes_longer_names),
		cmocka_unit_test(test_abbreviations_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
