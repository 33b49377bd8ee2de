/* SPDX-License-Identifier: MIT
 * Saving under a power cut, and two savers of one path at once (src/image/replace.c, temporary.c).
 * tests/fault/test_power_cut.c tests the code.
 *
 * The model assumes the worst that POSIX allows: until an fsync, data and names reach the disk in
 * any order or not at all. After a cut only the disk is left. Temporary names are random, so each
 * saver has its own.
 *
 *  - At any moment a reader finds a whole file under the name, also after a cut.
 *  - After a save has answered 0, a cut does not bring the old file back.
 *  - A saver at work keeps its temporary name; a leftover of a saver that was killed is never
 *    published, and no temporary name stays once all savers are done.
 *
 * Variants, and what they must show (run.sh reads these lines):
 *  variant: holds
 *  variant FRESH: holds, the path does not exist before
 *  variant NAMED: holds, the file has its temporary name from the start and is locked after that
 *  variant NO_FSYNC: fails, the name can point to a file whose data is not on the disk
 *  variant NO_FOLDER_SYNC: fails, a save that answered 0 can be undone
 *  variant IN_PLACE: fails, a reader and a cut meet half a file
 *  variant UNLOCKED: fails, a saver removes the temporary name of a saver that is at work
 *  variant NAMED UNCHECKED: fails, a saver removes a temporary name that is not locked yet
 *  variant NO_SWEEP: fails, the temporary file of a killed saver stays
 */
#define OLD 0      /* files: what stood under the name, */
#define LEFT 3     /* what a killed saver left under a temporary name, */
#define NONE 4     /* and no file; the savers' own are 1 and 2 */

#define EMPTY 0    /* data */
#define HALF 1
#define WHOLE 2

byte data[4], data_on_disk[4];
byte name, name_on_disk;
bit temporary[4], locked[4]; /* of each file: it has its temporary name; its lock is held */
byte answered, done;
#ifdef FRESH
#define may_link (name != NONE)
#else
#define may_link true
#endif
bit cut, ready;

/* One step of a saver, unless the power is gone. */
#define STEP(action) if :: d_step { !cut -> action } :: cut -> goto off fi

/* Remove the temporary name of @file, unless its saver is at work. */
inline sweep(file)
{
	if
	:: d_step { !cut && temporary[file] && !locked[file] ->
#ifndef UNLOCKED
		locked[file] = 1
#endif
	   };
		/* From now on its saver finds it locked. Has it still the name? */
		STEP(temporary[file] = 0);
#ifndef UNLOCKED
		STEP(locked[file] = 0)
#endif
	:: !cut && (!temporary[file] || locked[file])
	:: cut -> goto off
	fi
}

/* A file without a name is locked before it has one. */
inline lock_own(own)
{
#ifdef NAMED
	do
	:: d_step { !cut && !locked[own] -> temporary[own] = 1 };
		if
		:: d_step { !cut && !locked[own] -> locked[own] = 1 };
#ifndef UNCHECKED
			if
			:: !cut && temporary[own] -> break
			:: !cut && !temporary[own] -> STEP(locked[own] = 0) /* another name */
			:: cut -> goto off
			fi
#else
			break
#endif
		:: d_step { !cut && locked[own] -> temporary[own] = 0 } /* a sweeper was faster */
		:: cut -> goto off
		fi
	:: cut -> goto off
	od
#elif defined(UNLOCKED)
	skip
#else
	STEP(locked[own] = 1)
#endif
}

inline publish(own)
{
	if
#ifdef FRESH
	:: d_step { !cut && name == NONE -> name = own }
#endif
	:: !cut && may_link ->
#ifndef NAMED
		STEP(temporary[own] = 1);
#endif
		/* rename finds the name, or the save fails for no fault of its own */
		STEP(assert(temporary[own]); name = own; temporary[own] = 0)
	:: cut -> goto off
	fi
}

proctype saver(byte own)
{
	byte file = own;
#ifdef IN_PLACE
	file = OLD;
#else
#ifndef NO_SWEEP
	sweep(LEFT);
	sweep(3 - own);
#endif
	lock_own(own);
#endif
	STEP(data[file] = HALF);
	STEP(data[file] = WHOLE);
#ifndef NO_FSYNC
	STEP(data_on_disk[file] = data[file]);
#endif
#ifndef IN_PLACE
	publish(own);
#ifndef NO_FOLDER_SYNC
	STEP(name_on_disk = name);
#endif
#endif
	STEP(answered++);
off:
	done++
}
active proctype kernel()
{
	byte file;
	do
	:: d_step { !cut && name != name_on_disk -> name_on_disk = name }
	:: atomic { !cut -> select(file : 0 .. 2); data_on_disk[file] = data[file] }
	:: cut || done == 2 -> break
	od
}

active proctype reader()
{
	ready;
	atomic {
		assert(name == NONE || data[name] == WHOLE);
		assert(name != LEFT)
	}
}

active proctype power()
{
	ready;
	if
	:: atomic {
		cut = 1;
		assert(name_on_disk == NONE || data_on_disk[name_on_disk] == WHOLE);
#ifndef IN_PLACE /* which changes no name and makes no temporary */
		assert(!answered || (name_on_disk != NONE && name_on_disk != OLD))
#endif
	}
#ifndef IN_PLACE
	:: atomic { done == 2 -> assert(!temporary[1] && !temporary[2] && !temporary[LEFT]) }
#else
	:: done == 2
#endif
	fi
}

init {
	atomic {
		data[OLD] = WHOLE;
		data_on_disk[OLD] = WHOLE;
		data[LEFT] = WHOLE;
		data_on_disk[LEFT] = WHOLE;
		temporary[LEFT] = 1;
#ifdef FRESH
		name = NONE;
		name_on_disk = NONE;
#endif
		run saver(1);
		run saver(2);
		ready = 1
	}
}
