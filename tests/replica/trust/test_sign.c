/* SPDX-License-Identifier: MIT
 * Signatures. The expected one was made by another program, from RFC 8032 alone. */
#include "key_text.h"

static const char manifest[] = "weir-manifest 1\nset a\n";
static const char expected[] =
	"ed25519 9d24e2eeaf27c2a0 "
	"bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319 "
	"73187fcc22b6e759311ebad9546685fb00b791e5996b0f7812ccde8ccc2a3b8e"
	"4962ed3712833fccf0e1a7c770889887863bf9d9c93086be155a2e8d8e4edd01";
/* Of the same bytes, without hashing them first: another algorithm. */
static const char plain[] =
	"6f1c4b50ccebbc58836896ef8f809c15402764a94a13f9beb925a6ac7b84965d"
	"eab59f38a98149aab30f5edbaf2665420df5fc299d3008a13bf5178d3e26810d";
/* The second half of the expected one plus the order of the group: equal, but of another form. */
static const char sum[] = "3636e3942ce65124c77e9f6a4f82779c863bf9d9c93086be155a2e8d8e4edd11";
enum { LEN = sizeof manifest - 1, LINE = WEIR_SIGNATURE_TEXT - 1 };

static void hash_of(unsigned char out[WEIR_IMAGE_HASH], const void *bytes, size_t len, size_t piece)
{
	struct weir_image_hash h;
	assert_ok(weir__image_hash_begin(&h));
	for (size_t at = 0; at < len; at += piece)
		weir__image_hash_add(&h, (const char *)bytes + at,
		                     len - at < piece ? len - at : piece);
	weir__image_hash_end(&h, out);
}

struct pair {
	char *folder, secret[256], public[256];
	struct weir_signer *signer;
	struct weir_trust *trust;
	unsigned char image[WEIR_IMAGE_HASH];
};

static int set_up(void **state)
{
	struct pair *p = calloc(1, sizeof *p);
	assert_non_null(p);
	p->folder = test_folder();
	put_text(p->secret, p->folder, "secret", SECRET_LINE);
	put_text(p->public, p->folder, "public", PUBLIC_LINE);
	assert_ok(weir__signer_open(&p->signer, p->secret));
	assert_ok(weir__trust_open(&p->trust, p->public));
	hash_of(p->image, "abc", 3, 3);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *p = *state;
	weir__signer_close(p->signer);
	weir__trust_close(p->trust);
	test_folder_remove(p->folder);
	free(p);
	return 0;
}

static void test_hash(void **state)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char all[WEIR_IMAGE_HASH], pieces[WEIR_IMAGE_HASH], bytes[1000];
	(void)state;
	hash_of(all, "abc", 3, 3);
	for (size_t i = 0; i < WEIR_IMAGE_HASH; i++) { /* printf abc | b2sum -l 256 */
		assert_int_equal(digits[all[i] >> 4], expected[25 + 2 * i]);
		assert_int_equal(digits[all[i] & 15], expected[26 + 2 * i]);
	}
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)test_key(i);
	hash_of(all, bytes, sizeof bytes, sizeof bytes);
	for (size_t piece = 1; piece < sizeof bytes; piece += 13) {
		hash_of(pieces, bytes, sizeof bytes, piece);
		assert_memory_equal(all, pieces, sizeof all);
	}
	struct weir_image_hash h;
	assert_ok(weir__image_hash_begin(&h));
	weir__image_hash_add(&h, NULL, 0);
	weir__image_hash_add(&h, bytes, sizeof bytes);
	weir__image_hash_end(&h, pieces);
	assert_memory_equal(all, pieces, sizeof all);
	hash_of(pieces, bytes, sizeof bytes - 1, sizeof bytes);
	assert_memory_not_equal(all, pieces, sizeof all);
}

static void test_expected(void **state)
{
	struct pair *p = *state;
	char line[WEIR_SIGNATURE_TEXT];
	unsigned char image[WEIR_IMAGE_HASH] = { 0 };
	assert_ok(weir__signer_sign(p->signer, manifest, LEN, p->image, line));
	assert_string_equal(line, expected);
	assert_ok(weir__trust_check(p->trust, line, LINE, manifest, LEN, image));
	assert_memory_equal(image, p->image, sizeof image);
	/* a manifest of no bytes is one too, and a large one */
	assert_ok(weir__signer_sign(p->signer, "", 0, p->image, line));
	assert_ok(weir__trust_check(p->trust, line, LINE, "", 0, image));
	char *large = calloc(1, 4 << 20);
	assert_non_null(large);
	assert_ok(weir__signer_sign(p->signer, large, 4 << 20, p->image, line));
	assert_ok(weir__trust_check(p->trust, line, LINE, large, 4 << 20, image));
	assert_refused(weir__trust_check(p->trust, line, LINE, large, (4 << 20) - 1, image),
	               -EKEYREJECTED, "does not verify", "");
	free(large);
}

/* Each byte of the line as each value, each length: what is not the line is refused, and then the
 * hash is not given out. */
static void test_every_byte_of_the_line(void **state)
{
	struct pair *p = *state;
	char line[LINE + 2];
	unsigned char image[WEIR_IMAGE_HASH], none[WEIR_IMAGE_HASH];
	memset(none, 0xee, sizeof none);
	for (size_t i = 0; i < LINE; i++) {
		for (int value = 0; value < 256; value++) {
			memcpy(line, expected, LINE);
			line[i] = (char)value;
			memcpy(image, none, sizeof image);
			int err = weir__trust_check(p->trust, line, LINE, manifest, LEN, image);
			assert_int_equal(err, memcmp(line, expected, LINE) ? -EKEYREJECTED : 0);
			assert_memory_equal(image, err ? none : p->image, sizeof image);
		}
	}
	memcpy(line, expected, sizeof expected);
	for (size_t len = 0; len <= LINE + 1; len++)
		assert_int_equal(weir__trust_check(p->trust, line, len, manifest, LEN, image),
		                 len == LINE ? 0 : -EKEYREJECTED);
	line[LINE] = '\n';
	assert_refused(weir__trust_check(p->trust, line, LINE + 1, manifest, LEN, image),
	               -EKEYREJECTED, "219 bytes", "form");
}

static void test_every_bit_of_the_manifest(void **state)
{
	struct pair *p = *state;
	unsigned char image[WEIR_IMAGE_HASH];
	for (size_t bit = 0; bit < 8 * LEN; bit++) {
		char text[LEN];
		memcpy(text, manifest, LEN);
		text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
		assert_refused(weir__trust_check(p->trust, expected, LINE, text, LEN, image),
		               -EKEYREJECTED, "9d24e2eeaf27c2a0", "does not verify");
	}
	for (size_t len = 0; len < LEN; len++)
		assert_refused(weir__trust_check(p->trust, expected, LINE, manifest, len, image),
		               -EKEYREJECTED, "does not verify", "");
}

static void test_no_signature_and_another_algorithm(void **state)
{
	struct pair *p = *state;
	char line[LINE + 1];
	unsigned char image[WEIR_IMAGE_HASH];
	assert_refused(weir__trust_check(p->trust, NULL, 0, manifest, LEN, image), -EKEYREJECTED,
	               "no signature", "");
	assert_refused(weir__trust_check(p->trust, "", 0, manifest, LEN, image), -EKEYREJECTED,
	               "no signature", "");
	memcpy(line, expected, sizeof line);
	memcpy(line + LINE - 128, plain, 128);
	assert_refused(weir__trust_check(p->trust, line, LINE, manifest, LEN, image),
	               -EKEYREJECTED, "does not verify", "");
	/* equal modulo the order, which makes no second signature */
	memcpy(line, expected, sizeof line);
	memcpy(line + LINE - 64, sum, 64);
	assert_refused(weir__trust_check(p->trust, line, LINE, manifest, LEN, image),
	               -EKEYREJECTED, "does not verify", "");
}

/* Keys are exchanged: both are trusted for a while, then only the new one. */
static void test_rotation(void **state)
{
	struct pair *p = *state;
	char secret[256], public[256], both[256], text[2 * WEIR_KEY_LINE + 1];
	char line[WEIR_SIGNATURE_TEXT];
	unsigned char image[WEIR_IMAGE_HASH];
	struct weir_signer *signer;
	struct weir_trust *only_new, *old_and_new;
	sprintf(secret, "%s/new-secret", p->folder);
	sprintf(public, "%s/new-public", p->folder);
	assert_ok(weir__key_make(secret, public));
	strcpy(text, PUBLIC_LINE);
	assert_int_equal(get_file(text + WEIR_KEY_LINE, WEIR_KEY_LINE + 1, public), WEIR_KEY_LINE);
	put_text(both, p->folder, "both", text);
	assert_ok(weir__signer_open(&signer, secret));
	assert_ok(weir__trust_open(&only_new, public));
	assert_ok(weir__trust_open(&old_and_new, both));
	assert_ok(weir__signer_sign(signer, manifest, LEN, p->image, line));
	assert_string_not_equal(line, expected);
	assert_ok(weir__trust_check(old_and_new, line, LINE, manifest, LEN, image));
	assert_ok(weir__trust_check(old_and_new, expected, LINE, manifest, LEN, image));
	assert_ok(weir__trust_check(only_new, line, LINE, manifest, LEN, image));
	assert_refused(weir__trust_check(only_new, expected, LINE, manifest, LEN, image),
	               -EKEYREJECTED, "9d24e2eeaf27c2a0", "none of the 1");
	/* another's signature under the name of a key that is trusted */
	memcpy(line, expected, sizeof "ed25519 9d24e2eeaf27c2a0");
	assert_refused(weir__trust_check(p->trust, line, LINE, manifest, LEN, image),
	               -EKEYREJECTED, "does not verify", "");
	weir__signer_close(signer);
	weir__trust_close(only_new);
	weir__trust_close(old_and_new);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_hash),
		EACH(test_expected),
		EACH(test_every_byte_of_the_line),
		EACH(test_every_bit_of_the_manifest),
		EACH(test_no_signature_and_another_algorithm),
		EACH(test_rotation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
