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
 *  - All becomes quiet: nothing waits for ever.
 *
 * P1  An insert puts its key into the pending batch first and into the handle (current, and next
 *     if there is one) after that. So a join that has missed it in the handle finds it in the batch.
 * P2  One batch is in flight, and the next goes after it is confirmed. A batch is retained until the
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
 *     not count.
 * P6  Joining: next is published beside current; the image, the stream from its position to the
 *     cursor, and all that is pending or retained go into next; commit.
 * P7  The publisher notes position, epoch and base generation, and then copies the set. It begins
 *     only when the current manifest is safe (WAIT), and never while it lacks something or joins.
 *     The script compares the epoch and the base, and trims up to the previous position.
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
 *  variant SHORT TRIMMED: holds
 *  variant EPOCH_IGNORED: fails, nothing lost is sent again (P4)
 *  variant EPOCH_OUTSIDE: fails, a position of the old stream is published in the new (P7)
 *  variant DROP_CONFIRMED: fails, the tail takes what was confirmed (P2)
 *  variant UNSAVED RESTARTS DROP_NEWEST: fails, the tail takes the manifest and what it covered (P2)
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
 *  variant STEADY LATE BASE_IGNORED: fails, an old manifest comes back behind the trim (P7)
 *
 *  full EPOCHS=1 GENERATIONS=2 TRIMMED: trimmed by force, with two generations
 *  full EPOCHS=1 GENERATIONS=2 BATCHES PIPELINED: jumps without damage
 */
#ifdef STEADY         /* no tail is lost, so the replica may be left out */
#define EPOCHS 1
#define GENERATIONS 2
#elif defined(SHORT)
#define EPOCHS 1
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

#ifdef EPOCH_IGNORED
#define IN_EPOCH(n) true
#else
#define IN_EPOCH(n) (nodes[n].epoch == epoch)
#endif
#define SAME_EPOCH IN_EPOCH(n)

/* One step: H1 to H3 (src/set/generation.h) make a reload so for inserts; reload.pml shows that. */
inline put(key)
{
	SET(n) = SET(n) | key;
	if
	:: self.has_next -> NEXT(n) = NEXT(n) | key
	:: else
	fi
}

inline insert(key)
{
#ifdef HANDLE_FIRST
	d_step { put(key) };
	d_step { self.kept = self.kept | key; returned = returned | key; assert(HAS_OWN(n)) }
#else
	self.kept = self.kept | key;
	d_step { put(key); returned = returned | key; assert(HAS_OWN(n)) }
#endif
}

proctype application(byte n)
{
	if
	:: n == 0 -> insert(1)
	:: n == 1 -> insert(2);
#ifdef BATCHES
		insert(4)
#endif
	fi
}

#define UNSENT(k) ((nodes[(k) != 0].kept & (1 << (k))) && !at[k])
#ifdef PIPELINED
#define TURN(k) UNSENT(k)
#define FULL refuses /* it refuses a batch and takes the next one */
#else
#define TURN(k) (UNSENT(k) && ((k) != 2 || !UNSENT(1)))
#define FULL false
#endif

/* Applied is what was read, the node's own too; P3, P5. */
inline apply(key)
{
	if
	:: key == 4 && !(self.numbers & 2) && n == 0 ->
#ifndef JUMP_IGNORED
		self.lacks = 1
#endif
	:: else
	fi;
#ifdef BATCHES
	self.numbers = self.numbers | key;
#endif
#ifdef OWN_SKIPPED
	SET(n) = SET(n) | (key & ~OWN(n))
#else
	SET(n) = SET(n) | key
#endif
}

#ifdef DROP_CONFIRMED
#define COVERED(k) (at[k] != 0)
#elif defined(DROP_NEWEST)
#define COVERED(k) (at[k] && redis.made_in == self.epoch && at[k] <= redis.position)
#else
#define COVERED(k) (at[k] && redis.made_in == self.epoch && redis.before_of == self.epoch && \
	at[k] <= redis.before)
#endif

inline unconfirm()
{
	if
	:: n == 0 -> at[0] = 0
	:: else -> at[1] = 0; at[2] = 0
	fi;
	self.sent = 0; self.id = 0
}

#define ALL_SENT(n) (!nodes[n].sent && !(n == 0 && UNSENT(0)) && !(n == 1 && (UNSENT(1) || UNSENT(2))))

/* An answer to an earlier question does not count. */
inline lack()
{
#ifndef GAP_IGNORED
	self.lacks = 1; other.asked = 0; other.resent = 0; other.forgot = 0
#else
	skip
#endif
}

#ifdef ANSWER_ALONE
#define COVERS(g) true
#else
#define COVERS(g) (self.generation >= (g))
#endif

proctype io(byte n)
{
	byte from, to, image, numbers, made;
	bit given_up;
end:	do
	:: d_step { SAME_EPOCH && !self.sent &&
		((n == 0 && TURN(0)) || (n == 1 && ((TURN(1) && !FULL) || TURN(2)))) ->
		if
		:: n == 0 -> self.sent = 1
		:: n == 1 && TURN(1) && !FULL -> self.sent = 2
		:: n == 1 && TURN(2) && (!TURN(1) || FULL) -> self.sent = 4
		fi;
		stream[redis.added] = self.sent;
		redis.added++;
		self.id = redis.added }
	:: d_step { self.sent && SAME_EPOCH ->
		at[self.sent >> 1] = self.id;
#ifdef RESTARTS
		if
		:: IS_SAFE(saved.added >= self.id) -> waited = waited | self.sent
		:: else
		fi;
#endif
		self.sent = 0; self.id = 0 }
#ifndef EPOCH_IGNORED
	:: d_step { self.epoch != epoch ->
		unconfirm();
		self.joins = self.joins || redis.made_in != self.epoch || self.cursor < redis.position;
		self.generation = redis.generation;
		self.cursor = redis.position;
		self.numbers = redis.numbers;
		self.epoch = epoch;
		self.asked = 0; self.resent = 0; self.forgot = 0 }
#endif
	:: d_step { SAME_EPOCH && !self.joins && self.cursor < redis.added ->
		if
#ifndef GAP_IGNORED
		:: self.cursor < redis.first -> self.joins = 1
#endif
		:: else ->
			if
			:: self.cursor < redis.first -> self.cursor = redis.first
			:: else
			fi;
			do
			:: self.cursor < redis.added -> apply(stream[self.cursor]); self.cursor++
			:: else -> break
			od
		fi }
	:: d_step { SAME_EPOCH && self.lacks && !self.joins && !other.asked && other.epoch == epoch ->
		other.asked = 1; other.resent = 0; other.forgot = 0; other.sent = 0; other.id = 0;
		if
		:: n == 0 -> at[1] = 0; at[2] = 0
		:: else -> at[0] = 0
		fi }
	:: d_step { SAME_EPOCH && self.asked && !self.resent && ALL_SENT(n) ->
		self.resent = redis.added + 1; self.forgot = redis.generation }
	:: d_step { SAME_EPOCH && self.lacks && !self.joins && other.epoch == epoch &&
		other.resent && self.cursor + 1 >= other.resent && COVERS(other.forgot) ->
		self.lacks = 0; other.asked = 0; other.resent = 0; other.forgot = 0 }
	:: d_step { SAME_EPOCH && n == 0 && COVERED(0) ->
		self.kept = self.kept & ~1; at[0] = 0 }
	:: d_step { SAME_EPOCH && n == 1 && !COVERED(2) && COVERED(1) ->
		self.kept = self.kept & ~2; at[1] = 0 }
	:: d_step { SAME_EPOCH && n == 1 && COVERED(2) -> /* and what is older */
		self.kept = self.kept & ~6; at[1] = 0; at[2] = 0 }
	:: atomic { SAME_EPOCH &&
		(self.joins || ((n == 1 || self.lacks) && self.generation != redis.generation &&
		redis.made_in == self.epoch)) ->
#ifndef SWAP_AT_ONCE
		self.has_next = 1;
#endif
		image = redis.image; from = redis.position; numbers = redis.numbers; made = redis.generation };
		d_step {
			NEXT(n) = NEXT(n) | image;
			given_up = !SAME_EPOCH;
			if
			:: given_up
			:: else ->
				if
				:: redis.first > from -> /* the image is not enough */
					assert(forced || redis.generation > made + 1);
					lack();
					from = redis.first
				:: else
				fi;
				if
				:: self.cursor < from -> to = from
				:: else -> to = self.cursor
				fi;
#ifndef SWAP_AT_ONCE
				do
				:: from < to ->
					NEXT(n) = NEXT(n) | stream[from];
					numbers = numbers | stream[from];
					from++
				:: else -> break
				od;
#ifndef NO_RETAINED
				NEXT(n) = NEXT(n) | self.kept;
#endif
#endif
				if
				:: n == 0 && (numbers & 6) == 4 -> lack()
				:: else
				fi
			fi };
		d_step {
			if
			:: !given_up -> self.cursor = to; self.numbers = numbers; self.joins = 0; self.generation = made; self.current = 1 - self.current
			:: else -> self.joins = 1
			fi;
			self.has_next = 0; given_up = 0;
			from = 0; to = 0; image = 0; numbers = 0; made = 0;
			NEXT(n) = 0;
			assert(HAS_OWN(n)) }
	/* node 0 dies and starts again with nothing */
#ifdef RESTARTS
	:: d_step { n == 0 && !restarted && !(self.kept & ~returned) ->
		restarted = 1; self.filter[0] = 0; self.filter[1] = 0; self.current = 0; self.kept = 0; self.numbers = 0; self.cursor = 0;
		returned = returned & ~1; at[0] = 0; self.sent = 0; self.generation = 0;
		self.joins = 1; self.lacks = 0; self.epoch = epoch; self.cursor = redis.position;
		self.asked = 0; self.resent = 0; self.forgot = 0; other.asked = 0; other.resent = 0; other.forgot = 0; self.id = 0;
		stage = 0; taken = 0; taken_of = 0; taken_numbers = 0; base = 0; copy = 0 }
#endif
	od
}

#ifdef EPOCH_IGNORED
#define EPOCH_IS(e) true
#elif defined(EPOCH_OUTSIDE)
#define EPOCH_IS(e) true
#else
#define EPOCH_IS(e) ((e) == epoch)
#endif
#ifdef BASE_IGNORED
#define BASE_IS(base) true
#else
#define BASE_IS(base) ((base) == redis.generation)
#endif

/* P7: the script */
inline publish(position_, of_, numbers_, base_, copy_)
{
	if
	:: EPOCH_IS(of_) && BASE_IS(base_) ->
		redis.before = redis.position; redis.before_of = redis.made_in;
#ifdef POSITION_LATE
		redis.position = redis.added;
#else
		redis.position = position_;
#endif
		redis.made_in = epoch; redis.numbers = numbers_; redis.image = copy_;
		redis.generation++;
#ifdef TRIM_NEWEST
		if
		:: redis.first < redis.position -> redis.first = redis.position
#else
		if
		:: redis.first < redis.before -> redis.first = redis.before
#endif
		:: else
		fi
	:: else
	fi
}

#ifdef PUBLISH_LACKING
#define WHOLE true
#else
#define WHOLE (!self.lacks && !self.joins)
#endif
#ifdef NO_WAIT
#define SAFE true
#else
#define SAFE IS_SAFE(saved.generation == redis.generation)
#endif
#ifdef EPOCH_OUTSIDE
#define COPIED 3
#else
#define COPIED 4
#endif
#define n 0
proctype publisher()
{
end:	do
	:: d_step { stage == 0 && WHOLE && SAFE && SAME_EPOCH && redis.generation < GENERATIONS &&
		(self.cursor > redis.position || redis.made_in != epoch) ->
		taken = self.cursor; taken_of = self.epoch; taken_numbers = self.numbers;
		base = redis.generation; stage = 1 }
	:: d_step { stage == 1 -> copy = SET(n) & 1; stage = 2 }
	:: d_step { stage == 2 -> copy = copy | (SET(n) & 6); stage = COPIED }
#ifdef EPOCH_OUTSIDE
	:: d_step { stage == 3 -> stage = (taken_of == epoch -> 4 : 0) }
#endif
	:: d_step { stage == 4 -> publish(taken, taken_of, taken_numbers, base, copy);
		if
		:: redis.generation == base + 1 -> self.generation = redis.generation
		:: else
		fi;
		stage = 0; copy = 0; taken = 0; taken_of = 0; taken_numbers = 0; base = 0 }
#ifdef LATE
	:: d_step { stage == 4 && !was_late ->
		late = 1; was_late = 1;
		late_taken = taken; late_of = taken_of; late_numbers = taken_numbers;
		late_base = base; late_copy = copy;
		stage = 0; copy = 0; taken = 0; taken_of = 0; taken_numbers = 0; base = 0 }
	:: d_step { late -> publish(late_taken, late_of, late_numbers, late_base, late_copy);
		late = 0; late_taken = 0; late_of = 0; late_numbers = 0; late_base = 0; late_copy = 0 }
#endif
	od
}
#undef n

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
	:: d_step { QUIET(0) && QUIET(1) && !late && !stage && (returned & MADE_BY_1) == MADE_BY_1 ->
		assert(FOUND(returned));
		assert(forced || FOUND(waited)) }
	od
}
