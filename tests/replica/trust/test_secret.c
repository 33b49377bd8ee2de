/* SPDX-License-Identifier: MIT
 * No secret stays in memory: the test searches all readable memory of the process for a secret that
 * was used. It stores the searched bytes inverted, so that the search does not find the test's own
 * copy. */
#include "trusted.h"

enum { SEED = WEIR_KEY_BYTES, HEX = 2 * SEED };

struct wanted {
	unsigned char seed[SEED], hex[HEX]; /* both are stored inverted */
};

static bool has(const unsigned char *bytes, size_t n, const unsigned char *inverted, size_t len)
{
	for (size_t i = 0; i + len <= n; i++) {
		size_t same = 0;
		while (same < len && (bytes[i + same] ^ inverted[same]) == 0xff)
			same++;
		if (same == len)
			return true;
	}
	return false;
}

/* Search a copy made with pread(), since a direct read of some memory would crash. */
static bool found_between(int memory, uint64_t from, uint64_t to, const struct wanted *w)
{
	enum { PIECE = 1 << 16 };
	static unsigned char piece[PIECE + HEX];
	bool found = false;
	for (uint64_t at = from; at < to && !found; at += PIECE) {
		size_t room = to - at < sizeof piece ? to - at : sizeof piece;
		ssize_t n = pread(memory, piece, room, (off_t)at);
		if (n <= 0)
			break;
		found = has(piece, (size_t)n, w->seed, SEED) || has(piece, (size_t)n, w->hex, HEX);
	}
	explicit_bzero(piece, sizeof piece); /* so that a later search does not find this copy */
	return found;
}

static bool found_anywhere(const struct wanted *w)
{
	bool found = false;
	char line[512], rights[8];
	unsigned long long from, to;
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	FILE *maps = fopen("/proc/self/maps", "re");
	assert_true(memory >= 0 && maps);
	while (!found && fgets(line, sizeof line, maps))
		if (sscanf(line, "%llx-%llx %7s", &from, &to, rights) == 3 && rights[0] == 'r' &&
		    to - from < (1 << 26)) /* skips a sanitizer's shadow memory */
			found = found_between(memory, from, to, w);
	fclose(maps);
	close(memory);
	return found;
}

static void invert(unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] ^= 0xff;
}

static void learn(struct wanted *w, const char *secret)
{
	static char text[WEIR_KEY_LINE + 1];
	get_file(text, sizeof text, secret);
	for (unsigned i = 0; i < HEX; i++) { /* no memcpy(), which may leave a copy on the stack */
		char c = text[18 + i];
		int value = c <= '9' ? c - '0' : c - 'a' + 10;
		w->hex[i] = (unsigned char)~c;
		w->seed[i / 2] = (unsigned char)(w->seed[i / 2] << 4 | (~value & 15));
	}
	explicit_bzero(text, sizeof text);
}

static void no_secret_is_left_in_memory(void **state)
{
	char secret[256], public[256], line[WEIR_SIGNATURE_TEXT];
	static unsigned char planted[HEX];
	static struct wanted w;
	struct weir_signer *mine;
	(void)state;
	sprintf(secret, "%s/new-secret", folder);
	sprintf(public, "%s/new-public", folder);
	assert_ok(weir__key_make(secret, public));
	learn(&w, secret);
	assert_false(found_anywhere(&w));
	/* The search finds a planted secret in both forms. */
	memcpy(planted, w.seed, SEED);
	invert(planted, SEED);
	assert_true(found_anywhere(&w));
	memcpy(planted, w.hex, HEX);
	invert(planted, HEX);
	assert_true(found_anywhere(&w));
	explicit_bzero(planted, sizeof planted);
	assert_false(found_anywhere(&w));

	assert_ok(weir__signer_open(&mine, secret));
	assert_ok(weir__signer_sign(mine, "text", 4, line));
	weir__signer_close(mine);
	assert_false(found_anywhere(&w));
	int fd = open(secret, O_WRONLY | O_APPEND | O_CLOEXEC); /* this makes the file invalid */
	assert_true(fd >= 0 && write(fd, "\n", 1) == 1);
	close(fd);
	assert_refused(weir__signer_open(&mine, secret), -EBADMSG, secret, "line 2 of at most 1");
	assert_false(found_anywhere(&w));
}

int main(void)
{
	const struct CMUnitTest tests[] = { EACH(no_secret_is_left_in_memory) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
