/* SPDX-License-Identifier: MIT
 * A program with one node, like an application. A test starts several of these programs and causes
 * faults. The program obeys lines on standard input and answers each line by one line of JSON.
 *
 *     node COUNTS OPTION=VALUE...
 *     node key SECRET PUBLIC  make two key files
 *
 *     insert FROM TO soon|confirmed THREADS BATCH   keys FROM to TO - 1
 *     contains FROM TO       the number of missing keys, and the first of them
 *     work PLAIN BATCH PAUSE in the background: PLAIN inserts a second, and confirmed batches of
 *                            BATCH keys with pauses of PAUSE ms. PLAIN 0: no inserts. BATCH 0:
 *                            no batches, and the answer waits for inserts in flight
 *     flush MS               publish               stats               quit
 *     record FROM TO...      publish_from() with these keys. TO may be the COUNTS file of the node
 *                            that inserts them: the record then has the keys counted so far and
 *                            the keys of a batch that may be in flight
 *     rollback ERA NUMBER
 *
 * Keys are numbers. Two threads insert in the background. Their first keys are the options plain=
 * and confirmed=. They repeat a key that was refused. COUNTS is a mapped file with the number of
 * keys that were accepted, so a test can read the number after it has killed the program. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <weir/replica.h>
#include <weir/weir.h>

enum { BATCH = 1024 };

static struct {
	_Atomic uint64_t plain, confirmed, plain_refused, confirmed_refused;
} *counts;

static struct {
	struct weir_replica_options o;
	struct weir_params params;
	uint64_t plain, confirmed;
} given;

static struct weir_replica *replica;
static _Atomic uint64_t rate, batch, pause_ms;
static atomic_bool quits;
static pthread_mutex_t in_flight[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

static void numbers_from(uint64_t *keys, uint64_t from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		keys[i] = from + i;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Escape a sentence for JSON. */
static const char *quoted(const char *text)
{
	static char out[4 * WEIR_SENTENCE_BYTES];
	size_t n = 0;
	for (; *text && n < sizeof out - 8; text++) {
		if (*text == '"' || *text == '\\')
			out[n++] = '\\';
		out[n++] = (unsigned char)*text < 32 ? '?' : *text;
	}
	out[n] = '\0';
	return out;
}

static void answer(int64_t result)
{
	printf("{\"result\": %" PRId64 ", \"error\": \"%s\"}\n", result,
	       quoted(result < 0 ? weir_error_detail() : ""));
}

/* ---- inserts ---- */

struct part {
	uint64_t from, to, batch;
	uint32_t wait;
	pthread_t thread;
	int64_t result;
	char why[WEIR_SENTENCE_BYTES];
};

static int64_t insert_some(uint64_t from, uint64_t n, uint32_t wait)
{
	uint64_t keys[BATCH];
	if (n == 1)
		return weir_replica_insert_u64(replica, from, wait);
	numbers_from(keys, from, n);
	return weir_replica_insert_keys(replica, weir_keys_u64(keys, n), NULL, wait);
}

static void *insert_part(void *arg)
{
	struct part *p = arg;
	for (uint64_t i = p->from; i < p->to && p->result >= 0; i += p->batch)
		p->result = insert_some(i, p->to - i < p->batch ? p->to - i : p->batch, p->wait);
	snprintf(p->why, sizeof p->why, "%s", p->result < 0 ? weir_error_detail() : "");
	return NULL;
}

static void insert(const char *rest)
{
	uint64_t from, to, threads, size;
	char wait[16];
	struct part parts[16] = { 0 };
	if (sscanf(rest, "%" SCNu64 " %" SCNu64 " %15s %" SCNu64 " %" SCNu64, &from, &to, wait,
	           &threads, &size) != 5 || threads > 16 || size > BATCH || !threads || !size)
		exit(2);
	double begun = now();
	int64_t result = 0;
	char why[WEIR_SENTENCE_BYTES] = "";
	for (uint64_t i = 0; i < threads; i++) {
		parts[i].from = from + (to - from) * i / threads;
		parts[i].to = from + (to - from) * (i + 1) / threads;
		parts[i].batch = size;
		parts[i].wait = *wait == 's' ? WEIR_REPLICA_SOON : WEIR_REPLICA_CONFIRMED;
		pthread_create(&parts[i].thread, NULL, insert_part, &parts[i]);
	}
	for (uint64_t i = 0; i < threads; i++) {
		pthread_join(parts[i].thread, NULL);
		if (parts[i].result >= 0 || result < 0)
			continue;
		result = parts[i].result;
		snprintf(why, sizeof why, "%s", parts[i].why);
	}
	printf("{\"result\": %" PRId64 ", \"error\": \"%s\", \"seconds\": %.6f}\n", result,
	       quoted(why), now() - begun);
}

/* Insert `rate` keys a second: every 2 ms, the keys that are due. */
static void *work_plain(void *arg)
{
	double due = 0;
	for (double last = now(); !quits; usleep(2000)) {
		double t = now();
		due += (t - last) * (double)rate;
		last = t;
		due = due > 10000 ? 10000 : due;
		pthread_mutex_lock(&in_flight[0]);
		for (; due >= 1 && rate; due--) {
			if (insert_some(given.plain + counts->plain, 1, WEIR_REPLICA_SOON) < 0)
				counts->plain_refused++;
			else
				counts->plain++;
		}
		pthread_mutex_unlock(&in_flight[0]);
	}
	return arg;
}

static void *work_confirmed(void *arg)
{
	while (!quits) {
		usleep(batch ? (useconds_t)(1000 + pause_ms * 1000) : 2000);
		pthread_mutex_lock(&in_flight[1]);
		const uint64_t n = batch;
		if (n && insert_some(given.confirmed + counts->confirmed, n,
		                     WEIR_REPLICA_CONFIRMED) < 0)
			counts->confirmed_refused++;
		else
			counts->confirmed += n;
		pthread_mutex_unlock(&in_flight[1]);
	}
	return arg;
}

/* ---- the other lines ---- */

static void contains(const char *rest)
{
	char *end;
	uint64_t from = strtoull(rest, &end, 10), missing = 0, first = 0;
	for (uint64_t i = strtoull(end, NULL, 10); i-- > from;)
		if (!weir_handle_contains_u64(weir_replica_handle(replica), i))
			missing++, first = i;
	printf("{\"result\": %" PRIu64 ", \"first\": %" PRIu64 "}\n", missing, first - from);
}

static uint64_t end_of(uint64_t from, char **rest)
{
	char path[256] = "/";
	uint64_t counted[2] = { 0 };
	int n = 0;
	if (sscanf(*rest, " /%250s%n", path + 1, &n) != 1)
		return strtoull(*rest, rest, 10);
	*rest += n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, counted, sizeof counted) != sizeof counted)
		abort();
	close(fd);
	return from + counted[from >> 40 & 1 ? 0 : 1] + BATCH;
}

static int make(void *context, struct weir_filter **out)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	char *rest = context;
	int err = weir_replica_params(replica, &p);
	if (!err)
		err = weir_create(out, &p);
	while (!err && *rest) {
		uint64_t from = strtoull(rest, &rest, 10), to = end_of(from, &rest);
		for (; from < to; from++)
			if (weir_insert_u64(*out, from) < 0)
				abort();
	}
	return err;
}

static void stats(void)
{
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	int err = weir_replica_measure(replica, &s);
	if (err) {
		answer(err);
		return;
	}
	printf("{\"result\": 0, \"state\": \"%s\", \"complete\": %d, \"owes\": %d, "
	       "\"overflowed\": %d, \"lacking_ms\": %" PRIu64 ", \"joined\": [%" PRIu64 ", %" PRIu64
	       "], \"newest\": [%" PRIu64 ", %" PRIu64 "], \"refused\": [%" PRIu64 ", %" PRIu64
	       "], ", weir_replica_state_name(s.state), s.complete, s.owes, s.overflowed,
	       s.lacking_ms, s.joined.era, s.joined.number, s.newest.era, s.newest.number,
	       s.refused.era, s.refused.number);
	printf("\"pending_bytes\": %" PRIu64 ", \"batches_read\": %" PRIu64 ", "
	       "\"foreign\": %" PRIu64 ", \"given_up\": %" PRIu64 ", \"published\": %" PRIu64
	       ", \"failures\": %" PRIu64 ", \"image_here\": %" PRIu64 ", \"image_bytes\": %" PRIu64
	       ", \"error\": \"%s\"}\n",
	       s.pending_bytes, s.batches_read, s.foreign, s.given_up, s.published, s.failures,
	       s.image_here, s.image_bytes, quoted(s.error));
}

static bool obey(char *line)
{
	char *rest = strchr(line, ' ');
	rest = rest ? rest + 1 : line + strlen(line);
	if (strncmp(line, "insert ", 7) == 0) {
		insert(rest);
	} else if (strncmp(line, "contains ", 9) == 0) {
		contains(rest);
	} else if (strncmp(line, "work ", 5) == 0) {
		rate = strtoull(rest, &rest, 10);
		batch = strtoull(rest, &rest, 10);
		pause_ms = strtoull(rest, &rest, 10);
		for (int i = 0; i < 2 && !batch; i++) { /* an insert in flight ends */
			pthread_mutex_lock(&in_flight[i]);
			pthread_mutex_unlock(&in_flight[i]);
		}
		answer(0);
	} else if (strncmp(line, "flush ", 6) == 0) {
		answer(weir_replica_flush(replica, (uint32_t)atoi(rest)));
	} else if (strcmp(line, "publish") == 0) {
		answer(weir_replica_publish(replica));
	} else if (strncmp(line, "record", 6) == 0) {
		answer(weir_replica_publish_from(replica, make, rest));
	} else if (strncmp(line, "rollback ", 9) == 0) {
		struct weir_replica_version v = { 0 };
		v.era = strtoull(rest, &rest, 10);
		v.number = strtoull(rest, &rest, 10);
		answer(weir_replica_rollback(replica, v));
	} else if (strcmp(line, "stats") == 0) {
		stats();
	} else {
		return false;
	}
	return true;
}

/* ---- options and start ---- */

enum type { TEXT, U64, U32, RATE };

#define O(type, name) { #name "=", type, offsetof(struct weir_replica_options, name), &given.o }
#define P(type, name) { #name "=", type, offsetof(struct weir_params, name), &given.params }

/* Set the option that @word names. Return: false if there is no such option. */
static bool take(const char *word)
{
	static const struct {
		const char *name;
		enum type type;
		size_t at;
		void *of;
	} known[] = {
		O(TEXT, set), O(TEXT, url), O(U32, connect_ms), O(U32, answer_ms),
		O(U64, max_image_bytes), O(U64, max_pending_bytes), O(U32, poll_ms),
		O(U32, confirm_replicas), O(U32, confirm_ms), O(U32, replica_grace_ms),
		O(U32, publish_seconds), O(U32, keep), O(TEXT, secret_key),
		O(U32, expires_seconds), O(TEXT, trusted_keys), O(TEXT, state_file),
		P(U32, kind), P(U64, capacity), P(RATE, fp_rate), P(U64, seed),
		{ "plain=", U64, 0, &given.plain }, { "confirmed=", U64, 0, &given.confirmed },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const size_t n = strlen(known[i].name);
		void *at = (char *)known[i].of + known[i].at;
		if (strncmp(word, known[i].name, n) != 0)
			continue;
		if (known[i].type == TEXT)
			*(const char **)at = word + n;
		else if (known[i].type == U64)
			*(uint64_t *)at = strtoull(word + n, NULL, 10);
		else if (known[i].type == U32)
			*(uint32_t *)at = (uint32_t)strtoul(word + n, NULL, 10);
		else
			*(double *)at = atof(word + n);
		return true;
	}
	return false;
}

static bool counts_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof *counts) != 0)
		return false;
	counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return counts != MAP_FAILED;
}

static void report(void *context, int result, const char *sentence)
{
	(void)context;
	fprintf(stderr, "%.3f %d %s\n", now(), result, sentence);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	char line[4096];
	if (argc == 4 && strcmp(argv[1], "key") == 0)
		return weir_replica_key_make(argv[2], argv[3]) != 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	given.o = (struct weir_replica_options)WEIR_REPLICA_OPTIONS_INIT;
	given.params = (struct weir_params)WEIR_PARAMS_INIT;
	given.params.fp_rate = 1e-7; /* so low that a false positive cannot hide a lost key */
	given.o.report = report;
	for (int i = 2; i < argc; i++)
		if (!take(argv[i]))
			return 2;
	given.o.params = given.params.capacity ? &given.params : NULL;
	if (argc < 2 || !counts_open(argv[1]))
		return 2;
	int err = weir_replica_open(&replica, &given.o);
	answer(err);
	if (err)
		return 1;
	pthread_create(&threads[0], NULL, work_plain, NULL);
	pthread_create(&threads[1], NULL, work_confirmed, NULL);
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!obey(line))
			break;
	}
	quits = true;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	answer(weir_replica_close(replica));
	return 0;
}
