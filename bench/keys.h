/* SPDX-License-Identifier: MIT
 * Distinct keys, as servers have them: addresses, URLs, telephone numbers, user ids. Each key is a
 * function of a seed and a number, so every run has the same keys without storing them. Different
 * numbers give different keys, so the keys from number n on are absent from the first n. Words and
 * paths come from files.
 *
 * The first part is C11 and C++17. The second part, for the programs of this folder, is C++. */
#ifndef WEIR_BENCH_KEYS_H
#define WEIR_BENCH_KEYS_H

#include <glob.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A bijection: the finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t key_scramble(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

/* A permutation of 0 to n - 1, for n up to 2^62: a Feistel network over the smallest even number of
 * bits that can hold n - 1, applied until the result is below n (Black, Rogaway 2002). */
static inline uint64_t key_permute(uint64_t seed, uint64_t i, uint64_t n)
{
	unsigned half = 1;
	while ((n - 1) >> 2 * half)
		half++;
	uint64_t mask = (UINT64_C(1) << half) - 1;
	do {
		uint64_t a = i >> half, b = i & mask;
		for (uint64_t round = 1; round <= 4; round++) {
			uint64_t c = a ^ (key_scramble(seed + (round << 56) + b) & mask);
			a = b;
			b = c;
		}
		i = a << half | b;
	} while (i >= n);
	return i;
}

/* ---- addresses ---- */

enum {
	KEY_NETWORK = 4096,                /* addresses in use per network of 2^16 */
	KEY_NETWORKS = (223 - 2) * 256,    /* 1.0/16 to 223.255/16, without 10/8 and 127/8 */
};

/* Return: address number i (IPv4, as a number), for i below KEY_NETWORKS * KEY_NETWORK, which is
 * 231M. As in a server's log, addresses cluster in networks, and in runs of 256 within a network.
 * The first 4,096 addresses are in one network, in 16 runs. */
static inline uint32_t key_address(uint64_t seed, uint64_t i)
{
	uint64_t network = key_permute(seed, i / KEY_NETWORK, KEY_NETWORKS);
	uint64_t host = key_permute(seed + network, i % KEY_NETWORK, KEY_NETWORK);
	uint64_t run = key_permute(seed - network, host / 256, 256);
	uint64_t first = network / 256 + 1;
	first += first >= 10;
	first += first >= 127;
	return (uint32_t)(first << 24 | network % 256 << 16 | run << 8 | host % 256);
}

/* ---- URLs ---- */

enum { KEY_URL_ROOM = 256 };

/* Lines of files, freed by key_lines_free(). */
struct key_lines {
	char *text;
	char **line;
	size_t n;
};

static inline char *key__append(char *to, const char *text, size_t most)
{
	size_t len = strnlen(text, most);
	memcpy(to, text, len);
	return to + len;
}

/* Write URL number i: the name of a real host, a path, and a query that no other URL has. The path
 * is one of @paths, such as the files of a distribution, or is made up if there are no @paths.
 * Return: the URL's length. */
static inline size_t key_url(char to[KEY_URL_ROOM], uint64_t seed, uint64_t i,
                             const struct key_lines *paths)
{
	static const char *const hosts[] = {
		"www.debian.org", "en.wikipedia.org", "www.kernel.org", "www.gnu.org",
		"www.rfc-editor.org", "de.wikipedia.org", "www.w3.org", "lwn.net", "arxiv.org",
		"www.nasa.gov", "www.bbc.co.uk", "www.gutenberg.org", "fr.wikipedia.org",
		"www.openstreetmap.org", "git.kernel.org", "www.postgresql.org", "www.sqlite.org",
		"news.ycombinator.com", "www.nytimes.com", "www.theguardian.com", "www.lemonde.fr",
		"www.spiegel.de", "www.nature.com", "www.cern.ch", "www.mit.edu", "www.who.int",
		"europa.eu", "www.archlinux.org", "www.freebsd.org", "www.openbsd.org",
		"commons.wikimedia.org", "www.loc.gov",
	};
	static const char *const parts[] = {
		"archive", "about", "blog", "wiki", "news", "2024", "2025", "index", "images",
		"articles", "users", "topics", "static", "search", "docs", "download",
	};
	uint64_t random = key_scramble(seed + i);
	char *at = key__append(to, "https://", 8);
	at = key__append(at, hosts[random % 32], 64);
	if (paths && paths->n)
		at = key__append(at, paths->line[(random >> 8) % paths->n], 150);
	else
		for (unsigned shift = 8; shift < 20; shift += 4) {
			*at++ = '/';
			at = key__append(at, parts[random >> shift & 15], 16);
		}
	at = key__append(at, "?id=", 4);
	do
		*at++ = "0123456789abcdefghijklmnopqrstuvwxyz"[i % 36];
	while (i /= 36);
	*at = '\0';
	return (size_t)(at - to);
}

/* ---- telephone numbers ---- */

enum { KEY_TELEPHONE_ROOM = 24 };

/* Write telephone number i, for i below 10^9: the country, the first digits of a mobile number in
 * that country, and nine digits that no other number has. Return: the length of the text. */
static inline size_t key_telephone(char to[KEY_TELEPHONE_ROOM], uint64_t seed, uint64_t i)
{
	static const char *const countries[] = { "+8613", "+919", "+12", "+628", "+5511", "+2348",
		"+79", "+4915", "+447", "+8613", "+919", "+919", "+12", "+8613", "+628", "+5511" };
	uint64_t number = key_permute(seed, i, 1000000000);
	char *at = key__append(to, countries[key_scramble(seed ^ number) % 16], 8);
	for (unsigned digit = 9; digit-- > 0; number /= 10)
		at[digit] = (char)('0' + number % 10);
	at[9] = '\0';
	return (size_t)(at + 9 - to);
}

/* ---- user ids: each function makes the id of user number i ---- */

/* Consecutive numbers. The seed chooses the first number. */
static inline uint64_t key_user_sequential(uint64_t seed, uint64_t i)
{
	return (key_scramble(seed) >> 40) + i;
}

/* A "snowflake" has 41 bits of milliseconds, 10 bits of a machine's number, and 12 bits of a
 * counter that restarts each millisecond. In each millisecond one machine, chosen by the seed,
 * makes four ids, so ids grow with i. */
static inline uint64_t key_user_snowflake(uint64_t seed, uint64_t i)
{
	uint64_t ms = (UINT64_C(1) << 38) + i / 4, machine = key_scramble(seed + ms) & 1023;
	return ms << 22 | machine << 12 | i % 4;
}

/* Version 4 of RFC 9562: random, except for six bits. Two ids differ in at least one of the bytes 0
 * to 5, 14 and 15, which hold a bijection of i. */
static inline void key_user_uuid(uint8_t to[16], uint64_t seed, uint64_t i)
{
	uint64_t random = key_scramble(seed + i), more = key_scramble(~random);
	for (unsigned byte = 0; byte < 6; byte++)
		to[byte] = (uint8_t)(random >> 8 * byte);
	for (unsigned byte = 6; byte < 14; byte++)
		to[byte] = (uint8_t)(more >> 8 * (byte - 6));
	to[6] = (to[6] & 15) | 0x40;
	to[8] = (to[8] & 63) | 0x80;
	to[14] = (uint8_t)(random >> 48);
	to[15] = (uint8_t)(random >> 56);
}

/* ---- files: words, and the paths that dpkg knows ---- */

#define KEY_WORDS "/usr/share/dict/american-english-insane"
#define KEY_PATHS "/var/lib/dpkg/info/*.list"

static inline int key__compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline size_t key__read(char *to, size_t room, const char *path)
{
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(to, 1, room, file) : 0;
	if (file)
		fclose(file);
	if (n && n < room && to[n - 1] != '\n')
		to[n++] = '\n'; /* so that the next file's first line is separate */
	return n;
}

static inline void key_lines_free(struct key_lines *lines)
{
	free(lines->text);
	free(lines->line);
	lines->text = NULL;
	lines->line = NULL;
	lines->n = 0;
}

/* Read at most @room bytes of the files that match the glob @pattern, and sort their lines. *out
 * gets each line once, without empty lines. It gets no line if no file matches. Return: 0; -1
 * without memory. */
static inline int key_lines(struct key_lines *out, const char *pattern, size_t room)
{
	glob_t found;
	size_t used = 0, most = 0, n = 0;
	memset(out, 0, sizeof *out);
	out->text = (char *)malloc(room + 1);
	if (out->text && glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			used += key__read(out->text + used, room - used, found.gl_pathv[i]);
		globfree(&found);
	}
	for (size_t i = 0; i < used; i++)
		most += out->text[i] == '\n';
	out->line = (char **)malloc((most + 1) * sizeof *out->line);
	if (!out->text || !out->line) {
		key_lines_free(out);
		return -1;
	}
	out->text[used] = '\0';
	for (char *at = out->text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
		*end = '\0';
		if (*at)
			out->line[out->n++] = at;
	}
	qsort(out->line, out->n, sizeof *out->line, key__compare);
	for (size_t i = 0; i < out->n; i++)
		if (!i || strcmp(out->line[n - 1], out->line[i]) != 0)
			out->line[n++] = out->line[i];
	out->n = n;
	return 0;
}

#ifdef __cplusplus

#include <string>
#include <vector>
#include <sys/uio.h>

namespace bench {

inline uint64_t scramble(uint64_t x) { return key_scramble(x); }

/* The number of the first key that is never inserted. */
constexpr uint64_t absent = UINT64_C(1) << 40;

inline std::vector<uint64_t> make_keys(uint64_t first, size_t n)
{
	std::vector<uint64_t> keys(n);
	for (size_t i = 0; i < n; i++)
		keys[i] = scramble(first + i);
	return keys;
}

/* Strings of 16 to 64 bytes. The first eight bytes are the key, so the strings are as distinct as
 * the keys. */
class Strings {
public:
	Strings(uint64_t first, size_t n) : keys_(n)
	{
		std::vector<size_t> at(n + 1, 0);
		for (size_t i = 0; i < n; i++)
			at[i + 1] = at[i] + 16 + scramble(~(first + i)) % 49;
		bytes_.resize(at[n]);
		for (size_t i = 0; i < n; i++) {
			fill(&bytes_[at[i]], at[i + 1] - at[i], scramble(first + i));
			keys_[i] = { &bytes_[at[i]], at[i + 1] - at[i] };
		}
	}
	const struct iovec *data() const { return keys_.data(); }
	size_t size() const { return keys_.size(); }

private:
	static void fill(char *to, size_t len, uint64_t key)
	{
		for (size_t i = 0; i < len; i += 8, key = scramble(key))
			memcpy(to + i, &key, len - i < 8 ? len - i : 8);
	}

	std::string bytes_;
	std::vector<struct iovec> keys_;
};

} // namespace bench

#endif /* __cplusplus */

#endif
