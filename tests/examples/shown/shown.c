/* SPDX-License-Identifier: MIT
 * What has a user been shown already? Each user has a filter of 1 KiB. One mapped file, the
 * arena, has the bits of all filters. Usage: shown LAYOUT USERS THREADS FOLDER
 *
 *   A1 The file has a directory, a slot for each user, and some spare slots. A slot that is in the
 *      directory has its user's bits and is never zeroed.
 *   A2 A new filter is made on a spare slot, because weir_create() zeroes the slot. The slot gets
 *      the user's bits, and one store to the directory switches the user to the slot. If
 *      the process is killed before that store, the user still has the old slot.
 *   A3 A thread holds a read-side section while it uses a filter. After a switch and a grace
 *      period, the old filter is destroyed and its slot is spare.
 * A restart and a reset both make the filter of a user by a switch to another slot. */
#include <malloc.h>
#include <stdatomic.h>
#include <urcu/urcu-bp.h>
#include "../example.h"

static const char usage[] = "shown LAYOUT USERS THREADS FOLDER";
static const uint32_t kinds[] = { WEIR_CLASSIC, WEIR_BLOCKED };

enum { SLOT = 1024, SPARE = 1024, ITEMS = 500, RESET = 100 /* every 100th user is reset */ };

static struct weir_params params = WEIR_PARAMS_INIT;
static double rate; /* the false-positive rate that the plan computes */
static uint64_t users;
static char file[NAME];
static _Atomic(struct weir_filter *) *opened; /* the open filter of each user, or NULL */
static _Atomic(uint32_t) *directory;          /* in the file: the slot number of each user */
static char *slots;
static uint32_t spare[SPARE], n_spare;
static atomic_ullong next, missed, wrong, seen_empty, insert_ns, lookup_ns;
static atomic_bool resetting = true;

static size_t directory_bytes(void) { return (users * sizeof *directory + 4095) & ~4095UL; }
static size_t file_room(void) { return directory_bytes() + (users + SPARE) * (size_t)SLOT; }

/* In a new file user i has slot i. Slots that the directory does not name are spare. */
static void start(bool fresh)
{
	char *base = map_shared(file, file_room());
	directory = (void *)base;
	slots = base + directory_bytes();
	bool *taken = room_for(users + SPARE, sizeof *taken);
	for (uint32_t i = 0; i < users; i++) {
		if (fresh)
			directory[i] = i;
		taken[directory[i]] = true;
	}
	n_spare = 0;
	for (uint32_t i = 0; i < users + SPARE; i++)
		if (!taken[i])
			spare[n_spare++] = i;
	free(taken);
}

/* Switch @user to a spare slot (rule A2). Single-threaded. @bits: the new contents, or NULL. @old:
 * gets the old slot. Return: the old filter, which no thread uses after a grace period. */
static struct weir_filter *switch_over(uint64_t user, const void *bits, uint32_t *old)
{
	struct weir_params p = params;
	struct weir_filter *filter;
	uint32_t slot = spare[--n_spare];
	p.memory = slots + slot * (size_t)SLOT;
	p.memory_bytes = SLOT;
	must(weir_create(&filter, &p), "create");
	if (bits)
		memcpy(p.memory, bits, SLOT);
	*old = atomic_exchange(&directory[user], slot);
	return atomic_exchange(&opened[user], filter);
}

static void open_all(void)
{
	uint32_t old;
	for (uint64_t user = 0; user < users; user++) {
		switch_over(user, slots + directory[user] * (size_t)SLOT, &old);
		spare[n_spare++] = old; /* no filter was open on this slot */
	}
}

/* Look up item @i of @user, inside a read-side section (rule A3). */
static bool shown(uint64_t user, uint64_t i)
{
	urcu_bp_read_lock();
	bool yes = weir_contains_u64(atomic_load(&opened[user]), key_user_snowflake(user, i));
	urcu_bp_read_unlock();
	return yes;
}

static void *show(void *unused)
{
	uint64_t user;
	while ((user = atomic_fetch_add(&next, 1)) < users) {
		double began = cpu_seconds();
		for (uint64_t i = 0; i < ITEMS; i++) {
			urcu_bp_read_lock();
			weir_insert_u64(atomic_load(&opened[user]), key_user_snowflake(user, i));
			urcu_bp_read_unlock();
		}
		insert_ns += (uint64_t)((cpu_seconds() - began) * 1e9);
	}
	return unused;
}

/* Look up shown items and unshown items of each user, then shown items of random users. */
static void *look(void *unused)
{
	uint64_t user, sum = 0, no = 0, yes = 0;
	while ((user = atomic_fetch_add(&next, 1)) < users)
		for (uint64_t i = 0; i < ITEMS; i++) {
			no += !shown(user, i);
			yes += shown(user, ITEMS + i);
		}
	double began = cpu_seconds();
	for (uint64_t i = 0; i < users; i++)
		sum += shown(key_scramble(i) % users, i % ITEMS);
	lookup_ns += (uint64_t)((cpu_seconds() - began) * 1e9);
	missed += no + users - sum;
	wrong += yes;
	return unused;
}

/* Thread 0 resets users. Each other thread must find the items of users that are never reset. */
static void *reset_or_look(void *thread)
{
	struct weir_filter *left[SPARE / 2];
	uint32_t slot[SPARE / 2], n = 0;
	for (uint64_t i = (uintptr_t)thread; thread && (resetting || i < 10000); i += 64)
		if (key_scramble(i) % users % RESET && !shown(key_scramble(i) % users, i % ITEMS))
			missed++;
	for (uint64_t user = 0; !thread && user < users; user += RESET) {
		left[n] = switch_over(user, NULL, &slot[n]);
		if (++n < SPARE / 2 && user + RESET < users)
			continue;
		urcu_bp_synchronize_rcu(); /* one grace period for many users */
		for (; n; spare[n_spare++] = slot[--n])
			weir_destroy(left[n - 1]);
	}
	if (!thread)
		resetting = false;
	return NULL;
}

static void restart(void)
{
	for (uint64_t user = 0; user < users; user++)
		weir_destroy(atomic_exchange(&opened[user], NULL));
	munmap((void *)directory, file_room());
	start(false);
	open_all();
	for (uint64_t i = 0; i < users * 25; i++) {
		bool yes = shown(i % users, i * 7 % ITEMS), was_reset = i % users % RESET == 0;
		missed += !was_reset && !yes;
		seen_empty += was_reset && yes;
	}
}

static void choose(const char *layout)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	params.kind = kind_of(layout, kinds, 2, usage);
	params.capacity = ITEMS;
	params.max_bytes = SLOT;
	params.seed = SEED; /* all filters get it; a real server stores a random seed */
	params.classic.probes = params.kind == WEIR_CLASSIC ? 6 : 0;
	must(weir_plan_make(&params, &plan), "plan");
	must(weir_params_shape(&params, &plan.shape), "shape"); /* all filters get this shape */
	rate = plan.fp_rate;
}

int main(int argc, char **argv)
{
	arguments(argc == 5, usage);
	users = number(argv[2], 1000, 100000000, usage);
	unsigned threads = (unsigned)number(argv[3], 2, MOST_THREADS, usage);
	choose(argv[1]);
	snprintf(file, NAME, "%s/shown", fresh_folder(argv[4]));
	opened = room_for(users, sizeof *opened);
	start(true);
	double began = cpu_seconds();
	open_all();
	double opening = (cpu_seconds() - began) / (double)users, n = (double)users * ITEMS;
	size_t record = malloc_usable_size(opened[0]) + sizeof(size_t) + sizeof *opened;
	in_threads(threads, show);
	next = 0;
	in_threads(threads, look);
	double resets = in_threads(threads, reset_or_look) / (double)users * RESET;
	restart();
	printf("%s, %llu users of %d items: a file of %.0f MB, and %zu bytes of memory a user; "
	       "%.4f %% of others taken for shown (formula %.4f %%); %.0f ns an insert, %.0f ns a "
	       "lookup of any user; %.1f us to open, %.1f us to reset a user\n", argv[1],
	       (unsigned long long)users, ITEMS, (double)file_room() * 1e-6, record,
	       (double)wrong / n * 100, rate * 100, (double)insert_ns / n,
	       (double)lookup_ns / (double)users / threads, opening * 1e6, resets * 1e6);
	bool kept = promise(!missed, "what was shown is known, beside resets and after a restart");
	kept &= promise(!seen_empty, "who was reset has been shown nothing");
	kept &= promise(within(wrong, rate, users * ITEMS), "the rate is the formula's");
	return !kept;
}
