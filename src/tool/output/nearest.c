/* SPDX-License-Identifier: MIT
 * Finds the word that a user mistyped. */
#include <string.h>
#include "say.h"

enum { MOST = 32 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Return: the restricted Damerau-Levenshtein distance (optimal string alignment). */
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
