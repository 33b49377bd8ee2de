/* SPDX-License-Identifier: MIT
 * See words.h. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <weir/error.h>
#include "say.h"
#include "words.h"

static const struct {
	const char *field, *option;
	bool first_only; /* elsewhere it is a word like others */
} words[] = {
	{ "capacity", "-n (keys)", true },
	{ "fp_rate", "-p (rate)", false },
	{ "max_bytes", "-m (memory)", false },
	{ "max_memory", "--max-memory", false },
	{ "words_per_key", "-z (words)", false },
	{ "bits_per_word", "-g (bits)", false },
	{ "probes", "--probes", true },
	{ "counter_bits", "--counter-bits", false },
	{ "counters_per_word", "--counters-per-word", false },
	{ "fingerprint_bits", "--fingerprint-bits", false },
	{ "max_capacity", "--max-keys", true },
	{ "exclude_keys", "--exclude-keys", true },
};

/* The word that begins at @at, or SIZE_MAX. */
static size_t word_at(const char *at, bool first)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t len = strlen(words[i].field);
		if (strncmp(at, words[i].field, len) == 0 && !isalnum((unsigned char)at[len]) &&
		    at[len] != '_' && (first || !words[i].first_only))
			return i;
	}
	return sizeof words / sizeof *words;
}

const char *words_of_plan(void)
{
	static char text[512];
	const char *from = weir_error_detail(), *begin = from;
	size_t n = 0, room = sizeof text;
	while (*from && n + 16 < room) {
		bool between = from == begin || !isalnum((unsigned char)from[-1]);
		size_t i = between ? word_at(from, from == begin) : sizeof words;
		if (i < sizeof words / sizeof *words) {
			n += (size_t)snprintf(text + n, room - n, "%s", words[i].option);
			from += strlen(words[i].field);
		} else {
			text[n++] = *from++;
		}
	}
	text[n] = '\0';
	return text;
}

int trouble_plan(void)
{
	return trouble("%s", words_of_plan());
}
