/* SPDX-License-Identifier: MIT
 * Full cuckoo filters, and operations on whole filters ([ONE-STRIPE] to [FULL-IF-QUIET] in
 * src/kinds/cuckoo/move.h). A refused insert has met a full filter and leaves no trace. Copies and
 * merges have every copy that was in the source. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include "kind/kind.h"
#include "scenario_cuckoo.h"

/* One slot is free. One of two inserts is refused and leaves no trace. */
static void last_place(void)
{
	cuckoo_fill(1);
	det_spawn(cuckoo_insert_newcomer, NULL);
	det_spawn(cuckoo_insert_second, NULL);
	det_join_all();
	det_assert((answer[0] == WEIR_NEW) + (answer[1] == WEIR_NEW) == 1);
	det_assert((answer[0] == -ENOSPC) + (answer[1] == -ENOSPC) == 1);
	det_assert(cuckoo_has(answer[0] == WEIR_NEW ? &newcomer : &second));
	det_assert(cuckoo_copies(&resident) == 1 && cuckoo_free_slots() == 0);
}

/* The filter is full. An insert after the removal is not refused. */
static void insert_late(void *unused)
{
	(void)unused;
	bool late = promised(2);
	answer[0] = weir_insert_hash(subject->filter, newcomer.hash);
	det_assert(answer[0] == WEIR_NEW || (answer[0] == -ENOSPC && !late));
}

static void no_room(void)
{
	cuckoo_fill(0);
	det_spawn(cuckoo_remove_resident, NULL);
	det_spawn(insert_late, NULL);
	det_join_all();
	det_assert(answer[2] == 1 && cuckoo_copies(&resident) == 0);
	det_assert(cuckoo_free_slots() == (unsigned)(answer[0] < 0));
	det_assert(cuckoo_has(&newcomer) == (answer[0] == WEIR_NEW));
	/* a refused insert does not block a later insert */
	det_assert(answer[0] >= 0 ||
	           weir_insert_hash(subject->filter, newcomer.hash) == WEIR_NEW);
}

/* The free slot is in bucket C first, then in B, and then in A. One slot is always free, but a
 * search that visits each bucket before its slot becomes free finds no free slot. */
static void move_free_slot(void *unused)
{
	(void)unused;
	det_assert(weir_remove_hash(subject->filter, second.hash) == 1);
	answer[1] = weir_insert_hash(subject->filter, twin.hash);
	det_assert(weir_remove_hash(subject->filter, resident.hash) == 1);
	answer[2] = weir_insert_hash(subject->filter, local.hash);
}

static void free_slot_moves(void)
{
	cuckoo_fill(1);
	cuckoo_write(newcomer.bucket[1], 0, second.fingerprint);
	det_spawn(cuckoo_insert_newcomer, NULL);
	det_spawn(move_free_slot, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && cuckoo_has(&newcomer));
	det_assert(cuckoo_free_slots() == (unsigned)(answer[1] < 0) + (answer[2] < 0));
}

/* Checks the keys of a copied or saved filter. @early: the newcomer was inserted before the copy
 * began, so the copy must have the newcomer. */
static void check_copy(struct weir_filter *made, bool early)
{
	det_assert(weir_contains_hash(made, resident.hash));
	det_assert(weir_count_hash(made, resident.hash) == 1);
	det_assert(!early || weir_contains_hash(made, newcomer.hash));
	weir_destroy(made);
}

static void copy_filter(void *unused)
{
	struct weir_filter *made = NULL;
	(void)unused;
	bool early = promised(0);
	det_assert(weir_clone(&made, subject->filter) == 0);
	check_copy(made, early);
}

static void save_filter(void *unused)
{
	struct weir_filter *made = NULL;
	char path[64];
	(void)unused;
	bool early = promised(0);
	snprintf(path, sizeof path, "%s/weir-schedule-%d",
	         access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	det_assert(weir_save(subject->filter, weir_location_path(path), NULL) > 0);
	bool read = weir_load(&made, weir_location_path(path), NULL) == 0;
	unlink(path);
	det_assert(read);
	check_copy(made, early);
}

static void beside_move(void (*thread)(void *))
{
	cuckoo_fill(1);
	det_spawn(cuckoo_insert_newcomer, NULL);
	det_spawn(thread, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && cuckoo_has(&newcomer) && cuckoo_copies(&resident) == 1);
}

static void copied_beside_move(void)
{
	beside_move(copy_filter);
}

static void saved_beside_move(void)
{
	beside_move(save_filter);
}

/* The merged filter gets both copies of the resident, and both can be removed. */
static void merge_into_other(void *unused)
{
	(void)unused;
	bool early = promised(0);
	det_assert(weir_merge(subject->other, subject->filter) == 0);
	det_assert(weir_count_hash(subject->other, resident.hash) == 2);
	det_assert(!early || weir_contains_hash(subject->other, newcomer.hash));
	for (unsigned i = 0; i < 2; i++) {
		det_assert(weir_contains_hash(subject->other, resident.hash));
		det_assert(weir_remove_hash(subject->other, resident.hash) == 1);
	}
	det_assert(!weir_contains_hash(subject->other, resident.hash));
}

static void merged_beside_move(void)
{
	cuckoo_fill(1);
	cuckoo_write(resident.bucket[0], 1, resident.fingerprint);
	/* other fingerprints, so that no copy must move in the merged filter */
	for (unsigned i = 2; i < cuckoo_slots(); i++)
		cuckoo_write(resident.bucket[0], i, second.fingerprint);
	det_spawn(cuckoo_insert_newcomer, NULL);
	det_spawn(merge_into_other, NULL);
	det_join_all();
	det_assert(answer[0] == WEIR_NEW && cuckoo_has(&newcomer) && cuckoo_copies(&resident) == 2);
}

/* Inserts like an insert with WEIR_ONCE. */
static int insert_resident_once(void)
{
	return subject->filter->kernel->insert_once(subject->filter, resident.hash);
}

static void insert_once(void *slot)
{
	answer[*(int *)slot] = insert_resident_once();
}

static void once_twice(void)
{
	static int slots[] = { 0, 1 };
	scenario_begin();
	det_spawn(insert_once, &slots[0]);
	det_spawn(insert_once, &slots[1]);
	det_join_all();
	int fresh = (answer[0] == WEIR_NEW) + (answer[1] == WEIR_NEW);
	det_assert(fresh >= 1 && answer[0] >= 0 && answer[1] >= 0);
	det_assert(cuckoo_has(&resident) && cuckoo_copies(&resident) == fresh);
	det_assert(insert_resident_once() == WEIR_SEEN);
	det_assert(cuckoo_used() == (unsigned)fresh);
}

const struct scenario cuckoo_room_scenarios[] = {
	CUCKOO_SCENARIO("last place", last_place),
	CUCKOO_SCENARIO("no room", no_room),
	CUCKOO_SCENARIO("room that wanders", free_slot_moves),
	CUCKOO_SCENARIO("copied beside move", copied_beside_move),
	CUCKOO_SCENARIO("saved beside move", saved_beside_move),
	CUCKOO_SCENARIO("merged beside move", merged_beside_move),
	CUCKOO_SCENARIO("once, twice", once_twice),
	{ .name = NULL },
};
