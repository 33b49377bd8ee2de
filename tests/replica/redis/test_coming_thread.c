/* SPDX-License-Identifier: MIT
 * An image on its way (coming.h), where what the network and the image do is what a test says, and
 * so is when: what the thread is asked for, what stays after a failure, when it goes on. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include "../../test.h"
#include "redis/coming.h"

enum { TURNS = 16, BYTES = 1000, NEVER = 3600000 };

/* What weir__image_get() does, turn by turn. */
struct turn {
	uint64_t here; /* what has come by then; 0: nothing new */
	int get, load; /* their answers */
	bool held;     /* it waits for go */
	const char *away;
};

static struct {
	struct turn turns[TURNS];
	unsigned turn, begun, ended, woken, interrupts[2], rests[2];
	unsigned backoffs[TURNS], tried, pause;
	char noted[TURNS][32];
	bool gave[TURNS];
	unsigned notes;
	bool mixed, again; /* some is a replica's; and was asked for again */
	sem_t in, go, end;
} is;

static char wires[2]; /* only their addresses are used */

/* ---- what coming.c calls ---- */

int weir__image_begin(const struct weir_redis *r, const struct weir_manifest *m,
                      struct weir_image_file *f)
{
	(void)r, (void)m;
	*f = (struct weir_image_file){ .fd = -1, .master = f->master };
	is.begun++;
	return 0;
}

int weir__image_get(struct weir_redis *r, const struct weir_manifest *m, struct weir_image_file *f)
{
	const struct turn *t = &is.turns[is.turn];
	(void)r, (void)m;
	sem_post(&is.in);
	if (t->held)
		sem_wait(&is.go);
	if (t->here)
		atomic_store(&f->here, t->here);
	if (t->away)
		snprintf(f->away, sizeof f->away, "%s", t->away);
	f->mixed = is.mixed;
	return t->get ? weir_fail(t->get, "turn %u", is.turn) : 0;
}

int weir__image_load(const struct weir_redis *r, const struct weir_manifest *m,
                     const struct weir_image_file *f, struct weir_filter **out)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	(void)r, (void)m, (void)f;
	if (is.turns[is.turn].load)
		return weir_fail(is.turns[is.turn].load, "turn %u", is.turn);
	p.capacity = 100;
	p.fp_rate = 0.01;
	return weir_create(out, &p);
}

bool weir__image_again(struct weir_image_file *f)
{
	bool mixed = f->mixed;
	is.again |= mixed;
	is.mixed = false;
	is.turn += mixed;
	return mixed;
}

void weir__image_end(struct weir_image_file *f)
{
	(void)f;
	is.ended++;
}

void weir__wire_interrupt(struct weir_wire *w)
{
	is.interrupts[(const char *)w == &wires[1]]++;
}

void weir__wire_rest(struct weir_wire *w)
{
	is.rests[(const char *)w == &wires[1]]++;
}

unsigned weir__wire_backoff(unsigned failures)
{
	is.backoffs[is.tried++ % TURNS] = failures;
	return is.pause;
}

bool weir__reader_is_due(const struct weir_reader *reader)
{
	(void)reader;
	return true;
}

void weir__reader_note(struct weir_reader *reader, const char *away, bool gave)
{
	(void)reader;
	is.gave[is.notes % TURNS] = gave;
	snprintf(is.noted[is.notes++ % TURNS], sizeof is.noted[0], "%s", away);
}

/* ---- the node's thread, which is the test's ---- */

/* A thread that never does this is a failure, not a test without an end. */
static void wait_for(sem_t *what)
{
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 10;
	assert_int_equal(sem_timedwait(what, &end), 0);
}

static struct weir_redis redis;
static struct weir_manifest one = { .generation = 7, .bytes = BYTES, .chunks = 1 };

static void wake(void *context)
{
	(void)context;
	is.woken++; /* seen after end */
	sem_post(&is.end);
}

static int setup(void **state)
{
	(void)state;
	memset(&is, 0, sizeof is);
	sem_init(&is.in, 0, 0);
	sem_init(&is.go, 0, 0);
	sem_init(&is.end, 0, 0);
	redis = (struct weir_redis){ .image_wire = (struct weir_wire *)&wires[0],
		                     .read_wire = (struct weir_wire *)&wires[1],
		                     .wake = wake };
	one.path[0] = '\0';
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sem_post(&is.go);
	weir__redis_image_stop(&redis);
	return is.begun == is.ended ? 0 : -1;
}

static int image(void)
{
	struct weir_filter *f = NULL;
	int err = weir__redis_image(&redis, &one, &f);
	weir_destroy(f);
	return err;
}

/* The thread starts, and comes to its end. Return: what is answered then. */
static int turn(void)
{
	assert_int_equal(image(), -EINPROGRESS);
	wait_for(&is.end);
	int err = image();
	is.turn++;
	return err;
}

/* Likewise, where there was a failure before. */
static int turn_after(int failure)
{
	is.turns[is.turn].held = true; /* nothing comes before that is asked */
	assert_int_equal(image(), failure);
	sem_post(&is.go);
	wait_for(&is.end);
	int err = image();
	is.turn++;
	return err;
}

static uint64_t here(void)
{
	uint64_t bytes, all;
	weir__redis_image_bytes(&redis, &bytes, &all);
	return bytes;
}

static void test_it_comes(void **state)
{
	(void)state;
	assert_int_equal(turn(), 0);
	assert_null(redis.coming);
	assert_int_equal(is.woken, 1);
	assert_int_equal(is.rests[0], 1);
	assert_int_equal(is.rests[1], 1);
}

/* Nothing stays of it; what passes is tried again, with what is here. */
static void test_what_stays_after_a_failure(void **state)
{
	static const int refused[] = { -EBADMSG, -EKEYREJECTED, -ENOTSUP, -EFBIG, -EINVAL };
	static const int passing[] = { -ENOMEM, -EAGAIN, -ETIMEDOUT, -ECONNRESET };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(refused); i++) {
		is.turns[is.turn] = (struct turn){ .here = BYTES, .load = refused[i] };
		assert_int_equal(turn(), refused[i]);
		assert_null(redis.coming);
		assert_int_equal(here(), 0);
	}
	for (size_t i = 0; i < COUNT_OF(passing); i++) {
		is.turns[is.turn] = (struct turn){ .here = BYTES, .load = passing[i] };
		assert_int_equal(i ? turn_after(passing[i - 1]) : turn(), passing[i]);
		assert_int_equal(here(), BYTES);
	}
	assert_int_equal(is.begun, COUNT_OF(refused) + 1);
}

/* What the thread has said is said here, now and until something comes. */
static void test_why(void **state)
{
	(void)state;
	is.pause = NEVER;
	is.turns[0].get = -EAGAIN;
	assert_int_equal(turn(), -EAGAIN);
	assert_string_equal(weir_error_detail(), "turn 0");
	(void)weir_fail(-EIO, "of something else");
	assert_int_equal(image(), -EAGAIN);
	assert_string_equal(weir_error_detail(), "turn 0");
}

/* It is asked for again of the master alone, if that may help. Which of them gave something is
 * noted. */
static void test_a_replica_gave_another(void **state)
{
	(void)state;
	is.turns[0].load = is.turns[1].load = -ENOMEM;
	is.mixed = true;
	assert_int_equal(turn(), -ENOMEM);
	assert_false(is.again);
	is.turns[1].load = -EBADMSG;
	assert_int_equal(turn_after(-ENOMEM), 0);
	assert_true(is.again);
	assert_true(is.gave[0]);
	assert_false(is.gave[1]);
}

/* Each pause is longer than the one before, and as at first once something has come. */
static void test_pauses(void **state)
{
	static const struct turn turns[] = {
		{ .get = -EAGAIN }, { .get = -EAGAIN }, { .get = -EAGAIN },
		{ .get = -EAGAIN, .here = 100 }, { .get = -EAGAIN },
		{ .get = -EAGAIN, .here = 200 }, { .get = -EAGAIN },
	};
	static const unsigned expected[] = { 1, 2, 3, 1, 2, 1 };
	(void)state;
	memcpy(is.turns, turns, sizeof turns);
	assert_int_equal(turn(), -EAGAIN);
	for (size_t i = 1; i < COUNT_OF(expected); i++)
		assert_int_equal(turn_after(-EAGAIN), -EAGAIN);
	assert_int_equal(is.tried, COUNT_OF(expected));
	for (size_t i = 0; i < COUNT_OF(expected); i++)
		assert_int_equal(is.backoffs[i], expected[i]);
	is.pause = NEVER;
	assert_int_equal(turn_after(-EAGAIN), -EAGAIN);
	assert_int_equal(image(), -EAGAIN);
	assert_int_equal(sem_trywait(&is.end), -1);
}

/* The failure is how it stands until something comes. */
static void test_until_something_comes(void **state)
{
	(void)state;
	is.turns[0] = (struct turn){ .get = -EAGAIN, .here = 100 };
	is.turns[1] = (struct turn){ .held = true, .here = 200 };
	assert_int_equal(turn(), -EAGAIN);
	assert_false(weir__redis_image_comes(&redis, &one));
	wait_for(&is.in);
	assert_int_equal(image(), -EAGAIN);
	wait_for(&is.in);
	assert_false(weir__redis_image_comes(&redis, &one));
	assert_int_equal(image(), -EAGAIN);
	sem_post(&is.go);
	wait_for(&is.end);
	assert_int_equal(image(), 0);
}

/* By HTTP it comes from its beginning, so what had come before is not here. */
static void test_from_its_beginning(void **state)
{
	(void)state;
	strcpy(one.path, "image");
	is.turns[0] = (struct turn){ .get = -EAGAIN, .here = 900 };
	is.turns[1] = (struct turn){ .get = -EAGAIN, .held = true, .here = 100 };
	assert_int_equal(turn(), -EAGAIN);
	assert_int_equal(here(), 900);
	assert_int_equal(image(), -EAGAIN);
	assert_int_equal(here(), 0);
	sem_post(&is.go);
	wait_for(&is.end);
	assert_int_equal(image(), -EAGAIN);
	assert_int_equal(is.backoffs[1], 1); /* something came */
}

/* What was stopped is never taken, nor goes on: it begins anew. */
static void test_stopped(void **state)
{
	(void)state;
	is.turns[0] = (struct turn){ .get = -ECANCELED, .held = true };
	assert_int_equal(image(), -EINPROGRESS);
	wait_for(&is.in);
	weir__redis_image_only(&redis, NULL);
	weir__redis_image_only(&redis, NULL);
	assert_int_equal(is.interrupts[0], 1);
	assert_int_equal(is.interrupts[1], 1);
	assert_int_equal(image(), -EINPROGRESS); /* that of another is about to end */
	assert_int_equal(is.begun, 1);
	sem_post(&is.go);
	wait_for(&is.end);
	is.turn++;
	assert_int_equal(turn(), 0);
	assert_int_equal(is.begun, 2);
	assert_int_equal(is.ended, 2);
	assert_int_equal(is.rests[0], 2);
	assert_int_equal(is.rests[1], 2);
}

/* A replica that was away is noted when it was, not each time that the master fails since. */
static void test_away_once(void **state)
{
	(void)state;
	is.turns[0] = (struct turn){ .get = -EAGAIN, .away = "away" };
	is.turns[1] = (struct turn){ .get = -EAGAIN };
	assert_int_equal(turn(), -EAGAIN);
	assert_int_equal(turn_after(-EAGAIN), -EAGAIN);
	assert_int_equal(is.notes, 2);
	assert_string_equal(is.noted[0], "away");
	assert_string_equal(is.noted[1], "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_it_comes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_stays_after_a_failure, setup, teardown),
		cmocka_unit_test_setup_teardown(test_why, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_replica_gave_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pauses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_until_something_comes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_from_its_beginning, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_away_once, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
