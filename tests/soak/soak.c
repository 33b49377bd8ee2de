/* SPDX-License-Identifier: MIT
 * A long run: rounds of random operations on every kind, on a filter or on a handle that a loader
 * keeps reloading. Each thread records its own keys that the filter must have, and checks every
 * answer "absent" against this record.
 *
 * soak --state=FILE [--seconds=N] [--threads=N] [--operations=N]
 *
 * The number of a round is its seed. After a round the program appends a line of counts to FILE, so
 * the next run continues with the next round. A run ends with the sums on standard output. Exit: 0:
 * no key was lost; 1: a key was lost, and a line names the round; 2: usage or another error. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <weir/weir.h>

enum { BATCH = 128, MOST_THREADS = 64, MOST_SAID = 10 };

struct counts {
	uint64_t operations, inserts, removals, absents, reloads, lost;
};

/* The filter or handle of a round, and its settings. */
struct subject {
	uint32_t kind;
	enum { BARE, HANDLE, SHARDS } as;
	uint64_t round, keys; /* keys: number of keys of each thread */
	unsigned threads;
	uint64_t operations;  /* operations of each thread */
	struct weir_filter *f;
	struct weir_handle *h;
	bool removes;
	atomic_bool over;
	_Atomic uint64_t reloads;
};

struct worker {
	struct subject *s;
	uint64_t number, random;
	unsigned char *present; /* for each key of the thread: 1 if the key is in the filter */
	struct counts counts;
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static void must(int err, const char *what)
{
	if (err >= 0)
		return;
	fprintf(stderr, "soak: %s: %s: %s\n", what, weir_strerror(err), weir_error_detail());
	exit(2);
}

/* ---- one key, which is passed as bytes, as a number or as a hash, depending on its number ---- */

static uint64_t key_of(const struct worker *w, uint64_t i)
{
	return w->number << 40 | i;
}

#define BY_FORM(verb, object) \
	(i % 3 == 0 ? verb((object), text, len) : \
	 i % 3 == 1 ? verb##_u64((object), key) : verb##_hash((object), hash))
#define OF_SUBJECT(verb) \
	(w->s->h ? BY_FORM(weir_handle_##verb, w->s->h) : BY_FORM(weir_##verb, w->s->f))

static uint64_t hash_of(const struct worker *w, uint64_t key)
{
	uint64_t state = key ^ w->s->round << 20;
	return next_random(&state);
}

static int insert(struct worker *w, uint64_t i)
{
	const uint64_t key = key_of(w, i), hash = hash_of(w, key);
	char text[32];
	const size_t len = (size_t)snprintf(text, sizeof text, "key %" PRIx64, key);
	return OF_SUBJECT(insert);
}

static int take(struct worker *w, uint64_t i)
{
	const uint64_t key = key_of(w, i), hash = hash_of(w, key);
	char text[32];
	const size_t len = (size_t)snprintf(text, sizeof text, "key %" PRIx64, key);
	return OF_SUBJECT(remove);
}

static bool contains(struct worker *w, uint64_t i)
{
	const uint64_t key = key_of(w, i), hash = hash_of(w, key);
	char text[32];
	const size_t len = (size_t)snprintf(text, sizeof text, "key %" PRIx64, key);
	return OF_SUBJECT(contains);
}

static void missed(struct worker *w, uint64_t i, const char *by)
{
	if (w->counts.lost++ >= MOST_SAID)
		return;
	fprintf(stderr, "soak: round %" PRIu64 ", kind %s, thread %" PRIu64 ", key %" PRIu64
	        ": lost (%s)\n", w->s->round, weir_kind_name(w->s->kind), w->number, i, by);
}

/* ---- operations ---- */

static void insert_one(struct worker *w, uint64_t i)
{
	w->counts.inserts++;
	if (w->present[i] && w->s->removes) /* a second copy would need a second removal */
		return;
	const int answer = insert(w, i);
	if (answer >= 0)
		w->present[i] = 1;
	else if (answer != -ENOSPC && answer != -EBUSY && answer != -EAGAIN)
		must(answer, "insert");
}

static void remove_one(struct worker *w, uint64_t i)
{
	w->counts.removals++;
	if (!w->present[i])
		return;
	const int answer = take(w, i);
	if (answer == 0)
		missed(w, i, "removal");
	if (answer >= 0)
		w->present[i] = 0;
	else if (answer != -EBUSY && answer != -EAGAIN)
		must(answer, "remove");
}

static void look_up(struct worker *w, uint64_t i)
{
	if (contains(w, i))
		return;
	w->counts.absents++;
	if (w->present[i])
		missed(w, i, "lookup");
}

/* Look up a batch of numbers. Only keys with i % 3 == 1 were inserted as numbers. */
static void look_up_many(struct worker *w)
{
	uint64_t keys[BATCH], at[BATCH], bitmap[WEIR_BITMAP_WORDS(BATCH)];
	for (unsigned n = 0; n < BATCH; n++) {
		at[n] = next_random(&w->random) % (w->s->keys / 3) * 3 + 1;
		keys[n] = key_of(w, at[n]);
	}
	const struct weir_keys batch = weir_keys_u64(keys, BATCH);
	const int64_t positive = w->s->h ? weir_handle_contains_keys(w->s->h, batch, bitmap) :
	                                   weir_contains_keys(w->s->f, batch, bitmap);
	must((int)(positive < 0 ? positive : 0), "a batch of lookups");
	for (unsigned n = 0; n < BATCH; n++) {
		if (bitmap[n / 64] >> n % 64 & 1)
			continue;
		w->counts.absents++;
		if (w->present[at[n]])
			missed(w, at[n], "batch");
	}
	w->counts.operations += BATCH;
}

static void *work(void *argument)
{
	struct worker *w = argument;
	while (w->counts.operations < w->s->operations) {
		const uint64_t random = next_random(&w->random), i = (random >> 8) % w->s->keys;
		const unsigned chance = random & 255;
		w->counts.operations++;
		if (chance < 64)
			insert_one(w, i);
		else if (chance < 128 && w->s->removes)
			remove_one(w, i);
		else if (chance >= 128 && chance < 130)
			look_up_many(w);
		else
			look_up(w, i);
	}
	for (uint64_t i = 0; i < w->s->keys; i++, w->counts.operations++)
		look_up(w, i);
	return NULL;
}

/* ---- the loader ---- */

static void reload(struct subject *s, uint64_t random)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	if (s->as == SHARDS)
		o.shard = (uint32_t)(random % weir_handle_shards(s->h));
	else
		o.keep_previous = random & 1;
	must(weir_reload_begin(&r, s->h, &o), "begin");
	const int err = weir_reload_copy(r, WEIR_ALL_SETS);
	if (err == -ENOSPC || err == -EAGAIN) { /* the cuckoo filter is too full to copy */
		must(weir_reload_abort(r), "abort");
		return;
	}
	must(err, "copy");
	if (random >> 1 & 7) {
		must(weir_reload_commit(r), "commit");
		atomic_fetch_add(&s->reloads, 1);
	} else {
		must(weir_reload_abort(r), "abort");
	}
	if (o.keep_previous && random >> 4 & 1)
		/* this call fails if the previous filter has refused a key */
		(void)!weir_handle_rollback(s->h);
	usleep(200);
	if (s->as != SHARDS)
		/* a handle that keeps a previous filter refuses removals */
		(void)!weir_handle_drop_previous(s->h);
}

static void *load(void *argument)
{
	struct subject *s = argument;
	uint64_t random = s->round;
	while (!atomic_load(&s->over)) {
		reload(s, next_random(&random));
		usleep(200);
	}
	return NULL;
}

/* ---- a round ---- */

static const struct {
	uint32_t kind;
	bool handle, shards;
} kinds[] = {
	{ WEIR_BLOCKED, true, true }, { WEIR_CLASSIC, true, true }, { WEIR_COUNTING, true, false },
	{ WEIR_GROWING, true, false }, { WEIR_CUCKOO, true, false }, { WEIR_SPLIT, true, true },
	{ WEIR_FREQUENCY, true, false }, { WEIR_ROUTER, true, false },
	{ WEIR_WINDOW, false, false },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void make(struct subject *s)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	uint64_t random = s->round ^ UINT64_C(0x5eed);
	p.kind = kinds[s->round % KINDS].kind;
	s->as = (s->round / KINDS) % 3;
	if ((s->as == HANDLE && !kinds[s->round % KINDS].handle) ||
	    (s->as == SHARDS && !kinds[s->round % KINDS].shards))
		s->as = BARE;
	s->keys = 300 + next_random(&random) % 30000;
	p.capacity = s->keys * s->threads;
	if (p.kind == WEIR_WINDOW)
		p.capacity *= 7; /* one generation takes all keys, as the window never advances */
	if (p.kind == WEIR_CUCKOO)
		p.capacity += p.capacity / 4; /* a full filter refuses slowly */
	p.fp_rate = next_random(&random) % 2 ? 0.01 : 0.001;
	s->kind = p.kind;
	s->removes = weir_kind_can(p.kind, WEIR_CAN_REMOVE);
	if (s->as == BARE) {
		must(weir_create(&s->f, &p), "create");
		return;
	}
	o.params = &p;
	o.shards = s->as == SHARDS ? 8 : 0;
	must(weir_handle_create(&s->h, NULL, &o), "create a handle");
}

static struct counts run_round(struct subject *s)
{
	struct worker *workers = calloc(s->threads, sizeof *workers);
	pthread_t threads[MOST_THREADS], loader;
	struct counts all = { 0 };
	make(s);
	for (unsigned i = 0; i < s->threads; i++) {
		workers[i] = (struct worker){ s, i, s->round * 1000 + i, calloc(1, s->keys),
		                              { 0 } };
		must(-pthread_create(&threads[i], NULL, work, &workers[i]), "a thread");
	}
	if (s->h)
		must(-pthread_create(&loader, NULL, load, s), "a thread");
	for (unsigned i = 0; i < s->threads; i++) {
		const struct counts *c = &workers[i].counts;
		pthread_join(threads[i], NULL);
		all.operations += c->operations;
		all.inserts += c->inserts;
		all.removals += c->removals;
		all.absents += c->absents;
		all.lost += c->lost;
		free(workers[i].present);
	}
	atomic_store(&s->over, true);
	if (s->h)
		pthread_join(loader, NULL);
	all.reloads = s->reloads;
	free(workers);
	must(s->h ? weir_handle_destroy(s->h) : weir_destroy(s->f), "destroy");
	return all;
}

/* ---- the record ---- */

#define LINE "%" SCNu64 " %31s %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 \
	" %" SCNu64

/* Add up the lines of @state. Return: the number of the next round. */
static uint64_t read_state(FILE *state, struct counts *sums)
{
	struct counts c;
	uint64_t round, next = 0;
	char kind[32];
	unsigned as;
	*sums = (struct counts){ 0 };
	rewind(state);
	while (fscanf(state, LINE, &round, kind, &as, &c.operations, &c.inserts, &c.removals,
	              &c.absents, &c.reloads, &c.lost) == 9) {
		sums->operations += c.operations;
		sums->inserts += c.inserts;
		sums->removals += c.removals;
		sums->absents += c.absents;
		sums->reloads += c.reloads;
		sums->lost += c.lost;
		next = round + 1;
	}
	return next;
}

static void append(FILE *state, const struct subject *s, const struct counts *c)
{
	fseek(state, 0, SEEK_END);
	fprintf(state, "%" PRIu64 " %s %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	        " %" PRIu64 "\n", s->round, weir_kind_name(s->kind), (unsigned)s->as, c->operations,
	        c->inserts, c->removals, c->absents, c->reloads, c->lost);
	if (fflush(state) || fdatasync(fileno(state))) {
		perror("soak: the state");
		exit(2);
	}
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "state", required_argument, NULL, 'f' },
		{ "seconds", required_argument, NULL, 's' },
		{ "threads", required_argument, NULL, 't' },
		{ "operations", required_argument, NULL, 'o' },
		{ 0 },
	};
	const char *path = NULL;
	double seconds = 60;
	unsigned threads = 2;
	uint64_t operations = 1000000;
	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
		switch (option) {
		case 'f': path = optarg; break;
		case 's': seconds = strtod(optarg, NULL); break;
		case 't': threads = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'o': operations = strtoull(optarg, NULL, 10); break;
		default: path = NULL; optind = argc + 1;
		}
	FILE *state = path ? fopen(path, "a+") : NULL;
	if (!state || optind != argc || !threads || threads > MOST_THREADS) {
		fprintf(stderr, "usage: soak --state=FILE [--seconds=N] [--threads=N] "
		        "[--operations=N]\n");
		return 2;
	}
	struct counts sums;
	uint64_t round = read_state(state, &sums);
	for (const double end = now() + seconds; now() < end; round++) {
		struct subject s = { .round = round, .threads = threads, .operations = operations };
		const struct counts c = run_round(&s);
		append(state, &s, &c);
		if (c.lost)
			break;
	}
	round = read_state(state, &sums);
	printf("%" PRIu64 " rounds, %" PRIu64 " operations: %" PRIu64 " inserts, %" PRIu64
	       " removals, %" PRIu64 " absents compared; %" PRIu64 " reloads; %" PRIu64 " lost\n",
	       round, sums.operations, sums.inserts, sums.removals, sums.absents, sums.reloads,
	       sums.lost);
	return sums.lost != 0;
}
