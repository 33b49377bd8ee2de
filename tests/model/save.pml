/* SPDX-License-Identifier: MIT
 * Saving under a power cut, and two savers of one path at once (src/image/replace.c).
 *
 * The worst that POSIX allows: what is written, data and names, reaches the disk in any order or
 * not at all, until an fsync. After a cut only the disk is left.
 *
 *  - At any moment a reader finds a whole file under the name; so does who comes after a cut.
 *  - After a save has answered 0, a cut does not bring the old file back.
 *  - A leftover of a saver that was killed is never published, and no temporary name stays once all
 *    savers are done.
 *
 * Variants, and what they must show (run.sh reads these lines):
 *  variant: holds
 *  variant FRESH: holds, the path does not exist before
 *  variant NO_FSYNC: fails, the name can point to a file whose data is not on the disk
 *  variant NO_FOLDER_SYNC: fails, a save that answered 0 can be undone
 *  variant IN_PLACE: fails, a reader and a cut meet half a file
 *  variant TRUST_TEMPORARY: fails, a saver that finds the temporary name taken renames
 *      what stands there
 *  variant KEEP_TEMPORARY: fails, renaming one link of a file to another link of it leaves the
 *      first
 */
#define OLD 0      /* files: what stood under the name, */
#define LEFT 3     /* what a killed saver left under the temporary name, */
#define NONE 4     /* and no file; the savers' own are 1 and 2 */

#define EMPTY 0    /* data */
#define HALF 1
#define WHOLE 2

byte data[4], data_on_disk[4];
byte name, name_on_disk, temporary;
byte answered, done;
#ifdef FRESH
#define may_link (name != NONE)
#else
#define may_link true
#endif
bit cut, ready;

/* One step of a saver, unless the power is gone. */
#define STEP(action) if :: d_step { !cut -> action } :: cut -> goto off fi

/* linked: the temporary name was given, and is to be renamed. */
inline publish(own)
{
	do
#ifdef FRESH
	:: d_step { !cut && !linked && name == NONE -> name = own }; break
#endif
	:: d_step {
		!cut && !linked && temporary == NONE && may_link ->
		temporary = own;
		linked = 1
	   }
	:: !linked && temporary != NONE && may_link ->
#ifdef TRUST_TEMPORARY
		linked = 1
#else
		STEP(temporary = NONE)
#endif
	:: d_step { !cut && linked && temporary != NONE ->
		/* rename: nothing, if both names are links of one file */
		if
		:: temporary != name -> name = temporary; temporary = NONE
		:: else
		fi };
#ifndef KEEP_TEMPORARY
		STEP(temporary = NONE);
#endif
		break
	:: linked && temporary == NONE ->
		/* another saver took it away, and this one may take away another's: again */
#ifndef KEEP_TEMPORARY
		STEP(temporary = NONE);
#endif
		linked = 0
	:: cut -> goto off
	od
}

proctype saver(byte own)
{
	byte file = own;
	bit linked;
#ifdef IN_PLACE
	file = OLD;
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
	:: atomic { done == 2 -> assert(temporary == NONE) }
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
		temporary = LEFT;
#ifdef FRESH
		name = NONE;
		name_on_disk = NONE;
#endif
		run saver(1);
		run saver(2);
		ready = 1
	}
}
