/* SPDX-License-Identifier: MIT
 * Measures the CPU time that nodes cost the redis they share, and computes the cost of 1,000 nodes:
 * bench_replica_cpu SOCKET [NODES] [SECONDS of each measurement]. replica.sh starts the server.
 *
 * A node reads the log at each interval (poll_ms), sends its inserts, and sends heartbeats. With a
 * thousand nodes, each node sends one heartbeat per second. Measurements at two intervals separate
 * the cost of reads from that of heartbeats. Inserts with few and with many followers separate the
 * cost of receiving an insert from the cost of each follower. Each case is measured three times, in
 * turn, and the median counts. */
#include "bench_replica.h"
#include <unistd.h>

enum { MOST = 256, ROUNDS = 3, FEW = 2, RATE = 100000 };

static redisContext *direct;
static struct weir_replica *node[MOST];
static const char *url;
static unsigned seconds = 5;
static uint64_t inserted;

struct cost {
	double cpu,     /* CPU seconds of redis per second */
	       beats,   /* calls of EVALSHA per second */
	       reads;   /* calls of XRANGE per second */
	double inserts; /* number of inserts per second */
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

/* Inserts @rate keys per second, evenly, for the duration of one measurement. */
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

static struct cost measure_once(unsigned n, uint32_t poll_ms, unsigned rate)
{
	struct cost c;
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

enum { NONE, IDLE, SELDOM, INSERTS, FEW_IDLE, FEW_INSERT, CASES };

/* Measures each case ROUNDS times and takes the medians. */
static void measure(unsigned n, struct cost out[CASES])
{
	const struct { unsigned nodes, rate; uint32_t poll_ms; } cases[CASES] = {
		{ 0, 0, 0 }, { n, 0, 20 }, { n, 0, 200 }, { n, RATE, 20 }, { FEW, 0, 20 },
		{ FEW, RATE, 20 } };
	struct cost all[CASES][ROUNDS];
	printf("| nodes | interval | inserts/s | appends, beats/s | reads/s | a core of redis |\n"
	       "| ---: | ---: | ---: | ---: | ---: | ---: |\n");
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < CASES; i++)
			all[i][round] = measure_once(cases[i].nodes, cases[i].poll_ms,
			                             cases[i].rate);
	for (unsigned i = 0; i < CASES; i++) {
		qsort(all[i], ROUNDS, sizeof all[i][0], by_size); /* compares the field cpu */
		out[i] = all[i][ROUNDS / 2];
	}
}

int main(int argc, char **argv)
{
	char text[300];
	struct cost c[CASES];
	const unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 32;
	if (argc < 2 || n <= FEW || n > MOST)
		return 2;
	seconds = argc > 3 ? (unsigned)atoi(argv[3]) : seconds;
	snprintf(text, sizeof text, "unix://%s", argv[1]);
	url = text;
	direct = redisConnectUnix(argv[1]);
	if (!direct || direct->err)
		return 1;
	measure(n, c);
	const double read = (c[IDLE].cpu - c[SELDOM].cpu) / (c[IDLE].reads - c[SELDOM].reads);
	const double beat = (c[SELDOM].cpu - c[NONE].cpu - c[SELDOM].reads * read) /
	                    c[SELDOM].beats;
	/* The CPU seconds that redis needs for 1,000 inserts, with n nodes (many) and with FEW
	 * nodes (few). The CPU time while the same number of nodes is idle is subtracted. */
	const double many = (c[INSERTS].cpu - c[IDLE].cpu) / c[INSERTS].inserts * 1000;
	const double few = (c[FEW_INSERT].cpu - c[FEW_IDLE].cpu) / c[FEW_INSERT].inserts * 1000;
	const double follower = (many - few) / (n - FEW);
	const double taken = few - (FEW - 1) * follower;
	printf("\n| | CPU time of redis |\n| --- | ---: |\n"
	       "| a heartbeat | %.1f us |\n| a read that brings nothing | %.1f us |\n"
	       "| 1,000 inserts, %d a second | %.0f us |\n"
	       "|   and for each follower | %.1f us |\n", beat * 1e6, read * 1e6, RATE,
	       taken * 1e6, follower * 1e6);
	print_1000(beat, read, taken, follower, c[NONE].cpu);
	redisFree(direct);
	return 0;
}
