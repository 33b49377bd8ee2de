/* SPDX-License-Identifier: MIT
 * Replication through a Redis server: inserts go round by a stream, images by a manifest, and the
 * server may fail over, or start again, without its tail.
 *
 * Two nodes; node 0 publishes, and dies and starts again with nothing (RESTARTS). Faults: the
 * server's tail is lost; the stream is trimmed by force (TRIMMED), or loses an entry in its middle
 * (DELETED), which the count of trimmed entries does not show here; a publication arrives late
 * (LATE). A batch is one key; stream ids count from 0 in every epoch, so that ids of a lost tail
 * come again. A script is one step.
 *
 *  - Every key whose insert returned is found on its node from then on, unless that node dies.
 *  - It is found on both nodes when all is quiet. So is the key of a node that died if WAIT had
 *    answered its batch and nothing was trimmed by force.
 *  - Nothing is left waiting when nothing more can happen. Endless repetition is not looked for.
 *
 * P1  An insert puts its key into the pending batch first and into the handle (current, and next
 *     if there is one) after that. So a join that missed it in the handle finds it in the batch.
 * P2  One batch is in flight, and the next goes after it is confirmed. A batch is kept until the
 *     previous manifest covers its stream id, and both manifests are of the node's epoch: a tail
 *     that is lost takes the newest manifest with it, never one that the publisher has WAITed for.
 * P3  A reader applies all that it reads, its own batches too: they may be in the stream before the
 *     application has inserted them, and the publisher's position says that they are in its set.
 *     Its cursor moves after that; in a join it moves with the commit.
 * P4  A node learns of another epoch by a script that refuses it. It sends all that it retains
 *     again, its cursor goes back to the manifest's position, and it joins unless its set has that
 *     manifest. The publisher makes a new generation.
 * P5  Read past the cursor with entries trimmed that were not read: the node joins. If the image
 *     does not reach the oldest entry either, or a number of a node's batches is missing, it lacks
 *     something and asks for it. It has it when it has read what the asked node sent in answer,
 *     and has joined a manifest no older than the one that was there when the answer ended: what
 *     the asked node has forgotten is in that image alone. An answer to an earlier question does
 *     not count. (L8 in rules.h: of two nodes, the one that is asked is everybody that lives.)
 * P6  Joining: next is published beside current; the image, the stream from its position to the
 *     cursor, and all that is pending or retained go into next; commit.
 * P7  The publisher notes position, epoch and base generation, and then copies the set. It begins
 *     only when the current manifest is safe (WAIT), and never while it lacks something or joins.
 *     The script compares the epoch and the base, and trims up to the previous position.
 * P8  An image is the one before it and the stream up to its position. A node that has joined the
 *     one before, and read up to there, has all of it and need not join it (L11 in rules.h). One
 *     that is yet to join has its cursor at the position of an image that it does not have.
 *
 * Two rules keep more than keys here. Trimming up to the newest position loses none, by P5; but a
 * join begun with the current manifest then has to begin again at the next one, and might for ever:
 * an assertion says so. A batch sent before the one before it is confirmed loses none as long as
 * jumps are seen (PIPELINED holds); it is then the one thing that makes jumps without any damage.
 *
 * Variants, and what they must show (run.sh reads these lines):
 *  variant: holds, the server loses its tail once
 *  variant UNSAVED RESTARTS: holds, the tail that is lost is all
 *  variant STEADY RESTARTS: holds
 *  variant STEADY LATE: holds
 *  variant STEADY BATCHES DELETED: holds
 *  variant STEADY TRIMMED: holds
 *  variant STEADY BATCHES PIPELINED: holds
 *  variant EPOCH_IGNORED: fails, nothing lost is sent again (P4)
 *  variant EPOCH_OUTSIDE: fails, a position of the old stream is published in the new (P7)
 *  variant DROP_CONFIRMED: fails, the tail takes what was confirmed (P2)
 *  variant UNSAVED RESTARTS DROP_NEWEST: fails, the tail takes manifest and batch (P2)
 *  variant STEADY POSITION_LATE: fails, what came while the set was copied (P7)
 *  variant STEADY OWN_SKIPPED: fails, the position covers what is not in the set yet (P3)
 *  variant STEADY HANDLE_FIRST: fails, a join comes between (P1)
 *  variant STEADY SWAP_AT_ONCE: fails, what was applied after the position is forgotten (P6)
 *  variant STEADY NO_RETAINED: fails, the node's own are forgotten (P6)
 *  variant UNSAVED RESTARTS NO_WAIT: fails, the tail takes two manifests (P7)
 *  variant STEADY TRIMMED ANSWER_ALONE: fails, what was asked for is forgotten already (P5)
 *  variant STEADY TRIMMED GAP_IGNORED: fails (P5)
 *  variant STEADY TRIMMED PUBLISH_LACKING: fails, nobody retains what the image lacks (P7)
 *  variant STEADY BATCHES DELETED JUMP_IGNORED: fails (P5)
 *  variant STEADY BATCHES PIPELINED JUMP_IGNORED: fails, a batch refused and the next one taken
 *  variant STEADY TRIM_NEWEST: fails, a join has to begin again (P7)
 *  variant UNSAVED RESTARTS FOLLOWS_AHEAD: fails, an image that it has not is taken for had (P8)
 *  variant STEADY LATE BASE_IGNORED: fails, an old manifest comes back behind the trim (P7)
 *
 *  full EPOCHS=1 GENERATIONS=3 TRIMMED: one generation more
 */
#ifdef STEADY         /* no tail is lost, so the replica may be left out */
#define EPOCHS 1
#define GENERATIONS 2
#elif defined(NO_WAIT)
#define GENERATIONS 2
#endif
#ifndef EPOCHS
#define EPOCHS 2      /* one failover, or restart, that loses the tail */
#endif
#ifndef GENERATIONS
#define GENERATIONS 1 /* made after the first, which is empty */
#endif
#if EPOCHS == 1
#define IS_SAFE(condition) true
#else
#define IS_SAFE(condition) (condition)
#endif
#ifndef ENTRIES
#define ENTRIES 16
#endif
#ifdef BATCHES
#define MADE_BY_1 6
#else
#define MADE_BY_1 2
#endif
#define OWN(n) (1 + 5 * (n)) /* node 0 inserts key 0; node 1 first key 1, then key 2 */
#define ORIGIN(key) ((key) != 1)

/* The server: what a failover goes back to, the replica or the disk, is the server of some earlier
 * moment. Of two streams the shorter is where the longer began. */
typedef server {
	byte added, first;                  /* stream ids: the next one's, the oldest one's */
	byte generation, image, position;   /* the manifest */
	byte numbers, made_in;                   /* the batches below its position; its epoch */
	byte before, before_of              /* the previous manifest's position and epoch */
}
server redis, saved;
byte stream[ENTRIES]; /* one key a batch */
byte epoch = 1;
bit forced;           /* entries were taken out that were not covered */

typedef node {
	byte filter[2];       /* the handle's, */
	bit current;          /* this one and, if has_next, the other */
	byte kept;            /* pending and retained batches */
	byte numbers;         /* the batches that were read, or that its manifest covers */
	byte cursor, epoch, generation;
	byte sent, id;        /* the batch in flight and what its stream id is */
	byte forgot;          /* the generation when it had sent */
	byte resent;          /* what it was asked for is below this id; 0: it is not done */
	bit has_next, joins, lacks, asked
}
node nodes[2];
byte at[3];       /* a batch's stream id + 1 in its node's epoch; 0: not confirmed */
byte returned;    /* keys whose insert has returned */
byte waited;      /* keys whose batch WAIT answered */
bit restarted;    /* node 0 */
byte stage, taken, taken_of, taken_numbers, base, copy; /* the publisher */
bit late, was_late; /* a publication is sent and has not arrived */
byte late_taken, late_of, late_numbers, late_base, late_copy;
#ifdef PIPELINED
bit refuses; /* it has no room for a batch */
#endif

#define self nodes[n]
#define other nodes[1 - n]
#define SET(n) nodes[n].filter[nodes[n].current]
#define NEXT(n) nodes[n].filter[1 - nodes[n].current]
#define HAS_OWN(n) ((SET(n) & returned & OWN(n)) == (returned & OWN(n)))

inline copy_server(to, from)
{
	to.added = from.added; to.first = from.first; to.generation = from.generation;
	to.image = from.image; to.position = from.position; to.numbers = from.numbers;
	to.made_in = from.made_in; to.before = from.before; to.before_of = from.before_of
}

#include "node.h"
#include "publisher.h"

proctype faults()
{
	byte i;
end:	do
	:: d_step { epoch < EPOCHS ->
		copy_server(redis, saved);
		epoch++;
		i = redis.added;
		do
		:: i < ENTRIES -> stream[i] = 0; i++
		:: else -> break
		od;
		i = 0 }
#ifdef TRIMMED
	:: d_step { !forced && redis.first < redis.added -> forced = 1; redis.first = redis.added }
#endif
#ifdef DELETED
	:: d_step { !forced && redis.added > 1 && stream[redis.added - 2] == 2 &&
		stream[redis.added - 1] == 4 -> forced = 1; stream[redis.added - 2] = 0 }
#endif
#ifdef PIPELINED
	:: d_step { refuses = !refuses }
#endif
	od
}

/* The replica catches up, or the disk. */
proctype follow()
{
end:	do
	:: d_step { saved.added != redis.added || saved.generation != redis.generation ||
		saved.first != redis.first -> copy_server(saved, redis) }
	od
}

#define QUIET(n) (IN_EPOCH(n) && nodes[n].cursor >= redis.added && ALL_SENT(n) && \
	!nodes[n].lacks && !nodes[n].joins)
#define FOUND(key) ((SET(0) & SET(1) & (key)) == (key))
init {
	atomic {
		nodes[0].epoch = 1; nodes[1].epoch = 1; redis.made_in = 1; saved.made_in = 1;
		run application(0); run application(1); run io(0); run io(1);
		run publisher(); run faults();
#if !defined(UNSAVED) && EPOCHS > 1
		run follow()
#endif
	}
	do
	:: d_step { QUIET(0) && QUIET(1) && !late && !stage &&
		(returned & MADE_BY_1) == MADE_BY_1 ->
		assert(FOUND(returned));
		assert(forced || FOUND(waited)) }
	od
}
