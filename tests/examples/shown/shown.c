/* SPDX-License-Identifier: MIT
 * What has a user been shown already? Each user has a small filter of 1 KiB, and one mapped file
 * has the bits of all filters. Usage: shown USERS THREADS FOLDER
 *
 *   A1 The file has a directory, a slot for each user, and some spare slots. A slot that is in the
 *      directory has its user's bits and is never zeroed.
 *   A2 To reset a user, a spare slot is zeroed, and one store to the directory switches the user to
 *      it. If the process is killed before that store, the user still has the old slot.
 *   A3 A thread holds a read-side section while it uses a slot. After a switch and a grace period,
 *      the old slot is spare.
 * Besides the file there is no memory for a user, and a restart only maps the file. */
#include <stdatomic.h>
#include <urcu/urcu-bp.h>
#include "../example.h"

static const char usage[] = "shown USERS THREADS FOLDER";

enum { SLOT = 1024, SPARE = 1024, ITEMS = 500, RESET = 100 /* every 100th user is reset */ };

static struct weir_small filters; /* the size and seed of all filters */
static uint64_t users;
static char file[NAME];
static _Atomic(uint32_t) *directory; /* in the file: the slot number of each user */
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

/* The bits of @user. The caller is inside a read-side section (rule A3). */
static uint64_t *bits_of(uint64_t user)
{
	return (void *)(slots + atomic_load(&directory[user]) * (size_t)SLOT);
}

/* Reset @user (rule A2). Single-threaded. Return: the old slot, which is spare after a grace
 * period. */
static uint32_t reset(uint64_t user)
{
	uint32_t slot = spare[--n_spare];
	memset(slots + slot * (size_t)SLOT, 0, SLOT);
	return atomic_exchange(&directory[user], slot);
}

static bool shown(uint64_t user, uint64_t i)
{
	urcu_bp_read_lock();
	bool yes = weir_small_contains_u64(&filters, bits_of(user), key_user_snowflake(user, i));
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
			weir_small_insert_u64(&filters, bits_of(user), key_user_snowflake(user, i));
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
	uint32_t left[SPARE / 2], n = 0;
	for (uint64_t i = (uintptr_t)thread; thread && (resetting || i < 10000); i += 64)
		if (key_scramble(i) % users % RESET && !shown(key_scramble(i) % users, i % ITEMS))
			missed++;
	for (uint64_t user = 0; !thread && user < users; user += RESET) {
		left[n] = reset(user);
		if (++n < SPARE / 2 && user + RESET < users)
			continue;
		urcu_bp_synchronize_rcu(); /* one grace period for many users */
		while (n)
			spare[n_spare++] = left[--n];
	}
	if (!thread)
		resetting = false;
	return NULL;
}

static void restart(void)
{
	munmap((void *)directory, file_room());
	start(false);
	for (uint64_t i = 0; i < users * 25; i++) {
		bool yes = shown(i % users, i * 7 % ITEMS), was_reset = i % users % RESET == 0;
		missed += !was_reset && !yes;
		seen_empty += was_reset && yes;
	}
}

int main(int argc, char **argv)
{
	arguments(argc == 4, usage);
	users = number(argv[1], 1000, 100000000, usage);
	unsigned threads = (unsigned)number(argv[2], 2, MOST_THREADS, usage);
	/* A real server stores a random seed beside the file. */
	must(weir_small_fit(&filters, ITEMS, SLOT / sizeof(uint64_t), SEED), "size");
	snprintf(file, NAME, "%s/shown", fresh_folder(argv[3]));
	start(true);
	in_threads(threads, show);
	next = 0;
	in_threads(threads, look);
	double resets = in_threads(threads, reset_or_look) / (double)users * RESET;
	restart();
	double rate = weir_small_rate(&filters, ITEMS), n = (double)users * ITEMS;
	printf("%llu users of %d items: a file of %.0f MB; %.4f %% of others taken for shown "
	       "(formula %.4f %%); %.0f ns an insert, %.0f ns a lookup of any user; %.1f us to "
	       "reset a user\n", (unsigned long long)users, ITEMS, (double)file_room() * 1e-6,
	       (double)wrong / n * 100, rate * 100, (double)insert_ns / n,
	       (double)lookup_ns / (double)users / threads, resets * 1e6);
	bool kept = promise(!missed, "what was shown is known, beside resets and after a restart");
	kept &= promise(!seen_empty, "who was reset has been shown nothing");
	kept &= promise(within(wrong, rate, users * ITEMS), "the rate is the formula's");
	return !kept;
}
