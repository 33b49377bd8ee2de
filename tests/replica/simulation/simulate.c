/* SPDX-License-Identifier: MIT
 * Three to five nodes and a server that loses what a server may lose, in orders drawn by seed. An
 * order that fails (sim_oracle.c) is made shorter for as long as it fails in the same way, and then
 * printed step by step. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../test.h"
#include "simulation.h"

enum { QUIET = 120 /* rounds of all, until everything has come to rest */ };

/* What happens, how often, and the letter that allows it; blank: it always may. */
static const struct {
	const char *name;
	unsigned weight;
	char letter;
} kinds[] = {
	{ "insert", 12, ' ' }, { "confirm", 10, ' ' }, { "round", 30, ' ' }, { "look", 4, ' ' },
	{ "read", 4, ' ' }, { "send", 4, ' ' }, { "due", 6, ' ' }, { "publish", 4, ' ' },
	{ "record", 2, 'r' }, { "replace", 2, 'R' }, { "back", 2, 'b' }, { "put", 1, 'm' },
	{ "trim", 4, 't' }, { "delete", 2, 'd' }, { "delete all", 1, 'd' },
	{ "failover", 2, 'f' }, { "flush", 1, 'F' }, { "lag", 2, 'l' }, { "kill", 3, 'k' },
	{ "sleep", 3, 's' }, { "errors", 2, 'e' },
};

enum op { INSERT, CONFIRM, ROUND, LOOK, READ, SEND, DUE, PUBLISH, RECORD, REPLACE, BACK, PUT, TRIM,
          DELETE, DELETE_ALL, FAILOVER, FLUSH, LAG, KILL, SLEEP, ERRORS };

struct event {
	enum op op;
	unsigned node;
	uint64_t arg;
};

static struct sim sim;

/* What a node does; it does nothing while it is asleep. */
static void act(struct sim *s, const struct event *e, unsigned i)
{
	if (s->at[i].asleep_until > s->now)
		return;
	switch (e->op) {
	case INSERT: sim_insert(s, i); break;
	case CONFIRM: sim_round(s, i, true); break;
	case ROUND:
		sim_round(s, i, false);
		sim_due(s, i, e->arg % 4 == 0);
		break;
	case LOOK: sim_look(s, i); break;
	case READ: sim_look_after(s, i, weir__node_read(&s->at[i].node)); break;
	case SEND: sim_look_after(s, i, weir__node_send(&s->at[i].node)); break;
	case DUE: sim_due(s, i, false); break;
	case PUBLISH: sim_publish(s, i); break;
	case RECORD: sim_record(s, i, 0); break;
	case REPLACE: sim_record(s, i, e->arg + 1); break;
	default: sim_back(s, i, e->arg);
	}
}

/* What happens to the server, or to a node. */
static void happen(struct sim *s, const struct event *e, unsigned i)
{
	struct toy *t = &s->toy;
	switch (e->op) {
	case PUT: sim_put(s, e->arg); break;
	case TRIM: toy_trim(t, e->arg % 6 ? e->arg % 6 : t->now.n); break;
	case DELETE: toy_delete(t, e->arg % 8); break;
	case DELETE_ALL: toy_delete_all(t); break;
	case FAILOVER: toy_fail_over(t); break;
	case FLUSH:
		toy_flush(t);
		s->report_count = 0;
		s->lease_of = 0;
		break;
	case LAG: t->lags = e->arg % 2; break;
	case KILL:
		sim_die(s, i);
		sim_be_born(s, i);
		break;
	case SLEEP:
		s->at[i].asleep_until = s->now + 5 + e->arg % 60 + (e->arg % 7 ? 0 : 300);
		break;
	default:
		t->failing = e->arg % 2 ? 60 : 0;
		t->slow = e->arg % 4 > 1 ? 500 : 0;
	}
	sim_excuse(s);
}

static void become_quiet(struct sim *s)
{
	s->toy.failing = s->toy.slow = 0;
	s->toy.lags = false;
	for (unsigned i = 0; i < s->nodes; i++)
		s->at[i].asleep_until = 0;
	unsigned before = 0;
	for (unsigned round = 0; round < QUIET; round++) {
		s->now++;
		for (unsigned i = 0; i < s->nodes; i++) {
			sim_round(s, i, false);
			sim_due(s, i, round >= 20 && round < QUIET / 2 && round % 5 == i % 5);
		}
		if (round == QUIET - 20)
			before = s->kept_count;
	}
	if (s->kept_count != before)
		sim_fail(s, "generations without end", 0, 0);
}

static void print_step(const struct sim *s, unsigned number, const struct event *e)
{
	printf("%3u %-10s node %u, %4llu: generation %llu, %zu entries;", number,
	       kinds[e->op].name, e->node % s->nodes, (unsigned long long)e->arg,
	       (unsigned long long)s->toy.now.generation, s->toy.now.n);
	for (unsigned i = 0; i < s->nodes; i++) {
		const struct weir_node *n = &s->at[i].node;
		printf(" %llu%s%s%s%s", (unsigned long long)n->joined.generation,
		       n->united ? " united" : "", n->healed ? " healed" : "",
		       n->ahead ? " ahead" : "", n->gap ? " gap" : "");
		putchar(i + 1 < s->nodes ? ',' : '\n');
	}
}

/* Return: whether it fails. */
static bool run(uint64_t seed, const struct event *e, unsigned n, bool verbose)
{
	struct sim *s = &sim;
	*s = (struct sim){ .nodes = 3 + (unsigned)(seed % 3), .now = 1000 };
	toy_make(&s->toy, seed);
	for (unsigned i = 0; i < s->nodes; i++)
		sim_be_born(s, i);
	for (unsigned k = 0; k < n && !s->failure[0]; k++) {
		s->now++;
		(e[k].op <= BACK ? act : happen)(s, &e[k], e[k].node % s->nodes);
		sim_check_own(s);
		if (verbose)
			print_step(s, k, &e[k]);
	}
	if (!s->failure[0]) {
		become_quiet(s);
		sim_check_all(s);
	}
	for (unsigned i = 0; i < s->nodes; i++)
		sim_die(s, i);
	for (unsigned k = 0; k < s->kept_count; k++)
		free(s->kept[k].text);
	toy_free(&s->toy);
	return s->failure[0] != '\0';
}

static struct event draw(uint64_t *random, const char *letters)
{
	unsigned all = 0, op = 0, weights[COUNT_OF(kinds)];
	for (unsigned k = 0; k < COUNT_OF(kinds); k++) {
		bool may = kinds[k].letter == ' ' || strchr(letters, kinds[k].letter);
		all += weights[k] = may ? kinds[k].weight : 0;
	}
	uint64_t at = test_random(random) % all;
	for (; at >= weights[op]; op++)
		at -= weights[op];
	return (struct event){ (enum op)op, (unsigned)(test_random(random) % 60),
		               test_random(random) % 10000 };
}

/* Leave out pieces, smaller and smaller, for as long as it fails in the same way. */
static unsigned make_shorter(uint64_t seed, struct event *e, unsigned n)
{
	char kind[sizeof sim.failure];
	snprintf(kind, sizeof kind, "%.*s", (int)strcspn(sim.failure, ":"), sim.failure);
	struct event *less = malloc(n * sizeof *less);
	assert_non_null(less);
	for (unsigned piece = n / 2; piece > 0; piece /= 2)
		for (unsigned from = 0; from + piece <= n;) {
			memcpy(less, e, from * sizeof *e);
			memcpy(less + from, e + from + piece, (n - from - piece) * sizeof *e);
			if (!run(seed, less, n - piece, false) ||
			    strncmp(sim.failure, kind, strlen(kind)) != 0) {
				from += piece;
				continue;
			}
			n -= piece;
			memcpy(e, less, n * sizeof *e);
		}
	free(less);
	return n;
}

struct options {
	uint64_t from, seeds;
	unsigned events;
	const char *letters;
};

static void help(const char *program)
{
	printf("usage: %s [--from SEED] [--seeds N] [--events N] [--features LETTERS]\n"
	       "LETTERS (default tfFrks): t(rim the stream) d(elete entries) f(ail over) F(lush)\n"
	       "r(ecord) R(eplace by a record that lacks keys) b(ack to a generation of before)\n"
	       "m(anifest put back by hand) k(ill) s(leep) l(ag of the replica) e(rrors)\n",
	       program);
}

static struct options read_options(int argc, char **argv)
{
	static const struct option known[] = { { "from", required_argument, NULL, 'f' },
		                               { "seeds", required_argument, NULL, 's' },
		                               { "events", required_argument, NULL, 'e' },
		                               { "features", required_argument, NULL, 'l' },
		                               { "help", no_argument, NULL, 'h' },
		                               { 0 } };
	struct options o = { 1, 800, 120, "tfFrks" };
	for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;)
		switch (option) {
		case 'f': o.from = strtoull(optarg, NULL, 10); break;
		case 's': o.seeds = strtoull(optarg, NULL, 10); break;
		case 'e': o.events = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'l': o.letters = optarg; break;
		default: help(argv[0]); exit(option == 'h' ? 0 : 2);
		}
	if (!o.seeds || !o.events) {
		help(argv[0]);
		exit(2);
	}
	return o;
}

int main(int argc, char **argv)
{
	const struct options o = read_options(argc, argv);
	struct event *e = malloc(o.events * sizeof *e);
	const uint64_t seeds = test_is_short() && o.seeds > 200 ? 200 : o.seeds;
	unsigned failed = 0;
	assert_non_null(e);
	for (uint64_t seed = o.from; seed < o.from + seeds && failed < 3; seed++) {
		uint64_t random = seed * 1000003;
		for (unsigned k = 0; k < o.events; k++)
			e[k] = draw(&random, o.letters);
		if (!run(seed, e, o.events, false))
			continue;
		failed++;
		unsigned n = make_shorter(seed, e, o.events);
		(void)run(seed, e, n, true);
		printf("seed %llu: %s; %u steps\n", (unsigned long long)seed, sim.failure, n);
	}
	printf("%llu seeds, %u failed\n", (unsigned long long)seeds, failed);
	free(e);
	return failed != 0;
}
