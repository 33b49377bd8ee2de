/* SPDX-License-Identifier: MIT
 * Generations on request, and signed generations. */
#include <stdatomic.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include "signed.h"

/* @kind: 0: the kind of the set. */
static struct weir_filter *like(struct weir_replica *r, uint32_t kind, uint64_t key)
{
	struct weir_params p = WEIR_PARAMS_INIT, other = params;
	struct weir_filter *f;
	assert_ok(weir_replica_params(r, &p));
	other.kind = kind;
	other.seed = p.seed;
	assert_ok(weir_create(&f, kind ? &other : &p));
	assert_ok(weir_insert_u64(f, key));
	return f;
}

static void test_publish_is_the_next_generation(void **state)
{
	(void)state;
	struct weir_replica *a = open_one(), *b = open_one();
	assert_ok(insert(a, 1, WEIR_REPLICA_SOON));
	assert_ok(weir_replica_publish(a));
	assert_int_equal(stats(a).joined.number, 2);
	assert_int_equal(stats(a).published, 2);
	eventually(stats(b).joined.number == 2);
	assert_true(has(b, 1));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

static void test_publish_with_another_filter(void **state)
{
	(void)state;
	struct weir_replica *a = open_one(), *b = open_one();
	struct weir_filter *more = like(a, 0, 5), *other = test_filter(WEIR_CLASSIC, 100, 1e-3);
	assert_ok(weir_replica_publish_with(a, more));
	eventually(has(b, 5));
	assert_true(weir_replica_publish_with(a, other) < 0);
	assert_int_equal(stats(a).joined.number, 2);
	weir_destroy(more);
	weir_destroy(other);
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

/* Request three generations in turn. Requests of two threads may get the same generation. */
static void *publish_some(void *r)
{
	for (unsigned i = 0; i < 3; i++)
		assert_ok(weir_replica_publish(r));
	return NULL;
}

static void test_publish_from_several_threads_and_nodes(void **state)
{
	(void)state;
	struct weir_replica *r[] = { open_one(), open_one() };
	pthread_t thread[4];
	for (unsigned i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, publish_some, r[i % 2]);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_true(stats(r[0]).published >= 3 && stats(r[1]).published >= 3);
	assert_ok(weir_replica_close(r[1]));
	assert_ok(weir_replica_close(r[0]));
}

/* Options of a set whose image takes seconds to compress. */
static struct weir_replica_options slow(void)
{
	struct weir_replica_options o = options();
	params.capacity = 1000000;
	o.zstd_level = 19;
	return o;
}

static void *publish_one(void *r)
{
	assert_ok(weir_replica_publish(r));
	return NULL;
}

static void test_publish_during_an_upload_includes_later_inserts(void **state)
{
	(void)state;
	pthread_t thread;
	const struct weir_replica_options o = slow();
	struct weir_replica *a = open_with(&o);
	for (uint64_t i = 0; i < 500000; i++)
		assert_ok(insert(a, i, WEIR_REPLICA_SOON));
	pthread_create(&thread, NULL, publish_one, a);
	eventually(stats(a).state == WEIR_REPLICA_PUBLISHING || stats(a).published == 2);
	assert_ok(insert(a, 1000000, WEIR_REPLICA_SOON));
	assert_ok(weir_replica_publish(a));
	pthread_join(thread, NULL);
	assert_int_equal(stats(a).published, 3);
	ask(&server, NULL, "DEL {weir:test}:2:log"); /* only the image has the keys */
	struct weir_replica *b = open_with(&o);
	assert_true(has(b, 0) && has(b, 1000000));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

static void test_publish_without_redis_says_so(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	server_kill(&server);
	eventually(has_heard(-ECONNREFUSED, "unix"));
	assert_refused(weir_replica_publish(a), -ECONNREFUSED, "unix", "");
	assert_int_equal(weir_replica_publish_from(a, NULL, NULL), -EINVAL);
	server_start(&server, NULL, NULL);
	eventually(has_heard(0, "all is well again"));
	ask(&server, NULL, "CONFIG SET maxmemory 1mb");
	const uint64_t failures = stats(a).failures;
	assert_int_equal(weir_replica_publish(a), -ENOSPC);
	assert_int_equal(stats(a).failures, failures); /* redis counts as online nevertheless */
	ask(&server, NULL, "CONFIG SET maxmemory 0");
	assert_ok(weir_replica_publish(a));
	assert_ok(weir_replica_close(a));
}

/* ---- records, rollbacks and saved copies ---- */

struct record {
	struct weir_replica *r;
	int answer;
	bool publish;    /* publish while the record is made */
	uint32_t kind;   /* 0: the kind of the set */
	uint64_t others; /* number of additional keys, which begin at 1000 */
};

static int make(void *context, struct weir_filter **out)
{
	struct record *of = context;
	if (of->answer)
		return weir_fail(of->answer, "no record");
	*out = like(of->r, of->kind, 50);
	for (uint64_t i = 0; i < of->others; i++)
		assert_true(weir_insert_u64(*out, 1000 + i) >= 0);
	assert_ok(insert(of->r, 51, WEIR_REPLICA_CONFIRMED));
	if (of->publish)
		assert_ok(weir_replica_publish(of->r));
	return 0;
}

static void test_a_record_removes_keys_that_it_lacks(void **state)
{
	(void)state;
	struct weir_replica *a = open_one(), *b = open_one();
	struct record of = { .r = a };
	assert_ok(insert(b, 1, WEIR_REPLICA_CONFIRMED));
	eventually(has(a, 1));
	assert_ok(weir_replica_publish_from(a, make, &of));
	assert_int_equal(stats(a).joined.era, 2);
	assert_true(has(a, 50) && has(a, 51) && !has(a, 1));
	eventually(stats(b).joined.era == 2);
	assert_true(has(b, 50) && has(b, 51) && !has(b, 1));
	eventually(has_heard(1, "2.1 serves"));
	of.publish = true;
	assert_int_equal(weir_replica_publish_from(a, make, &of), -EEXIST);
	of.answer = -EIO;
	assert_refused(weir_replica_publish_from(a, make, &of), -EIO, "no record", "");
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

static void test_generations_are_of_the_kind_that_the_last_record_had(void **state)
{
	(void)state;
	const struct weir_replica_options o = options();
	struct weir_replica *a = open_one();
	struct record of = { .r = a, .kind = WEIR_CLASSIC };
	struct weir_replica_view *v;
	assert_ok(weir_replica_publish_from(a, make, &of));
	assert_ok(insert(a, 2, WEIR_REPLICA_CONFIRMED));
	assert_ok(weir_replica_publish(a));
	assert_ok(weir_replica_view(&v, &o));
	assert_int_equal(v->current.version.number, 2);
	assert_string_equal(v->current.kind, "classic");
	weir_replica_view_free(v);
	struct weir_replica *b = open_one();
	assert_true(has(b, 50) && has(b, 51) && has(b, 2));
	assert_ok(weir_replica_close(b));
	assert_ok(weir_replica_close(a));
}

/* @ended: set when the publication has ended, perhaps before this thread saw the lease. */
static void *kill_at_the_lease(void *ended)
{
	while (!atomic_load((atomic_bool *)ended) &&
	       !ask(&server, NULL, "EXISTS {weir:test}:2:lease"))
		usleep(1000);
	server_kill(&server);
	return NULL;
}

/* Publish a record while redis is killed, and start redis again. Return: the publication's error,
 * or 0 if the publication was faster than the kill. */
static int publish_beside_a_kill(struct weir_replica *r)
{
	pthread_t thread;
	atomic_bool ended = false;
	struct record of = { .r = r, .others = 500000 };
	eventually(!ask(&server, NULL, "EXISTS {weir:test}:2:lease"));
	pthread_create(&thread, NULL, kill_at_the_lease, &ended);
	int err = weir_replica_publish_from(r, make, &of);
	/* A kill between a request and its answer resets the connection. */
	if (err && err != -ECONNREFUSED && err != -ECONNRESET)
		fail_msg("%d: %s", err, weir_error_detail());
	assert_true(!err || strstr(weir_error_detail(), "unix"));
	atomic_store(&ended, true);
	pthread_join(thread, NULL);
	server_start(&server, NULL, NULL);
	eventually(stats(r).state != WEIR_REPLICA_OFFLINE);
	return err;
}

/* The record fails while redis is down. Afterwards the node may publish other generations. */
static void test_publish_works_after_a_record_has_failed(void **state)
{
	(void)state;
	const struct weir_replica_options o = slow();
	struct weir_replica *a = open_with(&o);
	eventually(publish_beside_a_kill(a));
	assert_ok(weir_replica_publish(a));
	assert_ok(weir_replica_close(a));
}

static void test_a_rollback_keeps_what_was_inserted_since(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	struct record of = { .r = a };
	const struct weir_replica_version first = { 1, 1 }, none = { 7, 7 };
	assert_ok(insert(a, 1, WEIR_REPLICA_CONFIRMED));
	assert_ok(weir_replica_publish_from(a, make, &of));
	assert_false(has(a, 1));
	assert_ok(weir_replica_rollback(a, first));
	assert_true(stats(a).joined.era == 3 && has(a, 1) && has(a, 51) && !has(a, 50));
	assert_refused(weir_replica_rollback(a, none), -ENOENT, "7.7", "not kept");
	assert_ok(weir_replica_close(a));
}

static void test_save_and_its_failure(void **state)
{
	(void)state;
	char path[300];
	struct weir_filter *f;
	struct weir_replica *a = open_one();
	assert_ok(insert(a, 1, WEIR_REPLICA_SOON));
	snprintf(path, sizeof path, "%s/none/set.weir", server.folder);
	assert_int_equal(weir_replica_save(a, path, NULL), -ENOENT);
	eventually(strstr(stats(a).error, "set.weir"));
	snprintf(path, sizeof path, "%s/set.weir", server.folder);
	assert_ok(weir_replica_save(a, path, NULL));
	eventually(!stats(a).error[0]);
	assert_ok(weir_load(&f, weir_location_path(path), NULL));
	assert_true(weir_contains_u64(f, 1));
	weir_destroy(f);
	assert_ok(weir_replica_close(a));
}

/* ---- signatures, state files and a lease of another type ---- */

static void test_a_node_trusts_the_key_that_it_signs_with(void **state)
{
	char secret[sizeof secret_file + 8], public[sizeof public_file + 8];
	struct weir_replica *r = NULL;
	struct weir_replica_options o = signer();
	(void)state;
	snprintf(secret, sizeof secret, "%s.other", secret_file);
	snprintf(public, sizeof public, "%s.other", public_file);
	assert_ok(weir_replica_key_make(secret, public));
	o.secret_key = secret;
	assert_refused(weir_replica_open(&r, &o), -EINVAL, "would refuse what it publishes",
	               "is not in");
	assert_null(r);
}

static void test_a_signed_set_takes_nothing_unsigned(void **state)
{
	(void)state;
	struct weir_replica_options o = signer(), f = follower(), plain = options();
	f.confirm_ms = plain.confirm_ms = 500;
	f.max_pending_bytes = 1024;
	struct weir_replica *a = open_with(&o), *b = open_with(&f), *c = open_with(&plain);
	assert_ok(insert(c, 1, WEIR_REPLICA_CONFIRMED));
	eventually(has(a, 1) && has(b, 1));
	uint64_t key[200];
	for (unsigned i = 0; i < COUNT_OF(key); i++)
		key[i] = 1000 + i;
	assert_refused(weir_replica_insert_keys(b, weir_keys_u64(key, COUNT_OF(key)), NULL, 0),
	               -ENOBUFS, "max_pending_bytes", "secret key");
	assert_false(has(b, 1199));
	assert_refused(weir_replica_publish(b), -EKEYREJECTED, "cannot sign", "secret key");
	assert_refused(weir_replica_publish(c), -EKEYREJECTED, "cannot sign", "secret key");
	const struct weir_replica_version first = { 1, 1 };
	assert_refused(weir_replica_rollback(c, first), -EKEYREJECTED, "cannot sign", "secret key");
	assert_ok(weir_replica_publish(a));
	eventually(stats(b).joined.number == 2);
	assert_ok(weir_replica_rollback(a, first));
	eventually(stats(b).joined.era == 2);
	assert_ok(weir_replica_close(a));

	/* A head that was written without the secret key. */
	ask(&server, NULL, "HSET {weir:test}:2:head signature %s generation %s", "",
	    "00000000000000ff");
	eventually(stats(b).refused.era == 2);
	eventually(strstr(stats(b).error, "signature") || strstr(stats(b).error, "signed"));
	assert_true(has(b, 1) && !stats(b).complete);
	(void)!weir_replica_close(c);
	(void)!weir_replica_close(b);
	struct weir_replica *d = NULL;
	assert_int_equal(weir_replica_open(&d, &f), -EKEYREJECTED);
}

static void test_a_node_that_cannot_sign_begins_no_signed_set(void **state)
{
	(void)state;
	struct weir_replica *d = NULL;
	struct weir_replica_options f = follower();
	assert_refused(weir_replica_open(&d, &f), -ENOENT, "cannot sign", "secret key");
}

static void test_an_older_head_is_refused(void **state)
{
	(void)state;
	struct weir_replica_options o = signer();
	struct weir_replica *a = open_with(&o), *b = NULL;
	char old[4096];
	ask(&server, NULL, "COPY {weir:test}:2:head old");
	assert_ok(weir_replica_publish(a));
	assert_ok(weir_replica_close(a));
	ask(&server, old, "HGET old manifest");
	ask(&server, NULL, "COPY old {weir:test}:2:head REPLACE");
	assert_refused(weir_replica_open(&b, &o), -EKEYREJECTED, "1.2", "");
	ask(&server, NULL, "DEL old {weir:test}:2:head");
	assert_refused(weir_replica_open(&b, &o), -EKEYREJECTED, "1.2", "test");
	/* A signer may open with a handle instead. It then publishes the handle's set, with a
	 * version above the accepted one. */
	struct weir_filter *f;
	params.seed = 7;
	assert_ok(weir_create(&f, &params));
	assert_ok(weir_handle_create(&o.handle, f, NULL));
	a = open_with(&o);
	eventually(stats(a).joined.number == 3);
	assert_int_equal(stats(a).published, 1); /* the node has published no lower version */
	assert_ok(weir_replica_close(a));
	assert_ok(weir_handle_destroy(o.handle));
}

/* A lease key of another type makes publications fail, but no node goes offline. */
static void test_a_lease_of_another_type_stops_only_publications(void **state)
{
	(void)state;
	struct weir_replica *a = open_one();
	ask(&server, NULL, "LPUSH {weir:test}:2:lease x");
	(void)!weir_replica_publish(a);
	assert_int_equal(insert(a, 1, WEIR_REPLICA_CONFIRMED), WEIR_NEW);
	eventually(stats(a).state != WEIR_REPLICA_OFFLINE);
	ask(&server, NULL, "DEL {weir:test}:2:lease");
	assert_ok(weir_replica_publish(a));
	assert_ok(weir_replica_close(a));
}

/* Lock the state file as another process of this user could. A child process keeps the lock for @ms
 * milliseconds. */
static void lock_state(const char *path, unsigned ms)
{
	char name[sizeof other_state + 8];
	snprintf(name, sizeof name, "%s.lock", path);
	const int lock = open(name, O_RDONLY | O_CLOEXEC);
	assert_true(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0);
	if (fork() == 0) {
		usleep(1000 * ms);
		_exit(0);
	}
	close(lock);
}

static void test_a_replica_is_closed_while_its_state_is_locked(void **state)
{
	(void)state;
	struct weir_replica_options o = signer(), f = follower();
	struct weir_replica *a = open_with(&o), *b = open_with(&f);
	assert_int_equal(insert(a, 1, WEIR_REPLICA_CONFIRMED), WEIR_NEW);
	eventually(has(b, 1));
	lock_state(other_state, 2000);
	assert_ok(weir_replica_publish(a));
	assert_int_equal(insert(b, 2, WEIR_REPLICA_SOON), WEIR_NEW); /* node b's thread waits
	                                                                for the lock */
	assert_true(has(b, 1) && has(b, 2) && stats(b).joined.number == 1);
	assert_ok(weir_replica_close(b));
	eventually(has(a, 2));
	assert_ok(weir_replica_close(a));
}

/* A rollback that did not check the signature would sign a manifest that a client wrote. */
static void test_a_rollback_needs_a_signed_manifest(void **state)
{
	(void)state;
	struct weir_replica_options o = signer();
	struct weir_replica *a = open_with(&o);
	const struct weir_replica_version first = { 1, 1 };
	char manifest[4096];
	ask(&server, manifest, "HGET {weir:test}:2:head manifest");
	assert_ok(weir_replica_publish(a));
	ask(&server, NULL, "HSET {weir:test}:2:kept 1.1 \n%s", manifest);
	assert_int_equal(weir_replica_rollback(a, first), -EKEYREJECTED);
	assert_int_equal(stats(a).joined.era, 1);
	assert_ok(weir_replica_close(a));
}

/* A client can write any version into the head. A signed manifest with a version above that one
 * would make the high number permanent, so a client could use up all versions. */
static void test_nothing_is_signed_above_a_version_that_no_manifest_has(void **state)
{
	(void)state;
	struct weir_replica_options o = signer();
	struct weir_replica *a = open_with(&o);
	const struct weir_replica_version first = { 1, 1 };
	ask(&server, NULL, "HSET {weir:test}:2:head version 1.18446744073709551614");
	eventually(stats(a).error[0]);
	assert_true(weir_replica_publish(a) < 0 && weir_replica_rollback(a, first) < 0);
	assert_int_equal(stats(a).joined.number, 1);
	ask(&server, NULL, "HSET {weir:test}:2:head version 1.1");
	eventually(!stats(a).error[0]);
	assert_ok(weir_replica_publish(a));
	assert_int_equal(stats(a).joined.number, 2);
	assert_ok(weir_replica_close(a));
}

static void test_a_generation_is_signed_again_before_it_expires(void **state)
{
	(void)state;
	struct weir_replica_options o = signer(), f = follower();
	o.expires_seconds = 2;
	struct weir_replica *a = open_with(&o), *b = open_with(&f), *c = NULL;
	eventually(stats(b).joined.number >= 6); /* one generation each half second */
	assert_int_equal(stats(b).error[0], '\0');
	assert_int_equal(stats(b).image_bytes, 0);
	struct record of = { .r = a }; /* a record is signed again too */
	assert_ok(weir_replica_publish_from(a, make, &of));
	eventually(stats(b).joined.era == 2 && stats(b).joined.number >= 4);
	assert_int_equal(stats(b).error[0], '\0');
	assert_ok(weir_replica_close(a));
	eventually(has_heard(-EKEYEXPIRED, "expired"));
	assert_true(stats(b).state == WEIR_REPLICA_FOLLOWING);
	f.state_file = state_file;
	assert_refused(weir_replica_open(&c, &f), -EKEYEXPIRED, "expired", "");
	assert_ok(weir_replica_close(b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define OF(name) cmocka_unit_test_setup_teardown(name, begin, end)
		OF(test_publish_is_the_next_generation),
		OF(test_publish_with_another_filter),
		OF(test_publish_from_several_threads_and_nodes),
		OF(test_publish_during_an_upload_includes_later_inserts),
		OF(test_publish_without_redis_says_so),
		OF(test_a_record_removes_keys_that_it_lacks),
		OF(test_generations_are_of_the_kind_that_the_last_record_had),
		OF(test_publish_works_after_a_record_has_failed),
		OF(test_a_rollback_keeps_what_was_inserted_since),
		OF(test_save_and_its_failure),
		OF(test_a_node_trusts_the_key_that_it_signs_with),
		OF(test_a_signed_set_takes_nothing_unsigned),
		OF(test_a_node_that_cannot_sign_begins_no_signed_set),
		OF(test_an_older_head_is_refused),
		OF(test_a_rollback_needs_a_signed_manifest),
		OF(test_a_lease_of_another_type_stops_only_publications),
		OF(test_a_replica_is_closed_while_its_state_is_locked),
		OF(test_nothing_is_signed_above_a_version_that_no_manifest_has),
		OF(test_a_generation_is_signed_again_before_it_expires),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
