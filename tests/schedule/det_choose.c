/* SPDX-License-Identifier: MIT
 * det: the choices of an execution, and the strategies that make them. Every choice is recorded. So
 * a search can return to the last choice with an untried candidate, and a failure can be
 * replayed. */
#include "det_internal.h"

enum { CHOICES = 20000, DEPTH = 16 };

static int taken[CHOICES], candidates_of[CHOICES];
static int choices; /* number of choices made in this execution */
static int prefix;  /* number of choices fixed before the execution */
static int preemptions, stale_reads;
static uint64_t contended; /* steps at which more than one thread could run */
static uint64_t contended_before = 60;
static uint64_t change_at[DEPTH];
static uint64_t random_state;

uint64_t det_random(void) /* xorshift64* (Vigna 2016) */
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * UINT64_C(2685821657736338717);
}

void det_random_seed(uint64_t seed)
{
	random_state = seed * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(88172645463325252);
}

static void record_choice(int choice, int candidates)
{
	if (choices >= CHOICES)
		det_fail("no end after %d choices", CHOICES);
	taken[choices] = choice;
	candidates_of[choices++] = candidates;
}

int det_choose(int candidates, enum det_choice what)
{
	int choice = 0;
	if (candidates <= 1)
		return 0;
	if (choices < prefix)
		choice = taken[choices] < candidates ? taken[choices] : candidates - 1;
	else if (det.options.strategy != DET_DFS &&
	         /* a load takes the newest value with a probability of at least 3/4 */
	         (what == DET_WHICH_THREAD || det_random() % 4 == 0))
		choice = (int)(det_random() % (uint64_t)candidates);
	record_choice(choice, candidates);
	return choice;
}

/* Chooses one of @candidates values that a load may return. Choice 0 is the newest value. */
int det_choose_stale(int candidates)
{
	if (det.options.stale >= 0 && stale_reads >= det.options.stale)
		return 0;
	int choice = det_choose(candidates, DET_WHICH_VALUE);
	stale_reads += choice != 0;
	return choice;
}

/* Lists the threads that can run. The running thread comes first, so that choice 0 preempts no
 * thread. */
static int runnable(int list[DET_THREADS], bool readers)
{
	int n = 0;
	if (det.current >= 0 && det_runnable(det.current) && (readers || !det_self()->reader))
		list[n++] = det.current;
	for (int i = 0; i < det.threads; i++)
		if (i != det.current && det_runnable(i) && (readers || !det.thread[i].reader))
			list[n++] = i;
	return n;
}

static int candidates(int list[DET_THREADS])
{
	bool readers_last = det.options.strategy == DET_DFS && !det.options.every_step;
	int n = runnable(list, !readers_last);
	if (!n && readers_last && runnable(list, true))
		return 1; /* only readers remain: their order does not matter */
	for (int i = 0; !n && i < det.threads; i++)
		if (det.thread[i].state != DET_DONE)
			det_fail("deadlock: thread %d waits, and none can run", i);
	return n;
}

static int highest(const int list[], int n)
{
	int best = 0;
	for (int d = 0; d < det.options.depth - 1 && d < DEPTH; d++)
		if (change_at[d] == contended && det.current >= 0)
			det_self()->priority = -1 - d;
	for (int i = 1; i < n; i++)
		if (det.thread[list[i]].priority > det.thread[list[best]].priority)
			best = i;
	if (n > 1)
		record_choice(best, n);
	return best;
}

int det_choose_thread(void)
{
	int list[DET_THREADS], n, choice;
	bool can_continue = det.current >= 0 && det_runnable(det.current) &&
	                 det_self()->wait != DET_FOR_OTHERS;
	if (det.options.strategy == DET_DFS && can_continue &&
	    preemptions >= det.options.preemptions)
		return det.current;
	n = candidates(list);
	if (n == 0)
		return -1;
	contended += n > 1;
	if (det.options.strategy == DET_PCT && choices >= prefix)
		choice = highest(list, n);
	else
		choice = det_choose(n, DET_WHICH_THREAD);
	preemptions += can_continue && choice != 0;
	return list[choice];
}

void det_choose_begin(void)
{
	if (contended > 4)
		contended_before = contended;
	choices = preemptions = stale_reads = 0;
	contended = 0;
	if (det.options.strategy == DET_PCT)
		for (int d = 0; d < DEPTH; d++)
			change_at[d] = 1 + det_random() % contended_before;
}

void det_choose_replay(const char *schedule)
{
	prefix = 0;
	for (const char *c = schedule; c && *c && prefix < CHOICES; c++)
		taken[prefix++] = *c - '0';
}

/* Advances the last choice with an untried candidate. The choices before it become the prefix of
 * the next execution. Return: false if no choice has an untried candidate. */
bool det_choose_next(void)
{
	while (choices && taken[choices - 1] + 1 >= candidates_of[choices - 1])
		choices--;
	if (!choices)
		return false;
	taken[choices - 1]++;
	prefix = choices;
	return true;
}

void det_choose_print(char *out, size_t bytes)
{
	size_t n = 0;
	for (; n < (size_t)choices && n < bytes - 1; n++)
		out[n] = (char)('0' + taken[n]);
	out[n] = '\0';
}
