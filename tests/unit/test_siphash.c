/* SPDX-License-Identifier: MIT
 * SipHash-2-4 compared with the vectors of its reference implementation, and the seed's
 * fingerprint, which is computed by SipHash. The vectors are bytes, so a big-endian machine must
 * give the same results. */
#include "../test.h"
#include "hash/hash.h"

/* The key is 00 01 .. 0f. Message number i has the i bytes 00 01 ... Each output is given as bytes,
 * the lowest byte first. Source: Aumasson and Bernstein, vectors_sip64. */
static const char *const vectors[64] = {
	"310e0edd47db6f72", "fd67dc93c539f874", "5a4fa9d909806c0d", "2d7efbd796666785",
	"b7877127e09427cf", "8da699cd64557618", "cee3fe586e46c9cb", "37d1018bf50002ab",
	"6224939a79f5f593", "b0e4a90bdf82009e", "f3b9dd94c5bb5d7a", "a7ad6b22462fb3f4",
	"fbe50e86bc8f1e75", "903d84c02756ea14", "eef27a8e90ca23f7", "e545be4961ca29a1",
	"db9bc2577fcc2a3f", "9447be2cf5e99a69", "9cd38d96f0b3c14b", "bd6179a71dc96dbb",
	"98eea21af25cd6be", "c7673b2eb0cbf2d0", "883ea3e395675393", "c8ce5ccd8c030ca8",
	"94af49f6c650adb8", "eab8858ade92e1bc", "f315bb5bb835d817", "adcf6b0763612e2f",
	"a5c91da7acaa4dde", "716595876650a2a6", "28ef495c53a387ad", "42c341d8fa92d832",
	"ce7cf2722f512771", "e37859f94623f3a7", "381205bb1ab0e012", "ae97a10fd434e015",
	"b4a31508beff4d31", "81396229f0907902", "4d0cf49ee5d4dcca", "5c73336a76d8bf9a",
	"d0a704536ba93e0e", "925958fcd6420cad", "a915c29bc8067318", "952b79f3bc0aa6d4",
	"f21df2e41d4535f9", "87577519048f53a9", "10a56cf5dfcd9adb", "eb75095ccd986cd0",
	"51a9cb9ecba312e6", "96afadfc2ce666c7", "72fe52975a4364ee", "5a1645b276d592a1",
	"b274cb8ebf87870a", "6f9bb4203de7b381", "eaecb2a30b22a87f", "9924a43cc1315724",
	"bd838d3aafbf8db7", "0b1a2a3265d51aea", "135079a3231ce660", "932b2846e4d70666",
	"e1915f5cb1eca46c", "f325965ca16d629f", "575ff28e60381be5", "724506eb4c328a95",
};

static void test_hashes_equal_the_reference_vectors(void **state)
{
	unsigned char key[WEIR_SIPHASH_KEY], message[64];
	char text[17];
	(void)state;
	for (unsigned i = 0; i < sizeof message; i++)
		message[i] = (unsigned char)i;
	memcpy(key, message, sizeof key);
	for (unsigned n = 0; n < COUNT_OF(vectors); n++) {
		uint64_t hash = weir__siphash(key, message, n);
		for (unsigned i = 0; i < 8; i++)
			snprintf(text + 2 * i, 3, "%02x", (unsigned)(hash >> (8 * i) & 0xff));
		assert_string_equal(text, vectors[n]);
	}
}

/* The messages include a NULL pointer for no bytes, and messages of more than 255 bytes. */
static void test_any_address_and_length(void **state)
{
	static const unsigned char key[WEIR_SIPHASH_KEY] = { 1 };
	unsigned char count[300], reference[WEIR_SIPHASH_KEY];
	unsigned char bytes[600] = { 0 };
	uint64_t hash = weir__siphash(key, bytes, 300);
	(void)state;
	for (unsigned at = 1; at < 8; at++)
		assert_true(weir__siphash(key, bytes + at, 300) == hash);
	assert_true(weir__siphash(key, NULL, 0) == weir__siphash(key, bytes, 0));
	assert_true(weir__siphash(key, bytes, 300 + 256) != hash);
	bytes[299] = 1;
	assert_true(weir__siphash(key, bytes, 300) != hash);
	for (unsigned i = 0; i < sizeof count; i++)
		count[i] = (unsigned char)i;
	memcpy(reference, count, sizeof reference);
	/* SipHash hashes the lowest byte of the length, too. The top bit of this byte is set in 200
	 * and 255, and 256 and 300 need two bytes. The values come from OpenSSL's SIPHASH. */
	assert_true(weir__siphash(reference, count, 200) == UINT64_C(0x10849fe512591651));
	assert_true(weir__siphash(reference, count, 255) == UINT64_C(0xa9c169fec74db21a));
	assert_true(weir__siphash(reference, count, 256) == UINT64_C(0x999d0526d2a7bfd7));
	assert_true(weir__siphash(reference, count, 300) == UINT64_C(0x4b0b710db6117839));
}

/* Equal fingerprints show that two seeds are equal. A fingerprint must not reveal its seed. So it
 * is not computed by XXH3, because XXH3 of eight bytes can be inverted. */
static void test_a_fingerprint_is_keyed_by_the_seed(void **state)
{
	static const char text[] = "weir seed fingerprint";
	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		unsigned char key[WEIR_SIPHASH_KEY] = { 0 }, bytes[8];
		uint64_t seed = test_key(i);
		for (unsigned b = 0; b < 8; b++)
			key[b] = bytes[b] = (unsigned char)(seed >> (8 * b));
		uint64_t fingerprint = weir__seed_fingerprint(seed);
		assert_true(fingerprint == (weir__siphash(key, text, 21) & 0xffffffff));
		assert_true(fingerprint != XXH3_64bits(bytes, 8) >> 32);
		assert_true(fingerprint == weir__seed_fingerprint(seed));
		assert_true(fingerprint != weir__seed_fingerprint(seed + 1));
	}
	/* a fixed value, because logs of two versions may be compared */
	assert_int_equal(weir__seed_fingerprint(42), 0xd427db6f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hashes_equal_the_reference_vectors),
		cmocka_unit_test(test_any_address_and_length),
		cmocka_unit_test(test_a_fingerprint_is_keyed_by_the_seed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
