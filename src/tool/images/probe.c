/* SPDX-License-Identifier: MIT
 * Measures the rate of false positives with keys that are certainly absent. */
#include <endian.h>
#include <string.h>
#include "probe.h"

#define AT_ONCE 4096
#define KEY_BYTES 9 /* the delimiter, then a number */

bool probe_tells(const struct weir_stats *stats)
{
	/* The estimate is infinite if every bit is set. */
	return !(stats->keys_estimated < PROBE_KEYS);
}

struct probe probe_rate(const struct weir_filter *f, char delimiter, double expected)
{
	static char keys[AT_ONCE * KEY_BYTES];
	static uint64_t numbers[AT_ONCE];
	struct weir_text text;
	double wanted = expected > 0 ? 40000.0 / expected : 2e7;
	uint64_t n = wanted < 1e6 ? 1000000 : wanted > 2e7 ? 20000000 : (uint64_t)wanted;
	struct probe probe = { 0, 0, 0.0 };
	weir_text_of(f, &text);
	while (probe.looked_up < n) {
		for (size_t i = 0; i < AT_ONCE; i++) {
			uint64_t number = probe.looked_up + i;
			keys[i * KEY_BYTES] = delimiter;
			memcpy(keys + i * KEY_BYTES + 1, &number, sizeof number);
			numbers[i] = htole64(number << 8 | (unsigned char)delimiter);
		}
		probe.found += weir_contains_keys(f, text.steps ?
		                                  weir_keys_u64(numbers, AT_ONCE) :
		                                  weir_keys_fixed(keys, KEY_BYTES, AT_ONCE), NULL);
		probe.looked_up += AT_ONCE;
	}
	probe.rate = (double)probe.found / (double)probe.looked_up;
	return probe;
}
