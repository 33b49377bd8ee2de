/* SPDX-License-Identifier: MIT
 * One set on many machines: a head and a log in redis, nodes that merge their sets in doubt.
 * The rules stand in UNION.md; here each is one step or one guard.
 *
 * Redis is two servers. Server 1 is the first master. Server 0 is its fallback: the last saved
 * state, to which a crash returns, or the replica, which is promoted (SPLIT: server 1 goes on
 * beside it, for nodes that have not heard of that). Two scripts, each one step:
 * touch ([NEW-EPOCH]; append) and publish (compare, swap, announce, trim).
 *
 * Each fault has a budget: CRASHES; FLUSHES; DROPS (the log's key alone is deleted); DELETES (an
 * entry of the log is); RESTORES (keys of an old dump are put back over living ones); IMAGES (the
 * head's image cannot be read any more); DEATHS (node 1 begins again with nothing); RECORDS (a
 * generation of a higher era, without OLD); GIVEUPS (no node answers a call in time). RING is
 * how many keys have room in a node until a generation covers them. EACH: keys that a node inserts.
 *
 *  own   every key whose insert returned is in its node's set from then on
 *  all   when nothing more can happen, every node has every such key, but for those of a node that
 *        died and had them neither on server 0 nor on server 1
 *  well  then no node lacks anything, owes a generation, or has keys that are not in the log
 *  gone  without faults no node has OLD after a record without it
 * The model does not look for endless repetition. GENS bounds the publications, LEN the log. A run
 * that needs more counts as unfinished, and only "own" is checked for it.
 *
 * Bugs that no variant finds, since tags find the same later and cost only time: CUT_IGNORED,
 * NO_RESEND ([OTHER-MARK]), MARK_IGNORED, REVIVES ([PUBLISH-ATOMIC]). SWAP_TRUSTS ([HEAD-JOIN]) and
 * RECORD_TRUSTS ([NEW-ERA]) are found with RECORDS RESTORES NO_TURN, after five million states.
 *
 * Variants, and what they must show (run.sh reads these lines):
 *  variant: holds
 *  variant DROPS: holds
 *  variant DELETES: holds
 *  variant IMAGES: holds
 *  variant NO_ROOM: holds
 *  variant TWO_KEYS NO_ROOM NO_TURN: holds
 *  variant RECORDS NO_ROOM: holds
 *  variant RECORDS RESTORES NO_TURN ONE_INSERTS: holds
 *  variant CRASHES ONE_INSERTS: holds
 *  variant CRASHES DEATHS ONE_INSERTS: holds, what was acknowledged and saved outlives the node
 *  variant SPLIT ONE_INSERTS: holds
 *  variant FLUSHES ONE_INSERTS: holds
 *  variant RESTORES ONE_INSERTS: holds
 *  variant DELETES GIVEUPS ONE_INSERTS: holds
 *  variant THREE_NODES SPLIT NO_TURN: holds
 *  variant CRASHES DROP_ON_ACK: fails, the log's tail takes what was acknowledged ([RING-RELEASE])
 *  variant CRASHES NO_RELIED: fails, a generation is lost and no node owes it ([RING-RELEASE])
 *  variant CRASHES MARK_IGNORED TAGS_IGNORED: fails, a position of another log ([PUBLISH-ATOMIC])
 *  variant CRASHES RELY_TOO_LITTLE: fails, the head does not have all that was relied on
 *      ([RING-RELEASE])
 *  variant NO_ROOM NO_RELIED: fails
 *  variant NO_ROOM TOKEN_IGNORED: fails, a key without room is in no image ([RING-FIRST])
 *  variant NO_ROOM TOKEN_FIRST: fails, the image has the token and not the key ([RING-FIRST])
 *  variant NO_ROOM PURE_ALWAYS: fails, a follower does not fetch what is not in the log
 *      ([WHEN-TO-PUBLISH])
 *  variant TWO_KEYS NO_ROOM NO_TURN TOKEN_REUSED: fails, a key after the copy has its token
 *      ([WHEN-TO-PUBLISH])
 *  variant DELETES HOLE_IGNORED: fails ([LOG-READING])
 *  variant DELETES OWN_UNFILLED: fails ([LOG-READING])
 *  variant RECORDS SET_FIRST: fails, a key is in the set that a record replaces ([RING-FIRST])
 *  variant RECORDS NO_RING: fails ([HEAD-JOIN])
 *  variant RECORDS BASE_IGNORED: fails, a record is undone ([PUBLISH-ATOMIC])
 *  variant RECORDS RECORD_EMPTY: fails, what a record removes comes back ([NEW-ERA])
 *  variant POS_LATE: fails, what came while the set was copied ([WHEN-TO-PUBLISH])
 *  variant RECORDS SPLIT ONE_INSERTS OWE_TOKENS: fails, the other master's generation ([HEAD-JOIN])
 *  variant DELETES GIVEUPS GIVEUP_QUIET: fails, an image covers what is given up ([GIVE-UP])
 *  variant RESTORES TAGS_IGNORED: fails ([LOG-READING])
 *  variant RESTORES CRASHES NO_TURN BASE_TRUSTED: fails, another entry is at base ([OTHER-MARK])
 *  variant RESTORES TWO_TURNS JUMP_SILENT: fails, a position covers what was put back
 *      ([LOG-READING])
 *  variant RECORDS RESTORES NO_TURN ONE_INSERTS OLDER_IGNORED: fails, all lack what is there
 *      ([DOUBT])
 *  variant IMAGES UNREAD_SILENT: fails ([CALL-FOR-KEYS])
 *
 *  full CRASHES=1 RECORDS=1 NO_TURN=1: holds
 *  full THREE_NODES=1 RECORDS=1 NO_TURN=1: holds
 */
#ifdef THREE_NODES
#define NODES 3
#else
#define NODES 2
#endif
#ifdef TWO_KEYS
#define EACH 2
#else
#define EACH 1
#endif
#ifdef NO_ROOM
#define RING 0
#else
#define RING 9
#endif
#ifdef NO_TURN /* publications by the clock */
#define TURNS 0
#elif defined TWO_TURNS
#define TURNS 2
#else
#define TURNS 1
#endif
#include "union_faults.h"

#define OLD 64
#define LEN 13
#define GENS 7 /* generation 1 is there. Bit g of a "has"; from bit 8 on tokens */
#define HOLE 250
#define CALL 249
#define SAID 248
#define KEY(i, j) (1 << ((i) + NODES * (j))) /* the jth key of node i */
#define TOKEN(i) (256 << ((i) + NODES * n[i].token))
#define TOKENS 32512 /* all of all nodes */

typedef Head {
	byte server_id, mark, prev; /* of the epoch */
	byte base;                  /* the log's end where the epoch began */
	byte lost;                  /* entries before it were given up */
	byte gen, era, pos, img, parent;
	short has;
	bit pure, unread;
	bit gone;                   /* the log's key is not there */
};
typedef Log { byte at[LEN], tag[LEN], end, first };
typedef Node {
	byte set, pending, server, token;
	byte ring[EACH];            /* of own key j: 0 not there, 1 not acknowledged, 2 + entry */
	byte rtag[EACH];            /* that entry's tag */
	byte mark, cursor;
	byte tag;                   /* of the entry before the cursor; 0: it is not known */
	byte hole;                  /* 1 + the last entry that was missing; 0: none */
	byte joined, era;
	byte jpos, jtag;            /* the position of the one that it joined, and its tag */
	byte seen;                  /* the newest generation that it saw in the head */
	short has;                  /* what its set has: generations, tokens */
	short relied;               /* what redis must have: it left the ring of the node */
	byte answer;                /* 1 + the last call that no generation has answered yet */
	bit lacks, extra, called
};
Head head[2];
Log log[2];
Node n[NODES];
byte ids[2], gens = 1;
byte marks = 1, tags;    /* a node draws them at random: no two are equal */
byte record;             /* what applications wrote */
byte told[NODES];        /* the keys whose insert has returned */
byte life[NODES];
byte turns = TURNS;
bool packed, replaced, promoted;

#define H(i) head[n[i].server]
#define L(i) log[n[i].server]
#define current(i) (n[i].mark == H(i).mark && H(i).server_id == ids[n[i].server] && !H(i).gone)

/* ---- planted bugs ---- */

#ifdef MARK_IGNORED
#define SAME_MARK true
#else
#define SAME_MARK (H(i).mark == mark)
#endif
#ifdef BASE_IGNORED
#define SAME_BASE true
#else
#define SAME_BASE (H(i).gen == base)
#endif
#ifdef PURE_ALWAYS
#define CLEAN true
#else
#define CLEAN (!ex)
#endif
#ifdef NO_RELIED
#define owes(i) false
#else
#define owes(i) ((n[i].relied & ~H(i).has) != 0)
#endif
#ifdef TAGS_IGNORED
#define other(i) false
#define moved false
#else
/* Not the log and the head that the node read: the generation is older, the entry before its cursor
 * is another, or one of its own is. */
#ifdef OLDER_IGNORED
#define older(i) false
#else
#define older(i) (H(i).gen < n[i].seen)
#endif
#define other(i) (older(i) || n[i].cursor > L(i).end || \
	(n[i].cursor > 0 && n[i].tag != 0 && L(i).tag[n[i].cursor - 1] != n[i].tag) || \
	OTHERS_OWN(i, 0) || OTHERS_OWN(i, EACH - 1))
#define OTHERS_OWN(i, j) (n[i].ring[j] >= 2 && (n[i].ring[j] - 2 >= L(i).end || \
	(n[i].ring[j] - 2 == n[i].cursor && L(i).tag[n[i].cursor] != n[i].rtag[j])))
#define moved (pos > L(i).end || (pos > 0 && ptag != 0 && L(i).tag[pos - 1] != ptag))
#endif

/* ---- a node's rules ---- */

#define sure(i) (current(i) && !other(i))
#define covers(i, j) (n[i].ring[j] >= 2 && n[i].ring[j] - 2 < H(i).pos)
#define own_entry(i, b) (n[i].ring[0] == (b) + 2 || n[i].ring[EACH - 1] == (b) + 2)
#define unacked(i) (n[i].ring[0] == 1 || n[i].ring[EACH - 1] == 1)
#define in_ring(i) ((n[i].ring[0] != 0) + (EACH > 1 && n[i].ring[EACH - 1] != 0) + \
	((n[i].pending & KEY(i, 0)) != 0) + (EACH > 1 && (n[i].pending & KEY(i, EACH - 1)) != 0))
#define tag_before(i, b) ((b) > 0 && (b) <= L(i).end -> L(i).tag[(b) - 1] : 0)

inline resend(i, from) {
	if
	:: n[i].ring[0] >= 2 + from -> n[i].ring[0] = 1
	:: else
	fi;
	if
	:: n[i].ring[EACH - 1] >= 2 + from -> n[i].ring[EACH - 1] = 1
	:: else
	fi
}
/* Own entries that were not read, since the cursor jumps over them: they are perhaps others'. */
#ifdef JUMP_SILENT
#define jumped(i, j, to) false
#else
#define jumped(i, j, to) (n[i].ring[j] >= 2 + n[i].cursor && n[i].ring[j] < 2 + (to))
#endif
inline unread_own(i, to) {
	if
	:: jumped(i, 0, to) -> n[i].ring[0] = 1
	:: else
	fi;
	if
	:: jumped(i, EACH - 1, to) -> n[i].ring[EACH - 1] = 1
	:: else
	fi
}
inline jump(i, to) {
	unread_own(i, to);
	n[i].cursor = to;
	n[i].tag = tag_before(i, to);
	n[i].seen = H(i).gen
}
/* [DOUBT]: nothing that it read before is certain. */
inline doubt(i) {
	resend(i, 0);
	n[i].cursor = H(i).pos;
	n[i].tag = tag_before(i, H(i).pos);
	n[i].hole = H(i).pos;
	n[i].answer = 0;
	n[i].lacks = 1;
	n[i].extra = 1;
	n[i].called = 0;
	n[i].seen = H(i).gen
}
/* [OTHER-MARK]: another epoch. */
inline meet(i) {
	if
	:: H(i).prev == n[i].mark && !n[i].lacks &&
	   (n[i].cursor <= H(i).base || n[i].jpos <= H(i).base) ->
		/* The log goes on behind base. */
#ifndef NO_RESEND
		resend(i, H(i).base);
#endif
#ifndef CUT_IGNORED
		if
		:: n[i].cursor > H(i).base ->
#ifdef BASE_TRUSTED
			n[i].cursor = H(i).base;
			n[i].tag = tag_before(i, H(i).base);
#else
			n[i].cursor = n[i].jpos;
			n[i].tag = n[i].jtag;
#endif
			n[i].extra = 1
		:: else
		fi;
#endif
		if
		:: n[i].answer > H(i).base -> n[i].answer = 0
		:: else
		fi;
		n[i].called = 0
	:: else -> doubt(i)
	fi;
	n[i].mark = H(i).mark;
	n[i].seen = H(i).gen
}
/* [NEW-EPOCH] */
inline touch(i) {
	if
	:: H(i).server_id != ids[n[i].server] || H(i).gone ->
		marks++;
		H(i).prev = H(i).mark;
		H(i).mark = marks;
		H(i).server_id = ids[n[i].server];
		H(i).base = L(i).end;
		/* Ids of a later epoch are all above the position of an earlier one. */
		if
		:: H(i).gone ->
			H(i).gone = 0;
			H(i).pos = 0;
			H(i).lost = 0;
			H(i).pure = 0
		:: else
		fi
	:: else
	fi;
	if
	:: n[i].mark == H(i).mark
	:: else -> meet(i)
	fi
}
inline append(i, what) {
	tags++;
	L(i).tag[L(i).end] = tags;
	L(i).at[L(i).end] = what;
	L(i).end++;
	if
	:: L(i).end >= LEN - 1 -> packed = true
	:: else
	fi
}
/* [RING-RELEASE]: what the newest generation covers is let go, and that one is relied on; on it
 * alone, if it has all that was relied on before. */
inline release(i) {
	if
	:: covers(i, 0) || covers(i, EACH - 1) -> n[i].relied = n[i].relied | (1 << H(i).gen)
	:: else
	fi;
	if
	:: covers(i, 0) -> n[i].ring[0] = 0
	:: else
	fi;
	if
	:: covers(i, EACH - 1) -> n[i].ring[EACH - 1] = 0
	:: else
	fi;
	if
#ifdef RELY_TOO_LITTLE
	:: n[i].relied != 0 -> n[i].relied = 1 << H(i).gen
#else
	:: n[i].relied != 0 && !owes(i) -> n[i].relied = 1 << H(i).gen
#endif
	:: else
	fi
}
inline join(i) {
	n[i].joined = H(i).gen;
	n[i].jpos = H(i).pos;
	n[i].jtag = tag_before(i, H(i).pos);
	n[i].seen = H(i).gen;
	if
	:: n[i].cursor < H(i).pos -> jump(i, H(i).pos)
	:: else
	fi;
	if
	:: n[i].hole <= H(i).pos ->
		n[i].lacks = 0;
		n[i].hole = 0
	:: else -> n[i].called = 0
	fi;
	if
	:: n[i].answer <= H(i).pos -> n[i].answer = 0
	:: else
	fi;
	release(i)
}

/* The application: its record, then the ring or a token, then the set ([RING-FIRST]). */
proctype app(byte i) {
	byte j, its;
	do
	:: j < EACH && !packed ->
		its = life[i];
		record = record | KEY(i, j);
#ifdef SET_FIRST
		n[i].set = n[i].set | KEY(i, j);
#endif
		d_step {
			if
			/* Under the lock, the set too: a copy has what its token says. */
			:: in_ring(i) >= RING ->
				n[i].extra = 1;
#ifndef TOKEN_IGNORED
				n[i].relied = n[i].relied | TOKEN(i);
#endif
#ifndef TOKEN_FIRST
				n[i].set = n[i].set | KEY(i, j);
#endif
				n[i].has = n[i].has | TOKEN(i)
			:: else -> n[i].pending = n[i].pending | KEY(i, j)
			fi
		}
#ifndef SET_FIRST
		n[i].set = n[i].set | KEY(i, j);
#endif
		d_step {
			if
			:: life[i] == its ->
				told[i] = told[i] | KEY(i, j);
				assert((told[i] & ~n[i].set) == 0) /* own */
			:: else
			fi;
			j++;
			its = 0
		}
	:: j == EACH || packed -> break
	od
}

#include "union_node.h"
#include "union_init.h"
