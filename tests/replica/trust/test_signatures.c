/* SPDX-License-Identifier: MIT
 * Signatures, and when to sign. The expected signatures come from a program that was
 * written only from RFC 8032. */
#include "trusted.h"

static const char manifest[] = "weir-generation 2\nset a\nversion 1.1\n";
static const char expected[] =
	"ed25519 9d24e2eeaf27c2a0 "
	"28bd64526b7ce74e31c5d084968a3b1b82c39828d654ffc428057aa47c5d4321"
	"2a6af781374664d76f46ea5735569b1791381bd6d4f0beaad1f573396d604805";
/* A signature of the same bytes by plain Ed25519, which does not hash them first. */
static const char plain[] =
	"2cc3d6f2d47ced442acefce40f3491307c08b2cfa12c02a1324698a1d213d756"
	"ac0f068e7174f88ae5beafa8e8b6603c74d1fb09aefc37738be3f5f4b7b5430a";
/* The second half of the expected signature, plus the group's order. The sum and that half are
 * equal modulo the order. */
static const char sum[] = "173eedde51a9762f46e3e1fa13507a2c91381bd6d4f0beaad1f573396d604815";
enum { LEN = sizeof manifest - 1, LINE = WEIR_SIGNATURE_TEXT - 1 };

static unsigned char keys[WEIR_KEYS_TRUSTED][WEIR_KEY_BYTES];
static size_t trusted;

static void trust_file(void)
{
	int n = weir__keys_read(keys, public_path);
	assert_true(n > 0);
	trusted = (size_t)n;
}

static int setup(void **state)
{
	trust_setup(state);
	trust_file();
	return 0;
}

static int check(const char *line, size_t line_len, const char *text, size_t len)
{
	return weir__signature_check(keys[0], trusted, text, len, line, line_len);
}

static void a_signature_is_the_one_of_rfc_8032(void **state)
{
	char line[WEIR_SIGNATURE_TEXT];
	(void)state;
	assert_ok(weir__signer_sign(signer, manifest, LEN, line));
	assert_string_equal(line, expected);
	assert_ok(check(expected, LINE, manifest, LEN));
	assert_ok(weir__signer_sign(signer, "", 0, line));
	assert_ok(check(line, LINE, "", 0));
}

static void a_line_has_one_form(void **state)
{
	char line[LINE + 2];
	(void)state;
	for (size_t i = 0; i < LINE; i++) {
		for (int value = 0; value < 256; value += test_is_short() && i > 30 ? 32 : 1) {
			memcpy(line, expected, LINE);
			line[i] = (char)value;
			assert_int_equal(check(line, LINE, manifest, LEN),
			                 memcmp(line, expected, LINE) ? -EKEYREJECTED : 0);
		}
		line[i] = expected[i] >= 'a' ? (char)(expected[i] - 'a' + 'A') : '-';
		assert_int_equal(check(line, LINE, manifest, LEN), -EKEYREJECTED);
	}
	memcpy(line, expected, sizeof expected);
	for (size_t len = 0; len <= LINE + 1; len++)
		assert_int_equal(check(line, len, manifest, LEN), len == LINE ? 0 : -EKEYREJECTED);
}

static void every_bit_of_the_manifest_is_signed(void **state)
{
	(void)state;
	for (size_t bit = 0; bit < 8 * LEN; bit++) {
		char text[LEN];
		memcpy(text, manifest, LEN);
		text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
		assert_refused(check(expected, LINE, text, LEN), -EKEYREJECTED,
		               "9d24e2eeaf27c2a0", "does not verify");
	}
	for (size_t len = 0; len < LEN; len++)
		assert_refused(check(expected, LINE, manifest, len), -EKEYREJECTED,
		               "does not verify", "");
}

static void no_signature_and_another_algorithm_are_refused(void **state)
{
	char line[LINE + 1];
	(void)state;
	assert_refused(check(NULL, 0, manifest, LEN), -EKEYREJECTED, "0 bytes", "secret key");
	assert_refused(check("", 0, manifest, LEN), -EKEYREJECTED, "0 bytes", "secret key");
	memcpy(line, expected, sizeof line);
	memcpy(line + LINE - 128, plain, 128);
	assert_refused(check(line, LINE, manifest, LEN), -EKEYREJECTED, "does not verify", "");
	/* The expected signature must not stay valid if `sum` replaces its second half. */
	memcpy(line, expected, sizeof line);
	memcpy(line + LINE - 64, sum, 64);
	assert_refused(check(line, LINE, manifest, LEN), -EKEYREJECTED, "does not verify", "");
}

/* During a key exchange a node trusts both keys. Afterwards it trusts only the new key. */
static void two_keys_are_trusted_while_keys_are_exchanged(void **state)
{
	char secret[256], public[256], text[2 * WEIR_KEY_LINE + 1], line[WEIR_SIGNATURE_TEXT];
	struct weir_signer *new;
	(void)state;
	sprintf(secret, "%s/new-secret", folder);
	sprintf(public, "%s/new-public", folder);
	assert_ok(weir__key_make(secret, public));
	assert_ok(weir__signer_open(&new, secret));
	assert_ok(weir__signer_sign(new, manifest, LEN, line));
	weir__signer_close(new);
	assert_string_not_equal(line, expected);
	assert_refused(check(line, LINE, manifest, LEN), -EKEYREJECTED, "not by one of the 1", "");
	strcpy(text, PUBLIC_LINE);
	get_file(text + WEIR_KEY_LINE, WEIR_KEY_LINE + 1, public);
	put_text(public_path, "public", text);
	trust_file();
	assert_ok(check(line, LINE, manifest, LEN));
	assert_ok(check(expected, LINE, manifest, LEN));
	put_text(public_path, "public", text + WEIR_KEY_LINE);
	trust_file();
	assert_ok(check(line, LINE, manifest, LEN));
	assert_refused(check(expected, LINE, manifest, LEN), -EKEYREJECTED, "9d24e2eeaf27c2a0",
	               "not by one of the 1");
	/* This line has the old key's signature after the id of the new key. */
	memcpy(line + LINE - 128, expected + LINE - 128, 128);
	assert_refused(check(line, LINE, manifest, LEN), -EKEYREJECTED, "does not verify", "");
}

static void a_signer_whose_clock_is_wrong_refuses(void **state)
{
	const uint64_t minutes = 10 * 60 * 1000, year_2106 = UINT64_C(1) << 42;
	(void)state;
	assert_ok(weir__signer_clock(NOON, NOON));
	assert_ok(weir__signer_clock(NOON + minutes, NOON));
	assert_ok(weir__signer_clock(NOON - minutes, NOON));
	assert_refused(weir__signer_clock(NOON + minutes + 1, NOON), -ERANGE, "600 s ahead", "set");
	assert_refused(weir__signer_clock(NOON - minutes - 1, NOON), -ERANGE, "600 s behind",
	               "set");
	assert_refused(weir__signer_clock(year_2106, NOON), -ERANGE, "ahead of redis's", "");
	assert_refused(weir__signer_clock(0, NOON), -ERANGE, "behind redis's", "");
}

static void a_signer_signs_again_at_a_quarter_of_the_life(void **state)
{
	struct weir_manifest m = { .signed_ms = NOON, .expires_ms = NOON + DAY };
	(void)state;
	assert_false(weir__signer_must_sign(&m, NOON, DAY));
	assert_false(weir__signer_must_sign(&m, NOON + DAY / 4 - 1, DAY));
	assert_true(weir__signer_must_sign(&m, NOON + DAY / 4, DAY));
	assert_true(weir__signer_must_sign(&m, NOON + 9 * DAY, DAY));
	/* The signer's options now ask for a life of 4 hours, of which a quarter has passed. */
	assert_true(weir__signer_must_sign(&m, NOON + HOUR, 4 * HOUR));
	/* The manifest has no expiry, but the signer's options ask for an expiry. */
	m.expires_ms = 0;
	assert_true(weir__signer_must_sign(&m, NOON, DAY));
	assert_false(weir__signer_must_sign(&m, NOON, 0));
	/* signed by a clock that ran ahead */
	m = (struct weir_manifest){ .signed_ms = NOON + 11 * 60 * 1000, .expires_ms = NOON + DAY };
	assert_true(weir__signer_must_sign(&m, NOON, DAY));
	m.signed_ms = NOON + 9 * 60 * 1000;
	assert_false(weir__signer_must_sign(&m, NOON, DAY));
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, setup, trust_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HERE(a_signature_is_the_one_of_rfc_8032),
		HERE(a_line_has_one_form),
		HERE(every_bit_of_the_manifest_is_signed),
		HERE(no_signature_and_another_algorithm_are_refused),
		HERE(two_keys_are_trusted_while_keys_are_exchanged),
		HERE(a_signer_whose_clock_is_wrong_refuses),
		HERE(a_signer_signs_again_at_a_quarter_of_the_life),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
