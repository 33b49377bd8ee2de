/* SPDX-License-Identifier: MIT
 * Attacks that The Update Framework describes, and that signed manifests prevent: which manifests a
 * node may use. The version in the state file never goes back. */
#include "trusted.h"

static struct weir_trust *t;

static int setup(void **state)
{
	trust_setup(state);
	t = trust_at(after(0));
	return 0;
}

static int teardown(void **state)
{
	weir__trust_close(t);
	return trust_teardown(state);
}

static void restart(struct weir_now now)
{
	weir__trust_close(t);
	t = trust_at(now);
}

static void a_version_is_on_the_disk_before_it_is_used(void **state)
{
	struct publication p = publication(1, 1, NOON);
	(void)state;
	assert_holds(t, 0, 0);
	assert_ok(weir__trust_recheck(t, after(0)));
	assert_int_equal(access(state_path, F_OK), -1);
	assert_ok(take(t, &p, after(0)));
	assert_int_equal(version_on_disk().number, 1);
	assert_holds(t, 1, 1);
	assert_int_equal(weir__trust_accepted(t)->id, p.m.id);
	assert_memory_equal(weir__trust_accepted(t)->image, p.m.image, sizeof p.m.image);
	/* the same manifest again */
	assert_ok(take(t, &p, after(HOUR)));
	restart(after(HOUR));
	assert_holds(t, 1, 1);
	assert_memory_equal(weir__trust_accepted(t)->image, p.m.image, sizeof p.m.image);
	assert_ok(take(t, &p, after(HOUR)));
}

static void a_rollback_is_refused(void **state)
{
	struct publication old = publication(2, 6, NOON), new = publication(2, 7, NOON),
	                   era = publication(3, 1, NOON), last = publication(2, 9, NOON);
	(void)state;
	assert_ok(take(t, &old, after(0)));
	assert_ok(take(t, &new, after(0)));
	assert_refused(take(t, &old, after(0)), -EKEYREJECTED, "version 2.6", "older than 2.7");
	restart(after(0));
	assert_refused(take(t, &old, after(0)), -EKEYREJECTED, "version 2.6", "older than 2.7");
	assert_ok(take(t, &era, after(0)));
	assert_refused(take(t, &last, after(0)), -EKEYREJECTED, "version 2.9", "older than 3.1");
	assert_int_equal(version_on_disk().era, 3);
}

/* A rollback publishes an older generation that redis has kept. */
static void an_older_generation_is_signed_nevertheless(void **state)
{
	struct publication old = publication(1, 1, NOON), new = publication(1, 2, NOON);
	const size_t line = WEIR_SIGNATURE_TEXT - 1;
	(void)state;
	assert_ok(take(t, &new, after(0)));
	assert_ok(weir__trust_signed(t, &old.m, old.text, old.len, old.line, line));
	assert_refused(weir__trust_signed(t, &old.m, old.text, old.len, new.line, line),
	               -EKEYREJECTED, "does not verify", "");
	strcpy(old.m.set, "b");
	sign_it(&old, signer);
	assert_refused(weir__trust_signed(t, &old.m, old.text, old.len, old.line, line),
	               -EKEYREJECTED, "of set b", "not of a");
	assert_holds(t, 1, 2);
}

static void a_second_generation_of_a_version_is_told_apart(void **state)
{
	struct publication one = publication(1, 5, NOON), other = one;
	struct publication next = publication(1, 6, NOON);
	(void)state;
	other.m.id ^= 1;
	sign_it(&other, signer);
	assert_ok(take(t, &one, after(0)));
	assert_refused(take(t, &other, after(0)), -EEXIST, "version 1.5", "twice");
	assert_ok(take(t, &one, after(0)));
	/* The same generation with another expiry counts as a second generation of version 1.5. */
	other = one;
	other.m.expires_ms++;
	sign_it(&other, signer);
	assert_refused(take(t, &other, after(0)), -EEXIST, "version 1.5", "twice");
	assert_refused(take(t, &other, after(2 * DAY)), -EKEYEXPIRED, "version 1.5", "");
	assert_ok(take(t, &next, after(0)));
}

static void a_freeze_is_reported(void **state)
{
	struct publication p = publication(1, 1, NOON), late = publication(1, 2, NOON - DAY);
	(void)state;
	assert_refused(take(t, &late, after(0)), -EKEYEXPIRED, "version 1.2", "expired 0 s ago");
	assert_int_equal(version_on_disk().era, 0);
	assert_ok(take(t, &p, after(DAY - 1)));
	assert_ok(weir__trust_recheck(t, after(DAY - 1)));
	assert_refused(weir__trust_recheck(t, after(DAY)), -EKEYEXPIRED, "version 1.1",
	               " 0 s ago: see");
	assert_refused(take(t, &p, after(DAY + 5000)), -EKEYEXPIRED, "version 1.1", "5 s ago");
	assert_holds(t, 1, 1);
	restart(after(DAY));
	assert_refused(weir__trust_recheck(t, after(DAY)), -EKEYEXPIRED, "version 1.1", "");
	/* the next version, which never expires */
	p = publication(1, 2, NOON);
	p.m.expires_ms = 0;
	sign_it(&p, signer);
	assert_ok(take(t, &p, after(DAY)));
	assert_ok(weir__trust_recheck(t, after(1000 * DAY)));
}

/* The running time advances by hours, but the wall clock stays at NOON. */
static void a_clock_that_is_set_back_makes_no_version_younger(void **state)
{
	struct publication p = publication(1, 1, NOON);
	struct weir_now now = after(0), past = { NOON - 9 * DAY, 7 };
	(void)state;
	assert_ok(take(t, &p, now));
	for (unsigned hour = 1; hour < 24; hour++) {
		now.run_ms += HOUR;
		assert_ok(weir__trust_recheck(t, now));
		assert_ok(take(t, &p, now));
	}
	now.run_ms += HOUR;
	assert_refused(weir__trust_recheck(t, now), -EKEYEXPIRED, "clock is behind", "set it");
	assert_refused(take(t, &p, now), -EKEYEXPIRED, "clock is behind", "set it");
	/* A restart makes the version no younger. A boot, which resets the running time, makes the
	 * version no younger either. */
	restart(past);
	assert_refused(weir__trust_recheck(t, past), -EKEYEXPIRED, "clock is behind", "");
	assert_refused(take(t, &p, past), -EKEYEXPIRED, "clock is behind", "");
	/* The state file has the version's age, so 23 restarts make the version no younger. */
	p = publication(1, 2, NOON);
	assert_ok(take(t, &p, past));
	for (unsigned hour = 0; hour < 23; hour++) {
		past.run_ms += HOUR;
		assert_ok(weir__trust_recheck(t, past));
		restart(past);
	}
	past.run_ms += HOUR;
	assert_refused(weir__trust_recheck(t, past), -EKEYEXPIRED, "version 1.2", "behind");
}

static void an_age_noted_by_another_process_counts(void **state)
{
	struct publication p = publication(1, 1, NOON);
	(void)state;
	assert_ok(take(t, &p, after(0)));
	struct weir_trust *other = trust_at(after(0));
	assert_ok(weir__trust_recheck(other, (struct weir_now){ NOON, 5000 + 20 * HOUR }));
	weir__trust_close(other);
	assert_ok(weir__trust_recheck(t, (struct weir_now){ NOON, 5000 + HOUR }));
	assert_refused(weir__trust_recheck(t, (struct weir_now){ NOON, 5000 + 5 * HOUR }),
	               -EKEYEXPIRED, "version 1.1", "behind");
}

static void a_signers_clock_of_2106_ends_with_the_next_version(void **state)
{
	const uint64_t year_2106 = UINT64_C(4294967296000);
	struct publication p = publication(1, 1, year_2106), next = publication(1, 2, NOON + HOUR);
	(void)state;
	assert_ok(take(t, &p, after(0)));
	assert_ok(weir__trust_recheck(t, after(DAY - 1)));
	assert_refused(weir__trust_recheck(t, after(DAY)), -EKEYEXPIRED, "version 1.1", "");
	assert_ok(take(t, &next, after(2 * HOUR)));
	assert_ok(weir__trust_recheck(t, after(3 * HOUR)));
	/* While the node's clock is wrong, a check fails. Afterwards the version is valid again. */
	assert_refused(weir__trust_recheck(t, (struct weir_now){ year_2106, 5000 + 3 * HOUR }),
	               -EKEYEXPIRED, "version 1.2", "ago: see");
	assert_ok(weir__trust_recheck(t, after(4 * HOUR)));
}

static void mixed_parts_of_two_publications_are_refused(void **state)
{
	struct publication a = publication(1, 1, NOON), b = publication(1, 2, NOON), mixed = a;
	(void)state;
	memcpy(mixed.line, b.line, sizeof mixed.line);
	assert_refused(take(t, &mixed, after(0)), -EKEYREJECTED, "does not verify", "");
	/* The signature is checked first. */
	strcpy(mixed.m.set, "b");
	mixed.m.version = (struct weir_version){ 0, 0 };
	assert_refused(take(t, &mixed, after(9 * DAY)), -EKEYREJECTED, "does not verify", "");
	assert_int_equal(version_on_disk().era, 0);
}

static void another_set_s_manifest_is_refused(void **state)
{
	struct publication p = publication(9, 9, NOON - 9 * DAY);
	(void)state;
	strcpy(p.m.set, "b");
	sign_it(&p, signer);
	/* The set is checked before version and expiry. */
	assert_refused(take(t, &p, after(0)), -EKEYREJECTED, "of set b", "not of a");
	assert_int_equal(version_on_disk().era, 0);
}

static void a_key_that_is_not_trusted_is_refused(void **state)
{
	char secret[256], public[256];
	struct weir_signer *other;
	struct publication p = publication(1, 1, NOON);
	(void)state;
	sprintf(secret, "%s/other-secret", folder);
	sprintf(public, "%s/other-public", folder);
	assert_ok(weir__key_make(secret, public));
	assert_ok(weir__signer_open(&other, secret));
	sign_it(&p, other);
	weir__signer_close(other);
	assert_refused(take(t, &p, after(0)), -EKEYREJECTED, "not by one of the 1", "trusted_keys");
	p.line[0] = '\0';
	assert_refused(weir__trust_accept(t, &p.m, p.text, p.len, NULL, 0, after(0)), -EKEYREJECTED,
	               "0 bytes", "secret key");
	assert_int_equal(version_on_disk().era, 0);
}

static void the_age_comes_after_the_version(void **state)
{
	struct publication old = publication(1, 1, NOON), new = publication(1, 2, NOON);
	(void)state;
	assert_ok(take(t, &new, after(0)));
	assert_refused(take(t, &old, after(9 * DAY)), -EKEYREJECTED, "older than", "");
}

/* After another process has accepted a version, this process refuses lower versions. It also
 * refuses to use a state file with a lower version. */
static void a_state_file_that_is_put_back_is_refused(void **state)
{
	struct publication p[] = { publication(1, 1, NOON), publication(1, 2, NOON),
	                           publication(1, 3, NOON) };
	char text[1024];
	(void)state;
	assert_ok(take(t, &p[0], after(0)));
	size_t n = get_file(text, sizeof text, state_path);
	struct weir_trust *other = trust_at(after(0));
	assert_ok(take(other, &p[1], after(0)));
	weir__trust_close(other);
	assert_refused(take(t, &p[0], after(0)), -EKEYREJECTED, "older than 1.2", "");
	assert_holds(t, 1, 2);
	put_file(state_path, "state", text, n, 0600);
	assert_refused(take(t, &p[0], after(0)), -EKEYREJECTED, "has version 1.1", "1.2 was taken");
	assert_refused(take(t, &p[2], after(0)), -EKEYREJECTED, "has version 1.1", "1.2 was taken");
	assert_int_equal(unlink(state_path), 0);
	assert_refused(take(t, &p[1], after(0)), -EKEYREJECTED, "has version 0.0", "1.2 was taken");
	assert_refused(weir__trust_recheck(t, after(0)), -EKEYREJECTED, "has version 0.0", "");
}

/* Manifests come in any order and at any time, with restarts between them. */
static void the_state_never_falls(void **state)
{
	uint64_t random = 1, ran_ms = 0;
	struct weir_version best = { 0, 0 };
	struct publication p[30];
	unsigned took = 0, lower = 0;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(p); i++)
		p[i] = publication(1 + i / 10, i % 10 + 1, NOON + i * HOUR / 10);
	for (unsigned step = 0; step < (test_is_short() ? 300 : 3000); step++) {
		unsigned top = step / 10 < COUNT_OF(p) ? step / 10 + 1 : COUNT_OF(p);
		const struct publication *one = &p[test_random(&random) % top];
		uint64_t wall_ms = NOON + test_random(&random) % (2 * DAY);
		ran_ms += test_random(&random) % 1000;
		const struct weir_now now = { wall_ms, ran_ms };
		int order = weir__version_compare(one->m.version, best);
		bool late = wall_ms >= one->m.expires_ms;
		int err = take(t, one, now);
		if (order < 0)
			assert_int_equal(err, -EKEYREJECTED);
		else if (order > 0)
			assert_int_equal(err, late ? -EKEYEXPIRED : 0);
		else
			assert_true(err == -EKEYEXPIRED || (err == 0 && !late));
		best = !err ? one->m.version : best;
		took += !err && order;
		lower += order < 0;
		assert_true(weir__version_compare(version_on_disk(), best) == 0);
		assert_holds(t, best.era, best.number);
		if (test_random(&random) % 8 == 0)
			restart(now);
	}
	assert_true(took > 10 && lower > 100);
}

static void trusted_keys_need_a_state_file(void **state)
{
	struct weir_trust *none;
	char where[300];
	(void)state;
	assert_refused(weir__trust_open(&none, public_path, NULL, "a", after(0)), -EINVAL,
	               "trusted_keys", "state_file");
	assert_refused(weir__trust_open(&none, public_path, "", "a", after(0)), -EINVAL,
	               "trusted_keys", "state_file");
	sprintf(where, "%s/none/state", folder);
	assert_refused(weir__trust_open(&none, public_path, where, "a", after(0)), -ENOENT, "none",
	               "");
	assert_refused(weir__trust_open(&none, where, state_path, "a", after(0)), -ENOENT, where,
	               "");
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HERE(a_version_is_on_the_disk_before_it_is_used),
		HERE(a_rollback_is_refused),
		HERE(an_older_generation_is_signed_nevertheless),
		HERE(a_second_generation_of_a_version_is_told_apart),
		HERE(a_freeze_is_reported),
		HERE(a_clock_that_is_set_back_makes_no_version_younger),
		HERE(an_age_noted_by_another_process_counts),
		HERE(a_signers_clock_of_2106_ends_with_the_next_version),
		HERE(mixed_parts_of_two_publications_are_refused),
		HERE(another_set_s_manifest_is_refused),
		HERE(a_key_that_is_not_trusted_is_refused),
		HERE(the_age_comes_after_the_version),
		HERE(a_state_file_that_is_put_back_is_refused),
		HERE(the_state_never_falls),
		HERE(trusted_keys_need_a_state_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
