/* SPDX-License-Identifier: MIT
 * A build without libsodium and libcurl has every call, and each says what is missing. */
#include <errno.h>
#include "../../test.h"
#include "trust/fetch.h"
#include "trust/sign.h"

static void test_signatures(void **state)
{
	char line[WEIR_SIGNATURE_TEXT];
	unsigned char hash[WEIR_IMAGE_HASH];
	struct weir_image_hash h;
	struct weir_signer *signer = NULL;
	struct weir_trust *trust = NULL;
	(void)state;
	assert_refused(weir__image_hash_begin(&h), -ENOTSUP, "libsodium", "image");
	weir__image_hash_add(&h, "a", 1);
	weir__image_hash_end(&h, hash);
	assert_refused(weir__key_make("/none/a", "/none/b"), -ENOTSUP, "libsodium", "/none/a");
	assert_refused(weir__signer_open(&signer, "/none/a"), -ENOTSUP, "libsodium", "/none/a");
	assert_refused(weir__signer_sign(signer, "", 0, hash, line), -ENOTSUP, "libsodium", "");
	assert_refused(weir__trust_open(&trust, "/none/b"), -ENOTSUP, "libsodium", "/none/b");
	assert_refused(weir__trust_check(trust, "", 0, "", 0, hash), -ENOTSUP, "libsodium", "");
	weir__signer_close(signer);
	weir__trust_close(trust);
}

static void test_fetches(void **state)
{
	char to[1];
	struct weir_fetch_options o = { .base_url = "https://h.test" };
	(void)state;
	assert_refused(weir__fetch_check(&o), -ENOTSUP, "libcurl", "");
	assert_refused(weir__fetch(&o, "a", to, 1), -ENOTSUP, "libcurl", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signatures),
		cmocka_unit_test(test_fetches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
