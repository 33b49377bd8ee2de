/* SPDX-License-Identifier: MIT
 * Replay protection for a server that restarts: each request has a nonce and a time stamp, and is
 * accepted once. Usage: replay REQUESTS THREADS SPAN_SECONDS STATE_FILE
 *
 * The server refuses a request whose stamp is older than the span, and asks the window about every
 * other request. At its end the server saves the window to a file, and the next start loads and
 * removes the file. So the file has every accepted nonce. If a start finds no file, the last
 * server was killed, and the new server refuses requests that were stamped before its start.
 *
 * Half of the requests come before a restart, and half after it. After every fourth request the
 * client replays an earlier request. The client sends every hundredth request twice in a row. A
 * table counts how often each request was accepted. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <weir/weir.h>

enum { MOST_THREADS = 64 };

struct request {
	char nonce[16];
	uint64_t stamp; /* ns since 1970 */
};

/* ---- the server ---- */

struct server {
	struct weir_filter *seen;
	uint64_t span;       /* ns */
	uint64_t not_before; /* start of this server if there was no file, otherwise 0 */
};

static uint64_t real_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Return: true if the request is new and younger than the span, which *stale tells. The server
 * reads the time first and asks the window second. A request that was younger than the span at the
 * first step is still in the window at the second step, because the window's own span is longer by
 * more than the two steps can take. */
static bool accept_once(struct server *s, const struct request *r, bool *stale)
{
	uint64_t now = real_ns();
	*stale = r->stamp + s->span < now || r->stamp < s->not_before || r->stamp > now;
	return !*stale &&
	       weir_insert(s->seen, r->nonce, sizeof r->nonce) == WEIR_NEW;
}

static int server_start(struct server *s, double span_seconds, uint64_t requests, const char *file)
{
	struct weir_load_options load = WEIR_LOAD_OPTIONS_INIT;
	struct weir_params o = WEIR_PARAMS_INIT;
	*s = (struct server){ .span = (uint64_t)(span_seconds * 1e9) };
	load.run.timer = 1;
	load.run.forget_older = 1; /* the time without a server counts, as in the stamps */
	int err = weir_load(&s->seen, weir_location_path(file), &load);
	if (err == 0)
		return unlink(file);
	if (err != -ENOENT)
		return err; /* damaged or not readable: the operator must act */
	s->not_before = real_ns();
	o.kind = WEIR_WINDOW;
	o.window.generations = 7;
	o.capacity = 7 * requests; /* all requests may come during one generation */
	o.fp_rate = 1e-5;
	/* longer than the server's span, because a thread may stall between the check of the
	 * stamp and the insert into the window */
	o.window.span_seconds = span_seconds * 1.5 + 1;
	o.window.run.timer = 1;
	return weir_create(&s->seen, &o);
}

static int server_stop(struct server *s, const char *file)
{
	int64_t bytes = weir_save(s->seen, weir_location_path(file), NULL);
	weir_destroy(s->seen);
	return bytes < 0 ? (int)bytes : 0;
}

/* ---- its clients ---- */

static struct server server;
static struct request *sent;      /* all requests, by number */
static atomic_uchar *accepted;    /* how often each request was accepted */
static atomic_ullong next, fresh_refused, replays_refused, stale_refused;
static uint64_t end;

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x9E3779B97F4A7C15);
	return x ^ x >> 29;
}

static void ask(uint64_t which, const struct request *r, bool again)
{
	bool stale;
	if (accept_once(&server, r, &stale))
		atomic_fetch_add(&accepted[which], 1);
	else
		atomic_fetch_add(stale ? &stale_refused : again ? &replays_refused :
		                                                  &fresh_refused, 1);
}

static void *client(void *unused)
{
	uint64_t i;
	while ((i = atomic_fetch_add(&next, 1)) < end) {
		uint64_t random = mix(i + 1), parts[2] = { random, i };
		memcpy(sent[i].nonce, parts, sizeof parts);
		sent[i].stamp = real_ns();
		ask(i, &sent[i], false);
		if (i % 4 == 0 && i > 4096) { /* replay requests that no thread handles now */
			uint64_t which = random % (i - 4096);
			ask(which, &sent[which], true);
		}
		if (i % 100 == 0 && i)
			ask(i, &sent[i], true);
	}
	return unused;
}

static void run(unsigned threads, uint64_t until)
{
	pthread_t thread[MOST_THREADS];
	atomic_store(&next, end);
	end = until;
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, client, NULL))
			abort();
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

static int failed(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, weir_error_detail());
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t requests = argc > 4 ? strtoull(argv[1], NULL, 10) : 0;
	unsigned threads = argc > 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	double span = argc > 4 ? atof(argv[3]) : 0;
	if (requests < 10000 || !threads || threads > MOST_THREADS || !(span > 0)) {
		fprintf(stderr, "usage: replay REQUESTS THREADS SPAN_SECONDS STATE_FILE\n");
		return 2;
	}
	sent = calloc(requests, sizeof *sent);
	accepted = calloc(requests, sizeof *accepted);
	if (!sent || !accepted)
		return 1;
	if (server_start(&server, span, requests, argv[4]))
		return failed("start");
	uint64_t began = real_ns();
	run(threads, requests / 2);
	uint64_t half = real_ns();
	if (server_stop(&server, argv[4]))
		return failed("save");
	if (server_start(&server, span, requests, argv[4]))
		return failed("restart");
	uint64_t again = real_ns(), once = 0, twice = 0;
	run(threads, requests);
	double busy = (double)(real_ns() - again + half - began);
	weir_destroy(server.seen);
	for (uint64_t i = 0; i < requests; i++) {
		once += accepted[i] > 0;
		twice += accepted[i] > 1;
	}
	printf("%llu requests and %llu replays: %llu accepted, %llu accepted twice; refused: %llu "
	       "replays, %llu stale, %llu fresh ones by chance; restart in %.1f ms; %.0f ns each\n",
	       (unsigned long long)requests, (unsigned long long)(requests / 4 + requests / 100),
	       (unsigned long long)once, (unsigned long long)twice, replays_refused, stale_refused,
	       fresh_refused, (double)(again - half) * 1e-6,
	       busy * threads / (double)requests / 1.26);
	return twice != 0 || once + requests / 1000 < requests;
}
