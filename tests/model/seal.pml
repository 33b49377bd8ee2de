/* SPDX-License-Identifier: MIT
 * The commit record of a live image under a power cut and kills (src/image/live.c, map.h). The
 * record says "live" from before the first insert until bits and checksums are on the disk. Two
 * processes map the image live, insert and seal, and either may be killed at any moment. By a lock
 * a process seals only if no other process has mapped the image live ([LIVE-LOCKS] to
 * [SEALED-READ-ONLY]). Pages reach the disk in any order, at any time; msync waits for the pages
 * that it names. The tests test_power_cut.c and test_image_live.c in tests/fault test the code.
 *
 *  - The checksums of a sealed image match its bits, for a loader at any moment and on the disk
 *    after a cut.
 *
 * Variants, and what they must show (run.sh reads these lines):
 *  variant: holds
 *  variant NO_SYNC_LIVE: fails, new bits can reach the disk under the old seal
 *  variant NO_SYNC_BITS: fails, the seal can reach the disk before the bits
 *  variant SEAL_WITH_SUMS: fails, seal and checksums are in one page, which can reach the disk
 *      before the bits
 *  variant NO_LOCK: fails, a seal removes the live mark of a process that inserts
 *  variant LOCKED_LATE: fails, a process stores its live mark before it takes the lock
 *  variant INSERTS_AFTER: fails, a process that has sealed inserts once more
 */
#define LIVE 0
#define SEALED 1

byte bits[2], bits_on_disk[2];      /* two pages, each the number of its last insert */
/* of each page of bits; with the commit record in the first page */
byte sum[2], sum_on_disk[2];
byte commit = SEALED, commit_on_disk = SEALED;
byte shared;   /* holders of the lock, */
bit exclusive; /* one of whom holds it alone */
byte inserts;
bit cut;

#define WRITE_HEAD commit_on_disk = commit; sum_on_disk[0] = sum[0]; sum_on_disk[1] = sum[1]
#define WRITE_ALL WRITE_HEAD; bits_on_disk[0] = bits[0]; bits_on_disk[1] = bits[1]

/* One step, unless the power is gone, or the process is killed here. */
#define STEP(action) \
	if :: d_step { !cut -> action } :: !cut -> goto killed :: cut -> goto off fi

inline take_lock()
{
#ifdef NO_LOCK
	skip
#else
	if
	:: d_step { !cut && !exclusive -> shared++; holds = 1 }
	:: cut -> goto off
	fi
#endif
}

proctype user()
{
	bit holds, alone;
	byte rounds;
	do
	:: rounds == 2 -> break
	:: else ->
		rounds++;
#ifndef LOCKED_LATE
		take_lock();
#endif
		STEP(commit = LIVE);
#ifdef LOCKED_LATE
		take_lock();
#endif
#ifndef NO_SYNC_LIVE
		STEP(WRITE_HEAD);
#endif
		STEP(inserts++; bits[0] = inserts);
		STEP(inserts++; bits[1] = inserts);
		/* seal: alone, or not at all */
#ifndef NO_LOCK
		if
		:: d_step { !cut && shared == 1 -> exclusive = 1; alone = 1 }
		:: d_step { !cut && shared > 1 -> shared--; holds = 0 }
		:: cut -> goto off
		fi;
#else
		alone = 1;
#endif
		if
		:: alone ->
			STEP(commit = LIVE);
			STEP(WRITE_HEAD);
#ifdef SEAL_WITH_SUMS
			STEP(sum[0] = bits[0]; sum[1] = bits[1]; commit = SEALED);
			STEP(WRITE_ALL);
#else
			STEP(sum[0] = bits[0]);
			STEP(sum[1] = bits[1]);
#ifndef NO_SYNC_BITS
			STEP(WRITE_ALL);
#endif
			STEP(commit = SEALED);
			STEP(WRITE_HEAD);
#endif
#ifdef INSERTS_AFTER
			STEP(inserts++; bits[0] = inserts);
#endif
			d_step { alone = 0; exclusive = 0; shared = shared - holds; holds = 0 }
		:: else
		fi
	od;
killed:
	skip;
	/* the kernel gives its locks back */
	d_step { shared = shared - holds; exclusive = exclusive & !alone }
off:
	skip
}

active proctype kernel()
{
	do
	:: d_step { !cut -> WRITE_HEAD }
	:: d_step { !cut -> bits_on_disk[0] = bits[0] }
	:: d_step { !cut -> bits_on_disk[1] = bits[1] }
	:: cut -> break
	od
}

active proctype power()
{
	atomic {
		cut = 1;
		assert(commit == LIVE || (sum[0] == bits[0] && sum[1] == bits[1]));
		assert(commit_on_disk == LIVE ||
		       (sum_on_disk[0] == bits_on_disk[0] && sum_on_disk[1] == bits_on_disk[1]))
	}
}

init {
	atomic { run user(); run user() }
}
