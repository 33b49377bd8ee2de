/* SPDX-License-Identifier: MIT
 * A refresh (src/set/follow/refresh.c): the filter is replaced by an image file that was made from
 * the application's record.
 *
 * The application writes its record before it inserts. Another process makes a file of the record,
 * at any time and a word at a time. The refresh maps the file it finds and checks it, and then
 * reloads with the image as next: begin, carry, the gate, commit.
 *
 *  - The image's filter has the keys whose inserts had returned before the making of the image
 *    began, and the keys whose inserts started after begin's grace period ([BEGIN-WAITS]). A key
 *    that was inserted in between may be in the old filter alone.
 *  - If the refresh carries over the old filter's bits, no key is missing.
 *  - While the old filter serves, no key is missing. So no key is missing if the image is refused,
 *    by its check or by the gate after the carry.
 *  - No filter and no record is used or freed again after it was freed ([FREE-AFTER-GRACE]). There
 *    are never more than two filters.
 *
 * Variants, and what they must show (run.sh reads these lines):
 *  variant: holds
 *  variant CARRY: holds, all inserts are found
 *  variant ALL_FOUND: fails, without carry a key that was inserted after the making of the image
 *      began can be in the old filter alone
 *  variant SOURCE_LATE: fails, the application inserts first and writes its record then
 *  variant CARRY NO_GRACE_COPY: fails, an inserter that read the old record writes behind the
 *      copy's back ([BEGIN-WAITS])
 *  variant CARRY NO_NEXT: fails, the image is published at once, and an inserter writes to the old
 *      filter after its bits were carried over ([BEGIN-WAITS])
 *  variant CHECK_LATE: fails, inserts have changed the bits of a good image that is published
 *      before it is checked
 *  variant REFUSED_AT_ONCE: fails, an inserter still writes to an image that is refused after begin
 *      ([FREE-AFTER-GRACE])
 *  variant NO_GRACE_FREE: fails, a section still uses the old record and the old filter
 *      ([FREE-AFTER-GRACE])
 *
 *  full ROUNDS=2: a second file, made at any time since the first
 */
#ifndef INSERTERS
#define INSERTERS 2
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define FILTERS (1 + ROUNDS)
#define RECORDS (1 + 2 * ROUNDS)
#define PEAK 2
#include "rcu.h"
#include "generation.h"

byte source;        /* the application's record: a bit for each key */
byte file, files;   /* the file's bits; how many were put there */
byte file_covers;   /* keys whose insert had returned before its making began */
byte covered = 255; /* the same of the file that is current; at first all */
byte opened;        /* how many images were published as next, their grace periods ended */
byte passed;        /* which of them is current */
byte began[KEYS];   /* how many were opened when the key's insert began */

#if defined(CARRY) || defined(ALL_FOUND)
#define PROMISED(k) ((promised >> (k)) & 1)
#else
#define PROMISED(k) (((promised >> (k)) & 1) && (((covered >> (k)) & 1) || began[k] >= passed))
#endif
#include "threads.h"
#include "loader.h"

proctype inserter(byte t)
{
	byte r, f, k = t;
#ifndef SOURCE_LATE
	source = source | (1 << k);
#endif
	began[k] = opened;
	insert();
#ifdef SOURCE_LATE
	source = source | (1 << k)
#endif
}

/* A new file takes the old one's place whole: save.pml. */
proctype maker()
{
	byte k, bits, covers;
	do
	:: files < ROUNDS ->
		covers = promised;
		do
		:: k < KEYS -> bits = bits | (source & (1 << k)); k++
		:: else ->
			d_step {
				file = bits; file_covers = covers; files++;
				bits = 0; covers = 0; k = 0
			};
			break
		od
	:: else -> break
	od
}

inline map()
{
	allocate(next);
	d_step {
		met = files; mapped = file; covers = file_covers;
		filters[next].bits = mapped /* copy-on-write */
	}
}

/* The image is next. */
inline swap()
{
#ifdef NO_NEXT
	fill(0);
#else
	open(0);
	opened++;
#ifdef CHECK_LATE
	assert(filters[next].bits == mapped);
#endif
#ifdef CARRY
	fill(0);
#endif
#endif
	if
	:: d_step { publish(0, next, NONE, NONE); covered = covers; passed = opened };
	   retire(old, NONE, leaving)
	:: publish(0, old, NONE, NONE); /* the gate refuses what would be published */
#ifdef REFUSED_AT_ONCE
	   free_filter(next);
	   retire(NONE, NONE, leaving)
#else
	   retire(next, NONE, leaving)
#endif
	fi
}

proctype loader(byte g)
{
	byte met, mapped, covers, old, kept, next, leaving, k;
	bit carried;
	do
	:: met < ROUNDS ->
		files > met; /* the file has changed */
		claim();
		find(0);
		map();
		if
		:: swap()
		:: free_filter(next) /* damaged, or another seed or shape; no reader has it */
		fi;
		d_step { mapped = 0; covers = 0 }
		RELEASE
	:: else -> break
	od
}

init {
	byte t;
	atomic {
		allocate(t);
		publish(0, t, NONE, NONE);
		start_threads();
		run maker();
		run loader(0)
	}
}
