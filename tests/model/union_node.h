/* SPDX-License-Identifier: MIT
 * A node of union.pml: the node sends, reads, joins and publishes. */
#define behind(i) (n[i].joined != H(i).gen)
#define readable(i) (H(i).gen != 0 && !H(i).unread)
#define same_era(i) (H(i).gen != 0 && H(i).era == n[i].era)
#define may_publish(i) (H(i).gen == 0 || \
	(!n[i].lacks && (H(i).era < n[i].era || !behind(i))))
#define must_publish(i) (H(i).gen == 0 || H(i).era < n[i].era || turns > 0 || \
	n[i].answer != 0 || owes(i))

proctype node(byte i) {
	byte b, copy, pos, base, mark, alive, ptag;
	short has;
	bit ex, rec;
end:	do
	/* Send one key that is pending or not acknowledged. */
	:: d_step { !packed && (n[i].pending != 0 || unacked(i)) ->
		touch(i);
		b = ((n[i].pending & KEY(i, 0)) != 0 || n[i].ring[0] == 1 -> 0 : EACH - 1);
		n[i].pending = n[i].pending & ~KEY(i, b);
#ifndef DROP_ON_ACK
		n[i].ring[b] = 2 + L(i).end;
#endif
		append(i, KEY(i, b));
		n[i].rtag[b] = tags;
		b = 0
	}
	/* Send a heartbeat if the node does not know the current epoch, or if none has begun. */
	:: d_step { !packed && !current(i) -> touch(i) }
	:: d_step { current(i) && other(i) -> doubt(i) }

	/* [LOG-READING]: apply, then advance. A missing own entry is filled from the ring. */
	:: d_step { sure(i) && n[i].cursor >= L(i).first && n[i].cursor < L(i).end ->
		b = L(i).at[n[i].cursor];
		if
		:: b < HOLE && b < SAID -> n[i].set = n[i].set | b
		:: b == HOLE ->
#ifndef HOLE_IGNORED
			if
			:: n[i].cursor < H(i).lost
#ifndef OWN_UNFILLED
			:: n[i].cursor >= H(i).lost && own_entry(i, n[i].cursor) ->
				n[i].set = n[i].set | (n[i].ring[0] == n[i].cursor + 2 ->
					KEY(i, 0) : KEY(i, EACH - 1))
#endif
			:: else ->
				n[i].hole = n[i].cursor + 1;
				n[i].lacks = 1;
				n[i].called = 0
			fi
#else
			skip
#endif
		:: b == CALL -> n[i].answer = n[i].cursor + 1
		:: b == SAID
		fi;
		n[i].tag = L(i).tag[n[i].cursor];
		n[i].cursor++;
		b = 0
	}
	/* The server has trimmed the entry at the cursor. */
	:: d_step { sure(i) && n[i].cursor < L(i).first ->
		jump(i, L(i).first);
		n[i].lacks = 1;
		n[i].hole = L(i).first
	}
	/* [CALL-FOR-KEYS]: request a generation that has the keys that the node lacks, or a
	 * generation that the node can read. */
	:: d_step { !packed && sure(i) && H(i).gen != 0 && !n[i].called &&
		    ((n[i].lacks && !behind(i) && n[i].hole > H(i).pos)
#ifndef UNREAD_SILENT
		     || (H(i).unread && behind(i) && n[i].era <= H(i).era)
#endif
		    ) ->
		n[i].called = 1;
		append(i, CALL)
	}
	/* [GIVE-UP] */
	:: d_step { giveups > 0 && !packed && sure(i) && H(i).gen != 0 && n[i].lacks &&
		    n[i].called && !behind(i) && n[i].hole > H(i).pos ->
		giveups--;
		n[i].lacks = 0;
		n[i].hole = 0;
		n[i].extra = 1;
#ifndef GIVEUP_QUIET
		marks++;
		H(i).prev = 0;
		H(i).mark = marks;
		H(i).base = L(i).end;
		H(i).lost = L(i).end
#endif
	}
#ifdef SPLIT
	:: d_step { promoted && n[i].server == 1 -> n[i].server = 0 }
#endif

	/* [HEAD-JOIN]: the node has joined the head already. The head's image has the keys that the
	 * node lacked. */
	:: d_step { sure(i) && same_era(i) && !behind(i) && n[i].lacks && n[i].hole <= H(i).pos ->
		join(i)
	}
	/* The node joins without the image. */
	:: d_step { sure(i) && same_era(i) && behind(i) && H(i).pure &&
		    H(i).parent == n[i].joined && !n[i].lacks && n[i].cursor >= H(i).pos ->
		n[i].has = n[i].has | H(i).has;
		join(i)
	}
	/* The node merges the image. */
	:: d_step { sure(i) && same_era(i) && !H(i).unread && behind(i) &&
		    (!H(i).pure || H(i).parent != n[i].joined || n[i].lacks) ->
		n[i].set = n[i].set | H(i).img;
		n[i].has = n[i].has | H(i).has;
		join(i)
	}
	/* The image of an older era has the keys that the node lacks. */
	:: d_step { sure(i) && readable(i) && H(i).era < n[i].era && n[i].lacks &&
		    n[i].hole <= H(i).pos ->
		n[i].set = n[i].set | H(i).img;
		n[i].extra = 1;
		n[i].lacks = 0;
		n[i].hole = 0;
		if
		:: n[i].cursor < H(i).pos -> jump(i, H(i).pos)
		:: else
		fi
	}
	/* A higher era: build the next set from the image, the log, the ring and the owed keys. */
	:: d_step { sure(i) && readable(i) && H(i).era > n[i].era ->
		copy = H(i).img;
		b = H(i).pos;
#ifndef SWAP_TRUSTS
		/* do this before the ring decides which own entries are covered */
		unread_own(i, b);
#endif
		if
		:: b < L(i).first ->
			n[i].lacks = 1;
			n[i].called = 0;
			b = L(i).first;
			if
			:: n[i].hole < b -> n[i].hole = b
			:: else
			fi
		:: else
		fi;
		do
		:: b < n[i].cursor ->
			if
			:: L(i).at[b] < SAID -> copy = copy | L(i).at[b]
#ifndef SWAP_BLIND
			:: L(i).at[b] == HOLE && b >= H(i).lost && !own_entry(i, b) ->
				n[i].lacks = 1;
				n[i].called = 0;
				if
				:: n[i].hole < b + 1 -> n[i].hole = b + 1
				:: else
				fi
#endif
			:: else
			fi;
			b++
		:: else -> break
		od;
		b = 0;
#ifndef NO_RING
		if
		:: n[i].ring[0] != 0 && !covers(i, 0) -> copy = copy | KEY(i, 0)
		:: else
		fi;
		if
		:: n[i].ring[EACH - 1] != 0 && !covers(i, EACH - 1) ->
			copy = copy | KEY(i, EACH - 1)
		:: else
		fi;
		copy = copy | n[i].pending;
#endif
		n[i].extra = 0;
		if
#ifdef OWE_TOKENS
		:: (n[i].relied & TOKENS & ~H(i).has) != 0 ->
			copy = copy | n[i].set;
			n[i].extra = 1;
			n[i].relied = n[i].relied & TOKENS & ~H(i).has;
			n[i].has = H(i).has | n[i].has
#else
		:: owes(i) ->
			copy = copy | n[i].set;
			n[i].extra = 1;
			n[i].relied = n[i].relied & ~H(i).has;
			n[i].has = H(i).has | n[i].has
#endif
		:: else ->
			n[i].relied = 0;
			n[i].has = H(i).has
		fi;
		n[i].set = copy;
		n[i].era = H(i).era;
		copy = 0;
		join(i);
		assert((told[i] & ~n[i].set) == 0) /* own */
	}

	/* [WHEN-TO-PUBLISH] */
	:: atomic { !packed && sure(i) && gens < GENS && n[i].cursor == L(i).end &&
		    n[i].cursor >= L(i).first && may_publish(i) && must_publish(i) ->
		if
		:: same_era(i) && !owes(i) && n[i].answer == 0 -> turns--
		:: else
		fi;
		mark = H(i).mark;
		base = H(i).gen;
		alive = life[i];
		rec = 0;
		ex = n[i].extra || (n[i].has & ~H(i).has) != 0;
		n[i].extra = 0;
		has = n[i].has;
#ifndef TOKEN_REUSED
		if
		:: (n[i].has & TOKEN(i)) != 0 && n[i].token == 0 -> n[i].token = 1
		:: else
		fi;
#endif
		pos = n[i].cursor;
		ptag = n[i].tag
		};
		copy = n[i].set;
		goto swap
	/* [NEW-ERA]: read the position, then the record, then swap. */
	:: atomic { i == 0 && records > 0 && !packed && sure(i) && same_era(i) && gens < GENS ->
		records--;
		mark = H(i).mark;
		base = H(i).gen;
		alive = life[i];
		rec = 1;
		ex = 0;
		pos = L(i).end;
#ifndef RECORD_TRUSTS
		ptag = tag_before(i, pos);
#endif
#ifdef RECORD_EMPTY
		has = 0
#else
		has = H(i).has
#endif
		};
		copy = record;
		goto swap
	od;
swap:	skip;
	d_step {
		if
		:: !moved && H(i).server_id == ids[n[i].server] && L(i).end < LEN - 1 &&
		   alive == life[i] &&
#ifndef REVIVES
		   !H(i).gone &&
#endif
		   SAME_MARK && SAME_BASE ->
#ifdef POS_LATE
			pos = L(i).end;
#endif
			gens++;
			H(i).gen = gens;
			H(i).img = copy;
			H(i).pos = pos;
			H(i).parent = 0;
			H(i).pure = 0;
			H(i).unread = 0;
			H(i).has = has | (1 << gens);
			H(i).gone = 0;
			if
			:: rec ->
				H(i).era = n[i].era + 1;
				replaced = true
			:: else ->
				if
				:: base != 0 && H(i).era == n[i].era && CLEAN ->
					H(i).pure = 1;
					H(i).parent = n[i].joined
				:: else
				fi;
				H(i).era = n[i].era;
				n[i].joined = gens;
				n[i].jpos = pos;
				n[i].jtag = ptag;
				n[i].seen = gens;
				n[i].has = n[i].has | H(i).has;
				n[i].lacks = 0;
				n[i].hole = 0;
				if
				:: n[i].answer <= pos -> n[i].answer = 0
				:: else
				fi;
				release(i)
			fi;
			if
			:: pos > L(i).first -> L(i).first = pos
			:: else
			fi;
			append(i, SAID)
		:: else ->
			/* The swap failed: try again. */
			if
			:: !rec && ex && alive == life[i] -> n[i].extra = 1
			:: else
			fi;
			if
			:: !rec && !ex -> turns = TURNS
			:: else
			fi
		fi;
		copy = 0;
		has = 0;
		mark = 0;
		alive = 0;
		base = 0;
		pos = 0;
		ptag = 0;
		ex = 0;
		rec = 0
	}
	goto end
}
