/* SPDX-License-Identifier: MIT
 * A build without OpenSSL refuses TLS URLs and accepts all others. */
#include <errno.h>
#include "../../test.h"
#include "link.h"

static void test_tls_is_refused(void **state)
{
	static const char *const urls[] = { "rediss://h", "rediss+sentinel://h/m" };
	struct weir_link *l;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(urls); i++) {
		const struct weir_link_options o = { .url = urls[i] };
		assert_refused(weir__link_open(&l, &o), -ENOTSUP, "no OpenSSL", "libssl-dev");
	}
	const struct weir_link_options o = { .url = "redis://h" };
	assert_ok(weir__link_open(&l, &o));
	weir__link_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tls_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
