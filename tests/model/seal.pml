/* SPDX-License-Identifier: MIT
 * The commit record of a live image under a power cut (src/image/seal.c): it says live from before
 * the first insert until bits and checksums are on the disk. Pages reach the disk in any order, at
 * any time; msync waits for those it names.
 *
 *  - After a cut an image that says it is sealed has the bits that its checksums were made of.
 *
 * Variants, and what they must show (run.sh reads these lines):
 *  variant: holds
 *  variant NO_SYNC_LIVE: fails, new bits can reach the disk under the old seal
 *  variant NO_SYNC_BITS: fails, the seal can reach the disk before the bits
 *  variant SEAL_WITH_SUMS: fails, the same: both are in the first page
 */
#define LIVE 0
#define SEALED 1

byte bits[2], bits_on_disk[2];      /* two pages, each the number of its last insert */
/* of each page of bits; with the commit record in the first page */
byte sum[2], sum_on_disk[2];
byte commit = SEALED, commit_on_disk = SEALED;
bit cut;

#define STEP(action) if :: d_step { !cut -> action } :: cut -> goto off fi
#define WRITE_HEAD commit_on_disk = commit; sum_on_disk[0] = sum[0]; sum_on_disk[1] = sum[1]
#define WRITE_ALL WRITE_HEAD; bits_on_disk[0] = bits[0]; bits_on_disk[1] = bits[1]

active proctype user()
{
	byte round = 1;
	do
	:: round == 3 -> break
	:: else ->
		STEP(commit = LIVE);
#ifndef NO_SYNC_LIVE
		STEP(WRITE_HEAD);
#endif
		STEP(bits[0] = round);
		STEP(bits[1] = round);
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
		round++
	od;
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
		assert(commit_on_disk == LIVE ||
		       (sum_on_disk[0] == bits_on_disk[0] && sum_on_disk[1] == bits_on_disk[1]))
	}
}
