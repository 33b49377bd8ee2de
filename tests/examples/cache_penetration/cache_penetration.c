/* SPDX-License-Identifier: MIT
 * Cache penetration: an id that is in no database passes every cache, so a flood of such ids
 * reaches the database each time.
 *
 * A real cache (redis-server, on its own socket) stands before a real database (database.h). The
 * example serves the same requests twice. The second time, a guard stands before the cache and the
 * database. The guard asks a filter that is filled from the table. Meanwhile users sign up: each
 * user is written to the table first and then inserted into the filter. A reload rebuilds the set
 * from the table, as a nightly job would. No user who has signed up may get the answer no. */
#include <stdatomic.h>
#include <weir/guard.h>
#include "cache.h"
#include "database.h"

static const char usage[] = "cache_penetration_DB USERS REQUESTS THREADS ABSENT_PER_MILLE FOLDER";

enum { SIGN_UPS = 500 };

static uint64_t users, requests, absent_per_mille;
static unsigned threads;
static atomic_ullong signed_up; /* users 0 to signed_up - 1 are in the table and the set */
static atomic_ullong next, asked_database, lost, found;
static struct weir_handle *set;
static struct weir_guard *guard; /* NULL while the requests are served without a guard */
static float *took;              /* microseconds that each request took */

static int64_t id_of(uint64_t i) { return (int64_t)key_user_snowflake(SEED, i); }

/* The application writes its own record first, then inserts the key. */
static void sign_up(struct database *db, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		database_add(db, id_of(i));
		must(weir_handle_insert_u64(set, (uint64_t)id_of(i)), "insert");
		atomic_store(&signed_up, i + 1);
	}
}

static void again(void *reload, int64_t id)
{
	must(weir_reload_insert(reload, &id, sizeof id), "insert");
}

/* After weir_reload_begin() an insert goes to the old set and to the new set. So no user is lost,
 * even a user who signs up after the reload has read the table. */
static void rebuild(struct database *db, uint64_t from, uint64_t to)
{
	struct weir_reload *reload;
	must(weir_reload_begin(&reload, set, NULL), "reload");
	database_each(db, again, reload);
	sign_up(db, from, to);
	must(weir_reload_commit(reload), "commit");
}

static bool request(int64_t id, struct weir_guard_thread *t, redisContext *c, struct database *db)
{
	int answer = t ? weir_guard_ask_u64(t, (uint64_t)id) : WEIR_GUARD_BYPASSED;
	if (answer == WEIR_GUARD_ABSENT)
		return false;
	bool there = cache_has(c, id);
	if (!there) {
		atomic_fetch_add(&asked_database, 1);
		there = database_has(db, id);
		if (there)
			cache_put(c, id);
	}
	if (t)
		weir_guard_saw(t, answer, there);
	return there;
}

static void *worker(void *unused)
{
	struct weir_guard_thread *t = NULL;
	redisContext *c = cache_open();
	struct database *db = database_open();
	if (guard)
		must(weir_guard_join(&t, guard), "join");
	for (uint64_t r; (r = atomic_fetch_add(&next, 1)) < requests;) {
		const uint64_t random = key_scramble(r + 1);
		const bool attack = random % 1000 < absent_per_mille;
		const uint64_t there = atomic_load(&signed_up);
		const uint64_t i = attack ? (UINT64_C(1) << 30) + r : (random >> 10) % there;
		const double began = seconds();
		const bool answer = request(id_of(i), t, c, db);
		took[r] = (float)(1e6 * (seconds() - began));
		atomic_fetch_add(answer ? &found : &lost, !attack);
	}
	weir_guard_leave(t);
	database_close(db);
	redisFree(c);
	return unused;
}

static void *job(void *unused)
{
	struct database *db = database_open();
	sign_up(db, users, users + SIGN_UPS / 2);
	rebuild(db, users + SIGN_UPS / 2, users + SIGN_UPS);
	database_close(db);
	return unused;
}

/* Fill the set from the table. */
static void fill_set(struct database *db)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_filter *first;
	p.capacity = users + SIGN_UPS;
	p.fp_rate = 0.01;
	must(weir_create(&first, &p), "create");
	must(weir_handle_create(&set, first, &o), "handle");
	rebuild(db, users, users);
}

static int by_value(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

/* Return: the number of requests that reached the database. */
static uint64_t serve(const char *what)
{
	atomic_store(&next, 0);
	atomic_store(&asked_database, 0);
	cache_empty();
	const double wall = in_threads(threads, worker);
	qsort(took, requests, sizeof *took, by_value);
	const uint64_t asked = atomic_load(&asked_database);
	printf("%s, %s: the database asked %llu times for %llu requests; p50 %.0f us, p99 %.0f us; "
	       "%.0f requests a second\n", database_name, what, (unsigned long long)asked,
	       (unsigned long long)requests, (double)took[requests / 2],
	       (double)took[requests - requests / 100], (double)requests / wall);
	return asked;
}

int main(int argc, char **argv)
{
	struct weir_guard_options o = WEIR_GUARD_OPTIONS_INIT;
	struct weir_guard_stats stats = WEIR_GUARD_STATS_INIT;
	pthread_t nightly;
	arguments(argc == 6, usage);
	users = number(argv[1], 1000, 100000000, usage);
	requests = number(argv[2], 1000, 1000000000, usage);
	threads = (unsigned)number(argv[3], 1, MOST_THREADS, usage);
	absent_per_mille = number(argv[4], 0, 1000, usage);
	const char *folder = fresh_folder(argv[5]);
	took = room_for(requests, sizeof *took);
	cache_start(folder);
	database_start(folder);
	struct database *db = database_open();
	database_fill(db, 0, users, id_of);
	atomic_store(&signed_up, users);
	const uint64_t without = serve("without");
	fill_set(db);
	database_close(db);
	o.handle = set;
	must(weir_guard_create(&guard, &o), "guard");
	must(-pthread_create(&nightly, NULL, job, NULL), "thread");
	const uint64_t with = serve("with a guard, sign-ups and a rebuild");
	pthread_join(nightly, NULL);
	for (uint64_t i = 0; i < users + SIGN_UPS; i++)
		lost += !weir_handle_contains_u64(set, (uint64_t)id_of(i));
	must(weir_guard_measure(guard, &stats), "stats");
	printf("%.1f %% of absent ids came through; nobody who has signed up was turned away: "
	       "%llu of %llu\n", 100 * stats.fp_rate,
	       (unsigned long long)lost, (unsigned long long)found);
	bool kept = promise(lost == 0, "who has signed up is found");
	kept &= promise(stats.asked == requests, "each request has asked the guard");
	kept &= promise((double)with < (double)without / 10 || absent_per_mille < 900,
	                "under an attack the database is asked a tenth as often at most");
	weir_guard_destroy(guard);
	weir_handle_destroy(set);
	free(took);
	return !kept;
}
