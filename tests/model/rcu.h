/* SPDX-License-Identifier: MIT
 * Read-side sections and grace periods, for the models: at most 8 threads with sections, and 4
 * grace periods at a time.
 *
 * A grace period waits for the sections that were running when it began, and for no others, because
 * RCU promises no more. */

byte inside; /* a bit for each thread that is in a section */
int awaited; /* a byte for each grace period: the threads for which it still waits */

inline read_lock(t)
{
#ifndef NO_SECTION
	inside = inside | (1 << (t))
#else
	skip
#endif
}

inline read_unlock(t)
{
	d_step {
		inside = inside & ~(1 << (t));
		awaited = awaited & ~((1 | 1 << 8 | 1 << 16 | 1 << 24) << (t))
	}
}

inline grace_begin(g)
{
	awaited = awaited | (inside << (8 * (g)))
}

inline grace_end(g)
{
	((awaited >> (8 * (g))) & 255) == 0
}

inline grace(g)
{
	grace_begin(g);
	grace_end(g)
}
