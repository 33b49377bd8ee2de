/* SPDX-License-Identifier: MIT
 * What nodes cost the redis that they share, in CPU time, and what 1,000 of them would cost it:
 * bench_replica_cpu SOCKET [NODES] [SECONDS], of each measurement. replica.sh starts the server.
 *
 * A node reads the log at each interval (poll_ms), sends what was inserted, and has a heartbeat
 * each second. One run at two intervals tells reads from heartbeats. Two runs with inserts, of few
 * and of many followers, tell what an insert costs at its node from what it costs at each other. */
#include "bench_replica.h"
#include <unistd.h>

enum { MOST = 256 };

static redisContext *direct;
static struct weir_replica *node[MOST];
static const char *url;
static unsigned seconds = 10;
static uint64_t inserted;

struct cost {
	double cpu, beats, reads; /* of a second: seconds, and calls */
	double inserts;           /* of all seconds */
};

static void open_nodes(unsigned n, uint32_t poll_ms)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.capacity = 10000000;
	p.fp_rate = 0.01;
	for (unsigned i = 0; i < n; i++) {
		struct weir_replica_options o = WEIR_REPLICA_OPTIONS_INIT;
		o.set = "cpu";
		o.url = url;
		o.params = &p;
		o.poll_ms = poll_ms;
		o.report = quiet;
		if (weir_replica_open(&node[i], &o) != 0)
			fail("open");
	}
}

static void close_nodes(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (weir_replica_close(node[i]) != 0)
			fail("close");
}

static double cpu(void)
{
	return info(direct, "cpu", "used_cpu_sys:") + info(direct, "cpu", "used_cpu_user:");
}

/* Insert for so long, @rate a second, evenly. */
static void wait_and_insert(unsigned rate)
{
	const double begun = now();
	uint64_t done = 0;
	for (double t = 0; t < seconds; t = now() - begun) {
		for (; (double)done < t * rate; done++) {
			uint64_t key = key_of(inserted + done);
			if (weir_replica_insert(node[0], &key, sizeof key, WEIR_REPLICA_SOON) < 0)
				fail("insert");
		}
		usleep(rate ? 2000 : 100000);
	}
	inserted += done;
}

static struct cost measure(unsigned n, uint32_t poll_ms, unsigned rate)
{
	struct cost c = { .cpu = 0 };
	open_nodes(n, poll_ms);
	sleep(2);
	freeReplyObject(redisCommand(direct, "CONFIG RESETSTAT"));
	const double begun = now(), before = cpu();
	const uint64_t first = inserted;
	wait_and_insert(rate);
	c.cpu = cpu() - before;
	const double took = now() - begun;
	c.cpu /= took;
	c.beats = info(direct, "commandstats", "cmdstat_evalsha:calls=") / took;
	c.reads = info(direct, "commandstats", "cmdstat_xrange:calls=") / took;
	c.inserts = (double)(inserted - first) / took;
	printf("| %5u | %4u ms | %9.0f | %10.0f | %7.0f | %6.2f %% |\n", n, (unsigned)poll_ms,
	       c.inserts, c.beats, c.reads, c.cpu * 100);
	fflush(stdout);
	if (n)
		close_nodes(n);
	return c;
}

static void print_1000(double beat, double read, double taken, double follower, double own)
{
	const double rest = own + 1000 * beat + 1000 / 0.2 * read;
	printf("\n1,000 nodes, which read each 200 ms, by these costs:\n\n"
	       "| inserts/s, of all | a core of redis |\n| ---: | ---: |\n");
	for (unsigned rate = 0; rate <= 10000; rate = rate ? rate * 10 : 100)
		printf("| %6u | %.1f %% |\n", rate,
		       100 * (rest + rate / 1000.0 * (taken + 999 * follower)));
}

int main(int argc, char **argv)
{
	char text[300];
	const unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 32, few = 2, rate = 100000;
	if (argc < 2 || n <= few || n > MOST)
		return 2;
	seconds = argc > 3 ? (unsigned)atoi(argv[3]) : seconds;
	snprintf(text, sizeof text, "unix://%s", argv[1]);
	url = text;
	direct = redisConnectUnix(argv[1]);
	if (!direct || direct->err)
		return 1;
	printf("| nodes | interval | inserts/s | appends, beats/s | reads/s | a core of redis |"
	       "\n| ---: | ---: | ---: | ---: | ---: | ---: |\n");
	const struct cost own = measure(0, 0, 0);
	const struct cost fast = measure(n, 20, 0), slow = measure(n, 200, 0);
	const struct cost many = measure(n, 20, rate), two = measure(few, 20, rate);
	const double read = (fast.cpu - slow.cpu) / (fast.reads - slow.reads);
	const double beat = (slow.cpu - own.cpu - slow.reads * read) / slow.beats;
	/* of 1,000 inserts, beside the reads that there were and a heartbeat each second */
	const double with_many = (many.cpu - own.cpu - many.reads * read - n * beat) /
	                         many.inserts * 1000;
	const double with_few = (two.cpu - own.cpu - two.reads * read - few * beat) /
	                        two.inserts * 1000;
	const double follower = (with_many - with_few) / (n - few);
	const double taken = with_few - (few - 1) * follower;
	printf("\n| | CPU time of redis |\n| --- | ---: |\n"
	       "| a heartbeat | %.1f us |\n| a read that brings nothing | %.1f us |\n"
	       "| 1,000 inserts, %u a second | %.0f us |\n"
	       "|   and for each follower | %.1f us |\n", beat * 1e6, read * 1e6, rate,
	       taken * 1e6, follower * 1e6);
	print_1000(beat, read, taken, follower, own.cpu);
	redisFree(direct);
	return 0;
}
