/* SPDX-License-Identifier: MIT
 * Faults of redis and of nodes in union.pml, and the assertions on the final state. */
inline copy_server(to, from) {
	head[to].server_id = head[from].server_id;
	head[to].mark = head[from].mark;
	head[to].prev = head[from].prev;
	head[to].base = head[from].base;
	head[to].lost = head[from].lost;
	head[to].gen = head[from].gen;
	head[to].era = head[from].era;
	head[to].pos = head[from].pos;
	head[to].img = head[from].img;
	head[to].parent = head[from].parent;
	head[to].has = head[from].has;
	head[to].pure = head[from].pure;
	head[to].unread = head[from].unread;
	head[to].gone = head[from].gone;
	log[to].end = log[from].end;
	log[to].first = log[from].first;
	j = 0;
	do
	:: j < LEN ->
		log[to].at[j] = log[from].at[j];
		log[to].tag[j] = log[from].tag[j];
		j++
	:: else -> break
	od;
	j = 0
}
inline empty_log() {
	log[1].end = 0;
	log[1].first = 0;
	j = 0;
	do
	:: j < LEN ->
		log[1].at[j] = 0;
		log[1].tag[j] = 0;
		j++
	:: else -> break
	od;
	j = 0
}
inline empty_head() {
	head[1].server_id = 0;
	head[1].mark = 0;
	head[1].prev = 0;
	head[1].base = 0;
	head[1].lost = 0;
	head[1].gen = 0;
	head[1].era = 0;
	head[1].pos = 0;
	head[1].img = 0;
	head[1].parent = 0;
	head[1].has = 0;
	head[1].pure = 0;
	head[1].unread = 0;
	head[1].gone = 0
}
#define differs (log[0].end != log[1].end || head[0].gen != head[1].gen || \
	head[0].mark != head[1].mark)
proctype faults() {
	byte j;
end:	do
#ifdef SPLIT
	:: d_step { !promoted ->
		promoted = 1;
		ids[0] = 2
	}
	:: d_step { !promoted && differs -> copy_server(0, 1) }
#else
	/* Server 1 saves its state as server 0, to which a crash or a restore returns. */
	:: d_step { crashes + restores > 0 && differs -> copy_server(0, 1) }
#endif
	:: d_step { crashes > 0 && !packed ->
		crashes--;
		copy_server(1, 0);
		ids[1]++
	}
	:: d_step { restores > 0 && !packed && differs ->
		restores--;
		copy_server(1, 0)
	}
	:: d_step { flushes > 0 && !packed ->
		flushes--;
		empty_log();
		empty_head()
	}
	:: d_step { drops > 0 && !packed && log[1].end > 0 ->
		drops--;
		empty_log();
		head[1].gone = 1
	}
	:: d_step { images > 0 && !packed && head[1].gen != 0 ->
		images--;
		head[1].unread = 1
	}
	:: d_step { deletes > 0 && log[1].end > log[1].first ->
		deletes--;
		j = log[1].first
		}
		/* choose any entry of the log */
		do
		:: j + 1 < log[1].end -> j++
		:: break
		od;
		skip;
		d_step {
			if
			:: j < log[1].end && log[1].at[j] < SAID && log[1].at[j] != 0 ->
				log[1].at[j] = HOLE
			:: else
			fi;
			j = 0
		}
	od
}

#define DIES 1
/* The keys that are certainly on server s: the keys of the log, and the keys of the image except
 * those of waiting. Node DIES has not sent the keys of waiting, or no server has acknowledged them,
 * so the image has them only by chance. */
#define waiting (n[DIES].pending | (n[DIES].ring[0] != 0 -> KEY(DIES, 0) : 0) | \
	(n[DIES].ring[EACH - 1] != 0 -> KEY(DIES, EACH - 1) : 0))
inline on_server(s) {
	on = head[s].img & ~waiting;
	j = log[s].first;
	do
	:: j < log[s].end ->
		if
		:: log[s].at[j] < SAID -> on = on | log[s].at[j]
		:: else
		fi;
		j++
	:: else -> break
	od;
	j = 0
}
inline begin_again() {
	n[DIES].pending = 0;
	n[DIES].ring[0] = 0;
	n[DIES].ring[EACH - 1] = 0;
	n[DIES].rtag[0] = 0;
	n[DIES].rtag[EACH - 1] = 0;
	n[DIES].token = 0;
	n[DIES].mark = H(DIES).mark;
	n[DIES].cursor = H(DIES).pos;
	n[DIES].tag = tag_before(DIES, H(DIES).pos);
	n[DIES].hole = 0;
	n[DIES].joined = H(DIES).gen;
	n[DIES].jpos = H(DIES).pos;
	n[DIES].jtag = n[DIES].tag;
	n[DIES].seen = H(DIES).gen;
	n[DIES].era = H(DIES).era;
	n[DIES].set = H(DIES).img;
	n[DIES].has = H(DIES).has;
	n[DIES].relied = 0;
	n[DIES].answer = 0;
	n[DIES].lacks = 0;
	n[DIES].extra = 0;
	n[DIES].called = 0
}
inline start(i) {
	n[i].server = 1;
	n[i].mark = 1;
	n[i].joined = 1;
	n[i].seen = 1;
	n[i].era = 1;
	n[i].has = 2;
	n[i].set = OLD;
	run node(i)
}

#if NODES == 3
#define keys (told[0] | told[1] | told[2])
#else
#define keys (told[0] | told[1])
#endif
#define well(i) (current(i) && !n[i].lacks && !owes(i) && n[i].pending == 0 && !unacked(i))
/* The lost image was not read by any node. */
#define image_lost (H(0).unread && n[0].joined != H(0).gen && n[1].joined != H(0).gen)
#define FAULTS (CRASHES + FLUSHES + DROPS + DELETES + RESTORES + IMAGES + DEATHS + GIVEUPS)
init {
	byte j, on;
	atomic {
		ids[0] = 1;
		ids[1] = 1;
		head[1].server_id = 1;
		head[1].mark = 1;
		head[1].gen = 1;
		head[1].era = 1;
		head[1].img = OLD;
		head[1].has = 2;
		copy_server(0, 1);
		start(0);
		start(1);
		run app(1);
		run faults();
#ifndef ONE_INSERTS
		run app(0);
#endif
#if NODES == 3
		start(2)
#ifdef ALL_INSERT
		;
		run app(2)
#endif
#endif
	}
	do
	:: d_step { deaths > 0 && !packed && readable(DIES) && !H(DIES).gone &&
		    H(DIES).server_id == ids[n[DIES].server] ->
		deaths--;
		if
		:: FLUSHES + DELETES + DROPS + RESTORES == 0 ->
			on_server(0);
			told[DIES] = told[DIES] & on;
			on_server(1);
			told[DIES] = told[DIES] & on
		:: else -> told[DIES] = 0
		fi;
		on = 0;
		life[DIES]++;
		begin_again()
	}
	:: timeout -> break
	od;
	if
	:: packed || gens >= GENS || image_lost /* unfinished */
	:: else ->
		/* the property "all"; union.pml defines "all", "well" and "gone" */
		assert((keys & ~n[0].set) == 0);
		assert((keys & ~n[1].set) == 0);
		/* the property "well" */
		assert(well(0) && well(1));
#if NODES == 3
		assert((keys & ~n[2].set) == 0);
		assert(well(2));
#endif
		/* the property "gone" */
		assert(!(replaced && !promoted && FAULTS == 0 && RING > 4) ||
			((n[0].set | n[1].set) & OLD) == 0)
	fi
}
