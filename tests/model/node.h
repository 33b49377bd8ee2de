/* SPDX-License-Identifier: MIT
 * A node of replicate.pml: its application, and what its I/O thread does, P1 to P6 and P8. */
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

#define ALL_SENT(n) (!nodes[n].sent && !(n == 0 && UNSENT(0)) && \
	!(n == 1 && (UNSENT(1) || UNSENT(2))))

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

/* P8 */
#ifdef FOLLOWS_AHEAD
#define HAS_BASE true
#else
#define HAS_BASE (!self.joins)
#endif
#define HAS_ALL(n) (HAS_BASE && !self.lacks && self.cursor >= redis.position && \
	!(redis.numbers & ~self.numbers))

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
		self.joins = self.joins || redis.made_in != self.epoch ||
			self.cursor < redis.position;
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
	:: d_step { SAME_EPOCH && self.lacks && !self.joins && !other.asked &&
		other.epoch == epoch ->
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
	:: d_step { SAME_EPOCH && redis.made_in == self.epoch &&
		self.generation + 1 == redis.generation && HAS_ALL(n) ->
		self.generation = redis.generation; self.joins = 0 }
	:: atomic { SAME_EPOCH &&
		(self.joins || ((n == 1 || self.lacks) && self.generation != redis.generation &&
		redis.made_in == self.epoch)) ->
#ifndef SWAP_AT_ONCE
		self.has_next = 1;
#endif
		image = redis.image; from = redis.position; numbers = redis.numbers;
		made = redis.generation };
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
			:: !given_up -> self.cursor = to; self.numbers = numbers; self.joins = 0;
				self.generation = made; self.current = 1 - self.current
			:: else -> self.joins = 1
			fi;
			self.has_next = 0; given_up = 0;
			from = 0; to = 0; image = 0; numbers = 0; made = 0;
			NEXT(n) = 0;
			assert(HAS_OWN(n)) }
	/* node 0 dies and starts again with nothing */
#ifdef RESTARTS
	:: d_step { n == 0 && !restarted && !(self.kept & ~returned) ->
		restarted = 1; self.filter[0] = 0; self.filter[1] = 0; self.current = 0;
		self.kept = 0; self.numbers = 0; self.cursor = 0;
		returned = returned & ~1; at[0] = 0; self.sent = 0; self.generation = 0;
		self.joins = 1; self.lacks = 0; self.epoch = epoch; self.cursor = redis.position;
		self.asked = 0; self.resent = 0; self.forgot = 0; self.id = 0;
		other.asked = 0; other.resent = 0; other.forgot = 0;
		stage = 0; taken = 0; taken_of = 0; taken_numbers = 0; base = 0; copy = 0 }
#endif
	od
}
