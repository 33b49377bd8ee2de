/* SPDX-License-Identifier: MIT
 * A build without libsodium has every call, and each says what is missing. */
#include "../../test.h"
#include "trust/trust.h"

static void every_call_names_libsodium(void **state)
{
	char line[WEIR_SIGNATURE_TEXT];
	struct weir_signer *signer = NULL;
	struct weir_trust *trust = NULL;
	struct weir_manifest m = { .set = "a" };
	struct weir_now now = { 0, 0 };
	(void)state;
	assert_refused(weir__key_make("a", "b"), -ENOTSUP, "libsodium", "");
	assert_refused(weir__signer_open(&signer, "a"), -ENOTSUP, "libsodium", "");
	assert_refused(weir__signer_sign(signer, "", 0, line), -ENOTSUP, "libsodium", "");
	assert_refused(weir__signer_clock(0, 0), -ENOTSUP, "libsodium", "");
	assert_refused(weir__trust_open(&trust, "b", "c", "a", now), -ENOTSUP, "libsodium", "");
	assert_refused(weir__trust_signed(trust, &m, "", 0, "", 0), -ENOTSUP, "libsodium", "");
	assert_refused(weir__trust_take(trust, &m, "", 0, "", 0, now), -ENOTSUP, "libsodium", "");
	assert_refused(weir__trust_fresh(trust, now), -ENOTSUP, "libsodium", "");
	/* those that open nothing replace no sentence */
	assert_int_equal(weir_fail(-EIO, "of before"), -EIO);
	assert_false(weir__signer_due(&m, 0, 1));
	assert_null(weir__trust_held(trust));
	weir__signer_close(signer);
	weir__trust_close(trust);
	assert_string_equal(weir_error_detail(), "of before");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_call_names_libsodium) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
