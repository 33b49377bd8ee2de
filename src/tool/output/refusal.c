/* SPDX-License-Identifier: MIT
 * Rewrites the library's errors about parameters in terms of this command's options. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <weir/error.h>
#include <weir/kinds.h>
#include "say.h"

enum { TEXT = 512, NUMBER = 40 };

/* For each parameter of the library, the option of this command that sets it. */
static const struct {
	const char *thing, *option;
} options[] = {
	{ "capacity", "-n (keys)" },
	{ "fp_rate", "-p (rate)" },
	{ "max_bytes", "-m (memory)" },
	{ "max_memory", "--max-memory" },
	{ "words_per_key", "-z (words)" },
	{ "bits_per_word", "-g (bits)" },
	{ "probes", "--probes" },
	{ "counter_bits", "--counter-bits" },
	{ "counters_per_word", "--counters-per-word" },
	{ "fingerprint_bits", "--fingerprint-bits" },
	{ "max_capacity", "--max-keys" },
	{ "exclude_keys", "--exclude-keys" },
	{ "hash_bits", "--hash-bits" },
	{ "sets", "--sets" },
	{ "seed", "--seed" },
	{ "secret", "--keyed-by" },
};

/* The message for each error code. refusal() replaces @ by the name of the option, and {0} to {3}
 * by the values of weir_error_last(). A character before the digit sets the format of the value: ~
 * is three significant digits, * is a list of numbers, k is the name of a kind, m is a text that
 * names the limit on bytes, and b is a size as a user types it. */
static const char *const sentences[] = {
	[WEIR_ERROR_RANGE] = "@ {0}: allowed: {1} to {2}",
	[WEIR_ERROR_CHOICE] = "@ {0}: allowed: {*1}",
	[WEIR_ERROR_TWO_OF_THREE] = "-n (keys) {0}, -p (rate) {1}, -m (memory) {2}: give two of "
	                            "the three (0 means not given)",
	[WEIR_ERROR_KIND_LACKS] = "@ {0}: not for kind {k1}",
	[WEIR_ERROR_RATE_LEAST] = "@ {0}: with {1} keys at least {~2}, since a hash or fingerprint "
	                          "has {3} bits",
	[WEIR_ERROR_TOO_LARGE] = "@ {0} at -p (rate) {1} needs {2} bytes: {m3}: give a higher "
	                         "rate, or more memory",
	[WEIR_ERROR_LISTS_LARGE] = "@ {0} and {1} excluded keys need {2} bytes: {m3}: give a "
	                           "higher rate, or more memory",
	[WEIR_ERROR_ONE_KEY] = "@ {0}: too small for one key at -p (rate) {1}: give more, or a "
	                       "higher rate",
	[WEIR_ERROR_KEYS_MOST] = "@ {0}: -m (memory) {1} hold {2} keys at most: give more memory",
	[WEIR_ERROR_BLOCK] = "@ {0}: less than a block: give at least {1}, its bytes",
	[WEIR_ERROR_RATE_MOST] = "@ {0}: with {1} keys the rate would be {~2}, {3} is the most: "
	                         "give more",
	[WEIR_ERROR_WIDTH] = "@ {0}: the rate is {~1}, above -p (rate) {2}; give one of the two, "
	                     "or more bits",
	[WEIR_ERROR_WIDTH_BYTES] = "@ {0}: too small for {1} keys with fingerprints of {2} bits: "
	                           "give more",
	[WEIR_ERROR_MORE_KEYS] = "@ {0}: there are {1} different keys: give at least that",
	[WEIR_ERROR_HASHES] = "the hashes of the keys so far take {1} bytes, and memory has room "
	                      "for {0}: with @ the others go to a file in TMPDIR",
	[WEIR_ERROR_THREADS] = "@ {b0}: at least {b1}, however few keys there are, with -t "
	                       "(threads) {2}",
	[WEIR_ERROR_PASSED] = "@ {0}: {1} keys of the exclude list have passed the first level: "
	                      "give a number nearer to the list's",
	[WEIR_ERROR_SETS_LARGE] = "@ {0} of {1} sets needs {2} bytes: {3} are the most: give fewer "
	                          "keys, or a higher rate",
};

static const char *option_of(const char *thing)
{
	/* A parameter of one kind has a name such as "classic.probes". */
	const char *dot = strrchr(thing, '.');
	thing = dot ? dot + 1 : thing;
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (strcmp(thing, options[i].thing) == 0)
			return options[i].option;
	return thing;
}

/* Writes a number. A power of two from 2^40 up is written as 2^n, which is easier to read than its
 * digits. */
static void put_number(char to[NUMBER], double value, bool three_digits)
{
	int power;
	if (value >= 0x1p40 && frexp(value, &power) <= 0.5)
		snprintf(to, NUMBER, "2^%d", power - 1);
	else if (!three_digits && value < 0x1p53 && value == floor(value))
		snprintf(to, NUMBER, "%.0f", value);
	else
		snprintf(to, NUMBER, three_digits ? "%.3g" : "%.15g", value);
}

/* Writes the set bits of a number as "1, 2, 4 or 8". */
static void put_list(char to[NUMBER], double value)
{
	uint64_t bits = (uint64_t)value;
	size_t n = 0;
	*to = '\0';
	for (unsigned i = 0; bits; i++, bits >>= 1)
		if (bits & 1)
			n += (size_t)snprintf(to + n, NUMBER - n, "%s%u",
			                      n == 0 ? "" : bits == 1 ? " or " : ", ", i);
}

/* Writes an exact number of bytes in the largest unit that divides the number, such as 64K. */
static void put_bytes(char to[NUMBER], double value)
{
	static const char units[] = "\0KMGT";
	unsigned unit = 0;
	for (; unit + 1 < sizeof units - 1 && value >= 1024 && fmod(value, 1024) == 0; unit++)
		value /= 1024;
	snprintf(to, NUMBER, "%.0f%.1s", value, &units[unit]);
}

/* Writes the value of a placeholder such as {0}, {~2}, {*1}, {b1}, {k1} or {m3}. @mark: points to
 * the character after the opening brace. */
static void put_value(char to[NUMBER], const char *mark, const struct weir_error_info *info)
{
	const bool plain = mark[0] >= '0' && mark[0] <= '3';
	const double value = info->values[(plain ? mark[0] : mark[1]) - '0'];
	const char *kind = mark[0] == 'k' ? weir_kind_name((uint32_t)value) : NULL;
	if (mark[0] == '*')
		put_list(to, value);
	else if (mark[0] == 'm' && value >= 0x1p46)
		snprintf(to, NUMBER, "a filter has 2^46 at most");
	else if (mark[0] == 'm')
		snprintf(to, NUMBER, "-m (memory) is %.0f", value);
	else if (mark[0] == 'b')
		put_bytes(to, value);
	else if (kind)
		snprintf(to, NUMBER, "%s", kind);
	else
		put_number(to, value, mark[0] == '~');
}

const char *refusal(void)
{
	/* the first word of the library's message about a failed spill folder; a path follows it */
	static const char spilled[] = "spill_folder ";
	static char text[TEXT];
	struct weir_error_info info = WEIR_ERROR_INFO_INIT;
	char value[NUMBER];
	size_t n = 0;
	weir_error_last(&info);
	if (strncmp(weir_error_detail(), spilled, sizeof spilled - 1) == 0) {
		snprintf(text, TEXT, "TMPDIR %s: set TMPDIR to a folder with room for 8 bytes a "
		         "key, or give more --max-memory",
		         weir_error_detail() + sizeof spilled - 1);
		return text;
	}
	if (!info.thing || info.code >= sizeof sentences / sizeof *sentences ||
	    !sentences[info.code])
		return weir_error_detail();
	for (const char *at = sentences[info.code]; *at && n < TEXT; at++) {
		if (*at == '{') {
			put_value(value, at + 1, &info);
			at = strchr(at, '}');
			n += (size_t)snprintf(text + n, TEXT - n, "%s", value);
		} else if (*at == '@') {
			n += (size_t)snprintf(text + n, TEXT - n, "%s", option_of(info.thing));
		} else {
			n += (size_t)snprintf(text + n, TEXT - n, "%c", *at);
		}
	}
	return text;
}

int trouble_refused(void)
{
	return trouble("%s", refusal());
}
