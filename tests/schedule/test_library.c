/* SPDX-License-Identifier: MIT
 * Runs every scenario on every layout that fits it: first all schedules up to a number of
 * preemptions, then at random, then by random priorities. A failure prints the command that repeats
 * it. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../short.h"
#include "forms.h"

static const struct scenario *const tables[] = {
	insert_scenarios,  load_scenarios,     whole_scenarios,          reload_scenarios,
	counters_scenarios, cuckoo_scenarios, cuckoo_room_scenarios,
	way_out_scenarios,
	batch_scenarios,   previous_scenarios, writers_scenarios,        retire_scenarios,
	refresh_scenarios, absent_scenarios,   full_scenarios,           void_scenarios,
	removal_scenarios, sharded_scenarios,  sharded_writers_scenarios,
	growing_scenarios, window_scenarios,   guard_scenarios,          router_scenarios,
	text_scenarios
};
static const char *const strategy_names[] = {
	[DET_DFS] = "dfs", [DET_RANDOM] = "random", [DET_PCT] = "pct"
};

static struct settings {
	const char *group, *scenario, *layout, *form, *strategy, *replay;
	int preemptions; /* the bound of a search; negative: each scenario's own bound */
	/* number of executions by DET_RANDOM, and again by DET_PCT, of each scenario in each layout
	 * and form, before executions_of() divides it */
	uint64_t executions;
	uint64_t seed;
	bool each; /* ignore scenario.cost, OTHER_FORMS and lower preemption bounds */
	bool every_step, stop; /* @stop: end after the first failure */
} settings = { .preemptions = -1, .executions = 30000, .seed = 1 };

/* If a key has NARROWED_FROM words or more, loads choose only between values that differ in bits of
 * the thread's own keys. */
enum { PREEMPTIONS = 3, NARROWED_FROM = 8 };
/* divides the number of random executions in each form except HASH */
enum { OTHER_FORMS = 6 };

const struct subject *subject;
int answer[PROMISES];
static uint32_t flags[PROMISES];
static unsigned seeds_given;
static unsigned keys_of[DET_THREADS]; /* the keys that each thread acts on (bit i: key i); 0: all */

void scenario_begin(void)
{
	subject_clear(subject);
	seeds_given = 0;
	for (unsigned i = 0; i < PROMISES; i++) {
		flags[i] = 0;
		answer[i] = -1;
	}
	for (unsigned i = 0; i < DET_THREADS; i++)
		keys_of[i] = 0;
}

uint64_t alternate_seed(void)
{
	return seeds_given++ % 2 ? subject->seed : subject->other_seed;
}

void acts_on_keys(unsigned keys)
{
	keys_of[det_thread()] = keys;
}

static uint64_t relevant(const volatile void *address)
{
	unsigned keys = keys_of[det_thread()];
	return keys ? subject_bits(subject, address, keys, reseeds()) : ~UINT64_C(0);
}

void promise(unsigned i)
{
	det_store(&flags[i], sizeof flags[i], 1, DET_RELEASE);
}

bool promised(unsigned i)
{
	return det_load(&flags[i], sizeof flags[i], DET_ACQUIRE) == 1;
}

void insert_thread(void *insertion)
{
	const struct insertion *i = insertion;
	acts_on_keys(1u << i->key);
	answer[i->slot] = weir_insert_hash(subject->filter, hash_of(i->key));
	promise(i->slot);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct totals {
	uint64_t rows, executions, failed;
	double seconds;
} totals;

/* Return: the preemption bound of a search. --preemptions sets every bound. Without this option, a
 * scenario has its own bound in form HASH, and under --each in every form. In the other forms the
 * bound is lower, because a key differs from a hash only in the hashing before its insert begins,
 * and because batches take three times as many executions. Scenarios about batches keep their own
 * bound in the forms of batches. A short run lowers the bounds of all forms except HASH by one, if
 * they are above 1. */
static int preemptions_of(const struct scenario *scenario)
{
	if (settings.preemptions >= 0)
		return settings.preemptions;
	int most = scenario->preemptions ? scenario->preemptions : PREEMPTIONS;
	if (settings.each || form == HASH)
		return most;
	int of_form = form > KEY && scenario->batches ? most :
	              form == KEY                     ? 2 :
	              form == HASHES || reseeds()     ? most - 1 :
	                                                1;
	return of_form > 1 ? of_form - test_is_short() : of_form;
}

static uint64_t executions_of(const struct scenario *scenario)
{
	uint64_t n = form == HASH ? settings.executions : settings.executions / OTHER_FORMS;
	if (settings.each)
		return settings.executions;
	return scenario->cost ? n / scenario->cost : n;
}

static bool run(const struct scenario *scenario, enum det_strategy strategy)
{
	struct det_options options = {
		/* the error messages of all threads, followed by the results of weir_error_taken()
		 * and weir_error_last() */
		.local = weir_error_detail(),
		.local_bytes = WEIR_SENTENCE_BYTES + sizeof(size_t) +
		               sizeof(struct weir_error_info),
		.strategy = strategy,
		.preemptions = preemptions_of(scenario),
		.depth = 3,
		.stale = -1,
		.every_step = settings.every_step,
		.seed = settings.seed,
		.replay = settings.replay,
		.executions = strategy == DET_DFS ? 0 : executions_of(scenario),
		.relevant = scenario->narrowed || subject_words(subject) >= NARROWED_FROM ?
		                    relevant :
		                    NULL
	};
	if ((settings.strategy && strcmp(settings.strategy, strategy_names[strategy]) != 0) ||
	    (strategy != DET_DFS && (!options.executions || scenario->wrong)))
		return true;
	if (scenario->prepare && !scenario->prepare())
		return totals.failed++, false;
	double start = now();
	struct det_result r = det_run(&options, scenario->body);
	double seconds = now() - start;
	bool good = !r.failed && (r.complete || strategy != DET_DFS || settings.replay);
	if (scenario->wrong)
		good = r.failed;
	printf("%-20s %-11s %-6s %-6s %10llu executions %7.2f s  ", scenario->name, subject->name,
	       form_names[form], strategy_names[strategy], (unsigned long long)r.executions,
	       seconds);
	if (r.complete && good)
		printf("complete to %d preemptions\n", options.preemptions);
	else
		printf("%s\n", good ? scenario->wrong ? "breaks, as it must" : "ok" :
		               r.failed ? "FAILED" : "NOT COMPLETE");
	if (r.failed && !good)
		printf("  %s\n  again with: --scenario '%s' --layout '%s' --form %s "
		       "--strategy %s --preemptions %d%s --replay %s\n",
		       r.why, scenario->name, subject->name, form_names[form],
		       strategy_names[strategy], options.preemptions,
		       settings.every_step ? " --every-step" : "", r.schedule);
	fflush(stdout);
	totals.rows++;
	totals.executions += r.executions;
	totals.failed += !good;
	totals.seconds += seconds;
	return good;
}

/* Return: true if @name is in the comma-separated @list. */
static bool is_in_list(const char *list, const char *name)
{
	size_t n = strlen(name);
	for (const char *at = list; (at = strstr(at, name)) != NULL; at += n)
		if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == '\0'))
			return true;
	return false;
}

static bool is_selected(const struct scenario *scenario)
{
	return (!settings.group || is_in_list(settings.group, scenario->group)) &&
	       (!settings.scenario || strcmp(settings.scenario, scenario->name) == 0) &&
	       (!settings.layout || strcmp(settings.layout, subject->name) == 0) &&
	       scenario->fits(subject);
}

/* Return: true if a scenario also runs with two seeds. One layout is enough, because the choice
 * between filters does not depend on the bits of a key. */
static bool runs_reseeded(const struct scenario *s)
{
	return is_in_list("reload,batch,previous,writers,retire,refresh", s->group) &&
	       !s->one_seed && subject_words(subject) == 1;
}

/* Return: true if a scenario also runs with u64 keys. Only a handle's functions take such keys: for
 * a single filter, a number is an ordinary key. */
static bool runs_as_number(const struct scenario *s)
{
	return is_in_list("reload,previous,absent,full", s->group) && subject_words(subject) == 1;
}

/* Return: true if a scenario runs in a form. Scenarios with batches of several keys skip the forms
 * of a single key, and HASHES, since they pass batches of hashes in form HASH already. In other
 * scenarios, a batch has one key. */
static bool runs_in_form(const struct scenario *scenario, enum form in)
{
	return (!settings.form || strcmp(settings.form, form_names[in]) == 0) &&
	       !(scenario->batches &&
	         (in == KEY || in == HASHES || in == KEY_RESEEDED || in == NUMBER)) &&
	       !(in == NUMBER && !runs_as_number(scenario)) &&
	       !(in != HASH && scenario->one_form) &&
	       (in < KEY_RESEEDED || runs_reseeded(scenario));
}

static void run_in_each_form(const struct scenario *s)
{
	bool searched = !s->search_words || s->search_words >= subject_words(subject);
	for (form = HASH; form < FORMS; form++)
		if (runs_in_form(s, form) && !(settings.stop && totals.failed))
			(void)((!searched || run(s, DET_DFS)) && run(s, DET_RANDOM) &&
			       run(s, DET_PCT));
}

static void run_all(const struct scenario *scenarios)
{
	for (const struct scenario *s = scenarios; s->name; s++)
		for (size_t i = 0; i < subject_count; i++) {
			subject = &subjects[i];
			if (is_selected(s))
				run_in_each_form(s);
		}
}

static void look_up(void)
{
	(void)weir_contains_hash(subject->filter, hash_of(0));
}

/* Return: true if det sees the library's accesses. This check is needed, because a kernel compiled
 * without the instrumentation would pass any test. The check looks up an inserted key, because such
 * a lookup reads all of the key's words. */
static bool instrumented(void)
{
	scenario_begin();
	weir_insert_hash(subject->filter, hash_of(0));
	struct det_result r = det_run(
		&(struct det_options){ .strategy = DET_DFS, .every_step = true }, look_up);
	unsigned least = subject_words(subject);
	if (r.steps >= least)
		return true;
	printf("%s: a lookup was seen as %llu steps, not %u: compiled without -fsanitize=thread?\n",
	       subject->name, (unsigned long long)r.steps, least);
	return false;
}

static int usage(const char *name)
{
	fprintf(stderr,
	        "usage: %s [--group NAME,...] [--scenario NAME] [--layout NAME] [--form NAME] "
	        "[--preemptions N] [--executions N | --each N]\n"
	        "       [--strategy dfs|random|pct] [--seed N] [--every-step] [--stop] [--replay "
	        "SCHEDULE]\n",
	        name);
	return 2;
}

static bool read_settings(int argc, char **argv)
{
	static const struct option options[] = {
		{ "group", required_argument, 0, 'g' },
		{ "scenario", required_argument, 0, 's' },
		{ "layout", required_argument, 0, 'l' },
		{ "form", required_argument, 0, 'f' },
		{ "preemptions", required_argument, 0, 'p' },
		{ "executions", required_argument, 0, 'n' },
		{ "each", required_argument, 0, 'E' },
		{ "strategy", required_argument, 0, 'y' },
		{ "seed", required_argument, 0, 'S' },
		{ "every-step", no_argument, 0, 'e' },
		{ "replay", required_argument, 0, 'r' },
		{ "stop", no_argument, 0, 'x' },
		{ 0 },
	};
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
		switch (c) {
		case 'g': settings.group = optarg; break;
		case 's': settings.scenario = optarg; break;
		case 'l': settings.layout = optarg; break;
		case 'f': settings.form = optarg; break;
		case 'p': settings.preemptions = atoi(optarg); break;
		case 'n': settings.executions = strtoull(optarg, NULL, 10); break;
		case 'E':
			settings.executions = strtoull(optarg, NULL, 10), settings.each = true;
			break;
		case 'y': settings.strategy = optarg; break;
		case 'S': settings.seed = strtoull(optarg, NULL, 10); break;
		case 'e': settings.every_step = true; break;
		case 'r': settings.replay = optarg; break;
		case 'x': settings.stop = true; break;
		default: return false;
		}
	return optind == argc;
}

int main(int argc, char **argv)
{
	if (!read_settings(argc, argv))
		return usage(argv[0]);
	if (!subjects_make())
		return 1;
	for (size_t i = 0; i < subject_count; i++) {
		subject = &subjects[i];
		if (!instrumented())
			return 1;
	}
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		run_all(tables[i]);
	subjects_unmake();
	printf("%llu runs, %llu executions, %.1f s, %llu failed\n", (unsigned long long)totals.rows,
	       (unsigned long long)totals.executions, totals.seconds,
	       (unsigned long long)totals.failed);
	/* If no scenario has run, the options match nothing, which is a failure. With --form it is
	 * not a failure, because a scenario need not run in every form. */
	return totals.failed || (!totals.rows && !settings.form);
}
