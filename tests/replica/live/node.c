/* SPDX-License-Identifier: MIT
 * A node as an application has it, for tests that start several and break things: it inserts keys
 * of its own all the time, and answers commands on its standard input, a line each.
 *
 *     node NAME SECONDS-BETWEEN-GENERATIONS CAPACITY OPTION=VALUE...
 *
 *     rate N          insert N keys a second from now on; 0: none
 *     burst N         -> burst N: insert so many keys at once
 *     confirm N       -> confirm ANSWER: insert a key of its own, the N-th, and wait for it
 *     confirms N      -> confirms P50 P99 MOST: insert and confirm N of its first keys, one by
 *                        one; microseconds each took
 *     flush MS        -> flush 0|ERRNO
 *     check NAME N    -> missing COUNT: of the first N keys of node NAME
 *     publish         -> publish 0|ERRNO
 *     record          -> record 0|ERRNO: publish a filter made of the application's record, of
 *                     another seed if batches are of keys (stream=keys)
 *     empty           -> empty 0|ERRNO: publish a filter without keys, as a broken record gives
 *     rollback N      -> rollback 0|ERRNO
 *     save FILE       -> save 0|ERRNO: the set as it is here
 *     stats           -> stats NAME=VALUE ...
 *     quit            -> quit 0|ERRNO: closed
 * A set that is not there yet is made, of kind classic, or kind=blocked or growing, at a rate that
 * loses nothing by chance or rate=0.01, of a seed=, keyed=1 with a key.
 * The record of the application is a file (record=) in which each node counts its keys before it
 * inserts them. Whenever all of its first N keys are confirmed it says: confirmed N. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <weir/replica.h>
#include <weir/weir.h>

static struct weir_replica *replica;
enum { RECORD = 4096 }; /* nodes */

static uint64_t name;
static bool of_keys;
static struct weir_params params = WEIR_PARAMS_INIT; /* of a set that is not there yet */
static atomic_uint_fast64_t *record;
static atomic_uint_fast64_t inserted, rate;
static atomic_bool quits;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static uint64_t key_of(uint64_t node, uint64_t n)
{
	return (node + 1) << 40 | n;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list args;
	char line[1024];
	va_start(args, format);
	int n = vsnprintf(line, sizeof line - 1, format, args);
	va_end(args);
	line[n++] = '\n';
	pthread_mutex_lock(&output);
	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(1); /* whoever drives the test has gone */
	pthread_mutex_unlock(&output);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The next key, which the application has written to its record. */
static uint64_t next_key(void)
{
	if (record)
		record[name] = inserted + 1;
	return key_of(name, inserted);
}

/* So many a second, in turns of some milliseconds. */
static void *insert_all_the_time(void *arg)
{
	double due = 0;
	for (double last = now(); !quits; usleep(2000)) {
		double t = now();
		due += (t - last) * (double)rate;
		last = t;
		due = due > 1e6 ? 1e6 : due;
		for (; due >= 1 && rate; due--) {
			uint64_t key = next_key();
			if (weir_replica_insert(replica, &key, sizeof key, WEIR_REPLICA_SOON) < 0)
				say("refused %s", weir_error_detail());
			else
				inserted++;
		}
	}
	return arg;
}

static void *confirm_all_the_time(void *arg)
{
	for (uint64_t confirmed = 0; !quits; usleep(20000)) {
		uint64_t n = inserted;
		if (n == confirmed || weir_replica_flush(replica, 1000) != 0)
			continue;
		confirmed = n;
		say("confirmed %" PRIu64, n);
	}
	return arg;
}

static void check(uint64_t node, uint64_t n)
{
	uint64_t missing = 0, first = 0;
	for (uint64_t i = n; i-- > 0;) {
		if (weir_handle_contains_u64(weir_replica_handle(replica), key_of(node, i)))
			continue;
		missing++;
		first = i;
	}
	say("missing %" PRIu64 " %" PRIu64, missing, first);
}

static void burst(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = next_key();
		if (weir_replica_insert(replica, &key, sizeof key, WEIR_REPLICA_SOON) >= 0)
			inserted++;
	}
	say("burst %" PRIu64, n);
}

static void confirm(uint64_t n)
{
	uint64_t key = key_of(name, (UINT64_C(1) << 39) + n);
	int answer = weir_replica_insert(replica, &key, sizeof key, WEIR_REPLICA_CONFIRMED);
	say("confirm %d %s", answer, answer < 0 ? weir_error_detail() : "");
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static void confirms(size_t n)
{
	double *took = calloc(n + 1, sizeof *took);
	for (size_t i = 0; i < n && took; i++) {
		uint64_t key = next_key();
		double begun = now();
		if (weir_replica_insert(replica, &key, sizeof key, WEIR_REPLICA_CONFIRMED) < 0)
			say("refused %s", weir_error_detail());
		else
			inserted++;
		took[i] = (now() - begun) * 1e6;
	}
	if (took && n) {
		qsort(took, n, sizeof *took, ascending);
		say("confirms %.0f %.0f %.0f", took[n / 2], took[n * 99 / 100], took[n - 1]);
	}
	free(took);
}

static int make(void *empty, struct weir_filter **out)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	int err = weir_replica_params(replica, &p);
	if (of_keys)
		p.seed = 0;
	if (!err)
		err = weir_create(out, &p);
	for (uint64_t node = 0; node < RECORD && !err && !empty; node++) {
		uint64_t n = record[node];
		for (uint64_t i = 0; i < n; i++) {
			uint64_t key = key_of(node, i);
			(void)weir_insert(*out, &key, sizeof key);
		}
	}
	return err;
}

static void publish_from(const char *what, bool empty)
{
	int err = weir_replica_publish_from(replica, make, empty ? &empty : NULL);
	say("%s %d %s", what, err, err ? weir_error_detail() : "");
}

static bool open_record(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, RECORD * sizeof *record) != 0)
		return false;
	void *at = mmap(NULL, RECORD * sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	record = at == MAP_FAILED ? NULL : at;
	return record;
}

static void stats(void)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	struct weir_handle_stats h = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	if (weir_replica_measure(replica, &s) != 0 ||
	    weir_handle_measure(weir_replica_handle(replica), &h, &filter) != 0)
		return;
	say("stats inserted=%" PRIu64 " connected=%d complete=%d generation=%" PRIu64 " newest=%"
	    PRIu64 " retained=%" PRIu64 " lost=%" PRIu64 " failures=%" PRIu64 " refused=%" PRIu64
	    " seed=%" PRIu64 " here=%" PRIu64 " image=%" PRIu64 " error=%s", (uint64_t)inserted,
	    s.connected, s.complete, s.generation, s.newest, s.retained_bytes, s.not_replicated,
	    s.failures, s.refused, filter.seed_fingerprint, s.image_here, s.image_bytes, s.error);
}

static bool obey(char *line)
{
	char *rest = strchr(line, ' ');
	int err = 0;
	rest = rest ? rest + 1 : line + strlen(line);
	if (strncmp(line, "rate ", 5) == 0) {
		rate = strtoull(rest, NULL, 10);
		say("rate 0");
	} else if (strncmp(line, "burst ", 6) == 0) {
		burst(strtoull(rest, NULL, 10));
	} else if (strncmp(line, "confirm ", 8) == 0) {
		confirm(strtoull(rest, NULL, 10));
	} else if (strncmp(line, "confirms ", 9) == 0) {
		confirms(strtoull(rest, NULL, 10));
	} else if (strncmp(line, "flush ", 6) == 0) {
		err = weir_replica_flush(replica, (uint32_t)atoi(rest));
		say("flush %d %s", err, err ? weir_error_detail() : "");
	} else if (strncmp(line, "check ", 6) == 0) {
		uint64_t node = strtoull(rest, &rest, 10);
		check(node, strtoull(rest, NULL, 10));
	} else if (strcmp(line, "publish") == 0) {
		err = weir_replica_publish(replica);
		say("publish %d %s", err, err ? weir_error_detail() : "");
	} else if (strcmp(line, "record") == 0 || strcmp(line, "empty") == 0) {
		publish_from(line, *line == 'e');
	} else if (strncmp(line, "rollback ", 9) == 0) {
		err = weir_replica_rollback(replica, strtoull(rest, NULL, 10));
		say("rollback %d %s", err, err ? weir_error_detail() : "");
	} else if (strncmp(line, "save ", 5) == 0) {
		err = weir_replica_save(replica, rest, NULL);
		say("save %d %s", err, err ? weir_error_detail() : "");
	} else if (strcmp(line, "stats") == 0) {
		stats();
	} else if (strcmp(line, "quit") == 0) {
		return false;
	} else {
		say("unknown %s", line);
	}
	return true;
}

static void report(void *context, int result, const char *sentence)
{
	(void)context;
	fprintf(stderr, "node %" PRIu64 ": %d %s\n", name, result, sentence);
}

/* Of the filter, and of images. */
static bool take_params(struct weir_replica_options *o, const char *word)
{
	if (strcmp(word, "kind=blocked") == 0)
		params.kind = WEIR_BLOCKED;
	else if (strcmp(word, "kind=growing") == 0)
		params.kind = WEIR_GROWING, params.growing.max_capacity = 4 * params.capacity;
	else if (strncmp(word, "seed=", 5) == 0)
		params.seed = strtoull(word + 5, NULL, 10);
	else if (strcmp(word, "rate=0.01") == 0)
		params.fp_rate = 0.01;
	else if (strcmp(word, "keyed=1") == 0)
		params.secret = o->secret = "sixteen bytes...";
	else if (strcmp(word, "zstd=1") == 0)
		o->zstd_level = 1;
	else
		return false;
	return true;
}

/* Return: whether it is an option, and that takes the value. */
static bool take(struct weir_replica_options *o, const char *word)
{
	const struct {
		const char *name;
		const char **text;
		uint32_t *number;
	} known[] = {
		{ "url=", &o->url, NULL }, { "set=", &o->set, NULL },
		{ "ca=", &o->ca_file, NULL }, { "password_file=", &o->password_file, NULL },
		{ "secret=", &o->secret_key, NULL }, { "trusted=", &o->trusted_keys, NULL },
		{ "folder=", &o->image_folder, NULL }, { "image_url=", &o->image_url, NULL },
		{ "read_url=", &o->read_url, NULL },
		{ "poll=", NULL, &o->poll_ms }, { "confirm=", NULL, &o->confirm_replicas },
		{ "answer=", NULL, &o->answer_ms }, { "connect=", NULL, &o->connect_ms },
		{ "keep=", NULL, &o->keep }, { "idle=", NULL, &o->idle_ms },
		{ "replicas=", NULL, &o->replicas },
		{ "http=", NULL, NULL }, { "pending=", NULL, NULL }, { "image=", NULL, NULL },
	};
	if (strncmp(word, "record=", 7) == 0)
		return open_record(word + 7);
	if (strcmp(word, "stream=keys") == 0)
		return of_keys = o->stream_keys = true;
	if (take_params(o, word))
		return true;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		size_t n = strlen(known[i].name);
		if (strncmp(word, known[i].name, n) != 0)
			continue;
		if (known[i].text)
			*known[i].text = word + n;
		else if (known[i].number)
			*known[i].number = (uint32_t)strtoul(word + n, NULL, 10);
		else if (*word == 'h')
			o->image_http = true;
		else
			*(*word == 'i' ? &o->max_image_bytes : &o->max_pending_bytes) =
				strtoull(word + n, NULL, 10);
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct weir_replica_options o = WEIR_REPLICA_OPTIONS_INIT;
	pthread_t threads[2];
	char line[256];
	if (argc < 4)
		return 2;
	name = strtoull(argv[1], NULL, 10);
	o.publish_seconds = (uint32_t)atoi(argv[2]);
	params.capacity = strtoull(argv[3], NULL, 10);
	params.fp_rate = 1e-6; /* what is lost must not be there by chance */
	params.kind = WEIR_CLASSIC;
	o.params = &params;
	o.report = report;
	for (int i = 4; i < argc; i++)
		if (!take(&o, argv[i]))
			return 2;
	int err = weir_replica_open(&replica, &o);
	say("open %d %s", err, err ? weir_error_detail() : "");
	if (err)
		return 1;
	pthread_create(&threads[0], NULL, insert_all_the_time, NULL);
	pthread_create(&threads[1], NULL, confirm_all_the_time, NULL);
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!obey(line))
			break;
	}
	quits = true;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	err = weir_replica_close(replica);
	say("quit %d %s", err, err ? weir_error_detail() : "");
	return 0;
}
